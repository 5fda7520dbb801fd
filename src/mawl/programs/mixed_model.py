"""Model the weekly sales of stores by restricted maximum likelihood, product line by product line."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from statsmodels.regression.mixed_linear_model import MixedLM

from mawl.programs.context import JobContext, check, check_equal, check_near
from mawl.programs.datagen.groups import time_of, true_effects
from mawl.programs.declarations.mixed_model import (
    COEFFICIENTS,
    DERIVED,
    LINE_STORES,
    NUMERICS,
    RESPONSE,
    TABLE,
    VARYING,
    WEEKS,
)
from mawl.programs.toolkit.groups import (
    Block,
    PreparedJob,
    block_sizes,
    blocks,
    mean_of_group,
    numeric_schema,
    previous,
    running_total,
    sampled,
)
from mawl.programs.toolkit.models import check_estimates
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

TERMS = len(COEFFICIENTS)
_NAMES = tuple(column.name for column in VARYING)
TIMES = time_of(np.arange(WEEKS, dtype=np.float64), WEEKS)
RANDOM_DESIGN = np.stack([np.ones(WEEKS), TIMES], axis=1)
"""What a store's effects are multiplied with: (weeks, 2), the same for every store."""

TRUE_NOISE = RESPONSE.noise**2 + 1.0 / 12.0
"""The variance of the noise; rounding sales to whole numbers adds a twelfth."""
_LEVEL, _SHARED = RESPONSE.level**2, RESPONSE.shared / 16.0
_TRUE_COVARIANCE = np.array(
    [[_LEVEL, _SHARED * _LEVEL], [_SHARED * _LEVEL, RESPONSE.trend**2 + _SHARED**2 * _LEVEL]]
)


class LineModel:
    """What one line's fit found.

    ``coefficients`` and ``errors``, (terms,); ``covariance`` of level and trend, (2, 2); ``noise``, the
    variance of what is left; ``effects`` of every store, (stores, 2).
    """

    def __init__(self, sales: Numbers, terms: Numbers) -> None:
        stores = len(sales) // WEEKS
        owners = np.repeat(np.arange(stores), WEEKS)
        found = MixedLM(sales, terms, groups=owners, exog_re=np.tile(RANDOM_DESIGN, (stores, 1))).fit(
            reml=True, method=["lbfgs", "bfgs", "cg"]
        )
        check(bool(found.converged), "the fit of a line", found="no convergence", expected="some")
        self.coefficients: Numbers = np.asarray(found.fe_params)
        self.errors: Numbers = np.asarray(found.bse_fe)
        self.covariance: Numbers = np.asarray(found.cov_re)
        self.noise = float(found.scale)
        effects = found.random_effects
        self.effects: Numbers = np.array([np.asarray(effects[store]) for store in range(stores)])


def design(block: Block) -> Numbers:
    """The terms of each week: a one, time, then what varies; (weeks, terms)."""
    found = np.empty((TERMS, len(block["sales"])))
    found[0] = 1.0
    found[1] = time_of(block["week"], WEEKS)
    for place, name in enumerate(_NAMES, start=2):
        found[place] = block[name]
    return np.ascontiguousarray(found.T)


def expected(terms: Numbers, coefficients: Numbers, effects: Numbers) -> Numbers:
    """The sales to expect in each week of each store: (weeks,)."""
    found: Numbers = terms @ coefficients + (effects @ RANDOM_DESIGN.T).reshape(-1)
    return found


def true_errors(terms: Numbers) -> Numbers:
    """The standard errors that coefficients have by theory, with the true variances: (terms,)."""
    by_store = terms.reshape(-1, WEEKS, TERMS)
    # The information of a store's weeks, less what its own level and trend take of it.
    information = np.einsum("sti,stj->ij", by_store, by_store) / TRUE_NOISE
    own = np.einsum("sti,te->sie", by_store, RANDOM_DESIGN) / TRUE_NOISE
    information -= np.einsum("sie,ef,sjf->ij", own, leftover(_TRUE_COVARIANCE, TRUE_NOISE), own)
    found: Numbers = np.sqrt(np.diag(np.linalg.inv(information)))
    return found


def leftover(covariance: Numbers, noise: float) -> Numbers:
    """The covariance of recovered effects about the hidden ones, by theory: (2, 2)."""
    information = RANDOM_DESIGN.T @ RANDOM_DESIGN / noise
    found: Numbers = np.linalg.inv(information + np.linalg.inv(covariance))
    return found


_COPIED = ("row", *(column.name for column in NUMERICS))
_SCHEMA = numeric_schema(*_COPIED, *(f"x{n:02d}" for n in range(DERIVED)))
_USED = ["week", "sales", *(column.name for column in VARYING)]
_EFFECTS = ("level", "trend")
_BIAS = 0.01
_ERROR_SLACK = 0.15
"""How far squared standard errors may be off: those of 32 stores' means are a little too small."""
_DEVIATIONS = 6.0
_SLACK = 0.02
_SAMPLED = 4
_VARYING_SLACK = 0.1
"""How far standard errors of what varies may be from theory; the noise decides them (measured: 0.02)."""


def run(context: JobContext) -> Answer:
    """Do all steps; coefficients and variances agree to a relative 1e-6 at any number of threads."""
    return _MixedModel(context).run()


class _MixedModel(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the store weeks")
        self.stores = self.rows // WEEKS
        self.sizes = block_sizes(self.stores, LINE_STORES)
        lines = len(self.sizes)
        self.coefficients, self.errors = np.empty((lines, TERMS)), np.empty((lines, TERMS))
        self.covariances, self.noises = np.empty((lines, 2, 2)), np.empty(lines)
        self.effects = np.empty((self.stores, 2))
        self.sampled: dict[int, Numbers] = {}
        self.left = np.zeros(lines)
        self.sums = np.zeros(lines)
        self.misses = 0.0
        self.scored = 0
        self.answer |= {"rows": self.rows, "stores": self.stores, "lines": lines}

    def _work(self) -> None:
        self._prepare()
        self._fit()
        self._score()

    def _prepare(self) -> None:
        sales = 0
        for block, _ in self.prepared.preparing_groups(_COPIED, WEEKS, _derive):
            sales += int(block["sales"].sum())
        self.answer["sales"] = sales

    def _fit(self) -> None:
        chosen_numbers = sampled(_SAMPLED, len(self.sizes))
        with self.context.steps.step("fit") as step:
            lines = ((*line, number in chosen_numbers) for number, line in enumerate(self._lines()))
            for number, (stores, model, errors) in enumerate(
                side_by_side(self.context, _fit, lines, len(self.sizes))
            ):
                if errors is not None:
                    self.sampled[number] = errors
                self.coefficients[number], self.errors[number] = model.coefficients, model.errors
                self.covariances[number], self.noises[number] = model.covariance, model.noise
                self.effects[stores] = model.effects
                step.rows_read = (step.rows_read or 0) + (stores.stop - stores.start) * WEEKS
        covariance = self.covariances.mean(axis=0)
        self.answer |= {
            "price": float(self.coefficients[:, 2].mean()),
            "promotion": float(self.coefficients[:, 3].mean()),
            "level_variance": float(covariance[0, 0]),
            "trend_variance": float(covariance[1, 1]),
            "level_trend_covariance": float(covariance[0, 1]),
            "noise_variance": float(self.noises.mean()),
        }

    def _score(self) -> None:
        with self.context.steps.step("score") as step:
            for number, (stores, line) in enumerate(self._lines()):
                terms = design(line)
                found = expected(terms, self.coefficients[number], self.effects[stores])
                residuals = line["sales"] - found
                self.left[number], self.sums[number] = residuals @ residuals, residuals.sum()
                self.misses += self._missed(stores, terms, found)
                self.scored += len(found)
            step.rows_read = self.scored
        self.answer |= {
            "residual_deviation": math.sqrt(float(self.left.sum()) / self.scored),
            "expected_deviation": math.sqrt(self.misses / self.scored),
        }

    def _missed(self, stores: slice, terms: Numbers, found: Numbers) -> float:
        true = expected(terms, np.array(COEFFICIENTS, np.float64), self._hidden(stores))
        return float(np.square(found - true).sum())

    def _lines(self) -> Iterator[tuple[slice, Block]]:
        """A pass over the prepared table, line by line with its stores' numbers; its word sum is checked."""
        sizes = [stores * WEEKS for stores in self.sizes]
        first = 0
        for number, line in enumerate(blocks(self.prepared.batches(), _USED, sizes)):
            yield slice(first, first + self.sizes[number]), line
            first += self.sizes[number]

    def _hidden(self, stores: slice) -> Numbers:
        return true_effects(RESPONSE, self.column_key("sales"), stores.start, stores.stop - stores.start)

    def _check(self) -> None:
        check_equal("the number of weeks scored", self.scored, self.rows)
        check_estimates(
            "the model",
            self.coefficients,
            self.errors,
            np.array(COEFFICIENTS, np.float64),
            bias=_BIAS,
            error_slack=_ERROR_SLACK,
        )
        self._check_errors()
        self._check_noise()
        self._check_effects()
        self._check_scores()

    def _check_errors(self) -> None:
        ratios = np.array([self.errors[number] / true for number, true in self.sampled.items()])[:, 2:]
        farthest = float(ratios.reshape(-1)[np.abs(ratios - 1.0).argmax()])
        check_near("the ratio of standard errors to those by theory", farthest, 1, _VARYING_SLACK, "")

    def _check_noise(self) -> None:
        weights = np.array(self.sizes) / self.stores
        noise = float(weights @ self.noises)
        _near("the variance of the noise", noise, TRUE_NOISE, math.sqrt(2.0 / self.rows))
        self.noise = noise

    def _check_effects(self) -> None:
        """Variance components against the hidden effects; recovered effects as near as theory says.

        A line's mean effects are in its intercept and slope, so effects are compared about their means.
        """
        hidden, found = self._centred(self._hidden(slice(0, self.stores))), self._centred(self.effects)
        freedom = self.stores - len(self.sizes)
        weights = (np.array(self.sizes) - 1.0) / freedom
        variances = np.tensordot(weights, self.covariances, axes=1)
        true = hidden.T @ hidden / freedom
        measured = self.noise * np.linalg.inv(RANDOM_DESIGN.T @ RANDOM_DESIGN)
        left = leftover(variances, self.noise)
        for place, name in enumerate(_EFFECTS):
            error = measured[place, place] / true[place, place]
            chance = math.sqrt((4.0 * error + 2.0 * error**2) / freedom)
            _near(f"the variance of the {name}", variances[place, place], true[place, place], chance)
            missed = float(np.square(found[:, place] - hidden[:, place]).sum() / freedom)
            _near(
                f"the squared miss of the {name}", missed, float(left[place, place]), math.sqrt(2.0 / freedom)
            )
            # Hidden effects are what recovered ones foretell: shrunk too little or too much, they are not.
            shrunk = float(found[:, place] @ hidden[:, place] / (found[:, place] @ found[:, place]))
            chance = math.sqrt(left[place, place] / (variances[place, place] * freedom))
            _near(f"the slope of the {name} on what was recovered", shrunk, 1.0, chance)
            self.answer[f"{name}_agreement"] = float(np.corrcoef(found[:, place], hidden[:, place])[0, 1])
        error = math.sqrt(
            measured[0, 0] * true[1, 1] + measured[1, 1] * true[0, 0] + measured[0, 0] * measured[1, 1]
        )
        check(
            abs(variances[0, 1] - true[0, 1])
            <= _DEVIATIONS * error / math.sqrt(freedom) + _SLACK * true[0, 0],
            "the covariance of level and trend",
            found=float(variances[0, 1]),
            expected=f"{true[0, 1]:.2f}, as that of the hidden effects",
        )

    def _check_scores(self) -> None:
        covariance, weeks = self.covariances.mean(axis=0), RANDOM_DESIGN.T @ RANDOM_DESIGN
        # Parameters that the effects are worth, and the terms besides level and trend, in all lines.
        worth = float(np.trace(leftover(covariance, self.noise) @ weeks)) / self.noise
        spent = self.stores * worth + len(self.sizes) * (TERMS - 2.0 + 2.0 * (1.0 - worth / 2.0))
        _near(
            "the mean square of what is left",
            float(self.left.sum()) / self.scored,
            self.noise * (1.0 - spent / self.scored),
            0.0,
        )
        _near(
            "the squared miss of expected sales",
            self.misses / self.scored,
            self.noise * spent / self.scored,
            math.sqrt(2.0 / spent),
        )
        scale = math.sqrt(self.noise * self.scored)
        check(
            abs(float(self.sums.sum())) <= scale,
            "the sum of what is left",
            found=float(self.sums.sum()),
            expected=f"at most {scale:.1f} either way",
        )

    def _centred(self, effects: Numbers) -> Numbers:
        """Effects about their line's mean: (stores, 2)."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        means = np.add.reduceat(effects, starts) / np.array(self.sizes)[:, None]
        centred: Numbers = effects - np.repeat(means, self.sizes, axis=0)
        return centred


def _near(what: str, found: float, true: float, chance: float) -> None:
    """A figure within chance (a relative standard error) and a little more of what it should be."""
    allowed = true * (_SLACK + _DEVIATIONS * chance)
    check_near(what, found, true, allowed, ".4f")


def _fit(line: tuple[slice, Block, bool]) -> tuple[slice, LineModel, Numbers | None]:
    """The model of a line: its stores, what was found, and true errors where they are wanted."""
    stores, weeks, is_sampled = line
    terms = design(weeks)
    return stores, LineModel(weeks["sales"], terms), true_errors(terms) if is_sampled else None


def _derive(block: Block) -> list[Numbers]:
    """What analysts of store weeks add: time, between and within stores, interactions, earlier weeks."""
    found = [(2.0 * block["week"] - (WEEKS - 1)) / WEEKS]
    for column in VARYING:
        mean = mean_of_group(block[column.name], WEEKS)
        found += [mean, block[column.name] - mean]
    return [
        *found,
        block["price"] - block["rival_price"],
        block["promotion"] * block["display"],
        previous(block["sales"], WEEKS),
        running_total(block["sales"], WEEKS),
    ]

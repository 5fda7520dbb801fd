"""Model relapses over patients' visits by generalised estimating equations, site by site."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from statsmodels.genmod.cov_struct import Autoregressive, CovStruct, Exchangeable, Independence
from statsmodels.genmod.families.family import Binomial
from statsmodels.genmod.generalized_estimating_equations import GEE

from mawl.programs.context import JobContext, check, check_equal, check_near
from mawl.programs.datagen.responses import true_chances
from mawl.programs.declarations.gee_repeated import (
    COEFFICIENTS,
    DERIVED,
    KEPT,
    NUMERICS,
    OUTCOME,
    SITE_PATIENTS,
    TABLE,
    VARYING,
    VISITS,
)
from mawl.programs.toolkit.estimates import ScoreBins, check_calibration
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
from mawl.programs.toolkit.models import chances, check_estimates
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

STRUCTURES = ("independence", "exchangeable", "autoregressive")
TERMS = len(COEFFICIENTS)
_QUADRATURE_STEPS = 200
"""Points of the quasi-likelihood's integral; comparing structures rests on the penalty, which has none."""


class SiteModel:
    """What one site's fits found: a row for each of ``STRUCTURES``, in that order.

    ``coefficients``, ``errors`` (robust) and ``model_errors`` (as if the structure were true) are
    (structures, terms); ``correlations``, ``criteria`` (QIC) and ``penalties`` (what QIC has for the
    structure, the smaller the better) are (structures,).
    """

    def __init__(self) -> None:
        shape = (len(STRUCTURES), TERMS)
        self.coefficients, self.errors, self.model_errors = np.empty(shape), np.empty(shape), np.empty(shape)
        self.correlations = np.zeros(len(STRUCTURES))
        self.criteria, self.penalties = np.empty(len(STRUCTURES)), np.empty(len(STRUCTURES))

    def fit(self, relapsed: Numbers, terms: Numbers) -> None:
        """Fit all structures to visits in order of patients: (visits,) and (visits, terms)."""
        patients = np.repeat(np.arange(len(relapsed) // VISITS), VISITS)
        months = np.tile(np.arange(VISITS), len(relapsed) // VISITS)
        for place, structure in enumerate(_structures()):
            found = GEE(
                relapsed, terms, groups=patients, time=months, family=Binomial(), cov_struct=structure
            ).fit()
            check(
                bool(found.converged), f"the {STRUCTURES[place]} fit", found="no convergence", expected="some"
            )
            self.coefficients[place] = found.params
            self.errors[place] = found.bse
            self.model_errors[place] = found.standard_errors("naive")
            self.correlations[place] = 0.0 if structure.dep_params is None else structure.dep_params
            # With a common scale, as comparing structures demands.
            self.criteria[place], without = found.qic(scale=1.0, n_step=_QUADRATURE_STEPS)
            self.penalties[place] = (self.criteria[place] - without) / 2.0 + TERMS


def design(block: Block) -> Numbers:
    """The terms of each visit: a one, then whether each condition of the model holds; (visits, terms)."""
    visits = len(block["relapsed"])
    found = np.empty((TERMS, visits))
    found[0] = 1.0
    for place, rule in enumerate(OUTCOME.rules, start=1):
        (condition,) = rule.conditions
        found[place] = block[condition.column.name] >= condition.at_least
    return np.ascontiguousarray(found.T)


def true_correlations(true: Numbers) -> tuple[float, float]:
    """What the exchangeable and the autoregressive parameter estimate, from visits' true chances: (visits,).

    Draws of two visits are the same with a known chance, and then both relapse when the draw lies below
    both their chances.
    """
    by_patient = true.reshape(-1, VISITS)
    deviations = np.sqrt(by_patient * (1.0 - by_patient))
    every, rows = 0.0, 0
    neighbours = 0.0
    for apart in range(1, VISITS):
        early, late = by_patient[:, :-apart], by_patient[:, apart:]
        shared = (np.minimum(early, late) - early * late) / (deviations[:, :-apart] * deviations[:, apart:])
        correlation = (KEPT / 256) ** apart * shared
        every, rows = every + float(correlation.sum()), rows + correlation.size
        if apart == 1:
            neighbours = float(correlation.mean())
    return every / rows, neighbours


def _structures() -> tuple[CovStruct, ...]:
    # The grid: visits are equally spaced.
    return Independence(), Exchangeable(), Autoregressive(grid=True)


_COPIED = ("visit", *(column.name for column in NUMERICS))
_SCHEMA = numeric_schema(*_COPIED, *(f"x{n:02d}" for n in range(DERIVED)))
_USED = ["relapsed", *(rule.conditions[0].column.name for rule in OUTCOME.rules)]
_EXCHANGEABLE, _AUTOREGRESSIVE = STRUCTURES.index("exchangeable"), STRUCTURES.index("autoregressive")
_SAMPLED = 4
_BIAS = 0.02
"""How far a mean coefficient may be off besides chance: estimates from small sites are a little too large."""
_ERROR_SLACK = 0.25
"""How far squared standard errors may be off: robust ones of 128 patients are a little too small."""
_CORRELATION_DEVIATION = 0.05
"""A site's correlation parameter strays by this (measured: 0.02)."""
_CORRELATION_SLACK = 0.01
_MODEL_ERROR_RANGE = 1.25
"""Robust and model errors of the structure that comes near the truth differ by this at most, on average."""
_AREA_SLACK = 0.02
_TENTHS = 10
_CHANCE_DEVIATIONS = 10.0
"""Standard errors of a share that are allowed, twice the usual ones since visits hang together."""
_CHANCE_SLACK = 0.03


def run(context: JobContext) -> Answer:
    """Do all steps; coefficients and criteria agree to a relative 1e-6 at any number of threads."""
    return _GeeRepeated(context).run()


class _GeeRepeated(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the visits")
        self.sizes = [patients * VISITS for patients in block_sizes(self.rows // VISITS, SITE_PATIENTS)]
        sites, structures = len(self.sizes), len(STRUCTURES)
        self.coefficients = np.empty((structures, sites, TERMS))
        self.errors, self.model_errors = np.empty_like(self.coefficients), np.empty_like(self.coefficients)
        self.correlations = np.empty((structures, sites))
        self.criteria, self.penalties = np.empty((structures, sites)), np.empty((structures, sites))
        self.expected: list[tuple[float, float]] = []
        self.rankings = {name: ScoreBins() for name in ("model", "truth")}
        self.squares = 0.0
        self.answer |= {"visits": self.rows, "sites": sites}

    def _work(self) -> None:
        self._prepare()
        self._fit()
        self._score()

    def _prepare(self) -> None:
        relapses = 0
        for block, _ in self.prepared.preparing_groups(_COPIED, VISITS, _derive):
            relapses += int(block["relapsed"].sum())
        self.answer["relapses"] = relapses

    def _fit(self) -> None:
        chosen_numbers = sampled(_SAMPLED, len(self.sizes))
        with self.context.steps.step("fit") as step:
            sites = ((site, number in chosen_numbers) for number, site in enumerate(self._sites()))
            for number, (visits, model, correlations) in enumerate(
                side_by_side(self.context, _fit, sites, len(self.sizes))
            ):
                self.coefficients[:, number] = model.coefficients
                self.errors[:, number] = model.errors
                self.model_errors[:, number] = model.model_errors
                self.correlations[:, number] = model.correlations
                self.criteria[:, number], self.penalties[:, number] = model.criteria, model.penalties
                if correlations is not None:
                    self.expected.append(correlations)
                step.rows_read = (step.rows_read or 0) + visits
        for place, name in enumerate(STRUCTURES):
            self.answer |= {
                f"{name}_criterion": float(self.criteria[place].mean()),
                f"{name}_treatment": float(self.coefficients[place, :, 1].mean()),
                f"{name}_treatment_error": float(self.errors[place, :, 1].mean()),
            }
        self.answer |= {
            "exchangeable_correlation": float(self.correlations[_EXCHANGEABLE].mean()),
            "autoregressive_correlation": float(self.correlations[_AUTOREGRESSIVE].mean()),
            "preferred": STRUCTURES[int(self.penalties.mean(axis=1).argmin())],
        }

    def _score(self) -> None:
        with self.context.steps.step("score") as step:
            for number, site in enumerate(self._sites()):
                found = chances(design(site) @ self.coefficients[_AUTOREGRESSIVE, number])
                self.rankings["model"].add(found, site["relapsed"] == 1.0)
                self._add_truth(site, found)
                step.rows_read = (step.rows_read or 0) + len(found)
        for name, ranking in self.rankings.items():
            self.answer[f"{name}_area"] = ranking.area()
        self.answer["chance_deviation"] = math.sqrt(self.squares / self.rows)

    def _add_truth(self, site: Block, found: Numbers) -> None:
        true = true_chances(OUTCOME, site) / 65_536.0
        self.rankings["truth"].add(true, site["relapsed"] == 1.0)
        self.squares += float(np.square(found - true).sum())

    def _sites(self) -> Iterator[Block]:
        return blocks(self.prepared.batches(), _USED, self.sizes)

    def _check(self) -> None:
        truth = np.array(COEFFICIENTS)
        for place, name in enumerate(STRUCTURES):
            check_estimates(
                f"the {name} model",
                self.coefficients[place],
                self.errors[place],
                truth,
                bias=_BIAS,
                error_slack=_ERROR_SLACK,
            )
        self._check_structures()
        for name, ranking in self.rankings.items():
            check_equal(f"the number of visits ranked by {name}", ranking.rows, self.rows)
        self._check_chances()

    def _check_structures(self) -> None:
        expected = np.array(self.expected).mean(axis=0)
        slack = _CORRELATION_SLACK + 6.0 * _CORRELATION_DEVIATION / math.sqrt(len(self.sizes))
        for place, true in ((_EXCHANGEABLE, expected[0]), (_AUTOREGRESSIVE, expected[1])):
            found = float(self.correlations[place].mean())
            check_near(f"the {STRUCTURES[place]} correlation", found, true, slack, ".4f")
        check_equal("the preferred structure", self.answer["preferred"], STRUCTURES[_AUTOREGRESSIVE])
        ratio = float(self.errors[_AUTOREGRESSIVE].mean() / self.model_errors[_AUTOREGRESSIVE].mean())
        check(
            1.0 / _MODEL_ERROR_RANGE <= ratio <= _MODEL_ERROR_RANGE,
            "the ratio of robust and model errors",
            found=ratio,
            expected=f"1, or {_MODEL_ERROR_RANGE:g} times more or less",
        )

    def _check_chances(self) -> None:
        found, possible = (self.rankings[name].area() for name in ("model", "truth"))
        check(
            abs(found - possible) <= _AREA_SLACK,
            "the area under the curve",
            found=found,
            expected=f"{possible:.4f}, that of the true chances, give or take {_AREA_SLACK}",
        )
        check_calibration(
            "relapses by chance",
            self.rankings["model"],
            parts=_TENTHS,
            slack=_CHANCE_SLACK,
            deviations=_CHANCE_DEVIATIONS,
        )


def _fit(site: tuple[Block, bool]) -> tuple[int, SiteModel, tuple[float, float] | None]:
    visits, is_sampled = site
    model = SiteModel()
    model.fit(visits["relapsed"], design(visits))
    true = true_correlations(true_chances(OUTCOME, visits) / 65_536.0) if is_sampled else None
    return len(visits["relapsed"]), model, true


def _derive(block: Block) -> list[Numbers]:
    """What analysts of repeated visits add: between and within patients, earlier visits, interactions."""
    found: list[Numbers] = []
    for column in VARYING:
        mean = mean_of_group(block[column.name], VISITS)
        found += [mean, block[column.name] - mean]
    return [
        *found,
        block["weight"] / np.square(block["height"] / 100.0),
        previous(block["relapsed"], VISITS, 0.0),
        running_total(block["relapsed"], VISITS),
        previous(block["severity"], VISITS),
        block["treated"] * block["month"],
        block["treated"] * block["severity"],
        block["age"] * block["severity"],
        block["severity"] * block["adherence"],
    ]

"""Select terms of a linear and of three logistic models stepwise, over hundreds of candidates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.plan.columns import LOGIT_UNIT, Linear, Logistic
from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.declarations.stepwise_selection import (
    CLASSES,
    COLUMNS,
    DEFECT_NAMES,
    DEFECTS,
    MEASURES,
    SAMPLE_SHARE,
    TABLE,
    YIELD,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.estimates import SIGMAS, check_coefficients
from mawl.programs.toolkit.groups import PreparedJob, even_blocks, numeric_schema
from mawl.programs.toolkit.models import (
    Design,
    FittedLogistic,
    NewtonProducts,
    RecombinedFit,
    chances,
    fit,
    indicator_names,
    prepare,
)
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

ENTER = 15.137
STAY = 13.831
"""A candidate enters above and leaves below these values of its test: chi-square with one degree of freedom
at 0.0001 and 0.0002.  Rows are thousands at least, so that F of one and many degrees is the same."""
_TOLERANCE = 1e-7
_MOST_STEPS = 100


class Stepwise:
    """Stepwise selection of candidates for one response: score tests and the sweep operator, no refits.

    Goodnight, A tutorial on the sweep operator, The American Statistician 33 (1979).

    ``products`` is the symmetric matrix of cross-products of intercept, candidates and response, in this
    order; it is left as it is.  With ``rows`` the response's variance is estimated from the residuals (F
    tests); without, it is one (products weighted by it, as in a Newton step of a logistic model).
    After ``select``: ``chosen`` (places of candidates, rising), ``coefficients`` and ``errors`` of the
    intercept and these.
    """

    def __init__(self, products: Numbers, rows: int | None = None) -> None:
        self._scale = 1.0 / np.sqrt(np.maximum(np.diag(products), 1e-300))
        # Scaled to a unit diagonal: candidates of very different size would cost digits.
        self._matrix = products * self._scale[:, None] * self._scale[None, :]
        self._rows = rows
        self._in = np.zeros(len(products) - 1, np.bool_)
        self.steps = 0
        self._sweep(0)

    def select(self) -> None:
        """Enter the best candidate while its test says so; after each, remove what no longer stays."""
        entered = True
        while entered and self.steps < _MOST_STEPS:
            entered = self._enter()
            while entered and self._remove():
                pass

    @property
    def chosen(self) -> NDArray[np.intp]:
        """Places of the chosen candidates among intercept and candidates, rising."""
        return np.flatnonzero(self._in[1:]) + 1

    @property
    def coefficients(self) -> Numbers:
        """Of the intercept and the chosen candidates."""
        places = self._places
        found: Numbers = self._matrix[places, -1] * self._scale[places] / self._scale[-1]
        return found

    @property
    def errors(self) -> Numbers:
        """Their standard errors."""
        places = self._places
        return np.sqrt(np.diag(self._matrix)[places] * self.variance) * self._scale[places]

    @property
    def squares(self) -> float:
        """What is left of the response's (weighted) sum of squares."""
        return float(self._matrix[-1, -1] / self._scale[-1] ** 2)

    @property
    def variance(self) -> float:
        return 1.0 if self._rows is None else self.squares / (self._rows - int(self._in.sum()))

    @property
    def _places(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._in)

    def _tests(self) -> Numbers:
        """Chi-square of each candidate: entering if it is out, leaving if it is in."""
        diagonal = np.diag(self._matrix)[:-1]
        usable = diagonal > _TOLERANCE
        gains = np.where(usable, np.square(self._matrix[:-1, -1]) / np.where(usable, diagonal, 1.0), 0.0)
        if self._rows is None:
            tests: Numbers = gains / self._scale[-1] ** 2
        else:
            left = self._matrix[-1, -1]
            free = self._rows - int(self._in.sum())
            entering = gains / np.maximum(left - gains, 1e-300) * (free - 1)
            tests = np.where(self._in, gains / left * free, entering)
        return tests

    def _enter(self) -> bool:
        tests = np.where(self._in, -1.0, self._tests())
        best = int(tests.argmax())
        if tests[best] <= ENTER:
            return False
        self._sweep(best)
        return True

    def _remove(self) -> bool:
        tests = np.where(self._in, self._tests(), np.inf)
        tests[0] = np.inf
        worst = int(tests.argmin())
        if tests[worst] >= STAY:
            return False
        self._sweep(worst)
        return True

    def _sweep(self, place: int) -> None:
        matrix = self._matrix
        pivot = matrix[place, place]
        row = matrix[place] / pivot
        column = matrix[:, place].copy()
        matrix -= column[:, None] * row[None, :]
        matrix[place] = row
        matrix[:, place] = -column / pivot
        matrix[place, place] = 1.0 / pivot
        self._in[place] = not self._in[place]
        self.steps += 1


Places = NDArray[np.intp]

_MEASURE_NAMES = [measure.name for measure in MEASURES]
_NAMES = [*_MEASURE_NAMES, *indicator_names(CLASSES)]
_CROSSED = 5
"""How many of the measures may act differently in each class."""
_PRODUCTS = [
    *((name, other) for place, name in enumerate(_MEASURE_NAMES) for other in _MEASURE_NAMES[place:]),
    *((name, level) for name in _MEASURE_NAMES[:_CROSSED] for level in _NAMES[len(MEASURES) :]),
]
_RESPONSES = ("yield", *DEFECT_NAMES)
_SCHEMA = numeric_schema("case", *_RESPONSES, "defects", *_NAMES)
assert len(_SCHEMA) == COLUMNS
_CHUNK_ROWS = 2048
"""Rows of a design matrix at a time: 5 MB."""
_BLOCK_ROWS = 16_384
"""Rows of each fit of a chosen model."""
_MOST_FALSE = 2
"""False terms that a selection may have: of 305 candidates at 0.0001, one in 33 selections, three in 2e5."""
_MOST_START_TERMS = 12


def run(context: JobContext) -> Answer:
    """Do all steps; selections are the same and coefficients agree to a relative 1e-6 at any threads."""
    return _StepwiseSelection(context).run()


class _StepwiseSelection(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the measurements")
        self.design = Design(_NAMES, _PRODUCTS)
        self.residual_rows, self.residual_squares = 0, 0.0
        self.answer |= {"cases": self.rows, "candidates": len(self.design) - 1}

    def _work(self) -> None:
        products, sample = self._prepare()
        self._select_linear(products)
        starts = self._start_logistic(sample)
        del products, sample
        self._select_logistic(starts)
        self._refit()

    def _prepare(self) -> tuple[Numbers, Numbers]:
        """Write the prepared table; returns cross-products of all terms and yield, and a sample of rows.

        Measures and yields are whole numbers, so cross-products are exact in whatever order they are added.
        """
        size = len(self.design) + 1
        products = np.zeros((size, size))
        room = int(self.context.options.memsize_bytes * SAMPLE_SHARE) // (8 * COLUMNS)
        every = max(-(-self.rows // room), 1)
        sample: list[Numbers] = []
        with self.prepared.preparing() as table:
            for columns, found in side_by_side(
                self.context, self._derive, self.prepared.input_batches(), self.prepared.batch_count
            ):
                sample.append(columns[:, (-table.rows) % every :: every].copy())
                table.write(columns)
                products += found
        return products, np.concatenate(sample, axis=1)

    def _derive(self, batch: pa.RecordBatch) -> tuple[Numbers, Numbers]:
        """Prepared columns of a batch, (columns, rows), and cross-products of all terms and yield."""
        responses = [arrow.numbers(batch.column(name)) for name in _RESPONSES]
        terms = prepare(batch, MEASURES, CLASSES)
        columns = [arrow.numbers(batch.column("case")), *responses, sum(responses[1:]), *terms]
        products = np.zeros((len(self.design) + 1, len(self.design) + 1))
        for some in _chunks(batch.num_rows):
            matrix = np.concatenate((self.design.fill(terms[:, some]), responses[0][None, some]))
            products += matrix @ matrix.T
        return np.stack(columns), products

    def _select_linear(self, products: Numbers) -> None:
        with self.context.steps.step("select_linear"):
            check_equal("the number of cases in the cross-products", int(products[0, 0]), self.rows)
            self.linear = Stepwise(products, self.rows)
            self.linear.select()
        self.answer |= {
            "yield_terms": len(self.linear.chosen),
            "yield_steps": self.linear.steps,
            "yield_deviation": float(self.linear.variance**0.5),
        }

    def _start_logistic(self, sample: Numbers) -> list[tuple[Places, Numbers]]:
        """For each kind of defect the terms that enter on the sample, and their coefficients there."""
        with self.context.steps.step("start_logistic") as step:
            step.rows_read = sample.shape[1]
            responses, terms = _split(sample)

            def forward(place: int) -> tuple[Places, Numbers]:
                return _forward(self.design, terms, responses[place])

            return list(side_by_side(self.context, forward, range(1, len(responses))))

    def _select_logistic(self, starts: list[tuple[Places, Numbers]]) -> None:
        newtons = [NewtonProducts(found, places, len(self.design)) for places, found in starts]
        with self.context.steps.step("select_logistic") as step:

            def products_of(columns: Numbers) -> tuple[int, list[Numbers]]:
                responses, terms = _split(columns)
                found = [np.zeros_like(newton.products) for newton in newtons]
                for some in _chunks(terms.shape[1]):
                    matrix = self.design.fill(terms[:, some])
                    for sums, newton, outcome in zip(found, newtons, responses[1:], strict=True):
                        sums += newton.of(matrix, outcome[some])
                return terms.shape[1], found

            for rows, found in side_by_side(
                self.context, products_of, self._columns(), self.prepared.batch_count
            ):
                for newton, products in zip(newtons, found, strict=True):
                    newton.add(products, rows)
            step.rows_read = newtons[0].rows
            self.logistic = [Stepwise(newton.products) for newton in newtons]
            for selection in self.logistic:
                selection.select()
        for newton in newtons:
            check_equal("the number of cases in the weighted cross-products", newton.rows, self.rows)
        for name, selection in zip(DEFECT_NAMES, self.logistic, strict=True):
            self.answer[f"{name}_terms"] = len(selection.chosen)

    def _refit(self) -> None:
        places = [np.concatenate(([0], selection.chosen)) for selection in self.logistic]
        linear = np.concatenate(([0], self.linear.chosen))
        self.refitted = [RecombinedFit(len(chosen)) for chosen in places]
        with self.context.steps.step("refit") as step:

            def refit(columns: Numbers) -> tuple[float, list[FittedLogistic]]:
                responses, terms = _split(columns)
                found = self.linear.coefficients @ self.design.pick(linear, terms)
                designs = (np.ascontiguousarray(self.design.pick(chosen, terms).T) for chosen in places)
                fitted = [fit(*rows) for rows in zip(designs, responses[1:], strict=True)]
                return float(np.square(responses[0] - found).sum()), fitted

            blocks = even_blocks(self._columns(), self.rows, _BLOCK_ROWS)
            for squares, fitted in side_by_side(self.context, refit, blocks, self.rows // _BLOCK_ROWS):
                self.residual_squares += squares
                self.residual_rows += fitted[0].rows
                for model, block in zip(self.refitted, fitted, strict=True):
                    model.add(block)
            step.rows_read = self.residual_rows

    def _columns(self) -> Iterator[Numbers]:
        """A pass over the prepared table, as (columns, rows); its word sum is checked."""
        for batch in self.prepared.batches():
            yield np.stack([arrow.numbers(column) for column in batch.columns])

    def _check(self) -> None:
        farthest = [self._check_linear()]
        for name, truth, selection, model in zip(
            DEFECT_NAMES, DEFECTS, self.logistic, self.refitted, strict=True
        ):
            check_equal(f"the number of cases refitted for {name}", model.rows, self.rows)
            farthest.append(self._check_logistic(name, truth, selection, model))
        self.answer["farthest_deviations"] = max(farthest)

    def _check_linear(self) -> float:
        truth = self.design.truth(YIELD.intercept, YIELD.terms)
        _check_terms("yield", self.design, self.linear.chosen, YIELD)
        check_equal("the number of residuals of yield", self.residual_rows, self.rows)
        squares = self.linear.squares
        check(
            abs(self.residual_squares - squares) <= 1e-6 * squares,
            "the sum of squared residuals of yield",
            found=self.residual_squares,
            expected=f"{squares:g}, as swept",
        )
        # Noise is rounded to whole numbers, which adds a twelfth to its variance.
        noise, slack = YIELD.noise**2 + 1 / 12, SIGMAS * (2.0 / self.rows) ** 0.5
        check(
            abs(self.linear.variance / noise - 1.0) <= slack,
            "the variance of the residuals of yield",
            found=self.linear.variance,
            expected=f"{noise:g} within {slack:.4f} of it",
        )
        places = np.concatenate(([0], self.linear.chosen))
        return check_coefficients(
            "yield", self.linear.coefficients, truth[places], self.linear.errors, SIGMAS
        )

    def _check_logistic(self, name: str, true: Logistic, selection: Stepwise, model: RecombinedFit) -> float:
        truth = self.design.truth(true.intercept, true.terms, LOGIT_UNIT)
        _check_terms(name, self.design, selection.chosen, true)
        expected = truth[np.concatenate(([0], selection.chosen))]
        swept = check_coefficients(name, selection.coefficients, expected, selection.errors, SIGMAS)
        errors = np.sqrt(np.diag(np.linalg.inv(model.information)))
        refitted = check_coefficients(f"{name}, refitted,", model.coefficients, expected, errors, SIGMAS)
        self.answer[f"{name}_largest_coefficient"] = float(np.abs(model.coefficients).max())
        return max(swept, refitted)


def _split(columns: Numbers) -> tuple[Numbers, Numbers]:
    """Responses and terms of prepared columns, by row."""
    return columns[1 : 1 + len(_RESPONSES)], columns[-len(_NAMES) :]


def _check_terms(name: str, design: Design, chosen: Places, true: Linear | Logistic) -> None:
    """Every true term must be selected (each is strong at any scale), and nearly no other."""
    wanted = {design.terms.index(term.name) for term in true.terms}
    missing = sorted(wanted - set(chosen.tolist()))
    check(
        not missing,
        f"the selection for {name}",
        found=f"no {', '.join(design.terms[place] for place in missing)}",
        expected="every true term",
    )
    false = [design.terms[place] for place in chosen if place not in wanted]
    check(
        len(false) <= _MOST_FALSE,
        f"the selection for {name}",
        found=f"{', '.join(false)} besides",
        expected="the true terms",
    )


def _forward(design: Design, terms: Numbers, outcome: Numbers) -> tuple[Places, Numbers]:
    """Forward selection by Rao's score tests: a fit of the chosen terms for each that enters.

    Places of the chosen terms, the intercept first, and their coefficients.
    """
    chosen = np.zeros(1, np.intp)
    while True:
        matrix = np.ascontiguousarray(design.pick(chosen, terms).T)
        coefficients = fit(matrix, outcome).coefficients
        if len(chosen) > _MOST_START_TERMS:
            return chosen, coefficients
        chance = chances(matrix @ coefficients)
        tests = _score_tests(design, terms, chosen, outcome - chance, chance * (1.0 - chance))
        best = int(tests.argmax())
        if tests[best] <= ENTER:
            return chosen, coefficients
        chosen = np.append(chosen, best)


def _score_tests(
    design: Design, terms: Numbers, chosen: Places, residuals: Numbers, weights: Numbers
) -> Numbers:
    """Chi-square of each term left out (-1 of the chosen ones), as if it entered next."""
    size = len(design)
    score, own, across = np.zeros(size), np.zeros(size), np.zeros((len(chosen), size))
    for some in _chunks(terms.shape[1]):
        matrix = design.fill(terms[:, some])
        weighted = matrix * weights[some]
        score += matrix @ residuals[some]
        own += np.einsum("ij,ij->i", matrix, weighted)
        across += matrix[chosen] @ weighted.T
    explained = np.einsum("ij,ij->j", across, np.linalg.solve(across[:, chosen], across))
    left = own - explained
    tests: Numbers = np.where(left > 1e-7 * own, np.square(score) / np.maximum(left, 1e-300), 0.0)
    tests[chosen] = -1.0
    return tests


def _chunks(rows: int) -> Iterator[slice]:
    for start in range(0, rows, _CHUNK_ROWS):
        yield slice(start, min(start + _CHUNK_ROWS, rows))

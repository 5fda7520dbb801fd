"""Who lacks insurance: weighted logistic regression of a survey, variance by strata and clusters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mawl.base.units import format_percent
from mawl.plan.columns import LOGIT_UNIT
from mawl.programs.context import JobContext, check, check_equal, check_most
from mawl.programs.declarations.survey_logistic import (
    AREAS,
    BLOCK_ROWS,
    CLASSES,
    CLUSTER_ROWS,
    COLUMNS,
    PERSONS,
    STRATA,
    TABLE,
    UNINSURED,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.estimates import check_coefficients
from mawl.programs.toolkit.groups import PreparedJob, even_blocks, numeric_schema
from mawl.programs.toolkit.models import (
    Design,
    FittedLogistic,
    RecombinedFit,
    chances,
    fit,
    indicator_names,
    prepare,
)
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]


class ClusterTotals:
    """Sums of squares and products of clusters' totals within strata; clusters come one after another.

    They give the variance of an estimate by linearisation: Binder, On the variances of asymptotically
    normal estimators from complex surveys, International Statistical Review 51 (1983).  Clusters count as
    drawn with replacement within strata.
    """

    def __init__(self, strata: int, terms: int) -> None:
        self.clusters = np.zeros(strata, np.int64)
        self._sums = np.zeros((strata, terms))
        self._products = np.zeros((strata, terms, terms))
        self._open: tuple[float, int, Numbers] | None = None

    def add(self, scores: Numbers, cluster: Numbers, stratum: Numbers) -> None:
        """Rows' scores, (terms, rows), and the numbers of their cluster and stratum (from 0), (rows,)."""
        starts = np.concatenate(([0], np.flatnonzero(np.diff(cluster)) + 1))
        totals = np.add.reduceat(scores, starts, axis=1).T
        numbers, strata = cluster[starts], stratum[starts].astype(np.intp)
        if self._open is not None:
            if self._open[0] == numbers[0]:
                totals[0] += self._open[2]
            else:
                self._close(np.array([self._open[1]]), self._open[2][None, :])
        # The last one may go on in the next batch.
        self._open = (float(numbers[-1]), int(strata[-1]), totals[-1])
        self._close(strata[:-1], totals[:-1])

    def finish(self) -> None:
        if self._open is not None:
            self._close(np.array([self._open[1]]), self._open[2][None, :])
            self._open = None

    def variance(self) -> Numbers:
        """The variance of the scores' sum over all rows: (terms, terms)."""
        total = np.zeros(self._products.shape[1:])
        for count, sums, products in zip(self.clusters, self._sums, self._products, strict=True):
            clusters = int(count)
            within = products - np.outer(sums, sums) / max(clusters, 1)
            total += within * (clusters / max(clusters - 1, 1))
        return total

    @property
    def score(self) -> Numbers:
        """The sum of all scores: (terms,)."""
        found: Numbers = self._sums.sum(axis=0)
        return found

    def _close(self, strata: NDArray[np.intp], totals: Numbers) -> None:
        for stratum in np.unique(strata):
            some = totals[strata == stratum]
            self.clusters[stratum] += len(some)
            self._sums[stratum] += some.sum(axis=0)
            self._products[stratum] += some.T @ some


_MEASURES = (*AREAS, *PERSONS)
_NAMES = [*(measure.name for measure in _MEASURES), *indicator_names(CLASSES)]
_PRODUCTS = [(area.name, person.name) for area in AREAS[:4] for person in PERSONS[:6]]
_IDS = ("person", "stratum", "cluster", "weight", "uninsured")
_SCHEMA = numeric_schema(*_IDS, *_NAMES)
assert len(_SCHEMA) == COLUMNS
_SIGMAS = 7.0
"""Standard errors that a coefficient may be from the truth: they rest on 384 clusters at the least."""
_LAST_STEP = 0.02
"""Most standard errors over the root of the rows that the last Newton step may go: the bias of blocks."""
_LIKENESS = 0.66
"""Covariance of neighbours who share a draw over the variance of one: chances differ (measured)."""
_EFFECT_SLACK = {"areas": 0.5, "persons": 0.25}


def run(context: JobContext) -> Answer:
    """Do all steps; coefficients and design effects agree to a relative 1e-6 at any number of threads."""
    return _SurveyLogistic(context).run()


class _SurveyLogistic(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the respondents")
        self.design = Design(_NAMES, _PRODUCTS)
        self.weight, self.weight_squares = 0.0, 0.0
        self.fitted = RecombinedFit(len(self.design))
        self.totals = ClusterTotals(STRATA, len(self.design))
        self.information = np.zeros((len(self.design), len(self.design)))
        self.linearised_rows = 0
        self.answer |= {"respondents": self.rows, "terms": len(self.design)}

    def _work(self) -> None:
        self._prepare()
        self._fit()
        self._linearise()

    def _prepare(self) -> None:
        with self.prepared.preparing() as table:
            for batch in self.prepared.input_batches():
                columns = [arrow.numbers(batch.column(name)) for name in _IDS]
                # Weights are whole numbers: their sums are exact.
                self.weight += float(columns[3].sum())
                self.weight_squares += float(np.square(columns[3]).sum())
                columns += [*prepare(batch, _MEASURES, CLASSES)]
                table.write(columns)
        self.mean_weight = self.weight / self.rows
        self.answer["weighted_population"] = int(self.weight)

    def _fit(self) -> None:
        with self.context.steps.step("fit") as step:
            blocks = even_blocks(self._columns(), self.rows, BLOCK_ROWS)
            for fitted in side_by_side(self.context, self._fit_block, blocks, self.rows // BLOCK_ROWS):
                self.fitted.add(fitted)
            step.rows_read = self.fitted.rows

    def _fit_block(self, columns: Numbers) -> FittedLogistic:
        matrix = np.ascontiguousarray(self.design.fill(columns[len(_IDS) :]).T)
        return fit(matrix, columns[4], columns[3] / self.mean_weight)

    def _linearise(self) -> None:
        """One more Newton step, over all rows; the variance of their scores by cluster and stratum."""
        start = self.fitted.coefficients
        with self.context.steps.step("linearise") as step:
            for columns in self._columns():
                matrix = self.design.fill(columns[len(_IDS) :])
                weights = columns[3] / self.mean_weight
                chance = chances(start @ matrix)
                self.totals.add(matrix * (weights * (columns[4] - chance)), columns[2], columns[1])
                self.information += (matrix * (weights * chance * (1.0 - chance))) @ matrix.T
                self.linearised_rows += len(weights)
            self.totals.finish()
            step.rows_read = self.linearised_rows
        inverse = np.linalg.inv(self.information)
        variances = np.diag(inverse @ self.totals.variance() @ inverse)
        self.coefficients = start + inverse @ self.totals.score
        self.errors = np.sqrt(variances)
        self.last_step = float(np.abs((self.coefficients - start) / self.errors).max())
        self.effects = dict(zip(self.design.terms, variances / np.diag(inverse), strict=True))
        self.answer |= {
            "largest_design_effect": float(max(self.effects.values())),
            "largest_coefficient": float(np.abs(self.coefficients[1:]).max()),
        }

    def _columns(self) -> Iterator[Numbers]:
        """A pass over the prepared table, as (columns, rows); its word sum is checked."""
        for batch in self.prepared.batches():
            yield np.stack([arrow.numbers(column) for column in batch.columns])

    def _check(self) -> None:
        check_equal("the number of respondents fitted", self.fitted.rows, self.rows)
        check_equal("the number of respondents linearised", self.linearised_rows, self.rows)
        check_equal(
            "the number of clusters by stratum",
            self.totals.clusters.tolist(),
            np.bincount(np.arange(self.rows // CLUSTER_ROWS) % STRATA).tolist(),
        )
        check_most(
            "the last Newton step, in standard errors,", self.last_step, _LAST_STEP * np.sqrt(self.rows)
        )
        self._check_effects()
        truth = self.design.truth(UNINSURED.intercept, UNINSURED.terms, LOGIT_UNIT)
        self.answer["farthest_deviations"] = check_coefficients(
            "uninsured", self.coefficients, truth, self.errors, _SIGMAS
        )

    def _check_effects(self) -> None:
        weighting = self.rows * self.weight_squares / self.weight**2
        alike = 1.0 + (CLUSTER_ROWS - 1) * (UNINSURED.shared / 256) ** 2 * _LIKENESS
        for what, factors, expected in (
            ("areas", AREAS, weighting * alike),
            ("persons", PERSONS, weighting),
        ):
            found = float(np.mean([self.effects[factor.name] for factor in factors]))
            self.answer[f"design_effect_of_{what}"] = found
            check(
                abs(found / expected - 1.0) <= _EFFECT_SLACK[what],
                f"the mean design effect of {what}",
                found=found,
                expected=f"{expected:.3f} within {format_percent(_EFFECT_SLACK[what])}",
            )

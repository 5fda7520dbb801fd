"""Models of any number of rows: design matrices, logistic fits in blocks, checks of estimates."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from mawl.plan.columns import Code, Column, Factor, PerGroup, Product
from mawl.programs.context import check
from mawl.programs.tables import arrow

Numbers = NDArray[np.float64]


def class_levels(column: Column) -> tuple[str, ...]:
    """The values of a class that get an indicator: all but the first."""
    codes = column.values.values if isinstance(column.values, PerGroup) else column.values
    assert isinstance(codes, Code)
    return codes.values[1:]


def indicator_names(classes: Iterable[Column]) -> list[str]:
    """Names of the indicators, as ``Factor`` has them."""
    return [Factor(column, value=value).name for column in classes for value in class_levels(column)]


def prepare(batch: pa.RecordBatch, measures: Sequence[Factor], classes: Sequence[Column]) -> Numbers:
    """Centred measures, then the classes' indicators, as (columns, rows)."""
    levels = [(column, value) for column in classes for value in class_levels(column)]
    prepared = np.empty((len(measures) + len(levels), batch.num_rows))
    for place, measure in enumerate(measures):
        np.subtract(arrow.numbers(batch.column(measure.column.name)), measure.less, out=prepared[place])
    words = {column.name: arrow.words(batch.column(column.name)) for column in classes}
    for place, (column, value) in enumerate(levels, start=len(measures)):
        wanted = np.frombuffer(value.ljust(8).encode("latin-1"), np.uint64)
        np.equal(words[column.name], wanted[0], out=prepared[place], casting="unsafe")
    return prepared


class Design:
    """Terms of a model over prepared columns: intercept, ``names``, then ``products`` of two of them."""

    def __init__(self, names: Sequence[str], products: Sequence[tuple[str, str]]) -> None:
        self.terms = ("intercept", *names, *("*".join(pair) for pair in products))
        self._columns = len(names)
        places = {name: place for place, name in enumerate(names)}
        self._products = [
            (row, places[first], places[second])
            for row, (first, second) in enumerate(products, start=1 + len(names))
        ]

    def __len__(self) -> int:
        return len(self.terms)

    def fill(self, prepared: Numbers) -> Numbers:
        """The matrix of (terms, rows) for prepared columns (names, rows)."""
        matrix = np.empty((len(self.terms), prepared.shape[1]))
        matrix[0] = 1.0
        matrix[1 : 1 + self._columns] = prepared
        for row, first, second in self._products:
            np.multiply(prepared[first], prepared[second], out=matrix[row])
        return matrix

    def pick(self, places: NDArray[np.intp], prepared: Numbers) -> Numbers:
        """Some terms' rows of that matrix, (places, rows)."""
        matrix = np.empty((len(places), prepared.shape[1]))
        for row, place in enumerate(places):
            if place == 0:
                matrix[row] = 1.0
            elif place <= self._columns:
                matrix[row] = prepared[place - 1]
            else:
                _, first, second = self._products[place - 1 - self._columns]
                np.multiply(prepared[first], prepared[second], out=matrix[row])
        return matrix

    def truth(self, intercept: int, terms: Iterable[Product], unit: int = 1) -> Numbers:
        """The true coefficient of each of the model's terms, 0 where the generator has none."""
        coefficients = np.zeros(len(self.terms))
        coefficients[0] = intercept / unit
        for term in terms:
            coefficients[self.terms.index(term.name)] = term.slope / unit
        return coefficients


BLOCK_ERRORS = 8.0
"""Standard errors that one estimate may be from the truth; they are estimates themselves, hence so many."""

POOLED_ERRORS = 6.0
"""Standard errors that a mean over all blocks may be from the truth."""


def check_estimates(
    what: str, estimates: Numbers, errors: Numbers, truth: Numbers, *, bias: float, error_slack: float
) -> float:
    """Raise ``WrongAnswerError`` unless estimates agree with the truth.

    ``estimates`` and ``errors`` are (blocks, terms), ``truth`` is (terms,).  Looked at is each estimate
    by itself, their means over the blocks (which may be off by ``bias`` besides), and the size of their
    standard errors, whose square may be off by ``error_slack`` of it beside chance.  Returns the largest
    distance of one estimate in standard errors.
    """
    # What is no number is far from every truth.
    distances = np.nan_to_num(np.abs(estimates - truth) / errors, nan=np.inf)
    block, term = np.unravel_index(int(distances.argmax()), distances.shape)
    farthest = float(distances[block, term])
    check(
        farthest <= BLOCK_ERRORS,
        f"the coefficient of {what} farthest from the truth, in standard errors,",
        found=f"{farthest:.2f} (block {block}, term {term})",
        expected=f"at most {BLOCK_ERRORS:g}",
    )
    blocks = len(estimates)
    means = estimates.mean(axis=0)
    allowed = bias + POOLED_ERRORS * np.sqrt(np.square(errors).mean(axis=0) / blocks)
    worst = int((np.abs(means - truth) - allowed).argmax())
    check(
        bool((np.abs(means - truth) <= allowed).all()),
        f"the mean over blocks of coefficient {worst} of {what}",
        found=float(means[worst]),
        expected=f"{truth[worst]:g}, give or take {allowed[worst]:.4f}",
    )
    squares = float(np.square(distances).mean())
    chance = POOLED_ERRORS * math.sqrt(2.0 / estimates.size)
    check(
        (1.0 - error_slack) * max(1.0 - chance, 0.0) <= squares <= (1.0 + error_slack) * (1.0 + chance),
        f"the square of distances from the truth of {what}, in standard errors,",
        found=squares,
        expected=f"1, give or take {chance + error_slack:.3f}",
    )
    return farthest


def chances(predictor: Numbers) -> Numbers:
    """The logistic curve."""
    found: Numbers = 1.0 / (1.0 + np.exp(-predictor))
    return found


class FittedLogistic(NamedTuple):
    """What a fit of some rows found: coefficients and their covariance."""

    rows: int
    coefficients: Numbers
    covariance: Numbers


class NewtonProducts:
    """Cross-products for one Newton step (of iteratively reweighted least squares) from given coefficients.

    ``products`` are those of the design's terms and the working response, weighted by the variance of
    each row's outcome: a weighted regression on them gives the next coefficients of *any* subset of the
    terms, and its tests are score tests (McCullagh and Nelder, Generalized Linear Models, 2.5).
    """

    def __init__(self, coefficients: Numbers, terms: NDArray[np.intp], size: int) -> None:
        self._coefficients, self._terms = coefficients, terms
        self.products = np.zeros((size + 1, size + 1))
        self.rows = 0

    def add(self, products: Numbers, rows: int) -> None:
        self.products += products
        self.rows += rows

    def of(self, design: Numbers, outcome: Numbers) -> Numbers:
        """The products of rows of the design matrix, as (terms, rows), and their outcomes, (rows,)."""
        predictor = self._coefficients @ design[self._terms]
        chance = chances(predictor)
        root = np.sqrt(chance * (1.0 - chance))
        weighted = np.empty((len(design) + 1, len(outcome)))
        np.multiply(design, root, out=weighted[:-1])
        weighted[-1] = predictor * root + (outcome - chance) / root
        found: Numbers = weighted @ weighted.T
        return found


class RecombinedFit:
    """One model fitted to each block of rows, put together by information (divide and recombine).

    Cleveland and Hafen, Divide and recombine, Statistical Analysis and Data Mining 7 (2014).
    """

    def __init__(self, terms: int) -> None:
        self.information = np.zeros((terms, terms))
        self._weighted = np.zeros(terms)
        self.rows = 0
        self.blocks = 0

    def add(self, block: FittedLogistic) -> None:
        information = np.linalg.inv(block.covariance)
        self.information += information
        self._weighted += information @ block.coefficients
        self.rows += block.rows
        self.blocks += 1

    @property
    def coefficients(self) -> Numbers:
        """The means of the blocks' coefficients, weighted by their information."""
        return np.linalg.solve(self.information, self._weighted).astype(np.float64, copy=False)


def fit(design: Numbers, outcome: Numbers, weights: Numbers | None = None) -> FittedLogistic:
    """Iteratively reweighted least squares over (rows, terms), outcomes, and weights of mean one, (rows,)."""
    fitted = GLM(outcome, design, family=Binomial(), var_weights=weights).fit()
    check(bool(fitted.converged), "the fit of a logistic model", found="no convergence", expected="it")
    logistic = FittedLogistic(len(outcome), fitted.params, fitted.normalized_cov_params)
    del fitted
    # A result and its model hold each other, with several copies of the rows: let go of both now.
    gc.collect(1)
    return logistic

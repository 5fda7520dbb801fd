"""Logistic models over any number of rows: fits in blocks put together, and Newton steps over a pass."""

from __future__ import annotations

import gc
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from mawl.programs.context import check

Numbers = NDArray[np.float64]


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
        """Add what :meth:`of` gave for so many rows."""
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


class Recombined:
    """One model fitted to each block of rows, put together by information (divide and recombine).

    Cleveland and Hafen, Divide and recombine, Statistical Analysis and Data Mining 7 (2014).
    """

    def __init__(self, terms: int) -> None:
        self.information = np.zeros((terms, terms))
        self._weighted = np.zeros(terms)
        self.rows = 0
        self.blocks = 0

    def add(self, block: FittedLogistic) -> None:
        """Add what :func:`fit` found of a block."""
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
    found = FittedLogistic(len(outcome), fitted.params, fitted.normalized_cov_params)
    del fitted
    # A result and its model hold each other, with several copies of the rows: let go of both now.
    gc.collect(1)
    return found


def check_coefficients(what: str, found: Numbers, truth: Numbers, errors: Numbers, sigmas: float) -> float:
    """Raise unless all coefficients are within ``sigmas`` standard errors of the truth; the farthest."""
    distances = np.abs(found - truth) / errors
    # A coefficient that is no number is far from every truth.
    farthest = float(np.where(np.isnan(distances), np.inf, distances).max())
    check(
        farthest <= sigmas,
        f"the coefficient of {what} farthest from the truth, in standard errors,",
        found=farthest,
        expected=f"at most {sigmas:g}",
    )
    return farthest

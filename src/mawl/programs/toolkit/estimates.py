"""Least squares over any number of rows, and how well scores rank what happened: added up batch by batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from mawl.programs.context import check, check_equal, check_most

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


class ScoreBins:
    """Counts of rows with outcome 0 and 1 in ``bins`` equal bins of a score between 0 and 1."""

    def __init__(self, bins: int = 4096) -> None:
        self._bins = bins
        self.counts: Counts = np.zeros((2, bins), np.int64)

    def add(self, scores: Numbers, happened: NDArray[np.bool_]) -> None:
        """One batch: scores and outcomes of its rows, (rows,) each."""
        places = np.minimum((scores * self._bins).astype(np.int64), self._bins - 1)
        places += self._bins * happened
        self.counts += np.bincount(places, minlength=2 * self._bins).reshape(2, self._bins)

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    def area(self) -> float:
        """Area under the receiver operating characteristic (0 to 1), ties of a bin counted half."""
        below = np.cumsum(self.counts[0]) - self.counts[0]
        pairs = (self.counts[1] * (below + 0.5 * self.counts[0])).sum()
        return float(pairs / max(float(self.counts[0].sum()) * float(self.counts[1].sum()), 1.0))

    def accuracy(self) -> float:
        """Share of rows on the right side of one half (0 to 1)."""
        half = self._bins // 2
        right = self.counts[0, :half].sum() + self.counts[1, half:].sum()
        return float(right / max(self.rows, 1))

    def by_part(self, parts: int) -> tuple[Counts, Counts, Numbers]:
        """Rows, those with outcome 1 and their mean score in ``parts`` about equal parts, scores rising.

        (parts,) each; whole bins make a part, and a row's score is its bin's middle.
        """
        sizes = self.counts.sum(axis=0)
        reached = np.cumsum(sizes) / max(self.rows, 1)
        firsts = np.searchsorted(reached, np.arange(1, parts) / parts) + 1
        places = np.searchsorted(firsts, np.arange(self._bins), side="right")
        middles = (np.arange(self._bins) + 0.5) / self._bins

        by_part = np.bincount(places, weights=sizes, minlength=parts)
        happened = np.bincount(places, weights=self.counts[1], minlength=parts)
        mean = np.bincount(places, weights=sizes * middles, minlength=parts) / np.maximum(by_part, 1.0)
        return by_part.astype(np.int64), happened.astype(np.int64), mean


def check_calibration(what: str, ranking: ScoreBins, *, parts: int, slack: float, deviations: float) -> None:
    """Raise ``WrongAnswerError`` unless rows of about equal parts happen as foretold.

    Shares may be off by ``slack`` and so many of their standard errors.
    """
    sizes, observed, foretold = ranking.by_part(parts)
    filled = sizes > 0
    sizes, foretold = sizes[filled], foretold[filled]
    found = observed[filled] / sizes
    allowed = slack + deviations * np.sqrt(foretold * (1.0 - foretold) / sizes)
    check(
        bool((np.abs(found - foretold) <= allowed).all()),
        f"the share of {what}",
        found=found.round(4).tolist(),
        expected=f"{foretold.round(4).tolist()}, as foretold",
    )


SIGMAS = 6.0
"""Standard errors that a coefficient may be from the truth: once in 5e8 coefficients by chance."""


class LeastSquares:
    """A regression in two passes: ``add`` each batch and ``solve``, then ``add_residuals``.

    Entries of the normal equations of whole numbers are whole; below 2**53 they are exact, in
    whatever order they are added.
    """

    def __init__(self, terms: int) -> None:
        self.rows = 0
        self.coefficients: Numbers = np.zeros(terms)
        self.squares = 0.0
        self.residual_rows = 0
        self._products = np.zeros((terms, terms))
        self._right = np.zeros(terms)
        self._inverse_diagonal = np.zeros(terms)

    def add(self, design: Numbers, response: Numbers) -> None:
        """Rows of the design matrix, (rows, terms), and their responses, (rows,)."""
        self._products += design.T @ design
        self._right += design.T @ response
        self.rows += len(response)

    def solve(self) -> None:
        # Scaled to a unit diagonal: terms of very different size would cost digits.
        scale = 1.0 / np.sqrt(np.diag(self._products))
        factor = cho_factor(self._products * scale[:, None] * scale[None, :])
        self.coefficients = cho_solve(factor, self._right * scale) * scale
        inverse = cho_solve(factor, np.eye(len(scale)))
        self._inverse_diagonal = np.diag(inverse) * scale * scale

    def add_residuals(self, design: Numbers, response: Numbers) -> None:
        """Add rows' squared residuals, in the second pass."""
        residuals = response - design @ self.coefficients
        self.squares += float(residuals @ residuals)
        self.residual_rows += len(response)

    @property
    def variance(self) -> float:
        return self.squares / (self.residual_rows - len(self.coefficients))

    def check(self, what: str, truth: Numbers) -> float:
        """Raise ``WrongAnswerError`` where a coefficient is far from the true one.

        ``truth`` may be NaN where it is not known.  Returns the largest distance in standard errors.
        """
        errors = np.sqrt(self._inverse_diagonal * self.variance)
        known = ~np.isnan(truth)
        check_equal(f"the number of residuals of {what}", self.residual_rows, self.rows)
        return check_coefficients(what, self.coefficients[known], truth[known], errors[known], SIGMAS)


def check_coefficients(what: str, found: Numbers, truth: Numbers, errors: Numbers, sigmas: float) -> float:
    """Raise unless all coefficients are within ``sigmas`` standard errors of the truth; the farthest."""
    distances = np.abs(found - truth) / errors
    # A coefficient that is no number is far from every truth.
    farthest = float(np.where(np.isnan(distances), np.inf, distances).max())
    check_most(f"the coefficient of {what} farthest from the truth, in standard errors,", farthest, sigmas)
    return farthest

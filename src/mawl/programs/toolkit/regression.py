"""Least squares over any number of rows: the normal equations are added up batch by batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from mawl.programs.context import check

Numbers = NDArray[np.float64]

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
        distances = np.abs(self.coefficients - truth) / errors
        known = ~np.isnan(truth)
        # A coefficient that is no number is far from every truth.
        farthest = float(np.max(np.where(np.isnan(distances[known]), np.inf, distances[known])))
        check(
            self.residual_rows == self.rows,
            f"the number of residuals of {what}",
            found=self.residual_rows,
            expected=self.rows,
        )
        check(
            farthest <= SIGMAS,
            f"the coefficient of {what} farthest from the truth, in standard errors,",
            found=farthest,
            expected=f"at most {SIGMAS:g}",
        )
        return farthest

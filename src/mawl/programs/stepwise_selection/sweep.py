"""Stepwise selection on a matrix of cross-products: score tests and the sweep operator, no refits.

The operator is that of Goodnight, A tutorial on the sweep operator, The American Statistician 33 (1979).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

ENTER = 15.137
STAY = 13.831
"""A candidate enters above and leaves below these values of its test: chi-square with one degree of freedom
at 0.0001 and 0.0002.  Rows are thousands at least, so that F of one and many degrees is the same."""
_TOLERANCE = 1e-7
_MOST_STEPS = 100


class Stepwise:
    """Stepwise selection of candidates for one response.

    ``products`` is the symmetric matrix of cross-products of intercept, candidates and response, in this
    order; it is left as it is.  With ``rows`` the response's variance is estimated from the residuals (F
    tests); without, it is one (products weighted by it, as in a Newton step of a logistic model).
    After :meth:`select`: ``chosen`` (places of candidates, rising), ``coefficients`` and ``errors`` of the
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
        """The residuals' variance."""
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

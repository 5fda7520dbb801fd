"""D-optimal designs among allowed runs: coordinate exchange, and a bound that no design can pass."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]

IMPROVES = 1.0 + 1e-6
"""A swap improves a design when it multiplies the determinant by more."""

_MOST_SWEEPS = 100
_STARTS_TRIED = 50
_BOUND_ROUNDS = 2_000
_BOUND_GAP = 0.01


class Candidates:
    """The runs that are allowed, and the terms of a model at each of them.

    ``levels`` are coded levels, (runs, factors), and ``terms`` the model's values there, (runs, terms).
    """

    def __init__(self, levels: Numbers, terms: Numbers) -> None:
        self.terms = terms
        differing = (levels[:, None, :] != levels[None, :, :]).sum(axis=2)
        self.neighbours: list[Places] = [np.flatnonzero(row == 1) for row in differing]
        """Of each run those that differ from it in one coordinate."""

    def log_determinant(self, design: Places) -> float:
        """The logarithm of the information's determinant; minus infinity where it is singular."""
        rows = self.terms[design]
        sign, value = np.linalg.slogdet(rows.T @ rows)
        return float(value) if sign > 0 else -np.inf

    def search(self, runs: int, starts: int, random: np.random.Generator) -> tuple[Places, float]:
        """The best design of several starts, runs in rising order, and its log determinant."""
        best, highest = np.empty(0, np.intp), -np.inf
        for _ in range(starts):
            design = self._exchange(self._start(runs, random))
            value = self.log_determinant(design)
            # Beyond rounding: else the last bits would choose.
            if value > highest + 1e-6:
                best, highest = design, value
        return np.sort(best), highest

    def _start(self, runs: int, random: np.random.Generator) -> Places:
        """A random design from which all terms can be estimated."""
        for _ in range(_STARTS_TRIED):
            design: Places = random.integers(0, len(self.terms), runs)
            rows = self.terms[design]
            if np.linalg.matrix_rank(rows) == rows.shape[1]:
                return design
        raise ValueError(f"no design of {runs} runs was found that tells {self.terms.shape[1]} terms apart")

    def _exchange(self, design: Places) -> Places:
        """Change single coordinates of single runs as long as that improves the design."""
        rows = self.terms[design]
        inverse = np.linalg.inv(rows.T @ rows).astype(np.float64)
        for _ in range(_MOST_SWEEPS):
            improved = False
            for run, place in enumerate(design):
                old = self.terms[place]
                others = self.neighbours[place]
                if not len(others):
                    continue
                new = self.terms[others]
                ratios = _ratios(inverse, old, new)
                best = int(ratios.argmax())
                if ratios[best] > IMPROVES:
                    inverse = _updated(_updated(inverse, new[best], 1.0), old, -1.0)
                    design[run] = others[best]
                    improved = True
            if not improved:
                break
        return design

    def best_swap(self, design: Places) -> float:
        """By how much the best swap of one coordinate multiplies the determinant, each worked out anew."""
        here = self.log_determinant(design)
        swaps = []
        for run, place in enumerate(design):
            for other in self.neighbours[place]:
                swapped = design.copy()
                swapped[run] = other
                swaps.append(swapped)
        rows = self.terms[np.array(swaps)]
        _, values = np.linalg.slogdet(rows.transpose(0, 2, 1) @ rows)
        return float(np.exp(values.max() - here))

    def bound(self) -> float:
        """What the log determinant of a run's mean information cannot exceed, whatever the design.

        Weights of runs are improved by the multiplicative rule; the logarithm is concave, so that what
        the largest variance has above the number of terms bounds what is missing.
        """
        count, terms = self.terms.shape
        weights = np.full(count, 1.0 / count)
        best = np.inf
        for _ in range(_BOUND_ROUNDS):
            information = self.terms.T @ (weights[:, None] * self.terms)
            variances = ((self.terms @ np.linalg.inv(information)) * self.terms).sum(axis=1)
            gap = float(variances.max() - terms)
            best = min(best, float(np.linalg.slogdet(information)[1]) + gap)
            if gap < _BOUND_GAP:
                break
            weights *= variances / terms
        return best


def model_terms(levels: Numbers, squares: NDArray[np.bool_], pairs: NDArray[np.bool_]) -> Numbers:
    """A model's values at runs: one, all levels, the squares and the products that it has."""
    factors = levels.shape[1]
    products = [
        levels[:, one] * levels[:, other]
        for (one, other), has in zip(itertools.combinations(range(factors), 2), pairs, strict=True)
        if has
    ]
    return np.column_stack([np.ones(len(levels)), levels, np.square(levels[:, squares]), *products])


def _ratios(inverse: Numbers, old: Numbers, new: Numbers) -> Numbers:
    """By how much each of ``new`` in the place of ``old`` multiplies the determinant."""
    towards = inverse @ old
    own = old @ towards
    variances = ((new @ inverse) * new).sum(axis=1)
    found: Numbers = (1.0 + variances) * (1.0 - own) + np.square(new @ towards)
    return found


def _updated(inverse: Numbers, row: Numbers, sign: float) -> Numbers:
    """The inverse after a row was added (``sign`` 1) or taken away (-1): Sherman and Morrison's formula."""
    towards = inverse @ row
    found: Numbers = inverse - sign / (1.0 + sign * (row @ towards)) * np.outer(towards, towards)
    return found

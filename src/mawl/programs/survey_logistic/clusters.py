"""Totals by cluster within strata, and the variance that they give an estimate (linearisation).

Binder, On the variances of asymptotically normal estimators from complex surveys, International
Statistical Review 51 (1983); clusters count as drawn with replacement within strata.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class ClusterTotals:
    """Sums of squares and products of clusters' totals within strata; clusters come one behind the other."""

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
        """The last cluster is whole."""
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

"""Customers of one market in clusters, and the clusters of all markets matched into common segments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]

COMPONENTS = 10
_FITTED_ROWS = 2_048
"""About how many rows of a market k-means is fitted on: every so-many-th."""
_STARTS = 16
_RANDOM_STATE = 20_261_120


class Market(NamedTuple):
    """What one market's fit found."""

    clusters: Places
    """Each customer's cluster, from 0: (rows,)."""
    explained: float
    """Share of the variance of the standardised features that the components explain."""


def clusters_of(features: Numbers, clusters: int) -> Market:
    """Components of a market's standardised features, (rows, features), and k-means on their scores."""
    standard = standardised(features, features.mean(axis=0), features.std(axis=0))
    components = PCA(n_components=COMPONENTS, svd_solver="covariance_eigh").fit(standard)
    scores = components.transform(standard)
    every = max(len(scores) // _FITTED_ROWS, 1)
    fitted = KMeans(n_clusters=clusters, n_init=_STARTS, random_state=_RANDOM_STATE).fit(scores[::every])
    return Market(fitted.predict(scores).astype(np.intp), float(components.explained_variance_ratio_.sum()))


def standardised(values: Numbers, means: Numbers, deviations: Numbers) -> Numbers:
    """Values in standard deviations from their means."""
    return (values - means) / np.maximum(deviations, 1e-6)


def nearest(points: Numbers, centres: Numbers) -> Places:
    """The nearest centre, (centres, features), of each point, (rows, features): (rows,)."""
    closeness = points @ centres.T - 0.5 * np.square(centres).sum(axis=1)
    found: Places = closeness.argmax(axis=1)
    return found


def sums_by(places: Places, values: Numbers, count: int) -> Numbers:
    """Sums of rows, (rows, columns), by their place, from 0 to ``count``: (count, columns)."""
    sums: Numbers = np.eye(count)[places].T @ values
    return sums


class Segments:
    """Common segments: each market's clusters, one to one with those of the markets before."""

    def __init__(self, count: int, features: int) -> None:
        self.counts = np.zeros(count, np.int64)
        self._sums = np.zeros((count, features))

    def add(self, sums: Numbers, counts: NDArray[np.int64]) -> None:
        """Add a market's clusters, matched one to one: sums of features by cluster, and rows of each."""
        order = np.arange(len(counts))
        if self.counts.any():
            means = sums / np.maximum(counts, 1)[:, None]
            distances = np.square(self.centres()[:, None, :] - means[None, :, :]).sum(axis=2)
            order = linear_sum_assignment(distances)[1]
        self._sums += sums[order]
        self.counts += counts[order]

    def centres(self) -> Numbers:
        """The mean of the members of each segment: (segments, features)."""
        return self._sums / np.maximum(self.counts, 1)[:, None]

"""Totals of clusters and their variance, however the rows are cut into batches."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.programs.survey_logistic.run import ClusterTotals


@pytest.mark.parametrize("cuts", [[], [5], [8, 9, 10], [1, 40, 41, 100]])
def test_variance_is_that_of_totals_within_strata(cuts: list[int]) -> None:
    random = np.random.default_rng(1)
    sizes = random.integers(1, 9, 30)
    cluster = np.repeat(np.arange(30.0), sizes)
    stratum = cluster % 4
    scores = random.standard_normal((3, len(cluster)))
    totals = ClusterTotals(4, 3)
    for some in np.split(np.arange(len(cluster)), cuts):
        totals.add(scores[:, some], cluster[some], stratum[some])
    totals.finish()
    totals.finish()
    expected = np.zeros((3, 3))
    for number in range(4):
        inside = np.array(
            [scores[:, cluster == name].sum(axis=1) for name in range(30) if name % 4 == number]
        )
        expected += len(inside) * np.cov(inside.T)
    assert totals.clusters.tolist() == [8, 8, 7, 7]
    assert totals.score == pytest.approx(scores.sum(axis=1))
    assert totals.variance() == pytest.approx(expected)

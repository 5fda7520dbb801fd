"""Markets in clusters: fits, common segments, and what they are compared with."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.base.errors import WrongAnswerError
from mawl.programs.datagen.values import column_values, true_cluster
from mawl.programs.declarations.segmentation import CLUSTER_SHARES, TABLE
from mawl.programs.segmentation import (
    COMPONENTS,
    ClusterAgreement,
    ClusterTruth,
    Numbers,
    Places,
    Segments,
    check_agreement,
    clusters_of,
    nearest,
    sums_by,
)

SEED = 5
CLUSTERS = len(CLUSTER_SHARES)


def _market(start: int, count: int) -> tuple[Numbers, Places]:
    """Features and hidden clusters of some customers."""
    columns = [column for column in TABLE.columns if column.name.startswith("feature_")]
    made = [
        column_values(TABLE, column, seed=SEED, replica=0, start=start, count=count) for column in columns
    ]
    hidden = true_cluster(TABLE, seed=SEED, replica=0, start=start, count=count)
    return np.stack(made, axis=1).astype(np.float64), hidden


def test_nearest_is_by_distance() -> None:
    chance = np.random.default_rng(1)
    points, centres = chance.normal(size=(50, 4)), chance.normal(size=(6, 4))
    distances = np.square(points[:, None, :] - centres[None, :, :]).sum(axis=2)
    assert nearest(points, centres).tolist() == distances.argmin(axis=1).tolist()


def test_sums_are_those_of_each_place() -> None:
    values = np.arange(8.0).reshape(4, 2)
    assert sums_by(np.array([2, 0, 2, 2]), values, 3).tolist() == [[2.0, 3.0], [0.0, 0.0], [10.0, 13.0]]


def test_clusters_of_other_markets_are_matched_whatever_their_order() -> None:
    centres = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    segments = Segments(3, 2)
    for order, counts in ([0, 1, 2], [10, 20, 30]), ([2, 0, 1], [5, 6, 7]), ([1, 2, 0], [1, 2, 3]):
        rows = np.array(counts)
        segments.add((centres[order] + 0.1) * rows[:, None], rows)
    assert segments.centres() == pytest.approx(centres + 0.1)
    assert segments.counts.tolist() == [10 + 6 + 3, 20 + 7 + 1, 30 + 5 + 2]


def test_a_market_s_clusters_agree_with_the_hidden_ones() -> None:
    truth = ClusterTruth(TABLE, SEED)
    agreement = ClusterAgreement(truth)
    features, hidden = _market(1000, 6000)
    found = clusters_of(features, CLUSTERS)
    agreement.add(found.clusters, hidden, features)
    check_agreement("clusters", agreement)
    assert agreement.agreement() == pytest.approx(agreement.nearest_true(), abs=0.03)
    assert found.explained == pytest.approx(truth.explained(COMPONENTS), abs=0.01)


def test_all_components_explain_everything() -> None:
    truth = ClusterTruth(TABLE, SEED)
    assert truth.explained(len(truth.centres[0])) == pytest.approx(1.0)


@pytest.mark.parametrize("failed, rejected", [(1, False), (2, True)])
def test_one_market_of_a_hundred_may_end_in_a_local_optimum(failed: int, rejected: bool) -> None:
    truth = ClusterTruth(TABLE, SEED)
    agreement = ClusterAgreement(truth)
    features, hidden = _market(0, 4000)
    for number in range(100):
        found = np.where(hidden == 1, 0, hidden) if number < failed else nearest(features, truth.centres)
        agreement.add(found, hidden, features)
    assert agreement.paired == 100 - failed
    if rejected:
        with pytest.raises(WrongAnswerError, match="pairing"):
            check_agreement("clusters", agreement)
    else:
        check_agreement("clusters", agreement)


def test_segments_must_have_the_true_shares() -> None:
    truth = ClusterTruth(TABLE, SEED)
    counts = np.array(CLUSTER_SHARES) * 1000
    truth.check_segments(truth.centres, counts, 0.08)
    with pytest.raises(WrongAnswerError, match="shares of the customers"):
        truth.check_segments(truth.centres, counts[::-1], 0.08)
    with pytest.raises(WrongAnswerError, match="true clusters"):
        truth.check_segments(truth.centres[[0, 0, 2, 3, 4, 5, 6, 7]], counts, 0.08)

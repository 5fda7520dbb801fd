"""Areas, accuracies and cuts against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mawl.programs.ranking import Ranking


def test_area_and_accuracy_are_those_of_their_definitions() -> None:
    chance = np.random.default_rng(1)
    scores = chance.random(5000)
    happened = chance.random(5000) < scores
    ranking = Ranking()
    for start in range(0, 5000, 700):
        ranking.add(scores[start : start + 700], happened[start : start + 700])
    assert ranking.rows == 5000
    assert ranking.area() == pytest.approx(roc_auc_score(happened, scores), abs=1e-4)
    assert ranking.accuracy() == pytest.approx(((scores >= 0.5) == happened).mean())


def test_cuts_make_parts_of_equal_size() -> None:
    scores = np.random.default_rng(2).random(10_000) ** 2
    ranking = Ranking()
    ranking.add(scores, scores > 0.5)
    parts = np.bincount(np.searchsorted(ranking.cuts(10), scores, side="right"), minlength=10)
    assert len(ranking.cuts(10)) == 9
    assert parts == pytest.approx(np.full(10, 1000), abs=60)


def test_equal_scores_rank_nothing_and_the_ends_of_the_range_count() -> None:
    ranking = Ranking()
    ranking.add(np.array([0.0, 0.0, 1.0, 1.0]), np.array([False, True, False, True]))
    assert ranking.area() == 0.5
    assert Ranking().area() == 0.0

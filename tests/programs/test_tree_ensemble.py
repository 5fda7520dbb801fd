"""tree_ensemble rejects wrong answers that are planted in its models, its ranks and its passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from mawl.programs import tree_ensemble
from mawl.programs.ranking import Ranking
from tests.programs.planted import RunJob, job_runner, rejected

Array = NDArray[Any]


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("tree_ensemble", 0.00035, Path(tmp_path_factory.mktemp("tree_ensemble")))


@pytest.fixture(autouse=True)
def quick_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_ensemble, "_TREES", 12)
    monkeypatch.setattr(tree_ensemble, "_ROUNDS", 40)


def test_the_right_answer_passes(run_job: RunJob) -> None:
    job = run_job()
    assert job.failed is None
    assert job.answer is not None
    assert job.answer["branches"] == 2


def _reversed(scores: Array) -> Array:
    return scores[::-1]


def _inverted(scores: Array) -> Array:
    return scores[:, ::-1]


def _of_the_first(scores: Array) -> Array:
    return np.broadcast_to(scores[:1], scores.shape)


def _constant(scores: Array) -> Array:
    return np.full_like(scores, 0.5)


def _next_row(scores: Array) -> Array:
    return np.roll(scores, 1, axis=0)


def _mostly_noise(scores: Array) -> Array:
    noise = np.random.default_rng(1).random(len(scores))
    mixed = 0.3 * scores[:, 1] + 0.7 * noise
    return np.stack([1.0 - mixed, mixed], axis=1)


@pytest.mark.parametrize("wrong", [_reversed, _inverted, _constant, _of_the_first, _next_row, _mostly_noise])
@pytest.mark.parametrize("model", [HistGradientBoostingClassifier, RandomForestClassifier])
def test_scores_of_other_rows_or_of_no_model_are_rejected(
    model: Any, wrong: Any, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = model.predict_proba
    monkeypatch.setattr(model, "predict_proba", lambda self, rows: wrong(right(self, rows)))
    assert "area under the curve" in rejected(run_job())


def _of_other_rows(rows: Array, outcomes: Array) -> tuple[Array, Array]:
    return rows, np.roll(outcomes, 1)


def _of_one_column(rows: Array, outcomes: Array) -> tuple[Array, Array]:
    return np.repeat(rows[:, :1], rows.shape[1], axis=1), outcomes


def _few(rows: Array, outcomes: Array) -> tuple[Array, Array]:
    return rows[::32], outcomes[::32]


@pytest.mark.parametrize("wrong", [_of_other_rows, _of_one_column, _few])
@pytest.mark.parametrize("model", [HistGradientBoostingClassifier, RandomForestClassifier])
def test_models_of_other_rows_or_of_too_few_are_rejected(
    model: Any, wrong: Any, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = model.fit
    monkeypatch.setattr(model, "fit", lambda self, rows, outcomes: right(self, *wrong(rows, outcomes)))
    assert "area under the curve" in rejected(run_job())


def test_models_of_the_rows_they_score_are_too_good(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = tree_ensemble._TreeEnsemble._branches
    monkeypatch.setattr(
        tree_ensemble._TreeEnsemble, "_branches", lambda self: ((odd, odd) for _, odd in right(self))
    )
    assert "area under the curve" in rejected(run_job())


def test_a_model_that_knows_the_outcome_is_too_good(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Ranking.add

    def leak(self: Ranking, scores: Array, happened: Array) -> None:
        right(self, np.where(happened, 0.9, 0.1) if len(np.unique(scores)) > 30 else scores, happened)

    monkeypatch.setattr(Ranking, "add", leak)
    assert "area under the curve" in rejected(run_job())


@pytest.mark.parametrize("model", [HistGradientBoostingClassifier, RandomForestClassifier])
def test_scores_that_rank_well_but_are_no_chances_are_rejected(
    model: Any, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = model.predict_proba
    monkeypatch.setattr(model, "predict_proba", lambda self, rows: np.sqrt(right(self, rows)))
    assert "share of defaults by tenth" in rejected(run_job())


def test_outcomes_of_other_rows_do_not_follow_the_true_chances(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Ranking.add
    monkeypatch.setattr(
        Ranking, "add", lambda self, scores, happened: right(self, scores, np.roll(happened, 1))
    )
    assert "tenth of the truth score" in rejected(run_job())


def test_a_batch_that_is_not_ranked_is_missed(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Ranking.add
    monkeypatch.setattr(Ranking, "add", lambda self, scores, happened: right(self, scores[1:], happened[1:]))
    assert "number of applications ranked" in rejected(run_job())


def test_a_branch_that_is_left_out_is_missed(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = tree_ensemble._TreeEnsemble._branches
    monkeypatch.setattr(tree_ensemble._TreeEnsemble, "_branches", lambda self: list(right(self))[1:])
    assert "number of applications ranked" in rejected(run_job())


def test_an_outcome_that_is_turned_round_is_missed(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = tree_ensemble._TreeEnsemble._branches

    def turned(self: Any) -> Any:
        for fitted, (rows, happened) in right(self):
            yield fitted, (rows, np.append(happened[:-1], not happened[-1]))

    monkeypatch.setattr(tree_ensemble._TreeEnsemble, "_branches", turned)
    assert "number of defaults ranked" in rejected(run_job())

"""text_topics rejects wrong answers that are planted in its counts, its factors and its scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from mawl.datagen.phrases import topic_words
from mawl.programs import text_topics
from tests.programs.planted import RunJob, job_runner, rejected


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("text_topics", 0.0001, Path(tmp_path_factory.mktemp("text_topics")))


def test_the_right_answer_passes(run_job: RunJob) -> None:
    assert run_job().failed is None


@pytest.mark.parametrize("options", [{"max_features": 440}, {"min_df": 40}, {"stop_words": ["bababa"]}])
def test_words_that_are_left_out_are_missed(
    options: dict[str, Any], run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "stop_words" in options:
        options = {"stop_words": [sorted(topic_words(0))[0]]}
    monkeypatch.setattr(text_topics, "CountVectorizer", lambda **given: CountVectorizer(**given, **options))
    assert "the number of words" in rejected(run_job())


def _next_note(weights: Any) -> Any:
    return np.roll(weights, 1, axis=0)


def _one_topic(weights: Any) -> Any:
    return np.ones_like(weights) * np.arange(weights.shape[1])


def _merged(weights: Any) -> Any:
    merged = weights.copy()
    merged[:, 0] += merged[:, 1]
    merged[:, 1] = 0.0
    return merged


def _noise(weights: Any) -> Any:
    return weights + 0.5 * np.random.default_rng(1).random(weights.shape)


@pytest.mark.parametrize("wrong", [_next_note, _one_topic, _merged, _noise])
def test_topics_of_other_notes_or_of_none_are_rejected(
    wrong: Any, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = NMF.transform
    monkeypatch.setattr(NMF, "transform", lambda self, texts: wrong(right(self, texts)))
    assert "true" in rejected(run_job())


@pytest.mark.parametrize("topics", [6, 11])
def test_too_few_topics_are_rejected(topics: int, run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(**given: Any) -> Any:
        return NMF(**{**given, "n_components": topics})

    monkeypatch.setattr(text_topics, "NMF", few)
    assert "the found topics' true ones" in rejected(run_job())


def test_words_that_lost_their_names_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = CountVectorizer.get_feature_names_out
    monkeypatch.setattr(CountVectorizer, "get_feature_names_out", lambda self: right(self)[::-1])
    assert "words among the 10 heaviest" in rejected(run_job())


def test_notes_that_are_scored_twice_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = TfidfTransformer.transform
    monkeypatch.setattr(TfidfTransformer, "transform", lambda self, texts: right(self, texts[::-1]))
    assert "true" in rejected(run_job())

"""text_topics rejects wrong answers that are planted in its counts, its factors and its scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from mawl.base.errors import WrongAnswerError
from mawl.programs import text_topics
from mawl.programs.datagen.text import topic_words
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.text_topics import Agreement
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, instead, result

SCALE = 0.0001


def _counted(**options: Any) -> Callable[[Any], Any]:
    """A vectoriser with other options."""
    return instead(lambda **given: CountVectorizer(**given, **options))


def _factors(topics: int) -> Callable[[Any], Any]:
    return instead(lambda **given: NMF(**{**given, "n_components": topics}))


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


FAULTS = {
    "rare words are left out": Fault(
        text_topics, "CountVectorizer", _counted(max_features=440), "the number of words"
    ),
    "words of few notes are left out": Fault(
        text_topics, "CountVectorizer", _counted(min_df=40), "the number of words"
    ),
    "a word is left out": Fault(
        text_topics,
        "CountVectorizer",
        _counted(stop_words=[sorted(topic_words(0))[0]]),
        "the number of words",
    ),
    "topics are the next note's": Fault(NMF, "transform", result(_next_note), "true"),
    "all notes have one topic": Fault(NMF, "transform", result(_one_topic), "true"),
    "two topics are one": Fault(NMF, "transform", result(_merged), "true"),
    "topics are mostly noise": Fault(NMF, "transform", result(_noise), "true"),
    "half of the topics": Fault(text_topics, "NMF", _factors(6), "the found topics' true ones"),
    "a topic is missing": Fault(text_topics, "NMF", _factors(11), "the found topics' true ones"),
    "words lose their names": Fault(
        CountVectorizer,
        "get_feature_names_out",
        result(lambda names: names[::-1]),
        "words among the 10 heaviest",
    ),
    "notes are scored in reverse": Fault(
        TfidfTransformer, "transform", given(lambda self, texts: (self, texts[::-1])), "true"
    ),
    "texts are cut": Fault(
        CountVectorizer,
        "transform",
        given(lambda self, texts: (self, [text[:200] for text in texts])),
        "the number of words",
    ),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}


def tallied(found: list[int], truth: list[int]) -> Agreement:
    agreement = Agreement(3)
    for start in (0, 2):
        some = slice(start, start + 2 if start == 0 else None)
        agreement.add(np.array(found[some]), np.array(truth[some]))
    return agreement


def test_found_groups_pair_off_with_true_ones() -> None:
    agreement = tallied([2, 2, 0, 0, 1, 2], [0, 0, 1, 1, 2, 1])
    assert agreement.partners("groups", 6).tolist() == [1, 2, 0]
    assert agreement.ratio == pytest.approx(5 / 6)


def test_missing_rows_and_groups_without_a_partner_are_rejected() -> None:
    with pytest.raises(WrongAnswerError, match="the number of rows"):
        tallied([2, 2, 0, 0, 1, 2], [0, 0, 1, 1, 2, 1]).partners("groups", 7)
    with pytest.raises(WrongAnswerError, match="true ones"):
        tallied([2, 2, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]).partners("groups", 6)

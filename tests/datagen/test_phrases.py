"""Phrases: words that differ, topics with their shares, slots with their chances."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.datagen.phrases import SLOT_BYTES, TOPIC_PHRASES, topic_words, true_topics
from mawl.datagen.values import column_values
from mawl.plan.columns import Column, Phrases
from mawl.plan.tables import InputTable
from mawl.programs.text_topics.inputs import PHRASES, TABLE, TEXT_BYTES

ROWS = 40_000
TOPICS = len(PHRASES.shares)


def test_every_topic_has_words_of_its_own() -> None:
    words = [topic_words(topic) for topic in range(-1, TOPICS)]
    assert {len(some) for some in words} == {TOPIC_PHRASES}
    assert len(frozenset().union(*words)) == TOPIC_PHRASES * (TOPICS + 1)
    assert all(len(word) == 6 and word.isalpha() for some in words for word in some)


def test_topics_have_their_shares_and_slots_their_chances() -> None:
    topics = true_topics(PHRASES, table=TABLE.name, column="text", seed=4, replica=1, start=11, count=ROWS)
    assert np.bincount(topics) / ROWS == pytest.approx(np.array(PHRASES.shares) / 256, abs=0.006)
    column = next(column for column in TABLE.columns if column.name == "text")
    texts = column_values(TABLE, column, seed=4, replica=1, start=11, count=ROWS)
    slots = texts.view(f"S{SLOT_BYTES}").reshape(ROWS, TEXT_BYTES // SLOT_BYTES)
    owners = {word: topic for topic in range(TOPICS) for word in topic_words(topic)}
    found = np.array([[owners.get(phrase.split()[0].decode(), -1) for phrase in row] for row in slots[:2000]])
    assert (found == -1).mean() == pytest.approx(PHRASES.common / 256, abs=0.02)
    own = 1 - (PHRASES.common + PHRASES.stray * (TOPICS - 1) / TOPICS) / 256
    assert (found == topics[:2000, None]).mean() == pytest.approx(own, abs=0.02)


def test_what_does_not_add_up_is_refused() -> None:
    table = InputTable(name="odd", full_bytes=0)
    with pytest.raises(ValueError, match="multiple of 24 bytes"):
        column_values(table, Column("text", PHRASES, 40), seed=1, replica=0, start=0, count=1)
    with pytest.raises(ValueError, match="must add up to 256"):
        odd = Column("text", Phrases(shares=(1, 2), common=0, stray=0), 48)
        column_values(table, odd, seed=1, replica=0, start=0, count=1)

"""The compressibility dial against zstd level 1 itself, in independent blocks of 128 KiB of the files.

Phrases: words that differ, topics with their shares, slots with their chances.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zstandard

from mawl.base.errors import UsageError
from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import Column, InputTable, Phrases
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.programs.datagen.hashing import key
from mawl.programs.datagen.text import (
    SLOT_BYTES,
    TOPIC_PHRASES,
    dial_bytes,
    filled_bytes,
    fills,
    topic_words,
    true_topics,
)
from mawl.programs.datagen.values import column_values
from mawl.programs.declarations.text_topics import PHRASES, TABLE, TEXT_BYTES

ROWS = 40_000
TOPICS = len(PHRASES.shares)


def test_every_topic_has_words_of_its_own() -> None:
    words = [topic_words(topic) for topic in range(-1, TOPICS)]
    assert {len(some) for some in words} == {TOPIC_PHRASES}
    assert len(frozenset().union(*words)) == TOPIC_PHRASES * (TOPICS + 1)
    assert all(len(word) == 6 and word.isalpha() for some in words for word in some)


def test_topics_have_their_shares_and_slots_their_chances() -> None:
    topics = true_topics(PHRASES, key(4, 1, TABLE.name, "text"), 11, ROWS)
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


TABLES = pytest.mark.parametrize("table", INPUTS.values(), ids=INPUTS)
BLOCK_BYTES = 128 * 1024


def measured_saving(directory: Path) -> float:
    compressor = zstandard.ZstdCompressor(level=1)
    stored = original = 0
    for path in sorted([*directory.glob("part-*"), *directory.glob("state-*")]):
        content = path.read_bytes()
        for start in range(0, len(content), BLOCK_BYTES):
            block = content[start : start + BLOCK_BYTES]
            stored += min(len(compressor.compress(block)), len(block))
            original += len(block)
    return 1 - stored / original


@TABLES
@pytest.mark.parametrize("saving", [0.5, 0.7, 0.9])
def test_a_table_saves_what_the_dial_says(table: InputTable, saving: float, tmp_path: Path) -> None:
    request = TableRequest(table=table.name, scale=8e6 / table.full_bytes, seed=5, saving=saving)
    (made,) = generate([request], tmp_path, processes=1, bufsize_bytes=256 * 1024)
    assert measured_saving(made.directory) == pytest.approx(saving, abs=0.03)
    assert made.manifest.row_bytes == table.row_bytes


@TABLES
def test_an_unfilled_row_takes_the_bytes_declared(table: InputTable, tmp_path: Path) -> None:
    lowest = 1 - table.unfilled_bytes / table.row_bytes
    request = TableRequest(table=table.name, scale=8e6 / table.full_bytes, seed=5, saving=lowest)
    (made,) = generate([request], tmp_path, processes=1, bufsize_bytes=256 * 1024)
    assert filled_bytes(table, lowest) == 0
    taken = (1 - measured_saving(made.directory)) * table.row_bytes
    assert taken == pytest.approx(table.unfilled_bytes, rel=0.05)


@TABLES
def test_less_saving_fills_more_and_never_more_than_there_is(table: InputTable) -> None:
    filled = [filled_bytes(table, saving) for saving in (0.9, 0.8, 0.7, 0.6, 0.5)]
    assert filled == sorted(filled)
    assert filled[1] > filled[0]
    assert filled[-1] <= dial_bytes(table)


@TABLES
@pytest.mark.parametrize("saving", [0.2, 0.995])
def test_a_saving_out_of_reach_is_refused_with_the_range(table: InputTable, saving: float) -> None:
    with pytest.raises(
        UsageError, match=rf"{table.name} cannot be {saving}: its columns allow 0\.\d\d to 0\.9"
    ):
        filled_bytes(table, saving)


def test_dial_columns_fill_one_after_the_other() -> None:
    assert list(fills(INPUTS["policies"], 50).values()) == [8, 42, 0, 0, 0]
    assert fills(INPUTS["census"], 50) == {"household_filler": 50, "person_filler": 50}

"""Text of input tables: phrases of hidden topics, and random characters, which set how far it compresses."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from mawl.base.errors import UsageError
from mawl.plan.columns import InputTable, Phrases
from mawl.programs.datagen.hashing import hashes, key

SLOT_BYTES = 24
WORDS_PER_PHRASE = 3
TOPIC_PHRASES = 32
COMMON_PHRASES = 64
_CONSONANTS = "bcdfghjklmnprstvwxyz"
_VOWELS = "aeiou"
_SYLLABLES = tuple(consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS)
_WORDS = len(_SYLLABLES) ** 3
_WORD_STEP = 7919
"""Has no divisor with the number of words in common, so that words differ and do not look alike."""

Texts = NDArray[np.bytes_]


def phrase_texts(values: Phrases, column_key: int, width: int, start: int, count: int) -> Texts:
    """Rows ``start`` to ``start + count`` of a column of phrases: ``S<width>`` of shape (count,)."""
    if width % SLOT_BYTES:
        raise ValueError(f"a column of phrases must be a multiple of {SLOT_BYTES} bytes wide, found {width}")
    table = _phrase_table(len(values.shares))
    own = true_topics(values, column_key, start, count)
    slots = np.empty((count, width // SLOT_BYTES), table.dtype)
    for slot in range(slots.shape[1]):
        slots[:, slot] = table[_phrases(values, hashes(key(column_key, slot), start, count), own)]
    return slots.view(f"S{width}").reshape(count)


def topic_words(topic: int) -> frozenset[str]:
    """All words of a topic's phrases."""
    return frozenset(
        word for number in range(TOPIC_PHRASES) for word in _phrase(topic, number, TOPIC_PHRASES)
    )


def true_topics(values: Phrases, column_key: int, start: int, count: int) -> NDArray[np.intp]:
    """The hidden topic of each row, from 0: intp of shape (count,)."""
    if sum(values.shares) != 256:
        raise ValueError(f"shares of topics must add up to 256, found {sum(values.shares)}")
    drawn = hashes(key(column_key, "topic"), start, count) >> np.uint64(56)
    return np.repeat(np.arange(len(values.shares)), values.shares)[drawn.view(np.intp)]


def _phrases(values: Phrases, drawn: NDArray[np.uint64], own: NDArray[np.intp]) -> NDArray[np.intp]:
    """The place in the phrase table of one slot of each row, from one hash a row."""
    topics = len(values.shares)
    kind = (drawn >> np.uint64(56)).view(np.int64)
    any_topic = ((drawn >> np.uint64(40)) % np.uint64(topics)).view(np.int64)
    place = drawn & np.uint64(0xFFFF)
    # The square of a uniform number, in 2**-32: a topic's first phrases are common.
    often = place * place
    topical = (often * np.uint64(TOPIC_PHRASES) >> np.uint64(32)).view(np.int64)
    common = (often * np.uint64(COMMON_PHRASES) >> np.uint64(32)).view(np.int64)
    topic = np.where(kind < values.common + values.stray, any_topic, own)
    found: NDArray[np.intp] = np.where(
        kind < values.common, topics * TOPIC_PHRASES + common, topic * TOPIC_PHRASES + topical
    )
    return found


@functools.lru_cache(maxsize=4)
def _phrase_table(topics: int) -> Texts:
    """The phrases of all topics, then the common ones: S24 of shape (phrases,)."""
    owners = [(topic, TOPIC_PHRASES) for topic in range(topics)] + [(-1, COMMON_PHRASES)]
    phrases = [
        " ".join(_phrase(owner, number, phrases)).ljust(SLOT_BYTES).encode("latin-1")
        for owner, phrases in owners
        for number in range(phrases)
    ]
    return np.array(phrases, dtype=f"S{SLOT_BYTES}")


def _phrase(owner: int, number: int, phrases: int) -> list[str]:
    """Three of the owner's words: it has as many as phrases, and each stands in up to three of them."""
    return [_word(owner, place % phrases) for place in (number, 5 * number + 1, 11 * number + 7)]


def _word(owner: int, number: int) -> str:
    place = (((owner + 1) * COMMON_PHRASES + number + 1) * _WORD_STEP) % _WORDS
    size = len(_SYLLABLES)
    return _SYLLABLES[place // size**2] + _SYLLABLES[place // size % size] + _SYLLABLES[place % size]


_BLANKS = np.uint64(0x2020_2020_2020_2020)
_CHARACTERS = np.uint64(0xBFBF_BFBF_BFBF_BFBF)

RandomTexts = NDArray[np.generic]


def random_text(column_key: int, width: int, start: int, count: int, filled: int) -> RandomTexts:
    """Random printable Latin-1 in the first ``filled`` bytes of each row, then blanks: ``S<width>``.

    Each byte is one of 128 characters (0x20 to 0x5f and 0xa0 to 0xdf): seven bits of the hash.
    """
    if filled <= 0:
        return _blanks(width, count)
    filled = min(filled, width)
    values = np.full((count, -(-width // 8)), _BLANKS)
    for word in range(-(-filled // 8)):
        random = hashes(key(column_key, word), start, count)
        random &= _CHARACTERS
        random += _BLANKS
        used = min(filled - 8 * word, 8)
        if used < 8:
            kept = np.uint64((1 << 8 * used) - 1)
            random &= kept
            random |= _BLANKS & ~kept
        values[:, word] = random
    if width % 8:
        values = np.ascontiguousarray(values.view(np.uint8)[:, :width])
    return values.view(f"S{width}").reshape(count)


@functools.lru_cache(maxsize=32)
def _blanks(width: int, count: int) -> RandomTexts:
    values = np.full(count * width, 0x20, dtype=np.uint8).view(f"S{width}")
    values.flags.writeable = False
    return values


FILLED_BYTE_COST = 7 / 8
_OVERHEAD_AFTER_BYTES = 8
TOLERANCE = 0.03
"""How far from the asked saving a table may end up before it is refused."""


def filled_bytes(table: InputTable, saving: float) -> int:
    """Bytes of each row to fill with random characters so that the table saves ``saving`` (0 to 1).

    The saving is 1 - stored/original by zstd level 1 in independent blocks of 128 KiB, the size in which
    file systems and arrays compress.  A row takes ``unfilled_bytes`` with nothing filled; each filled byte
    adds seven bits (``random_text``); and the first ones add ``fill_overhead_bytes``, since they end what
    was one long match from row to row.
    Raises ``UsageError`` for a saving that the table's columns cannot give.
    """
    filled = min(range(dial_bytes(table) + 1), key=lambda bytes_: abs(_saving(table, bytes_) - saving))
    reached = _saving(table, filled)
    if abs(reached - saving) > TOLERANCE:
        raise UsageError(
            f"the saving of input table {table.name} cannot be {saving:g}",
            why=f"its columns allow {_saving(table, dial_bytes(table)):.2f} to {_saving(table, 0):.2f}",
            cure="choose a saving in between",
        )
    return filled


def fills(table: InputTable, filled: int) -> dict[str, int]:
    """Filled bytes of each dial column: in order, each to its width before the next.

    In a text table every record's filler is filled alike.
    """
    if table.records:
        return {layout.filler.column.name: filled for layout in table.records}
    shares = {}
    for column in table.columns:
        if column.is_dial:
            shares[column.name] = min(filled, column.stored_bytes)
            filled -= shares[column.name]
    return shares


def dial_bytes(table: InputTable) -> int:
    if table.records:
        return min(layout.filler.width for layout in table.records)
    return sum(column.stored_bytes for column in table.columns if column.is_dial)


def _saving(table: InputTable, filled: int) -> float:
    overhead = table.fill_overhead_bytes * min(filled / _OVERHEAD_AFTER_BYTES, 1.0)
    return 1.0 - (table.unfilled_bytes + overhead + filled * FILLED_BYTE_COST) / table.row_bytes

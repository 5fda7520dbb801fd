"""Text of standard phrases from hidden topics: words made of syllables, phrases of three words.

Words and phrases are the same for every seed; which phrases a row holds is drawn.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.hashing import hashes, key
from mawl.plan.columns import Phrases

SLOT_BYTES = 24
WORDS_PER_PHRASE = 3
TOPIC_PHRASES = 32
COMMON_PHRASES = 64
_CONSONANTS = "bcdfghjklmnprstvwxyz"
_VOWELS = "aeiou"
_SYLLABLES = tuple(consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS)
_WORDS = len(_SYLLABLES) ** 3
_STEP = 7919
"""Has no divisor with the number of words in common, so that words differ and do not look alike."""

Texts = NDArray[np.bytes_]


def texts(values: Phrases, column_key: int, width: int, start: int, count: int) -> Texts:
    """Rows ``start`` to ``start + count`` of a column of phrases: ``S<width>`` of shape (count,)."""
    if width % SLOT_BYTES:
        raise ValueError(f"a column of phrases must be a multiple of {SLOT_BYTES} bytes wide, found {width}")
    table = _phrase_table(len(values.shares))
    own = _topics(values, column_key, start, count)
    slots = np.empty((count, width // SLOT_BYTES), table.dtype)
    for slot in range(slots.shape[1]):
        slots[:, slot] = table[_phrases(values, hashes(key(column_key, slot), start, count), own)]
    return slots.view(f"S{width}").reshape(count)


def true_topics(
    values: Phrases, *, table: str, column: str, seed: int, replica: int, start: int, count: int
) -> NDArray[np.intp]:
    """The hidden topic of each row, from 0: intp of shape (count,)."""
    return _topics(values, key(seed, replica, table, column), start, count)


def topic_words(topic: int) -> frozenset[str]:
    """All words of a topic's phrases."""
    return frozenset(
        word for number in range(TOPIC_PHRASES) for word in _phrase(topic, number, TOPIC_PHRASES)
    )


def _topics(values: Phrases, column_key: int, start: int, count: int) -> NDArray[np.intp]:
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
    place = (((owner + 1) * COMMON_PHRASES + number + 1) * _STEP) % _WORDS
    size = len(_SYLLABLES)
    return _SYLLABLES[place // size**2] + _SYLLABLES[place // size % size] + _SYLLABLES[place % size]

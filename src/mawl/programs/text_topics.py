"""Find the topics of free-text notes: word frequencies, TF-IDF, non-negative matrix factorisation."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.datagen.text import SLOT_BYTES, WORDS_PER_PHRASE, topic_words, true_topics
from mawl.programs.declarations.text_topics import (
    DERIVED,
    KEPT,
    NUMERICS,
    PHRASES,
    SAMPLE_SHARE,
    TABLE,
    TEXT_BYTES,
)
from mawl.programs.tables import arrow
from mawl.programs.toolkit.groups import PreparedJob
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Kinds = NDArray[np.intp]


class Agreement:
    """Counts of rows by found and by true group, both numbered from 0: ``counts`` is (groups, groups)."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.counts = np.zeros((groups, groups), np.int64)

    def add(self, found: Kinds, truth: Kinds) -> None:
        """One batch: the found and the true group of its rows, (rows,) each."""
        counts = np.bincount(found * self.groups + truth, minlength=self.groups**2)
        self.counts += counts.reshape(self.groups, self.groups)

    def partners(self, what: str, rows: int) -> Kinds:
        """The true group of each found one; raises unless all ``rows`` are there and groups pair off."""
        check_equal(f"the number of rows by found {what}", int(self.counts.sum()), rows)
        partner: Kinds = self.counts.argmax(axis=1)
        check_equal(f"the found {what}' true ones", sorted(partner.tolist()), list(range(self.groups)))
        return partner

    @property
    def ratio(self) -> float:
        """The share of rows that are in the true group of their found one."""
        return float(self.counts.max(axis=1).sum() / self.counts.sum())


Numbers = NDArray[np.float64]
Texts = NDArray[np.generic]

_NAMES = tuple(column.name for column in NUMERICS)
_WIDTHS = {column.name: column.stored_bytes for column in TABLE.columns}
_SCHEMA = pa.schema(
    [
        ("note", pa.float64()),
        ("text", pa.binary(TEXT_BYTES)),
        *((name, pa.binary(_WIDTHS[name])) for name in KEPT),
        *((name, pa.float64()) for name in (*_NAMES, *DERIVED)),
    ]
)
_TOPICS = len(PHRASES.shares)
_WORDS = TEXT_BYTES // SLOT_BYTES * WORDS_PER_PHRASE
"""Words of every note."""
_RANDOM_STATE = 20_261_120
_AGREEMENT = 0.9
"""Share of notes that must come out in their true topic (measured: 0.98)."""
_TOP_WORDS = 10
_TOP_WORDS_RIGHT = 0.9


def run(context: JobContext) -> Answer:
    """Do all steps; words are counted exactly, shares and means agree to a relative 1e-6."""
    return _TextTopics(context).run()


class _TextTopics(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the notes")
        self.agreement = Agreement(_TOPICS)
        self.sums = np.zeros((_TOPICS, len(_NAMES)))
        self.answer |= {"notes": self.rows}

    def _work(self) -> None:
        sample = self._prepare()
        self._frequencies(sample)
        self._factor(sample)
        del sample
        self._score()

    def _prepare(self) -> list[bytes]:
        """Write the prepared table; returns every so-many-th text."""
        room = int(self.context.options.memsize_bytes * SAMPLE_SHARE) // TEXT_BYTES
        every = max(-(-self.rows // room), 1)
        sample: list[bytes] = []
        with self.prepared.preparing() as table:
            for batch in self.prepared.input_batches():
                sample += arrow.values(batch.column("text"))[(-table.rows) % every :: every].tolist()
                kept = [batch.column(name) for name in ("note", "text", *KEPT, *_NAMES)]
                table.write([*kept, *_derive(batch)])
        return sample

    def _frequencies(self, sample: list[bytes]) -> None:
        words = 0
        with self.context.steps.step("frequencies") as step:
            self.words = CountVectorizer(encoding="latin-1").fit(sample)
            notes_with = np.zeros(len(self.words.vocabulary_), np.int64)
            texts = (arrow.values(batch.column("text")) for batch in self.prepared.batches())

            def counted(some: Texts) -> tuple[int, int, NDArray[np.int64]]:
                counts = self.words.transform(some)
                return len(some), int(counts.sum()), np.bincount(counts.indices, minlength=len(notes_with))

            for notes, found, with_word in side_by_side(
                self.context, counted, texts, self.prepared.batch_count
            ):
                notes_with += with_word
                words += found
                step.rows_read = (step.rows_read or 0) + notes
        self.weights = TfidfTransformer(sublinear_tf=True)
        self.weights.idf_ = np.log((1.0 + self.rows) / (1.0 + notes_with)) + 1.0
        self.answer |= {
            "words": words,
            "different_words": len(notes_with),
            "most_notes_of_a_word": int(notes_with.max()),
        }

    def _factor(self, sample: list[bytes]) -> None:
        with self.context.steps.step("factor") as step:
            weighted = self.weights.transform(self.words.transform(sample))
            self.topics = NMF(
                n_components=_TOPICS, init="nndsvd", max_iter=300, random_state=_RANDOM_STATE
            ).fit(weighted)
            step.rows_read = len(sample)
        self.sizes = self.topics.components_.sum(axis=1)
        self.answer["error_per_note"] = float(self.topics.reconstruction_err_**2 / len(sample))

    def _score(self) -> None:
        column_key = self.column_key("text")
        done = 0
        with self.context.steps.step("score") as step:
            columns = (
                (arrow.values(batch.column("text")), [arrow.numbers(batch.column(name)) for name in _NAMES])
                for batch in self.prepared.batches()
            )
            for found, sums in side_by_side(self.context, self._topics_of, columns):
                truth = true_topics(PHRASES, column_key, done, len(found))
                self.agreement.add(found, truth)
                self.sums += sums
                done += len(found)
            step.rows_read = done
        sizes = self.agreement.counts.sum(axis=1)
        waits = self.sums[:, _NAMES.index("wait_minutes")] / np.maximum(sizes, 1)
        self.answer |= {
            "largest_topic_ratio": float(sizes.max() / self.rows),
            "longest_mean_wait_minutes": float(waits.max()),
        }

    def _topics_of(self, batch: tuple[Texts, list[Numbers]]) -> tuple[NDArray[np.intp], Numbers]:
        texts, numerics = batch
        weighted = self.weights.transform(self.words.transform(texts))
        found: NDArray[np.intp] = (self.topics.transform(weighted) * self.sizes).argmax(axis=1)
        sums = [np.bincount(found, numbers, minlength=_TOPICS) for numbers in numerics]
        return found, np.stack(sums, axis=1)

    def _check(self) -> None:
        check_equal("the number of words", self.answer["words"], self.rows * _WORDS)
        partner = self.agreement.partners("topics", self.rows)
        agreement = self.agreement.ratio
        check(
            agreement >= _AGREEMENT,
            "the share of notes in their true topic",
            found=agreement,
            expected=f"at least {_AGREEMENT}",
        )
        self._check_words(partner)
        self.answer["agreement_ratio"] = agreement

    def _check_words(self, partner: NDArray[np.intp]) -> None:
        names = self.words.get_feature_names_out()
        for weights, topic in zip(self.topics.components_, partner, strict=True):
            heaviest = set(names[np.argsort(weights)[-_TOP_WORDS:]].tolist())
            right = len(heaviest & topic_words(int(topic)))
            check(
                right >= _TOP_WORDS_RIGHT * _TOP_WORDS,
                f"the number of topic {topic}'s words among the {_TOP_WORDS} heaviest",
                found=right,
                expected=f"at least {_TOP_WORDS_RIGHT * _TOP_WORDS:.0f}",
            )


def _derive(batch: pa.RecordBatch) -> list[Numbers]:
    """Letters, vowels, gaps, urgency and minutes of each note."""
    letters = arrow.values(batch.column("text")).view(np.uint8).reshape(-1, TEXT_BYTES)
    blank = letters == ord(" ")
    vowels = np.zeros(len(letters))
    for vowel in b"aeiou":
        vowels += (letters == vowel).sum(axis=1)
    gaps = blank.sum(axis=1).astype(np.float64)
    of = {name: arrow.numbers(batch.column(name)) for name in _NAMES}
    urgency = of["priority"] * (1.0 + of["reopened"]) + of["transfers"]
    return [TEXT_BYTES - gaps, vowels, gaps, urgency, of["duration_minutes"] + of["wait_minutes"]]

"""text_topics: TF-IDF and topic factorisation of free-text notes.

Its input is notes of a call centre: 768 bytes a row, 12 GB at full scale.
"""

from __future__ import annotations

from mawl.plan.columns import GB, Code, Column, InputTable, Phrases, RowNumber, Text, Uniform
from mawl.plan.programs import (
    Program,
    Temporary,
    modules_of,
    prepare_step,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

PHRASES = Phrases(shares=(32, 29, 26, 24, 23, 22, 20, 18, 17, 16, 15, 14), common=64, stray=38)
"""Twelve hidden topics; a quarter of the phrases belong to none, an eighth to any."""

TEXT_BYTES = 288

NUMERICS = (
    Column("caller", Uniform(1, 40_000, skew=3)),
    Column("day", Uniform(0, 364)),
    Column("hour", Uniform(7, 21)),
    Column("duration_minutes", Uniform(1, 40, skew=3)),
    Column("wait_minutes", Uniform(0, 30, skew=5)),
    Column("transfers", Uniform(0, 4, skew=8)),
    Column("satisfaction", Uniform(1, 5)),
    Column("priority", Uniform(1, 4, skew=3)),
    Column("reopened", Uniform(0, 1, skew=6)),
    Column("attachments", Uniform(0, 3, skew=10)),
)

TABLE = InputTable(
    name="notes",
    full_bytes=12 * GB,
    unfilled_bytes=60.9,
    columns=(
        Column("note", RowNumber()),
        Column("text", PHRASES, TEXT_BYTES),
        *NUMERICS,
        Column("channel", Code(("PHONE", "MAIL", "CHAT"), skew=2), 8),
        Column("name", Text(), 48),
        Column("office", Text(), 40),
        Column("street", Text(), 64),
        Column("reply", Text(), 112),
        Column("remark", Text(), 120),
    ),
)


KEPT = ("channel", "name", "office")
"""Character columns of the input that a prepared row keeps beside the text."""

DERIVED = ("letters", "vowels", "gaps", "urgency", "handled_minutes")

SAMPLE_SHARE = 0.03125
"""Share of memsize that the texts to fit on fill; their matrix takes several times as much."""

_KEPT_BYTES = sum(column.stored_bytes for column in TABLE.columns if column.name in KEPT)

PROGRAM = Program(
    name="text_topics",
    program_class="compute",
    title="Find the topics of free-text notes: word frequencies, TF-IDF, matrix factorisation",
    inputs=(TABLE,),
    temporaries=(
        Temporary("prepared", "work", TEXT_BYTES + _KEPT_BYTES + 8 * (1 + len(NUMERICS) + len(DERIVED))),
    ),
    steps=(
        prepare_step(TABLE, "keep what is analysed, derive figures of the text, sample texts to fit on"),
        procedure_step("frequencies", "FREQ", "in how many notes each word occurs", reads=["prepared"]),
        procedure_step("factor", "HPTMINE", "non-negative factors of the weighted sample"),
        procedure_step(
            "score",
            "HPTMSCORE",
            "the topic of every note, means of the numerics by topic",
            reads=["prepared"],
        ),
        verify_step("topics and their words against the generator's, word sums"),
    ),
    size_knob="rows of notes",
    check="every word counted, topics and their words near the hidden ones, word sums of all tables",
    modules=modules_of("text_topics", "sklearn.decomposition", "sklearn.feature_extraction.text"),
    memory_floor_bytes=32 * MIB,
    memory_per_memsize=0.3,
)

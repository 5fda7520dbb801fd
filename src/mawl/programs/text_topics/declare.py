"""text_topics: TF-IDF and topic factorisation of free-text notes."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.text_topics.inputs import NUMERICS, TABLE, TEXT_BYTES
from mawl.spec.program_options import MIB

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
        Temporary(
            name="prepared",
            role="work",
            row_bytes=TEXT_BYTES + _KEPT_BYTES + 8 * (1 + len(NUMERICS) + len(DERIVED)),
        ),
    ),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="keep what is analysed, derive figures of the text, sample texts to fit on",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="frequencies",
            kind="procedure",
            procedure="FREQ",
            title="in how many notes each word occurs",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="factor",
            kind="procedure",
            procedure="HPTMINE",
            title="non-negative factors of the weighted sample",
        ),
        Step(
            name="score",
            kind="procedure",
            procedure="HPTMSCORE",
            title="the topic of every note, means of the numerics by topic",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="topics and their words against the generator's, word sums"),
    ),
    size_knob="rows of notes",
    check="every word counted, topics and their words near the hidden ones, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "sklearn.decomposition",
        "sklearn.feature_extraction.text",
        "threadpoolctl",
        "mawl.programs.text_topics.run",
    ),
    cpu_seconds_per_gb=64.86,
    memory_floor_bytes=32 * MIB,
    memory_per_memsize=0.3,
)

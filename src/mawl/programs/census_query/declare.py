"""census_query: views over persons, filtered and semi-joined to households; extracts summarised."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.census.inputs import SIZES
from mawl.programs.census_query.inputs import HOUSEHOLDS, PERSONS
from mawl.spec.program_options import MIB

KEY_COLUMNS = ("serial", "persons", "half_sample")
"""Columns of a household that go through util to the semi-join."""

EXTRACT_COLUMNS = (
    "row",
    "serial",
    "person",
    "person_weight",
    "age",
    "sex",
    "marital_status",
    "education",
    "hours_worked",
    "weeks_worked",
    "wages",
    "other_income",
    "industry",
    "worker_class",
    "origin",
    "employment",
)
"""Columns of the extract: 128 of a person's 504 bytes."""

EXTRACT_RATIO = 0.5
"""Persons of the half-sample: of each two households one is in it."""

_EXTRACT_BYTES = sum(column.stored_bytes for column in PERSONS.columns if column.name in EXTRACT_COLUMNS)
_HOUSEHOLDS = len(SIZES) / sum(SIZES)
_BOTH = (Pass("copied households"), Pass("copied persons"))
_BOTH_PARTS = (Pass("household parts"), Pass("person parts"))

PROGRAM = Program(
    name="census_query",
    program_class="io",
    title="Query persons through views, filtered and semi-joined to households; summarise an extract",
    inputs=(PERSONS, HOUSEHOLDS),
    temporaries=(
        Temporary(
            name="copied households", role="work", row_bytes=HOUSEHOLDS.row_bytes, rows_ratio=_HOUSEHOLDS
        ),
        Temporary(name="copied persons", role="work", row_bytes=PERSONS.row_bytes),
        Temporary(name="extract", role="work", row_bytes=_EXTRACT_BYTES, rows_ratio=EXTRACT_RATIO),
        Temporary(
            name="household parts",
            role="util",
            row_bytes=8 * len(KEY_COLUMNS),
            rows_ratio=_HOUSEHOLDS,
            removed="parts",
        ),
        Temporary(name="person parts", role="util", row_bytes=PERSONS.row_bytes, removed="parts"),
    ),
    steps=(
        Step(
            name="copy",
            kind="data",
            title="copy both tables to work",
            reads=(Pass(HOUSEHOLDS.name), Pass(PERSONS.name)),
            writes=_BOTH,
        ),
        Step(
            name="population",
            kind="procedure",
            procedure="FREQ",
            title="persons and householders by employment and sex",
            reads=(Pass("copied persons"),),
        ),
        Step(
            name="owners",
            kind="procedure",
            procedure="SQL",
            title="householders who own, semi-joined",
            reads=_BOTH,
        ),
        Step(
            name="renters",
            kind="procedure",
            procedure="SQL",
            title="householders who rent, semi-joined",
            reads=_BOTH,
        ),
        Step(
            name="incomes",
            kind="procedure",
            procedure="MEANS",
            title="wages of persons of working age, by class of worker and sex",
            reads=(Pass("copied persons"),),
        ),
        Step(
            name="distribute",
            kind="data",
            title="distribute persons and keys of households by household",
            reads=_BOTH,
            writes=_BOTH_PARTS,
        ),
        Step(
            name="extract",
            kind="procedure",
            procedure="SQL",
            title="persons of the half-sample, semi-joined part by part",
            reads=_BOTH_PARTS,
            writes=(Pass("extract"),),
        ),
        Step(
            name="summary",
            kind="procedure",
            procedure="MEANS",
            title="moments and extremes of the extract by class",
            reads=(Pass("extract"),),
        ),
        Step(name="verify", kind="verify", title="word sums, counts by household, whole rows"),
    ),
    size_knob="rows of persons and households",
    check="counts of every semi-join from the household side, word sums of all tables, rows regenerated",
    modules=(
        "duckdb",
        "numpy",
        "numpy.ma",
        "pyarrow",
        "pyarrow.dataset",
        "threadpoolctl",
        "mawl.programs.census_query.run",
    ),
    cpu_seconds_per_gb=8.751,
    memory_floor_bytes=64 * MIB,
    memory_per_memsize=0.3,
    memory_per_sortsize=1.0,
)

"""census_load_single: parse one very large text file, join, three passes, delete.

Its input has the records of ``programs.census.inputs`` in one file, state after state: 45 GB at full scale.
"""

from __future__ import annotations

import msgspec

from mawl.plan.columns import GB
from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.census import inputs as census
from mawl.programs.census.inputs import HOUSEHOLD, PERSON
from mawl.programs.census_load import declare as census_load
from mawl.records.spec.program_options import MIB

TABLE = msgspec.structs.replace(census.TABLE, name="census_single", full_bytes=45 * GB, file_weights=(1,))


JOINED_PERSON = ("serial", "person", "age", "wages", "person_weight")
"""Columns of the joined table that come from the person."""

JOINED_HOUSEHOLD = ("tenure", "household_income")
"""Columns of the joined table that come from the person's household."""

_LEFT_OUT = frozenset(
    ("ancestry", "citizenship", "language", "english", "moved", "origin", "employment", "occupation")
)

PART_COLUMNS: tuple[str, ...] = tuple(
    field.column.name for field in PERSON.fields if field.column.name not in _LEFT_OUT
)
"""Columns of a person that go through util to the join: 168 of 240 bytes."""

_PART_BYTES = sum(field.column.stored_bytes for field in PERSON.fields if field.column.name in PART_COLUMNS)
_BOTH = (Pass("households"), Pass("persons"))
_BOTH_PARTS = (Pass("household parts"), Pass("person parts"))
_HOUSEHOLDS = HOUSEHOLD.per_group / TABLE.group_rows
_PERSONS = PERSON.per_group / TABLE.group_rows

PROGRAM = Program(
    name="census_load_single",
    program_class="io",
    title="Parse census text from one very large file, join, pass over it three times, delete",
    inputs=(TABLE,),
    temporaries=(
        Temporary(name="households", role="work", row_bytes=HOUSEHOLD.row_bytes, rows_ratio=_HOUSEHOLDS),
        Temporary(name="persons", role="work", row_bytes=PERSON.row_bytes, rows_ratio=_PERSONS),
        Temporary(
            name="joined",
            role="work",
            row_bytes=8 * (len(JOINED_PERSON) + len(JOINED_HOUSEHOLD)),
            rows_ratio=_PERSONS,
        ),
        Temporary(
            name="household parts",
            role="util",
            row_bytes=HOUSEHOLD.row_bytes,
            rows_ratio=_HOUSEHOLDS,
            removed="parts",
        ),
        Temporary(
            name="person parts", role="util", row_bytes=_PART_BYTES, rows_ratio=_PERSONS, removed="parts"
        ),
    ),
    steps=(
        Step(
            name="parse",
            kind="data",
            title="parse the text into two wide tables",
            reads=(Pass(TABLE.name),),
            writes=_BOTH,
        ),
        Step(
            name="distribute",
            kind="data",
            title="distribute both by household, persons without their longest columns",
            reads=_BOTH,
            writes=_BOTH_PARTS,
        ),
        Step(
            name="join",
            kind="procedure",
            procedure="SQL",
            title="join persons to households, part by part",
            reads=_BOTH_PARTS,
            writes=(Pass("joined"),),
        ),
        Step(
            name="frequencies",
            kind="procedure",
            procedure="FREQ",
            title="frequencies of persons",
            reads=(Pass("persons"),),
        ),
        Step(
            name="consistency",
            kind="procedure",
            procedure="SQL",
            title="edits that records must pass",
            reads=_BOTH,
        ),
        Step(
            name="means",
            kind="procedure",
            procedure="MEANS",
            title="means by group of persons, moments of their numerics",
            reads=(Pass("persons"),),
        ),
        Step(
            name="tabulate",
            kind="procedure",
            procedure="TABULATE",
            title="persons by their household's tenure",
            reads=(Pass("joined"),),
        ),
        Step(name="delete", kind="procedure", procedure="DATASETS", title="remove all tables"),
        Step(name="verify", kind="verify", title="word sums of every parsed field"),
    ),
    size_knob="records of census_single",
    check=census_load.PROGRAM.check,
    modules=(*census_load.PROGRAM.modules[:-1], "mawl.programs.census_load_single.run"),
    memory_floor_bytes=64 * MIB,
    memory_per_sortsize=1.0,
)

"""census_load: parse fixed-width text into two wide tables, join them, tabulate."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.census.inputs import HOUSEHOLD, PERSON, TABLE
from mawl.records.spec.program_options import MIB

JOINED_PERSON = ("serial", "person", "age", "wages", "person_weight", "hours_worked")
"""Columns of the joined table that come from the person."""

JOINED_HOUSEHOLD = ("rooms", "tenure", "household_income")
"""Columns of the joined table that come from the person's household."""

_BOTH = (Pass("households"), Pass("persons"))
_BOTH_PARTS = (Pass("household parts"), Pass("person parts"))
_HOUSEHOLDS = HOUSEHOLD.per_group / TABLE.group_rows
_PERSONS = PERSON.per_group / TABLE.group_rows

PROGRAM = Program(
    name="census_load",
    program_class="io",
    title="Parse census text into households and persons, join them, and tabulate",
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
            name="person parts", role="util", row_bytes=PERSON.row_bytes, rows_ratio=_PERSONS, removed="parts"
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
            title="distribute both by household",
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
            title="frequencies of both tables",
            reads=_BOTH,
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
            title="means by group of both tables",
            reads=_BOTH,
        ),
        Step(
            name="tabulate",
            kind="procedure",
            procedure="TABULATE",
            title="persons by their household's tenure",
            reads=(Pass("joined"),),
        ),
        Step(name="verify", kind="verify", title="word sums of every parsed field"),
    ),
    size_knob="records of census",
    check="counts and sums of every parsed field against the manifest, of joined fields against both tables",
    modules=(
        "duckdb",
        "numpy",
        "numpy.ma",
        "pyarrow",
        "pyarrow.acero",
        "pyarrow.dataset",
        "threadpoolctl",
        "mawl.programs.census_load.run",
    ),
    memory_floor_bytes=64 * MIB,
    memory_per_sortsize=1.0,
)

"""census_query: views over persons, filtered and semi-joined to households; extracts summarised.

Its inputs are households and persons as two tables, 36 GB together at full scale.  The columns are
those of the census records (``programs.census.inputs``), and names, addresses and remarks.  Both tables
have rows for the same groups of eight households and twenty persons, and the same hash says who lives where.
"""

from __future__ import annotations

from mawl.plan.columns import (
    Column,
    HouseholdSerial,
    HouseholdSize,
    InputTable,
    Paired,
    PersonNumber,
    RecordLayout,
    RowNumber,
    Text,
    Values,
)
from mawl.plan.programs import (
    Program,
    Temporary,
    data_step,
    modules_of,
    procedure_step,
    verify_step,
)
from mawl.programs.declarations.census_load import HOUSEHOLD, PERSON, SIZES
from mawl.records.spec.program_options import MIB

GROUPS = 2_984_000
"""Groups of eight households and their twenty persons at full scale."""

_POPULATION = "people"
_OWN: dict[str, Values] = {
    "persons": HouseholdSize(SIZES, _POPULATION),
    "person": PersonNumber(SIZES, _POPULATION),
}


def _columns(layout: RecordLayout, serial: RowNumber | HouseholdSerial) -> tuple[Column, ...]:
    kinds: dict[str, Values] = {**_OWN, "serial": serial}
    return tuple(
        Column(field.column.name, kinds.get(field.column.name, field.column.values), field.column.width)
        for field in layout.fields
    )


_HOUSEHOLD_COLUMNS = (
    *_columns(HOUSEHOLD, RowNumber()),
    Column("half_sample", Paired()),
    Column("address", Text(), 56),
    Column("town", Text(), 32),
    Column("note", Text(), 32),
)

_PERSON_COLUMNS = (
    Column("row", RowNumber()),
    *_columns(PERSON, HouseholdSerial(SIZES, _POPULATION)),
    Column("name", Text(), 40),
    Column("employer", Text(), 40),
    Column("job_title", Text(), 40),
    Column("school_name", Text(), 40),
    Column("remarks", Text(), 96),
)

HOUSEHOLDS = InputTable(
    name="households",
    full_bytes=GROUPS * len(SIZES) * sum(column.stored_bytes for column in _HOUSEHOLD_COLUMNS),
    unfilled_bytes=16.3,
    fill_overhead_bytes=1.0,
    columns=_HOUSEHOLD_COLUMNS,
    group_rows=len(SIZES),
    minimum_rows=100 * len(SIZES),
)

PERSONS = InputTable(
    name="persons",
    full_bytes=GROUPS * sum(SIZES) * sum(column.stored_bytes for column in _PERSON_COLUMNS),
    unfilled_bytes=19.8,
    fill_overhead_bytes=1.0,
    columns=_PERSON_COLUMNS,
    group_rows=sum(SIZES),
    minimum_rows=100 * sum(SIZES),
)


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
_BOTH = ("copied households", "copied persons")
_BOTH_PARTS = ("household parts", "person parts")

PROGRAM = Program(
    name="census_query",
    program_class="io",
    title="Query persons through views, filtered and semi-joined to households; summarise an extract",
    inputs=(PERSONS, HOUSEHOLDS),
    temporaries=(
        Temporary("copied households", "work", HOUSEHOLDS.row_bytes, _HOUSEHOLDS),
        Temporary("copied persons", "work", PERSONS.row_bytes),
        Temporary("extract", "work", _EXTRACT_BYTES, EXTRACT_RATIO),
        Temporary("household parts", "util", 8 * len(KEY_COLUMNS), _HOUSEHOLDS, removed="parts"),
        Temporary("person parts", "util", PERSONS.row_bytes, removed="parts"),
    ),
    steps=(
        data_step("copy", "copy both tables to work", reads=[HOUSEHOLDS.name, PERSONS.name], writes=_BOTH),
        procedure_step(
            "population", "FREQ", "persons and householders by employment and sex", reads=["copied persons"]
        ),
        procedure_step("owners", "SQL", "householders who own, semi-joined", reads=_BOTH),
        procedure_step("renters", "SQL", "householders who rent, semi-joined", reads=_BOTH),
        procedure_step(
            "incomes",
            "MEANS",
            "wages of persons of working age, by class of worker and sex",
            reads=["copied persons"],
        ),
        data_step(
            "distribute",
            "distribute persons and keys of households by household",
            reads=_BOTH,
            writes=_BOTH_PARTS,
        ),
        procedure_step(
            "extract",
            "SQL",
            "persons of the half-sample, semi-joined part by part",
            reads=_BOTH_PARTS,
            writes=["extract"],
        ),
        procedure_step("summary", "MEANS", "moments and extremes of the extract by class", reads=["extract"]),
        verify_step("word sums, counts by household, whole rows"),
    ),
    size_knob="rows of persons and households",
    check="counts of every semi-join from the household side, word sums of all tables, rows regenerated",
    modules=modules_of("census_query", "duckdb", "numpy.ma", "pyarrow.dataset"),
    memory_floor_bytes=64 * MIB,
    memory_per_memsize=0.3,
    memory_per_sortsize=1.0,
)

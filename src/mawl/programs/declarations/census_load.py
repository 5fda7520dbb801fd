"""census_load and census_load_single: parse fixed-width text into two wide tables, join them, tabulate.

Their input is census microdata: 231-byte text records, 37 GB in 51 files and 45 GB in one file at full scale.

Household and person records interleaved, each household followed by its persons.  A group of 28
records holds 8 households with 20 persons; the household sizes in a group are ``SIZES`` rotated by
a hash of the group number, so that any group can be made alone and every group is equally large.
"""

from __future__ import annotations

import msgspec

from mawl.plan.columns import (
    GB,
    Code,
    Column,
    HouseholdSerial,
    HouseholdSize,
    InputTable,
    PersonNumber,
    RowNumber,
    Uniform,
    lay_out,
)
from mawl.plan.programs import Program, Temporary, data_step, modules_of, procedure_step, verify_step
from mawl.records.spec.program_options import MIB

RECORD_BYTES = 231
SIZES = (1, 4, 2, 3, 1, 5, 2, 2)
"""Persons of the eight households of a group, before rotation; 20 in all."""

HOUSEHOLD = lay_out(
    "H",
    len(SIZES),
    RECORD_BYTES,
    (
        (Column("serial", RowNumber()), 10),
        (Column("persons", HouseholdSize(SIZES)), 2),
        (Column("household_weight", Uniform(10, 400, skew=2, step=10)), 4),
        (Column("rooms", Uniform(1, 9, skew=2)), 2),
        (Column("bedrooms", Uniform(0, 5, skew=2)), 1),
        (Column("vehicles", Uniform(0, 6, skew=3)), 1),
        (Column("year_built", Uniform(1939, 2019, step=10)), 4),
        (Column("tenure", Uniform(1, 4, skew=2)), 1),
        (Column("rent", Uniform(0, 3_000, skew=4, step=100)), 5),
        (Column("property_value", Uniform(0, 900_000, skew=4, step=25_000)), 7),
        (Column("household_income", Uniform(0, 250_000, skew=3, step=5_000)), 7),
        (Column("heating_fuel", Uniform(1, 9, skew=4)), 1),
        (Column("area", Code(("URBAN", "SUBURBAN", "RURAL"), skew=2), 8), 8),
        (
            Column("building", Code(("DETACHED", "ATTACHED", "APARTMENT BLOCK", "MOBILE HOME"), skew=2), 16),
            16,
        ),
    ),
    "household_filler",
)

PERSON = lay_out(
    "P",
    sum(SIZES),
    RECORD_BYTES,
    (
        (Column("serial", HouseholdSerial(SIZES)), 10),
        (Column("person", PersonNumber(SIZES)), 2),
        (Column("person_weight", Uniform(10, 400, skew=3, step=10)), 4),
        (Column("age", Uniform(0, 94)), 2),
        (Column("sex", Uniform(1, 2)), 1),
        (Column("marital_status", Uniform(1, 5, skew=3)), 1),
        (Column("education", Uniform(0, 16, skew=2)), 2),
        (Column("hours_worked", Uniform(0, 60, skew=3, step=10)), 2),
        (Column("weeks_worked", Uniform(0, 52, skew=3, step=13)), 2),
        (Column("wages", Uniform(0, 200_000, skew=4, step=5_000)), 7),
        (Column("other_income", Uniform(0, 50_000, skew=20, step=5_000)), 7),
        (Column("industry", Uniform(0, 990, skew=8, step=30)), 3),
        (Column("relationship", Uniform(0, 9, skew=6)), 1),
        (Column("race", Uniform(1, 9, skew=8)), 1),
        (Column("ancestry", Uniform(0, 9, skew=12)), 1),
        (Column("citizenship", Uniform(1, 5, skew=16)), 1),
        (Column("language", Uniform(0, 9, skew=16)), 1),
        (Column("english", Uniform(0, 4, skew=16)), 1),
        (Column("moved", Uniform(0, 1, skew=10)), 1),
        (Column("military", Uniform(0, 4, skew=24)), 1),
        (Column("disability", Uniform(0, 1, skew=12)), 1),
        (Column("school", Uniform(0, 3, skew=8)), 1),
        (Column("worker_class", Uniform(0, 8, skew=8)), 1),
        (Column("travel_mode", Uniform(0, 9, skew=12)), 1),
        (Column("children", Uniform(0, 9, skew=12)), 1),
        (Column("insured", Uniform(0, 1, skew=8)), 1),
        (Column("origin", Code(("NATIVE", "ABROAD"), skew=8), 8), 8),
        (Column("employment", Code(("EMPLOYED", "INACTIVE", "SEEKING"), skew=4), 8), 8),
        (Column("occupation", Code(("SERVICE", "OFFICE", "PRODUCTION", "MANAGEMENT"), skew=6), 16), 16),
    ),
    "person_filler",
)

PERSON_CODES = (
    "sex",
    "marital_status",
    "industry",
    "relationship",
    "race",
    "ancestry",
    "citizenship",
    "language",
    "moved",
    "military",
    "disability",
    "school",
    "worker_class",
    "travel_mode",
    "insured",
)
"""Numbers of a person that are codes: they are counted, their means say nothing."""

# Shares of the states, in thousandths of the population, largest first as nobody needs the order.
_STATE_WEIGHTS = (
    118, 87, 65, 59, 39, 38, 35, 32, 31, 30, 28, 26, 23, 22, 21, 21, 20, 19, 19, 18, 17, 17, 15, 15,
    14, 13, 13, 12, 11, 10, 10, 10, 9, 9, 9, 8, 7, 6, 6, 6, 6, 5, 4, 4, 3, 3, 3, 3, 2, 2, 2,
)  # fmt: skip

TABLE = InputTable(
    name="census",
    full_bytes=37 * GB,
    unfilled_bytes=18.1,
    fill_overhead_bytes=5.5,
    layout="text",
    group_rows=len(SIZES) + sum(SIZES),
    record_bytes=RECORD_BYTES,
    records=(HOUSEHOLD, PERSON),
    file_weights=_STATE_WEIGHTS,
    minimum_rows=2800,
)

SINGLE = msgspec.structs.replace(TABLE, name="census_single", full_bytes=45 * GB, file_weights=(1,))
"""The same records in one file, state after state."""


class CensusLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Where the two programs that load a census differ.

    ``left_out`` are the columns of a person that do not go through util to the join; ``joined_person`` and
    ``joined_household`` are those of the joined table.  One of a single file passes over persons alone,
    with more questions, and removes the tables in a step at the end.
    """

    name: str
    title: str
    table: InputTable
    joined_person: tuple[str, ...]
    joined_household: tuple[str, ...]
    left_out: frozenset[str] = frozenset()
    is_single: bool = False

    @property
    def part_columns(self) -> tuple[str, ...]:
        """Columns of a person that go through util to the join."""
        return tuple(field.column.name for field in PERSON.fields if field.column.name not in self.left_out)


LOADS = {
    load.name: load
    for load in (
        CensusLoad(
            name="census_load",
            title="Parse census text into households and persons, join them, and tabulate",
            table=TABLE,
            joined_person=("serial", "person", "age", "wages", "person_weight", "hours_worked"),
            joined_household=("rooms", "tenure", "household_income"),
        ),
        CensusLoad(
            name="census_load_single",
            title="Parse census text from one very large file, join, pass over it three times, delete",
            table=SINGLE,
            joined_person=("serial", "person", "age", "wages", "person_weight"),
            joined_household=("tenure", "household_income"),
            left_out=frozenset(
                (
                    "ancestry",
                    "citizenship",
                    "language",
                    "english",
                    "moved",
                    "origin",
                    "employment",
                    "occupation",
                )
            ),
            is_single=True,
        ),
    )
}
"""By program."""

_BOTH = ("households", "persons")
_BOTH_PARTS = ("household parts", "person parts")
_HOUSEHOLDS = HOUSEHOLD.per_group / TABLE.group_rows
_PERSONS = PERSON.per_group / TABLE.group_rows


def _program(load: CensusLoad) -> Program:
    parts = sum(
        field.column.stored_bytes for field in PERSON.fields if field.column.name in load.part_columns
    )
    joined = 8 * (len(load.joined_person) + len(load.joined_household))
    passed = _BOTH[1:] if load.is_single else _BOTH
    without = ", persons without their longest columns" if load.is_single else ""
    of = "persons" if load.is_single else "both tables"
    moments = ", moments of their numerics" if load.is_single else ""
    deletion = procedure_step("delete", "DATASETS", "remove all tables")
    return Program(
        name=load.name,
        program_class="io",
        title=load.title,
        inputs=(load.table,),
        temporaries=(
            Temporary("households", "work", HOUSEHOLD.row_bytes, _HOUSEHOLDS),
            Temporary("persons", "work", PERSON.row_bytes, _PERSONS),
            Temporary("joined", "work", joined, _PERSONS),
            Temporary("household parts", "util", HOUSEHOLD.row_bytes, _HOUSEHOLDS, removed="parts"),
            Temporary("person parts", "util", parts, _PERSONS, removed="parts"),
        ),
        steps=(
            data_step("parse", "parse the text into two wide tables", reads=[load.table.name], writes=_BOTH),
            data_step(
                "distribute", f"distribute both by household{without}", reads=_BOTH, writes=_BOTH_PARTS
            ),
            procedure_step(
                "join",
                "SQL",
                "join persons to households, part by part",
                reads=_BOTH_PARTS,
                writes=["joined"],
            ),
            procedure_step("frequencies", "FREQ", f"frequencies of {of}", reads=passed),
            procedure_step("consistency", "SQL", "edits that records must pass", reads=_BOTH),
            procedure_step("means", "MEANS", f"means by group of {of}{moments}", reads=passed),
            procedure_step("tabulate", "TABULATE", "persons by their household's tenure", reads=["joined"]),
            *([deletion] if load.is_single else []),
            verify_step("word sums of every parsed field"),
        ),
        size_knob=f"records of {load.table.name}",
        check="counts and sums of every parsed field against the manifest, of joined fields against both "
        "tables",
        modules=modules_of("census_load", "duckdb", "numpy.ma", "pyarrow.acero", "pyarrow.dataset"),
        memory_floor_bytes=64 * MIB,
        memory_per_sortsize=1.0,
    )


CENSUS_LOAD, CENSUS_LOAD_SINGLE = (_program(load) for load in LOADS.values())

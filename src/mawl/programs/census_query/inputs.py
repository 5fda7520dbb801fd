"""Households and persons as two tables, the inputs of census_query: 36 GB together at full scale.

The columns are those of the census records (:mod:`mawl.programs.census.inputs`), with names, addresses
and remarks beside them.  Both tables have rows for the same groups of eight households and twenty
persons, and the same hash says who lives where.
"""

from __future__ import annotations

from mawl.plan.columns import (
    Column,
    HouseholdSerial,
    HouseholdSize,
    Paired,
    PersonNumber,
    RowNumber,
    Text,
    Values,
)
from mawl.plan.records import RecordLayout
from mawl.plan.tables import InputTable
from mawl.programs.census.inputs import HOUSEHOLD, PERSON, SIZES

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

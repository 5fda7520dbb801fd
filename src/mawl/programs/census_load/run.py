"""Load census text from 51 files."""

from __future__ import annotations

from mawl.programs.census.inputs import HOUSEHOLD, PERSON, TABLE
from mawl.programs.census.tables import CensusJob, CensusShape
from mawl.programs.census_load.declare import JOINED_HOUSEHOLD, JOINED_PERSON
from mawl.programs.context import JobContext
from mawl.records.model.records import Answer

_SHAPE = CensusShape(
    table=TABLE,
    household_parts=tuple(field.column.name for field in HOUSEHOLD.fields),
    person_parts=tuple(field.column.name for field in PERSON.fields),
    joined_person=JOINED_PERSON,
    joined_household=JOINED_HOUSEHOLD,
)


def run(context: JobContext) -> Answer:
    return CensusJob(context, _SHAPE).run()

"""Load census text from one very large file; the tables are deleted at the end."""

from __future__ import annotations

from mawl.programs.census.inputs import HOUSEHOLD
from mawl.programs.census.tables import PERSON_PROFILE, CensusJob, CensusShape
from mawl.programs.census_load_single.declare import JOINED_HOUSEHOLD, JOINED_PERSON, PART_COLUMNS, TABLE
from mawl.programs.context import JobContext
from mawl.records.model.records import Answer

_SHAPE = CensusShape(
    table=TABLE,
    household_parts=tuple(field.column.name for field in HOUSEHOLD.fields),
    person_parts=PART_COLUMNS,
    joined_person=JOINED_PERSON,
    joined_household=JOINED_HOUSEHOLD,
    profiles_households=False,
    profile=PERSON_PROFILE,
    deletes=True,
)


def run(context: JobContext) -> Answer:
    return CensusJob(context, _SHAPE).run()

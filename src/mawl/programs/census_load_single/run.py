"""Parse census text from one very large file, join, pass over the tables three times, delete them.

Steps, bytes and limits are declared in ``programs.census_load_single.declare``.
"""

from __future__ import annotations

from mawl.programs.census.inputs import HOUSEHOLD
from mawl.programs.census.tables import PERSONS, CensusJob, CensusShape
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
    profile=PERSONS,
    deletes=True,
)


def run(context: JobContext) -> Answer:
    """Do all steps."""
    return CensusJob(context, _SHAPE).run()

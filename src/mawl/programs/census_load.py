"""Parse census text from 51 files into two wide tables, join persons to their households, tabulate.

Steps, bytes and limits are declared in :mod:`mawl.plan.catalogue.census_load`.
"""

from __future__ import annotations

from mawl.model.records import Answer
from mawl.plan.catalogue.census_load import JOINED_HOUSEHOLD, JOINED_PERSON
from mawl.plan.inputs.census import HOUSEHOLD, PERSON, TABLE
from mawl.programs.census_tables import CensusJob, CensusShape
from mawl.programs.context import JobContext

_SHAPE = CensusShape(
    table=TABLE,
    household_parts=tuple(field.column.name for field in HOUSEHOLD.fields),
    person_parts=tuple(field.column.name for field in PERSON.fields),
    joined_person=JOINED_PERSON,
    joined_household=JOINED_HOUSEHOLD,
)


def run(context: JobContext) -> Answer:
    """Do all steps."""
    return CensusJob(context, _SHAPE).run()

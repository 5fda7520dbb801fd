"""What analysts ask of each group of persons in a census."""

from __future__ import annotations

from mawl.programs.census.inputs import PERSON, PERSON_CODES
from mawl.programs.toolkit.moments import ClassProfile

_KEYS = ("serial", "person", "person_weight")
_LONG = ("industry",)
"""Codes of too many values to list for each group."""

PERSONS = ClassProfile(
    measures=tuple(
        field.column.name
        for field in PERSON.fields
        if field.column.width is None and field.column.name not in (*_KEYS, *PERSON_CODES)
    ),
    against="wages",
    codes=tuple(code for code in PERSON_CODES if code not in _LONG),
    weight="person_weight",
    quartiles=("age", "wages"),
)
"""Moments, weighted means and quartiles of what is measured, frequencies of what is coded."""

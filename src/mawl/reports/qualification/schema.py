"""The JSON Schema of ``qualify.json``, from the types of the record."""

from __future__ import annotations

import json

import msgspec

from mawl.records.model.qualification import QUALIFICATION_FORMAT_VERSION, Qualification
from mawl.records.model.schema import DRAFT

INSTANTS = {"Phase": "began_at", "Qualification": "created_at"}
"""Points in time are seconds in memory and ISO 8601 (UTC) in the file."""


def render() -> str:
    """The schema (draft 2020-12) as text, with a newline at the end."""
    found = json.loads(json.dumps(msgspec.json.schema(Qualification)))  # defaults as JSON has them
    for struct, name in INSTANTS.items():
        known = found["$defs"][struct]["properties"][name]
        kinds = [{"type": "string", "format": "date-time"}]
        found["$defs"][struct]["properties"][name] = (
            {"anyOf": [*kinds, {"type": "null"}], "default": None} if "anyOf" in known else kinds[0]
        )
    head = {"$schema": DRAFT, "title": f"qualify.json, format {QUALIFICATION_FORMAT_VERSION}"}
    return json.dumps({**head, **found}, indent=2) + "\n"

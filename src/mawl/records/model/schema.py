"""A typed record as JSON Schema (2020-12): every figure with its definition, unit and source.

Any figure may be null, because a run may not have measured it.
"""

from __future__ import annotations

import json
from typing import Any, Literal, get_args, get_origin

import msgspec

from mawl.records.model.fields import Place, place, places
from mawl.records.model.metrics import USAGE_METRICS
from mawl.records.model.records import Usage

DRAFT = "https://json-schema.org/draft/2020-12/schema"
NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(kind: type[msgspec.Struct], name: str, version: str, title: str) -> dict[str, object]:
    """The schema of a record, with ``name`` and ``version`` of the format in its ``$id``."""
    return {"$schema": DRAFT, "$id": f"urn:mawl:{name}:{version}", "title": title, **_schema(place(kind))}


def record_schema(kind: type[msgspec.Struct], name: str, version: str, title: str) -> dict[str, object]:
    """The schema of a record that no run folder stores; its figures with definition, unit and source.

    A field of a record that is in several places is defined where all its places agree."""
    # Defaults as JSON has them.
    found: dict[str, Any] = json.loads(json.dumps(msgspec.json.schema(kind), default=msgspec.to_builtins))
    for (struct, field), said in _definitions(kind).items():
        known = found["$defs"].get(struct, {}).get("properties", {})
        if field in known and len(said) == 1:
            known[field] |= said[0]
    used = found["$defs"].get(Usage.__name__, {}).get("properties", {})
    for metric in USAGE_METRICS:  # a job's figures are the columns of a table, and defined as those
        if metric.name in used:
            used[metric.name] |= {
                "description": metric.definition,
                "unit": metric.unit,
                "source": metric.source,
            }
    return {"$schema": DRAFT, "$id": f"urn:mawl:{name}:{version}", "title": title, **found}


def _definitions(kind: type[msgspec.Struct]) -> dict[tuple[str, str], list[dict[str, object]]]:
    """By record and field what the figures there say of themselves, each different text once."""
    found: dict[tuple[str, str], list[dict[str, object]]] = {}
    for here in places(kind):
        if isinstance(here.kind, type) and issubclass(here.kind, msgspec.Struct):
            for below in here.inside():
                texts = found.setdefault((here.kind.__name__, below.path[-1]), [])
                if (said := _said(below)) not in texts:
                    texts.append(said)
    return found


def _schema(here: Place) -> dict[str, object]:
    found: dict[str, object] = {**_type(here), **_said(here)}
    if here.nullable or (here.figure.definition and not list(here.inside())):
        found["type"] = [found["type"], "null"]
        if isinstance(found.get("enum"), list):
            found["enum"] = [*get_args(here.kind), None]
    return found


def _type(here: Place) -> dict[str, object]:
    kind, inside = here.kind, list(here.inside())
    if get_origin(kind) is list:
        return {"type": "array", "items": _schema(inside[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": _schema(inside[0])}
    if get_origin(kind) is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if inside:
        names = [one.path[-1] for one in inside]
        return {
            "type": "object",
            "properties": {one.path[-1]: _schema(one) for one in inside},
            "required": names,
        }
    return {"type": _name(kind)}


def _name(kind: Any) -> str:
    """The name of a plain type; a union of both kinds of numbers is a number."""
    return NAMES.get(kind, "number")


def _said(here: Place) -> dict[str, object]:
    one = here.figure
    said = {"description": one.definition, "unit": "" if one.unit in ("-", "text") else one.unit}
    return {key: text for key, text in {**said, "source": one.source}.items() if text}

"""Typed records: definitions of their annotated fields, why each may be null, and their JSON Schema.

Any figure may be null, because a run may not have measured it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from mawl.records.definitions import Figure, Metric, Words

ANY = "*"
"""Stands in a path for any member of a list or of a mapping."""

Path = tuple[str, ...]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a record: its ``path``, ``*`` for any member, its type, and what it says of itself.

    ``said`` are the words for what the place holds; ``many`` says that it is a list or a mapping.
    """

    path: Path
    kind: Any
    figure: Figure
    said: Words | None = None
    nullable: bool = False

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def many(self) -> bool:
        return get_origin(self.kind) in (list, dict)

    @property
    def metric(self) -> Metric:
        one = self.figure
        return Metric(self.name, one.definition, one.source, one.unit, one.type)

    def inside(self) -> Iterator[Place]:
        """The places right below: the fields of a record, the members of a list or mapping."""
        if self.many:
            yield place(get_args(self.kind)[-1], (*self.path, ANY), self.said)
        elif isinstance(self.kind, type) and issubclass(self.kind, msgspec.Struct):
            for field in _fields(self.kind):
                yield place(field.type, (*self.path, field.encode_name), self.said)


def place(kind: Any, path: Path = (), said: Words | None = None) -> Place:
    """The place of an annotated type."""
    figure, inner = Figure(), said
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
        for note in notes:
            figure = _filled(note, said) if isinstance(note, Figure) else figure
            inner = note if isinstance(note, Words) else inner
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    held = [part for part in parts if part is not NoneType]
    return Place(
        path=path,
        kind=held[0] if len(held) == 1 else kind,
        figure=figure,
        said=inner,
        nullable=len(held) < len(parts),
    )


def places(kind: Any, path: Path = ()) -> Iterator[Place]:
    """Every place of a type, in the order of its fields, those that hold others before what they hold.

    ``path`` is that of the type itself."""
    pending = [place(kind, path)]
    while pending:
        here = pending.pop()
        yield here
        pending += reversed(list(here.inside()))


def metrics_of(kind: Any, path: Path = ()) -> tuple[Metric, ...]:
    """The entries of all figures that a type defines; ``path`` is before their names."""
    return tuple(one.metric for one in places(kind, path) if one.figure.definition)


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _filled(figure: Figure, said: Words | None) -> Figure:
    if said is None:
        return figure
    return msgspec.structs.replace(
        figure,
        definition=figure.definition.format(**said.places),
        source=figure.source if said.source is None else said.source,
    )


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

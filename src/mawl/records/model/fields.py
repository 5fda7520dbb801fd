"""The figures of typed records, read from their annotated fields: definitions, and why each may be null."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

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
        return Metric(self.name, one.unit, one.type, one.definition, one.source)

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

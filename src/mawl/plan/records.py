"""Fixed-width text records as data: one declaration for the generator and for the parser."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mawl.plan.columns import Column, Text


class Field(msgspec.Struct, frozen=True):
    """Where a column stands in a record: bytes ``start`` to ``start + width``, from 0.

    Numerics are whole numbers, right-aligned and zero-padded digits; characters fill their column's
    width, blank-padded on the right.
    """

    column: Column
    start: int
    width: int


class RecordLayout(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of record: ``kind`` is the letter in its first byte.

    ``per_group`` records of this kind are in every group; the ``filler`` field carries the dial and
    belongs to no table.
    """

    kind: str
    per_group: int
    fields: tuple[Field, ...]
    filler: Field

    @property
    def row_bytes(self) -> int:
        """Bytes of the table row that a record becomes: eight for a numeric, the width of a character."""
        return sum(field.column.stored_bytes for field in self.fields)


def lay_out(
    kind: str, per_group: int, record_bytes: int, columns: Sequence[tuple[Column, int]], filler: str
) -> RecordLayout:
    """Fields one behind the other, from (column, width in the record); the filler takes the rest.

    ``record_bytes`` counts the letter in front and the newline at the end; ``filler`` is a name.
    """
    fields, start = [], 1
    for column, width in columns:
        fields.append(Field(column, start, width))
        start += width
    rest = record_bytes - 1 - start
    return RecordLayout(
        kind=kind,
        per_group=per_group,
        fields=tuple(fields),
        filler=Field(Column(filler, Text(), rest), start, rest),
    )

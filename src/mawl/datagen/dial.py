"""The compressibility dial: how much of the text columns is random, so that a table saves a given share.

The saving is 1 - stored/original by zstd level 1 in independent blocks of 128 KiB, the size in which
file systems and arrays compress.  A row takes ``unfilled_bytes`` with the dial at its lowest; each
filled byte adds seven bits (:mod:`mawl.datagen.values` fills with one of 128 characters); and the first
ones add ``fill_overhead_bytes``, since they end what was one long match from row to row.
"""

from __future__ import annotations

from mawl.errors import UsageError
from mawl.plan.tables import InputTable

FILLED_BYTE_COST = 7 / 8
_OVERHEAD_AFTER_BYTES = 8
TOLERANCE = 0.03
"""How far from the asked saving a table may end up before it is refused."""


def filled_bytes(table: InputTable, saving: float) -> int:
    """Bytes of each row to fill with random characters so that the table saves ``saving`` (0 to 1).

    Raises :class:`~mawl.errors.UsageError` for a saving that the table's columns cannot give.
    """
    filled = min(range(dial_bytes(table) + 1), key=lambda bytes_: abs(_saving(table, bytes_) - saving))
    reached = _saving(table, filled)
    if abs(reached - saving) > TOLERANCE:
        raise UsageError(
            f"the saving of input table {table.name} cannot be {saving:g}",
            why=f"its columns allow {_saving(table, dial_bytes(table)):.2f} to {_saving(table, 0):.2f}",
            cure="choose a saving in between",
        )
    return filled


def fills(table: InputTable, filled: int) -> dict[str, int]:
    """Filled bytes of each dial column: in order, each to its width before the next.

    In a text table every record's filler is filled alike.
    """
    if table.records:
        return {layout.filler.column.name: filled for layout in table.records}
    shares = {}
    for column in table.columns:
        if column.is_dial:
            shares[column.name] = min(filled, column.stored_bytes)
            filled -= shares[column.name]
    return shares


def dial_bytes(table: InputTable) -> int:
    """Bytes of each row that the dial may fill."""
    if table.records:
        return min(layout.filler.width for layout in table.records)
    return sum(column.stored_bytes for column in table.columns if column.is_dial)


def _saving(table: InputTable, filled: int) -> float:
    """The saving to expect with so many filled bytes."""
    overhead = table.fill_overhead_bytes * min(filled / _OVERHEAD_AFTER_BYTES, 1.0)
    return 1.0 - (table.unfilled_bytes + overhead + filled * FILLED_BYTE_COST) / table.row_bytes

"""Fixed-width text records, made and read back from the declarations in ``plan.columns``."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from mawl.plan.columns import Field, HouseholdSize, InputTable, RecordLayout
from mawl.programs.datagen.groups import record_places, rotations
from mawl.programs.datagen.values import ReplicaSeed, column_values, rotation_key
from mawl.programs.tables.arrow import Sums, add_sums, word_sum

Bytes = NDArray[np.uint8]

_CHUNK_DIGITS = 4
_BLANK, _NEWLINE, _ZERO = 0x20, 0x0A, 0x30


def make_groups(
    table: InputTable, *, seed: int, replica: int, first: int, groups: int, filled: int
) -> tuple[Bytes, Sums]:
    """Groups ``first`` to ``first + groups`` as text: uint8 of shape (records, record bytes), and sums.

    ``filled`` bytes of each record's filler are random.  The sums are by ``KIND.column``: numerics as
    whole numbers, characters as eight-byte words, modulo 2**64.
    """
    sums: Sums = {}
    kinds = []
    for layout in table.records:
        start, count = first * layout.per_group, groups * layout.per_group
        values = {
            field.column.name: column_values(
                table, field.column, seed=seed, replica=replica, start=start, count=count
            )
            for field in layout.fields
        }
        used = min(filled, layout.filler.width)
        noise = column_values(
            table, layout.filler.column, seed=seed, replica=replica, start=start, count=count, filled=used
        )
        kinds.append(_records(layout, values, noise, used, sums))
    if len(kinds) == 1:
        return kinds[0], sums
    pattern = _pattern(table)
    turns = rotations(rotation_key(ReplicaSeed(table.name, seed, replica)), len(pattern), first, groups)
    starts = np.arange(groups, dtype=np.intp)[:, np.newaxis] * table.group_rows
    text = np.empty((groups * table.group_rows, table.row_bytes), dtype=np.uint8)
    for records, places in zip(kinds, record_places(pattern), strict=True):
        text[(places[turns] + starts).reshape(-1)] = records
    return text, sums


def read_sums(table: InputTable, text: Bytes) -> Sums:
    """The sums of ``make_groups`` from text of shape (records, record bytes).

    A record of no known kind adds nothing, so that the sums differ.
    """
    sums: Sums = {}
    for layout in table.records:
        records = text[text[:, 0] == ord(layout.kind)]
        for field in layout.fields:
            add_sums(sums, {f"{layout.kind}.{field.column.name}": _field_sum(field, records)})
    return sums


def _records(
    layout: RecordLayout,
    values: Mapping[str, NDArray[np.generic]],
    noise: NDArray[np.generic],
    used: int,
    sums: Sums,
) -> Bytes:
    """Records of one kind from their columns' values, and the sums of these added to ``sums``."""
    count = len(noise)
    records = np.empty((count, _width(layout)), dtype=np.uint8)
    records[:] = _template(layout)
    by_field = records.view(_places(layout)).reshape(count)
    for field in layout.fields:
        name = field.column.name
        if field.column.width is not None:
            by_field[name] = values[name]
            add_sums(sums, {f"{layout.kind}.{name}": word_sum(values[name])})
            continue
        whole = values[name].astype(np.int64)
        add_sums(sums, {f"{layout.kind}.{name}": int(np.add.reduce(whole))})
        for digits, piece in _pieces(field):
            by_field[f"{name}.{piece}"] = _digit_table(digits)[whole % 10**digits if piece else whole]
            if piece:
                whole //= 10**digits
    if used > 0:
        begin, width = layout.filler.start, layout.filler.width
        records[:, begin : begin + used] = noise.view(np.uint8).reshape(count, width)[:, :used]
    return records


def _pieces(field: Field) -> Iterator[tuple[int, int]]:
    """(digits, piece) of a numeric field from its end: four at a time, the first ones as piece 0."""
    count = -(-field.width // _CHUNK_DIGITS)
    for piece in range(count - 1, 0, -1):
        yield _CHUNK_DIGITS, piece
    yield field.width - _CHUNK_DIGITS * (count - 1), 0


@functools.lru_cache(maxsize=16)
def _digit_table(digits: int) -> NDArray[np.void]:
    """Zero-padded texts of 0 to 10**digits - 1, as ``V<digits>``."""
    texts = "".join(f"{number:0{digits}d}" for number in range(10**digits))
    return np.frombuffer(texts.encode(), dtype=f"V{digits}")


@functools.lru_cache(maxsize=8)
def _places(layout: RecordLayout) -> np.dtype[np.void]:
    """A record as a structured type, numeric fields in pieces of at most four digits."""
    names, formats, offsets = [], [], []
    for field in layout.fields:
        if field.column.width is not None:
            names.append(field.column.name)
            formats.append(f"S{field.width}")
            offsets.append(field.start)
            continue
        stop = field.start + field.width
        for digits, piece in _pieces(field):
            stop -= digits
            names.append(f"{field.column.name}.{piece}")
            formats.append(f"V{digits}")
            offsets.append(stop)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": _width(layout)})


@functools.lru_cache(maxsize=8)
def _template(layout: RecordLayout) -> Bytes:
    record = np.full(_width(layout), _BLANK, dtype=np.uint8)
    record[0], record[-1] = ord(layout.kind), _NEWLINE
    return record


def _field_sum(field: Field, records: Bytes) -> int:
    text = np.ascontiguousarray(records[:, field.start : field.start + field.width])
    if field.column.width is not None:
        return word_sum(text)
    total = 0
    for digit in np.add.reduce(text, axis=0, dtype=np.int64) - _ZERO * len(text):
        total = total * 10 + int(digit)
    return total & 0xFFFF_FFFF_FFFF_FFFF


def _pattern(table: InputTable) -> tuple[int, ...]:
    for field in table.records[0].fields:
        if isinstance(field.column.values, HouseholdSize):
            return field.column.values.sizes
    raise ValueError(f"the first records of {table.name} must be households")


def _width(layout: RecordLayout) -> int:
    return layout.filler.start + layout.filler.width + 1

"""Statistics of storage arrays as administrators export them (rows of text, or counters in XML), to records.

A map says which columns hold which figure (``table_map``).

Sources: IBM XIV, XCLI reference: statistics_get (latencies in microseconds, throughput in KB/s, by hit and
miss and by size of the request); IBM Spectrum Virtualize, Starting statistics collection (volumes, Nv_stats:
``ro`` and ``wo`` operations, ``rb`` and ``wb`` blocks of 512 bytes, ``rl`` and ``wl`` milliseconds, all
counters since the node started) and lssystemstats; IBM Spectrum Control, Exporting performance data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from mawl.importers.formats.table_map import ARRAY_FIGURES, TableMap, number
from mawl.importers.formats.tables import HeadFacts, Row, RowClock, Skip, table_rows
from mawl.importers.formats.text import moment

BLOCK_BYTES = 512
_TIGHT = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})")


class ArrayRow(NamedTuple):
    """Figures of a volume at a moment of the array's wall clock (seconds as if it were UTC).

    ``ahead`` is how far its zone is ahead of UTC, None where the row does not say.  If ``counters`` is true,
    the figures are counters of one ``node`` that only grow: two rows make an interval.
    """

    at: float
    ahead: float | None
    volume: str
    figures: dict[str, float | None]
    node: str = ""
    counters: bool = False


def rows(held: TableMap, name: str, text: str, skip: Skip) -> Iterator[ArrayRow]:
    """What a file says, row by row."""
    if held.layout == "counters":
        yield from _counters(text, skip)
        return
    found = re.search(held.volume_in_name, name) if held.volume_in_name else None
    volume = found[1] if found and found.groups() and found[1] else ""
    head = HeadFacts(held.head)
    clock = RowClock(held, head)
    for row in table_rows(held, enumerate(text.splitlines(), 1), head, skip):
        yield from _row(held, row, clock, volume, skip)


def _row(held: TableMap, row: Row, clock: RowClock, volume: str, skip: Skip) -> Iterator[ArrayRow]:
    columns, cells = row.columns, row.cells
    if columns.time is None:
        return
    text = cells[columns.time].strip()
    match = _TIGHT.fullmatch(text)
    when = clock.moment("20{}-{}-{} {}:{}:{}".format(*match.groups()) if match else text)
    if when is None:
        skip(row.line, f"no time: {text[:40]}")
        return
    name = cells[columns.item].strip() if columns.item is not None else volume
    figures: dict[str, float | None] = {}
    if columns.named is not None:
        one = columns.named_figure(held, cells)
        if one is None:
            return
        figures[one[0]] = _scaled(held, one[0], one[2])
    else:
        for place in columns.places:
            figures[place.figure] = _scaled(held, place.figure, columns.value(place, cells))
        if all(value is None for value in figures.values()):
            skip(row.line, "no number in the columns of the map")
            return
    yield ArrayRow(*when, name, figures)


def _scaled(held: TableMap, figure: str, value: float | None) -> float | None:
    return None if value is None else value * ARRAY_FIGURES[figure].units[held.figures[figure].unit]


_STAMP = re.compile(r"GMT([+-])([0-9]{1,2}):([0-9]{2})")
_COUNTED = {
    "ro": ("reads_per_second", 1.0),
    "wo": ("writes_per_second", 1.0),
    "rb": ("read_bytes_per_second", float(BLOCK_BYTES)),
    "wb": ("written_bytes_per_second", float(BLOCK_BYTES)),
    "rl": ("read_latency_seconds", 1e-3),
    "wl": ("write_latency_seconds", 1e-3),
}
"""Counter of a volume to the figure that its growth makes, and base units of one."""


_UNITS = {"sizeUnits": "512B", "timeUnits": "msec"}
"""Units of the counters; files of older versions do not name them."""


def _counters(text: str, skip: Skip) -> Iterator[ArrayRow]:
    """A file of Spectrum Virtualize: the counters of each volume at its time."""
    if "<!" in text.replace("<!--", ""):
        skip(1, "XML with declarations of types or entities is not read")
        return
    try:
        root = ElementTree.fromstring(text.encode())
    except (ElementTree.ParseError, ValueError) as error:
        skip(1, f"no XML: {error}")
        return
    for name, unit in _UNITS.items():
        if root.get(name, unit).lower() != unit.lower():
            skip(1, f"counts in {root.get(name)}, expected {unit}")
            return
    zone = _STAMP.fullmatch(root.get("timezone", ""))
    when = moment(root.get("timestamp", ""))
    if when is None:
        skip(1, "no timestamp")
        return
    ahead = None if zone is None else int(f"{zone[1]}1") * (int(zone[2]) * 3600.0 + int(zone[3]) * 60.0)
    for element in root.iter():
        volume = element.get("id")
        if element.tag.rpartition("}")[2] != "vdsk" or not volume:
            continue
        counts = {key: number(element.get(key, "")) for key in _COUNTED}
        figures = {
            _COUNTED[key][0]: None if count is None else count * _COUNTED[key][1]
            for key, count in counts.items()
        }
        yield ArrayRow(when[0], ahead, volume, figures, node=root.get("id", ""), counters=True)

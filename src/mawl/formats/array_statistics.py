"""Statistics of storage arrays as administrators export them: rows of text, and counters in XML.

Sources: IBM XIV, XCLI reference: statistics_get (latencies in microseconds, throughput in KB/s, by hit and
miss and by size of the request); IBM Spectrum Virtualize, Starting statistics collection (volumes, Nv_stats:
``ro`` and ``wo`` operations, ``rb`` and ``wb`` blocks of 512 bytes, ``rl`` and ``wl`` milliseconds, all
counters since the node started) and lssystemstats; IBM Spectrum Control, Exporting performance data.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from mawl.formats.array_map import UNITS, ArrayColumns, ArrayMap, fits_whole, number
from mawl.formats.dates import moment

BLOCK_BYTES = 512
LONGEST_INTERVAL_SECONDS = 86400.0
_TIGHT = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})")

Skip = Callable[[int, str], None]
"""Called for each row that is left out, with its number from 1 and the reason."""


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


def rows(held: ArrayMap, name: str, text: str, skip: Skip) -> Iterator[ArrayRow]:
    """What a file says, row by row."""
    if held.layout == "counters":
        yield from _counters(text, skip)
        return
    reader = csv.reader(text.splitlines(), delimiter=held.separator, skipinitialspace=True)
    columns: ArrayColumns | None = None
    found = re.search(held.volume_in_name, name) if held.volume_in_name else None
    volume = found[1] if found and found.groups() and found[1] else ""
    heading: Sequence[str] = ()
    for place, row in enumerate(_safe(reader, skip), 1):
        if any(fits_whole(held.time, one.strip()) for one in row):
            columns, heading = ArrayColumns(held, row), row
        elif columns is None or columns.time is None:
            continue
        elif len(row) != len(heading):
            skip(place, f"{len(row)} columns, expected {len(heading)}")
        else:
            yield from _row(held, columns, heading, row, volume, lambda why, place=place: skip(place, why))  # type: ignore[misc]
    if columns is None:
        skip(1, f"no heading with a column {held.time}")


def _safe(reader: Iterator[list[str]], skip: Skip) -> Iterator[list[str]]:
    """The rows; a row that is no CSV ends them."""
    place = 0
    while True:
        place += 1
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            skip(place, f"no row of CSV: {error}")
            return


def _row(
    held: ArrayMap, columns: ArrayColumns, heading: Sequence[str], row: Sequence[str], volume: str,
    skip: Callable[[str], None],
) -> Iterator[ArrayRow]:  # fmt: skip
    assert columns.time is not None
    when = _moment(row[columns.time].strip())
    if when is None:
        skip(f"no time: {row[columns.time][:40]}")
        return
    named = row[columns.volume].strip() if columns.volume is not None else volume
    if held.layout == "names":
        figures = _named(held, heading, row)
        if figures:
            yield ArrayRow(*when, named, figures)
        return
    figures = columns.figures(row)
    if any(value is not None for value in figures.values()):
        yield ArrayRow(*when, named, figures)
    else:
        skip("no number in the columns of the map")


def _named(held: ArrayMap, heading: Sequence[str], row: Sequence[str]) -> dict[str, float | None]:
    """The figure of a row that names it, where the map has it."""
    cells = {title.strip().lower(): cell.strip() for title, cell in zip(heading, row, strict=True)}
    name, value = cells.get(str(held.named).lower(), ""), number(cells.get(str(held.value).lower(), ""))
    found: dict[str, float | None] = {}
    for figure, column in held.figures.items():
        if fits_whole(column.columns, name):
            found[figure] = None if value is None else value * UNITS[column.unit]
    return found


def _moment(text: str) -> tuple[float, float | None] | None:
    """A point in time; None for an ambiguous day (``03/04/15``)."""
    match = _TIGHT.fullmatch(text)
    if match:
        text = "20{}-{}-{} {}:{}:{}".format(*match.groups())
    found = moment(text)
    return (found[0], found[1]) if found and found[2] else None


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

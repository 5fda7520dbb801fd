"""Text of ``sadf -d``: one heading per table, semicolons, the interval in each line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mawl.formats.dates import moment
from mawl.formats.sar import ITEMS, OTHER_ITEMS
from mawl.formats.sysstat import Banner, Report, SysstatDoubt, figures_of, number

HEADING = "# hostname;interval;timestamp"
LONGEST_INTERVAL_SECONDS = 7 * 86400.0


def read_reports(
    lines: Iterable[tuple[int, str]], wanted: Callable[[tuple[str, ...]], bool]
) -> Iterator[Report | SysstatDoubt]:
    """The reports of whole lines (number from 1, text), of tables whose columns are ``wanted``."""
    columns: tuple[str, ...] = ()
    reads = False
    for line_number, line in lines:
        fields = line.strip().split(";")
        if line.startswith("#"):
            columns = tuple(field.strip() for field in fields[3:])
            reads = line.startswith(HEADING) and wanted(columns) and columns[0] not in OTHER_ITEMS
        elif len(fields) >= 4 and "RESTART" in fields[3]:
            continue
        elif len(fields) < 4 or not columns:
            if line.strip():
                yield SysstatDoubt(line_number, "no line of sadf -d", line)
        elif reads:
            yield _report(line_number, columns, fields, line)


def _report(
    line_number: int, columns: tuple[str, ...], fields: list[str], line: str
) -> Report | SysstatDoubt:
    host, interval_text, time_text, *rest = fields
    if len(rest) != len(columns):
        return SysstatDoubt(line_number, f"{len(rest)} figures, where the heading has {len(columns)}", line)
    when, interval = _when(time_text), number(interval_text)
    if when is None or interval is None:
        return SysstatDoubt(line_number, "a line without an interval or a time", line)
    at, ahead = when
    item = columns[0] in ITEMS
    values = figures_of(columns[item:], rest[item:])
    if values is None:
        return SysstatDoubt(line_number, "a line with a figure that is no number", line)
    since = at - interval if 0 < interval <= LONGEST_INTERVAL_SECONDS else None
    name = rest[0] if item else ""
    if item and columns[0] == "CPU" and name == "-1":
        name = "all"
    banner = Banner("", host, None, True, None, None)
    return Report(line_number, banner, at, ahead, since, columns[0] if item else "", name, values)


def _when(text: str) -> tuple[float, float | None] | None:
    """``2026-11-21 23:14:17 UTC``, or seconds since the epoch (``sadf -U``)."""
    if text.isdecimal():
        at = float(text[:18])
        return (at, 0.0) if 631152000.0 <= at < 4102444800.0 else None  # 1990 to 2099
    found = moment(text)
    return None if found is None else (found[0], found[1])

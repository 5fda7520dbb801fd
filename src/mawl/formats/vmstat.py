"""Text of ``vmstat -t``: a line per interval, its time at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mawl.formats.dates import moment
from mawl.formats.sysstat import NO_TIMES, Report, SysstatDoubt, Untimed, number


def read_reports(
    lines: Iterable[tuple[int, str]], untimed: Untimed | None = None
) -> Iterator[Report | SysstatDoubt]:
    """The reports of whole lines (number from 1, text); the first is of the time since the start.

    ``untimed`` is for a recording without times.
    """
    columns: list[str] = []
    zone: str | None = None
    latest: float | None = None
    since: float | None = None
    told = False
    reports = 0
    for line_number, line in lines:
        words = line.split()
        if not words or words[0] == "procs" or words[0].startswith("-"):
            continue
        if words[:2] == ["r", "b"]:
            figures = [word for word in words if word.islower()]
            columns, zone = figures, words[-1] if len(words) > len(figures) else None
            continue
        reports += 1
        values = [number(word) for word in words[: len(columns)]]
        if not columns or None in values or len(values) < len(columns):
            yield SysstatDoubt(line_number, "no line of vmstat", line)
            since = None
            if len(words) != len(columns):
                untimed = None  # perhaps no report, and perhaps several
            continue
        when = moment(" ".join(words[len(columns) :]))
        if when is None and untimed is not None and len(words) == len(columns):
            when = untimed.at(reports - 1), untimed.ahead, True
        if when is None:
            since = None
            if not told:
                told = True
                yield SysstatDoubt(
                    line_number, f"the lines have no times: {NO_TIMES.format('vmstat -t')}", line
                )
            continue
        at = when[0]
        if latest is not None and at <= latest:
            yield SysstatDoubt(line_number, "the clock did not go on: the line is left out", line)
            continue
        found = {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        yield Report(line_number, None, at, 0.0 if zone == "UTC" else when[1], since, "VM", "", found)
        latest = since = at

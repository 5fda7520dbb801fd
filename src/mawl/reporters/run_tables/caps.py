"""A row per role and direction that a control group caps, or a sentence that there is no cap."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.caps import DIRECTIONS, NOT_RECORDED, PARTLY, cap_of
from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import format_count
from mawl.reporters.table import Note, Row, RunColumn, RunTable
from mawl.spec.program_options import ROLES
from mawl.units import format_rate

PLACES = (*ROLES, "together")
UNITS = {"bytes_per_second": "bytes", "requests_per_second": "requests"}


def _rows(_: RunView, summary: Summary) -> list[Row]:
    return [
        Row(f"{'all roles' if place == 'together' else place}, {way}", ("caps", place, way))
        for place in PLACES
        for way in DIRECTIONS
        if any(getattr(cap_of(summary.caps, place, way), unit) is not None for unit in UNITS)
    ]


def cap_sentence(summary: Summary) -> str | None:
    """What the roles may move at most, in a line: ``work writes 40 MB/s at loop3``; None without a cap."""
    said: dict[str, list[str]] = {}
    for role in ROLES:
        for way in DIRECTIONS:
            cap = cap_of(summary.caps, role, way)
            parts = [
                text
                for text in (
                    None if cap.bytes_per_second is None else format_rate(cap.bytes_per_second),
                    None
                    if cap.requests_per_second is None
                    else f"{format_count(cap.requests_per_second)} requests/s",
                )
                if text is not None
            ]
            if parts:
                what = f"{' and '.join(parts)} at {', '.join(cap.devices)}"
                said.setdefault(what, []).append(f"{role} {way}s")
    lines = [f"{', '.join(names)} at most {what}" for what, names in said.items()]
    return "; ".join(lines) or None


def _without(view: RunView, summary: Summary) -> Sequence[Note]:
    """Why roles have no cap, or have one on a part of their bytes; empty if the run did not look for caps."""
    capped = {row.path[1] for row in _rows(view, summary)}
    roles: dict[str, list[str]] = {}
    for role in ROLES:
        reasons = dict.fromkeys(
            why
            for way in DIRECTIONS
            for unit in UNITS
            if (why := summary.missing.get(f"caps.{role}.{way}.{unit}")) not in (None, NOT_RECORDED)
        )
        partly = [why for why in reasons if why.startswith(PARTLY)]
        for why in partly or ([] if role in capped else list(reasons)[:1]):
            roles.setdefault(why, []).append(role)
    return [Note(f"I/O caps of control groups, {', '.join(names)}: {why}") for why, names in roles.items()]


CAPS = RunTable(
    name="caps",
    caption="I/O caps of control groups",
    section="system",
    first="role, at its devices",
    block=("caps", "data", "read"),
    rows=_rows,
    columns=(
        RunColumn(label="at most", path=("bytes_per_second",), form=format_rate),
        RunColumn(label="requests/s", path=("requests_per_second",), form=format_count),
        RunColumn(label="applies at", path=("devices",), form=", ".join, holds="words"),
        RunColumn(label="read from", path=("files",), form=", ".join, holds="code"),
    ),
    lead=_without,
    spare=("read from",),
)

"""A row per role: bytes and calls, and in text and Markdown their latencies."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.analysis.view import RunView
from mawl.model.summary.io import Io, RoleFigures
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import figure, figures, format_count
from mawl.reporters.table import CSV, EVERY, HTML, MARKDOWN, TEXT, Note, Row, RunColumn, RunTable
from mawl.spec.program_options import ROLES as FILE_ROLES
from mawl.units import format_bytes, format_latency, format_percent, format_seconds

WHOLE = 0.995
TRIFLE_BYTES = 2**17
"""So little uncounted is not worth a line (as in the jobs' remarks)."""


def role_rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per role; text and HTML leave out ``other`` where it has no calls."""
    return [
        Row(name, ("io", "by_role", name), EVERY if _called(name, role) else MARKDOWN | CSV)
        for name, role in (summary.io.by_role or {}).items()
    ]


def _called(name: str, role: RoleFigures) -> bool:
    return name != "other" or bool(role.reads or role.writes)


def _notes(_: RunView, summary: Summary) -> list[Note]:
    """Sizes of requests, what ``--cache none`` took, what passed by the page cache or was not counted."""
    by_role = summary.io.by_role or {}
    return [*_sizes(by_role), *_uncaching(by_role), *_direct(summary.io), *_coverage(summary.io)]


def _sizes(by_role: Mapping[str, RoleFigures]) -> list[Note]:
    """What a typical call moved, of the roles in which there were calls."""
    sizes = []
    for name in FILE_ROLES:
        medians = [
            f"{verb} {figure(median, format_bytes)}"
            for key, verb in (("read", "read"), ("write", "written"))
            if (median := getattr(by_role[name], f"{key}_request_bytes").p50) is not None
        ]
        sizes += [f"{name} {', '.join(medians)}"] if medians else []
    return [Note(f"median request: {'; '.join(sizes)}", TEXT)] if sizes else []


def _uncaching(by_role: Mapping[str, RoleFigures]) -> list[Note]:
    """The job time that the mode's own calls took; nothing in other modes."""
    took = {name: role.uncaching_seconds for name, role in by_role.items() if name in FILE_ROLES}
    if not any(took.values()):
        return []
    parts = ", ".join(f"{name} {figure(seconds, format_seconds)}" for name, seconds in took.items())
    what = "job time in calls of --cache none (waiting for writeback, dropping pages)"
    return [Note(f"{what}: {parts}", TEXT | MARKDOWN)]


def _direct(io: Io) -> list[Note]:
    """What passed by the page cache; nothing where nothing did."""
    block = io.direct
    if not block.programs:
        return []
    read, written = figures((block.read_bytes, format_bytes), (block.written_bytes, format_bytes))
    programs = ", ".join(block.programs)
    return [Note(f"direct I/O (past the page cache): {read} read, {written} written by {programs}", TEXT)]


def _coverage(io: Io) -> list[Note]:
    ratio = io.coverage_ratio
    moved = [getattr(io.application, f"{way}_bytes") for way in ("read", "written")]
    known = ratio is not None and None not in moved and not io.unseen
    # A program that is loaded reads some kilobytes before it can count.
    if known and ratio is not None and (ratio >= WHOLE or (1 - ratio) * sum(moved) <= TRIFLE_BYTES):
        return []
    counted = f"counted: {figure(ratio, format_percent)} of the bytes that the kernel saw"
    return [Note("; ".join([counted, *io.unseen]), TEXT)]


ROLES = RunTable(
    name="roles",
    caption="Bytes and calls by role",
    section="roles",
    first="role",
    block=("io", "by_role", "*"),
    rows=role_rows,
    columns=(
        RunColumn(label="reads", path=("reads",), form=format_count, formats=HTML),
        RunColumn(label="writes", path=("writes",), form=format_count, formats=HTML),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
        RunColumn(label="share", path=("share_ratio",), form=format_percent),
        RunColumn(label="sequential", path=("sequential_ratio",), form=format_percent),
        *(
            RunColumn(label=label, path=(f"{way}_latency_seconds", part), form=format_latency, formats=to)
            for way, parts in (
                ("read", (("mean", TEXT | MARKDOWN), ("p50", TEXT), ("p99", TEXT | MARKDOWN), ("max", TEXT))),
                ("write", (("mean", TEXT | MARKDOWN), ("p99", TEXT | MARKDOWN))),
            )
            for part, to in parts
            for label in [f"{way}s: mean" if part == "mean" else part]
        ),
    ),
    formats=EVERY,
    notes=_notes,
    spare=("p50", "sequential", "max"),
)

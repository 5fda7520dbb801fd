"""What the devices of each role moved, where I/O by role was not measured."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.table import TEXT, Note, Row, RunColumn, RunTable
from mawl.spec.program_options import ROLES
from mawl.units import format_bytes


def _rows(_: RunView, summary: Summary) -> list[Row]:
    io = summary.io
    if io.by_role is not None or io.devices_by_role is None:
        return []
    return [Row(role, ("io", "devices_by_role", role)) for role in ROLES]


def _reason(_: RunView, summary: Summary) -> list[Note]:
    """Why I/O by role is missing, and why devices cannot split it where they cannot."""
    if summary.io.by_role is not None:
        return []
    sentence = f"I/O by role: {summary.missing['io.by_role']}"
    if summary.io.devices_by_role is None:
        sentence += f"; nor can devices split it: {summary.missing['io.devices_by_role']}"
    return [Note(sentence)]


ROLE_DEVICES = RunTable(
    name="role_devices",
    caption="Bytes at the devices of each role",
    section="roles",
    first="role, at its devices",
    block=("io", "devices_by_role", "data"),
    rows=_rows,
    columns=(
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
    ),
    formats=TEXT,
    lead=_reason,
)

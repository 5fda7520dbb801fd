"""What each role asked of its devices, and what a probe found that they can do."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.table import Note, Row, RunColumn, RunTable
from mawl.spec.program_options import ROLES
from mawl.units import format_memory, format_percent, format_rate

DIRECTIONS = ("read", "write")


def _rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per role and direction."""
    if summary.storage is None:
        return []
    return [
        Row(f"{role}, {direction}", ("storage", "by_role", role, direction))
        for role in ROLES
        for direction in DIRECTIONS
    ]


def _notes(_: RunView, summary: Summary) -> list[Note]:
    """When the probe was, which test each capability is of, who shares a demand, and what is missing why."""
    storage, missing = summary.storage, summary.missing
    if storage is None:
        return []
    found: dict[str, list[str]] = {}
    for role in ROLES:
        block = storage.by_role[role]
        if block.shared_with:
            found.setdefault(f"its figures are also of {' and '.join(block.shared_with)}", []).append(role)
        if block.disks_shared_with:
            others = " and ".join(block.disks_shared_with)
            sentence = f"its disks also hold {others}, whose demand is not in these figures"
            found.setdefault(sentence, []).append(role)
        for direction in DIRECTIONS:
            test = getattr(block, direction).test
            why = missing.get(f"storage.by_role.{role}.{direction}.test", "")
            found.setdefault(f"can do: {test}" if test else why, []).append(f"{role} {direction}")
    sentences = [f"{', '.join(names)}: {sentence}" for sentence, names in found.items() if sentence]
    return [Note(f"Probed {storage.probed_at[:10]} with {storage.tool}."), *map(Note, sentences)]


DEMAND = RunTable(
    name="demand",
    caption="Demand and capability by role",
    section="storage",
    first="role, at its devices",
    block=("storage", "by_role", "*", "read"),
    rows=_rows,
    columns=(
        RunColumn(label="median request", path=("request_bytes",), form=format_memory),
        RunColumn(label="peak", path=("peak_bytes_per_second",), form=format_rate),
        RunColumn(label="sustained", path=("sustained_bytes_per_second",), form=format_rate),
        RunColumn(label="can do", path=("capability_bytes_per_second",), form=format_rate),
        RunColumn(label="peak used", path=("peak_used_ratio",), form=format_percent),
        RunColumn(label="sustained used", path=("sustained_used_ratio",), form=format_percent),
    ),
    notes=_notes,
)

"""How long a plan will take: simulated from the calibration that a qualification made on this machine."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from mawl.errors import MawlError
from mawl.imports import importing
from mawl.measure.machine import read_machine
from mawl.model.run import NodeFacts
from mawl.plan.workload import Plan
from mawl.store import Run, open_run
from mawl.store.layout import PROBE
from mawl.store.qualification import RECORD, read_qualification

NO_CALIBRATION = "no calibration of this machine is there: mawl qualify makes one"


class Duration(msgspec.Struct, frozen=True):
    """Seconds from the first job to the last, None where they are not known; where they are from, or why."""

    seconds: float | None
    basis: str


def duration_of(plan: Plan, runs: Path) -> Duration:
    """The duration of a plan, from the newest qualification below ``runs`` that calibrated this machine."""
    for record in sorted(runs.glob(f"*/{RECORD}"), key=_made_at, reverse=True):
        calibration = _calibration(record.parent)
        if calibration is None or not _is_this_machine(calibration.facts.nodes[0]):
            continue
        with importing():
            from mawl.campaigns.qualify.model import CalibratedModel, probe_in
        try:
            model = CalibratedModel(calibration, probe_in(record.parent / PROBE))
            seconds = model.elapsed_seconds(plan)
        except MawlError as error:
            return Duration(None, str(error))
        return Duration(seconds, f"simulated from the calibration of {record.parent.name}")
    return Duration(None, NO_CALIBRATION)


def _made_at(record: Path) -> float:
    with contextlib.suppress(OSError):
        return record.stat().st_mtime
    return 0.0


def _calibration(folder: Path) -> Run | None:
    """The finished run of each program alone; None where it is not there, or cannot be read."""
    with contextlib.suppress(MawlError, OSError):
        for run in read_qualification(folder).runs_for("calibration"):
            return open_run(folder / run.folder)
    return None


def _is_this_machine(node: NodeFacts) -> bool:
    machine = read_machine()
    now = machine.cpu_model, machine.cores, machine.memory_bytes
    return (node.cpu_model, node.cores, node.memory_bytes) == now

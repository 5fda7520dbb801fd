"""How long a plan will take: simulated from the calibration that a qualification made on this machine."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from mawl.base.errors import MawlError
from mawl.base.process import importing
from mawl.measure.machine import Machine, read_machine
from mawl.plan.workload import Plan
from mawl.records.model.run import NodeFacts
from mawl.records.model.thresholds import value_of
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import read_qualification
from mawl.records.store.files import PROBE, QUALIFICATION

MOST_OTHERS_RATIO = value_of("validity.competition.most_cpu_ratio")
NO_CALIBRATION = "no undisturbed calibration of this machine is there: mawl qualify makes one"


class Duration(msgspec.Struct, frozen=True):
    """Seconds from the first job to the last, None where they are not known; where they are from, or why."""

    seconds: float | None
    basis: str


def duration_of(plan: Plan, runs: Path) -> Duration:
    """The duration of a plan, from the newest qualification below ``runs`` that calibrated this machine.

    A calibration beside which other work used too much of the processors is no basis.
    """
    machine = read_machine()
    for record in sorted(runs.glob(f"*/{QUALIFICATION}"), key=_made_at, reverse=True):
        calibration = _calibration(record.parent)
        if calibration is None or not _is_of(machine, calibration.facts.nodes[0]):
            continue
        with importing():
            from mawl.campaigns.qualify.model import CalibratedModel, probe_in
        try:
            model = CalibratedModel(calibration, probe_in(record.parent / PROBE))
            seconds = model.elapsed_seconds(plan)
        except MawlError as error:
            return Duration(None, str(error))
        cache = calibration.facts.cache
        mode = "" if cache is None else f", with --cache {cache.mode}"
        return Duration(seconds, f"simulated from the calibration of {record.parent.name}{mode}")
    return Duration(None, NO_CALIBRATION)


def _made_at(record: Path) -> float:
    with contextlib.suppress(OSError):
        return record.stat().st_mtime
    return 0.0


def _calibration(folder: Path) -> Run | None:
    """The finished run of each program alone; None where it is missing, disturbed, or cannot be read.

    That of a cluster is of a node and of shared storage, and no basis for this machine.
    """
    with contextlib.suppress(MawlError, OSError):
        record = read_qualification(folder)
        for run in [] if record.nodes else record.runs_for("calibration"):
            if (run.others_cpu_ratio or 0.0) <= MOST_OTHERS_RATIO:
                return open_run(folder / run.folder)
    return None


def _is_of(machine: Machine, node: NodeFacts) -> bool:
    now = machine.cpu_model, machine.cores, machine.confined_cpus, machine.binding_cpu_quota
    memory_now = machine.memory_bytes, machine.binding_memory_limit
    own = node.cpu_model, node.cores, node.cpus_used, node.cpu_quota
    return own == now and (node.memory_bytes, node.memory_limit_bytes) == memory_now

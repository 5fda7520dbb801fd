"""The bytes that each step of imported logs moved, for a forecast of the run that wrote them."""

from __future__ import annotations

import msgspec

from mawl.derive.derive import derivable_steps, started_jobs
from mawl.derive.step_bytes import UNCOUNTED_BYTES, Inference, Loads, counts_reads, device_share
from mawl.derive.steps import StepFigures
from mawl.derive.tables import Libraries
from mawl.records.store import Run
from mawl.simulation.demand import Logged, LoggedBytes


class LoggedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a run of logs.

    ``without_blocks`` counts the steps without bytes at the devices.  ``device_share`` is the share of reads
    of known size that block operations count (None: not known).
    """

    steps: Logged
    without_blocks: int
    device_share: float | None


def logged_bytes(run: Run) -> LoggedRun:
    """Bytes of each DATA and PROC step by role, as ``mawl derive`` infers them, and at the devices."""
    jobs = sorted(started_jobs(run), key=lambda job: (job.started_at is None, job.started_at or 0.0))
    steps, _ = derivable_steps(run, jobs)
    libraries = Libraries({})
    every = [(told, job.job) for job in jobs for told in steps.get(job.job, [])]
    share = device_share(every, libraries)
    inference = Inference(libraries, reads_told=counts_reads(share))
    found = {(job, told.number): _bytes(told, inference.loads(told, job)) for told, job in every}
    return LoggedRun(
        steps=found,
        without_blocks=sum(
            one.device_read_bytes is None and one.device_written_bytes is None for one in found.values()
        ),
        device_share=share,
    )


def _bytes(told: StepFigures, loads: Loads) -> LoggedBytes:
    """Block operations are bytes at the devices, unless the file system does not count them."""
    counted = not (told.written_bytes == 0 and loads.written_range[0] >= UNCOUNTED_BYTES)
    return LoggedBytes(
        read={role: part.value for role, part in loads.read.items() if part.value},
        written={role: part.value for role, part in loads.written.items() if part.value},
        device_read_bytes=float(told.read_bytes) if counted and told.read_bytes is not None else None,
        device_written_bytes=(
            float(told.written_bytes) if counted and told.written_bytes is not None else None
        ),
    )

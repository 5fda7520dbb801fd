"""One job of a run: what its process is told, the record of what became of it, and the bound on its log."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mawl.base.errors import MawlError
from mawl.plan.programs import Program
from mawl.plan.workload import JobPlan
from mawl.programs.execute import creation_error_sentence
from mawl.records.model.messages import (
    Answered,
    Assignment,
    Failed,
    Forked,
    FromLauncher,
    Hello,
    Ready,
    Reaped,
    Started,
    StepEnded,
)
from mawl.records.model.records import JobOutcome, JobRecord, Look, StepRecord, Usage, difference, total
from mawl.records.spec.program_options import Role
from mawl.records.volumes import Volumes, choose
from mawl.run.runner.counting import JobCount
from mawl.run.runner.job_io import first_thread_of, last_look, own_io, run_delay_of
from mawl.run.runner.request import RunRequest


class JobRun:
    """Collects what is known about one job while it runs."""

    def __init__(self, plan: JobPlan, program: Program, node: str) -> None:
        self.plan = plan
        self.program = program
        self.node = node
        self.pid: int | None = None
        self.ready: Ready | None = None
        self.started_at: float | None = None
        self.started_monotonic: float | None = None
        self.started: Started | None = None
        self.run_delay_seconds: float | None = None
        """Waiting for a CPU of the whole tree, known once it is gone."""
        self.last: Look | None = None
        self.steps: list[StepRecord] = []
        self.answered: Answered | None = None
        self.failed: Failed | None = None
        self.stopping: JobOutcome | None = None
        self.stop_reason = ""

    def take(self, message: FromLauncher) -> None:
        """Note what a message says; ``Reaped`` goes to ``record``."""
        match message:
            case Forked(pid=pid):
                self.pid = pid
            case Ready():
                self.ready = message
            case Started(at=at, monotonic=monotonic):
                self.started, self.started_at, self.started_monotonic = message, at, monotonic
            case StepEnded(step=step):
                self.steps.append(step)
            case Answered():
                self.answered = message
            case Failed():
                self.failed = message
            case Hello() | Reaped():
                raise AssertionError(f"not a job's own message: {message}")

    def record(
        self, reaped: Reaped, count: JobCount | None = None, sampled_delay_seconds: float = 0.0
    ) -> JobRecord:
        """The job's record once its process tree is gone.

        ``count`` is what its counters said, ``sampled_delay_seconds`` the most that its tree was seen
        to have waited for a CPU.
        """
        outcome, reason = self._outcome(reaped)
        return self._make(outcome, reason, reaped, count, sampled_delay_seconds)

    def unstarted_record(self, reason: str, at: float) -> JobRecord:
        nothing = Reaped(
            job=self.plan.job, ended_at=at, exit_code=None, signal=None, usage=Usage(), leftover_processes=0
        )
        return self._make("failed", reason, nothing)

    def lost(self, reason: str, at: float, count: JobCount | None = None) -> JobRecord:
        gone = Reaped(
            job=self.plan.job, ended_at=at, exit_code=None, signal=None, usage=Usage(), leftover_processes=0
        )
        return self._make("lost", reason, gone, count)

    def _outcome(self, reaped: Reaped) -> tuple[JobOutcome, str | None]:
        if self.stopping is not None and (reaped.signal is not None or self.answered is None):
            return self.stopping, self.stop_reason
        if self.failed is not None:
            return "failed", self.failed.sentence
        if reaped.signal is not None:
            return "failed", f"the job was killed by signal {reaped.signal}{self._where()}"
        if reaped.exit_code != 0:
            return "failed", f"the job ended with exit status {reaped.exit_code}{self._where()}"
        if self.answered is None:
            return "failed", f"the job ended without an answer{self._where()}"
        return "finished", None

    def _where(self) -> str:
        return f" after step {self.steps[-1].name}" if self.steps else " before its first step ended"

    def _make(
        self,
        outcome: JobOutcome,
        reason: str | None,
        reaped: Reaped,
        count: JobCount | None = None,
        sampled_delay_seconds: float = 0.0,
    ) -> JobRecord:
        startup = self._startup()
        verify = total(step.usage for step in self.steps if step.kind == "verify")
        usage = self._own_usage(reaped, startup, verify)
        self.run_delay_seconds = run_delay_of(reaped, count, sampled_delay_seconds)
        self.last = last_look(reaped, count, reaped.usage.cpu_seconds, self.run_delay_seconds)
        own = own_io(
            count,
            self.steps,
            usage,
            run_delay_seconds=self.run_delay_seconds,
            started_delay_seconds=None if self.started is None else self.started.run_delay_seconds,
            first=first_thread_of(reaped, self.started),
        )
        return JobRecord(
            **_identity(self.plan, self.program, self.node),
            outcome=outcome,
            verified=self._verified(outcome),
            reason=reason,
            exit_code=reaped.exit_code,
            signal=reaped.signal,
            ready_at=self.ready.at if self.ready else None,
            started_at=self.started_at,
            ended_at=reaped.ended_at,
            usage=usage,
            startup=startup,
            verify=verify,
            total=reaped.usage,
            steps=len(self.steps),
            leftover_processes=reaped.leftover_processes,
            answer=self.answered.answer if self.answered else {},
            private_memory_bytes=self._private(usage, verify),
            direct_read_bytes=self._direct("direct_read_bytes"),
            direct_written_bytes=self._direct("direct_written_bytes"),
            **{name: getattr(own, name) for name in own.__struct_fields__},
        )

    def _direct(self, name: str) -> int | None:
        """The job's own bytes past the page cache; None where no step knows its own."""
        known = [getattr(step, name) for step in self.steps if step.kind != "verify"]
        return None if not known or None in known else sum(known)

    def _private(self, usage: Usage, verify: Usage) -> int | None:
        """The peak, ``verify`` included, less what was shared at the end: shared pages only grow in a job."""
        shared = None if self.answered is None else self.answered.shared_bytes
        if shared is None or usage.os_memory_bytes is None:
            return None
        return max(usage.os_memory_bytes, verify.os_memory_bytes or 0, shared) - shared

    def _startup(self) -> Usage:
        """Up to the release; its real time up to Ready, since waiting at a gate is no start-up."""
        ready = self.ready.startup if self.ready else Usage()
        if self.started is None or self.started.used is None:
            return ready
        return msgspec.structs.replace(self.started.used, real_time_seconds=ready.real_time_seconds)

    def _verified(self, outcome: JobOutcome) -> bool | None:
        """True: the answer was right; False: it was wrong; None: nobody got as far as checking."""
        if outcome == "finished":
            # Whether a user's program checks its answer is not known to anybody here.
            return True if self.plan.entry is None else None
        return False if self.failed is not None and self.failed.wrong_answer else None

    def _own_usage(self, reaped: Reaped, startup: Usage, verify: Usage) -> Usage:
        own = difference(reaped.usage, startup, verify)
        real = None
        if self.started_monotonic is not None and reaped.ended_monotonic is not None:
            lasted = reaped.ended_monotonic - self.started_monotonic
            real = max(lasted - (verify.real_time_seconds or 0.0), 0.0)
        peak = self._peak(reaped)
        memory = None
        if peak is not None and self.ready is not None:
            memory = max(peak - self.ready.resident_bytes, 0)
        return msgspec.structs.replace(own, real_time_seconds=real, os_memory_bytes=peak, memory_bytes=memory)

    def _peak(self, reaped: Reaped) -> int | None:
        """Peak resident size outside ``verify``.

        Each step resets the kernel's mark, so the job's peak is the largest of its steps; of a job
        that died within a step the kernel's last mark counts too.
        """
        peaks = [step.usage.os_memory_bytes for step in self.steps if step.kind != "verify"]
        if self.answered is None or not peaks:
            peaks.append(reaped.usage.os_memory_bytes)
        return max((peak for peak in peaks if peak is not None), default=None)


def not_started(plan: JobPlan, program: Program, node: str, reason: str) -> JobRecord:
    """The record of a job that never got a process."""
    return JobRecord(
        **_identity(plan, program, node),
        outcome="not_started",
        verified=None,
        reason=reason,
        usage=Usage(),
        startup=Usage(),
        verify=Usage(),
        total=Usage(),
        steps=0,
    )


def _identity(plan: JobPlan, program: Program, node: str) -> dict[str, Any]:
    return {
        "job": plan.job,
        "program": plan.program,
        "program_class": program.program_class,
        "session": plan.session,
        "stage": plan.stage,
        "node": node,
        "replica": plan.replica,
        "gate": plan.gate,
        "trail_out": plan.trail_out,
    }


LARGEST_OUTPUT_BYTES = 2**28
"""Of one job.  Beyond it the first half stays, and what comes after the cut."""

MOST_NAMED = 3
CUT = "\n[mawl: this output passed {} MiB; here a part of it was left out]\n"


class JobLogs:
    """The files below ``logs`` of a run folder that take the output of jobs; looked at once a second."""

    def __init__(self, folder: Path, largest_bytes: int = LARGEST_OUTPUT_BYTES) -> None:
        self._folder, self._largest = folder, largest_bytes
        self._shortened: dict[str, None] = {}

    def remarks(self) -> list[str]:
        if not self._shortened:
            return []
        some = list(self._shortened)[:MOST_NAMED]
        others = len(self._shortened) - len(some)
        names = ", ".join(some) + (f" and {others} more" if others else "")
        return [f"a part was left out of logs that passed {self._largest // 2**20} MiB: {names}"]

    def look(self) -> None:
        """Cut every file that has grown beyond the bound; its writer appends, and goes on behind the cut."""
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False) and (
                        entry.stat(follow_symlinks=False).st_size > self._largest
                    ):
                        self._cut(entry.path)
                        self._shortened[entry.name] = None

    def _cut(self, path: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.ftruncate(descriptor, self._largest // 2)
            os.write(descriptor, CUT.format(self._largest // 2**20).encode())
        finally:
            os.close(descriptor)


def assignment(
    request: RunRequest,
    job: JobPlan,
    places: Mapping[Role, Sequence[Path]],
    turns: Mapping[Role, int],
    counters: str | None = None,
) -> Assignment:
    """The assignment of one job of a run; ``places`` are its directories on each volume of a role.

    Its results lie on one volume of data: ``turns`` say where the job begins.
    """
    results = choose(
        request.spec.volume_order, [place.parent for place in places["data"]], turns.get("data", 0)
    )
    return Assignment(
        run_id=request.run_id,
        job=job.job,
        program=job.program,
        entry=job.entry,
        derived=None if job.derived is None else job.derived.job,
        core_speed=request.core_speed,
        scale=job.scale,
        seed=request.plan.seed,
        replica=job.replica,
        options=job.options,
        inputs={
            table.name: str(request.inputs[table.name, job.scale, job.replica])
            for table in request.programs[job.program].inputs
        },
        results=str(places["data"][results]),
        keeps_results=request.keeps_results(job),
        work=[str(place) for place in places["work"]],
        util=[str(place) for place in places["util"]],
        log=str((request.folder / "logs" / f"{job.job}.log").absolute()),
        volume_order=request.spec.volume_order,
        turns=dict(turns),
        counters=counters,
    )


def without_directories(volumes: Volumes, record: JobRecord, *, keeps_results: bool) -> JobRecord:
    """Remove the directories of a job that ended; returns its record, which names what was gone or stays.

    A program whose files vanish fails in one of many ways, and its own message misleads.  One that ends
    well has not used the storage that the run is to measure: it failed, too.
    """
    gone = None
    if record.outcome in ("finished", "failed") and (record.exit_code, record.signal) != (None, None):
        gone = _vanished(volumes)
    kept = volumes.remove_job(record.job, keeps_results=keeps_results)
    if gone is None:
        remarks = [record.reason] if record.reason else []
        return msgspec.structs.replace(record, reason="; ".join(remarks + kept) or None)
    role, place = gone
    reason = (
        f"{place}: this {role} directory of the run vanished while the job ran; "
        "leave it in place until the run has ended"
    )
    return msgspec.structs.replace(record, outcome="failed", reason=reason)


def _vanished(volumes: Volumes) -> tuple[Role, Path] | None:
    """The role and directory of the run that somebody else removed or unmounted."""
    roles: tuple[Role, ...] = ("work", "util")
    return next(
        ((role, run) for role in roles for run in volumes.run_directories(role) if not run.is_dir()), None
    )


def no_place(volumes: Volumes, error: OSError | MawlError) -> str:
    """The sentence for a job whose directories or counters cannot be made."""
    if isinstance(error, MawlError):
        return str(error)
    role = (volumes.role_of(error.filename) if error.filename else None) or "work"
    return creation_error_sentence(error, role)

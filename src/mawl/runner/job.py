"""One job on its way, and the record made of what launcher and job said about it."""

from __future__ import annotations

from typing import Any

import msgspec

from mawl.model.followed import Look
from mawl.model.messages import (
    Answered,
    Failed,
    Forked,
    FromLauncher,
    Hello,
    Ready,
    Reaped,
    Started,
    StepEnded,
)
from mawl.model.records import JobOutcome, JobRecord, StepRecord
from mawl.model.usage import Usage, difference, total
from mawl.plan.programs import Program
from mawl.plan.workload import JobPlan
from mawl.runner.counting import JobCount
from mawl.runner.job_io import first_thread_of, last_look, own_io, run_delay_of


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
        self.last: Look | None = None
        """Waiting for a CPU of the whole tree, known once it is gone."""
        self.steps: list[StepRecord] = []
        self.answered: Answered | None = None
        self.failed: Failed | None = None
        self.stopping: JobOutcome | None = None
        self.stop_reason = ""

    def take(self, message: FromLauncher) -> None:
        """Note what a message says; :class:`Reaped` goes to :meth:`record`."""
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

    def not_made(self, reason: str, at: float) -> JobRecord:
        """The record of a job for which no directories could be made."""
        nothing = Reaped(
            job=self.plan.job, ended_at=at, exit_code=None, signal=None, usage=Usage(), leftover_processes=0
        )
        return self._make("failed", reason, nothing)

    def lost(self, reason: str, at: float, count: JobCount | None = None) -> JobRecord:
        """The record of a job whose launcher died, so that nobody could account for it."""
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

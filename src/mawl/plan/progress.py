"""What may start next: the state machine of a plan, used by the runner and by simulation.

It knows no clock and no process: its caller tells it how many seconds the run has lasted, which
jobs started and how they ended.
"""

from __future__ import annotations

import math
from typing import Literal

from mawl.plan.workload import JobPlan, Plan, SessionPlan
from mawl.records.spec.program_options import OnFailure

State = Literal["waiting", "running", "ended_well", "ended_badly", "skipped"]


class Progress:
    """A plan on its way.

    Jobs are ``waiting`` until ``start``, ``running`` until ``end``; a job whose dependency
    ended badly, or that had not started when the run was stopped, is ``skipped``.
    """

    def __init__(self, plan: Plan, on_failure: OnFailure = "continue") -> None:
        self.plan = plan
        self.on_failure = on_failure
        self.state: dict[str, State] = {job.job: "waiting" for job in plan.jobs()}
        """The state of each job; only this class changes it."""
        self._running: dict[str, None] = {}
        self._waiting = len(self.state)
        self.reasons: dict[str, str] = {}
        """Why each skipped job did not start."""
        self.stopped: str | None = None
        """Why nothing more starts, or None."""
        self._sessions = [_Session(session) for session in plan.sessions]
        self._unfinished = {
            session.name: sum(len(stage) for stage in session.stages) for session in plan.sessions
        }
        """Jobs of each session that wait or run."""
        self._jobs = {job.job: job for job in plan.jobs()}
        self._quiet_until: float | None = None
        """Nothing may start before, unless some job starts or ends; None: not known."""

    def startable(self, elapsed_seconds: float) -> list[JobPlan]:
        """Jobs that may start now, in plan order; jobs that never can are skipped on the way."""
        if self._quiet_until is not None and elapsed_seconds < self._quiet_until:
            return []
        plans: list[JobPlan] = []
        changed = True
        while changed:
            changed = False
            plans.clear()
            for session in self._sessions:
                session.open_stage(self.state, elapsed_seconds)
                for job in session.opened():
                    if self.state[job.job] != "waiting":
                        continue
                    if self._skip_if_hopeless(job):
                        changed = True
                    elif self._dependencies_met(job) and elapsed_seconds >= session.earliest(job):
                        plans.append(job)
        if not plans:
            later = self.next_start_seconds(elapsed_seconds)
            self._quiet_until = math.inf if later is None else later
        return plans

    def next_start_seconds(self, elapsed_seconds: float) -> float | None:
        """The earliest moment after now at which a delay alone lets a job start, or None."""
        if self._quiet_until is not None and elapsed_seconds < self._quiet_until:
            return None if self._quiet_until == math.inf else self._quiet_until
        moments = [
            session.earliest(job)
            for session in self._sessions
            for job in session.opened()
            if self.state[job.job] == "waiting" and self._dependencies_met(job)
        ] + [session.start_delay for session in self._sessions if session.stage is None]
        later = [moment for moment in moments if moment > elapsed_seconds]
        return min(later, default=None)

    def start(self, job: str) -> None:
        assert self.state[job] == "waiting", f"{job} cannot start: it is {self.state[job]}"
        self._quiet_until = None
        self.state[job] = "running"
        self._running[job] = None
        self._waiting -= 1

    def end(self, job: str, *, well: bool) -> None:
        """A job ended; with ``on_failure`` abort, a bad end stops the plan."""
        assert self.state[job] == "running", f"{job} cannot end: it is {self.state[job]}"
        self._quiet_until = None
        self.state[job] = "ended_well" if well else "ended_badly"
        del self._running[job]
        self._unfinished[self._jobs[job].session] -= 1
        if not well and self.on_failure == "abort":
            self.stop(f"job {job} failed and --on-failure is abort")

    def stop(self, reason: str) -> None:
        """Nothing more starts; waiting jobs are skipped for this reason."""
        if self.stopped is None:
            self.stopped = reason
        for job, state in self.state.items():
            if state == "waiting":
                self._skip(job, self.stopped)

    @property
    def running(self) -> list[str]:
        """Names of the jobs that run, in the order in which they started."""
        return list(self._running)

    @property
    def waiting(self) -> int:
        return self._waiting

    @property
    def finished(self) -> bool:
        return not self._waiting and not self._running

    @property
    def open_sessions(self) -> int:
        """Sessions of which a job waits or runs."""
        return sum(jobs > 0 for jobs in self._unfinished.values())

    def skipped(self) -> list[tuple[JobPlan, str]]:
        return [(self._jobs[job], self.reasons[job]) for job, s in self.state.items() if s == "skipped"]

    def _dependencies_met(self, job: JobPlan) -> bool:
        return all(self.state[name] == "ended_well" for name in job.after)

    def _skip_if_hopeless(self, job: JobPlan) -> bool:
        for name in job.after:
            if self.state[name] in ("ended_badly", "skipped"):
                self._skip(job.job, f"{name}, which it depends on, did not end well")
                return True
        return False

    def _skip(self, job: str, reason: str) -> None:
        self._quiet_until = None
        self.state[job] = "skipped"
        self._waiting -= 1
        self._unfinished[self._jobs[job].session] -= 1
        self.reasons[job] = reason


class _Session:
    """One session's place in its stages, and when the present one opened."""

    def __init__(self, plan: SessionPlan) -> None:
        self.plan = plan
        self.start_delay = plan.start_delay_seconds
        self.stage: int | None = None
        self.opened_at = 0.0

    def open_stage(self, state: dict[str, State], elapsed_seconds: float) -> None:
        if self.stage is None:
            if elapsed_seconds >= self.start_delay:
                self.stage, self.opened_at = 0, max(elapsed_seconds, self.start_delay)
            return
        while self.stage < len(self.plan.stages) - 1 and not any(
            state[job.job] in ("waiting", "running") for job in self.plan.stages[self.stage]
        ):
            self.stage += 1
            self.opened_at = elapsed_seconds

    def opened(self) -> tuple[JobPlan, ...]:
        return () if self.stage is None else self.plan.stages[self.stage]

    def earliest(self, job: JobPlan) -> float:
        return self.opened_at + job.start_delay_seconds

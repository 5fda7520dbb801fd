"""The event-driven engine: steps of jobs share resources in equal turns until the next one ends.

The active phase of a simulated run, by the rule for a measured one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mawl.base.errors import MawlError
from mawl.figures.sessions import JobSpan, tail_at
from mawl.plan.progress import Progress
from mawl.plan.workload import JobPlan, Plan
from mawl.records.spec.program_options import Role
from mawl.simulation.activity import LEAST_SECONDS, Activity, Uses, WrittenBehind
from mawl.simulation.recording import (
    CHANNELS,
    WAITERS,
    SimulationRecording,
    channels_behind,
    channels_of,
    waiters_of,
)
from mawl.simulation.resources import OWN, Resources, shares

DONE = 1e-9
"""Of a step: less than this of it left is none."""

LEAST_LEFT = 1e-9
"""Of a resource that the steps use up: so much is left, so that its share is a number."""

Floats = NDArray[np.float64]
Steps = Callable[[int, JobPlan], Sequence[Activity]]
"""The steps of a job of a group of nodes."""


@dataclass
class StepRun:
    """A step that ran: seconds from the start of the run, and what it waited for beyond being alone.

    ``waited`` maps columns of the resources to seconds.
    """

    activity: Activity
    started: float
    ended: float = 0.0
    waited: Mapping[int, float] = field(default_factory=dict)

    def blocked(self) -> dict[Role, float]:
        """Seconds blocked in each role: those alone, and waits for devices, links and fabric."""
        found = dict(self.activity.blocked_seconds)
        for column, seconds in self.waited.items():
            for role, share in self.activity.role_shares(column).items():
                found[role] += seconds * share
        return found

    def run_queue(self) -> float:
        return sum(
            seconds for column, seconds in self.waited.items() if column not in self.activity.uses.roles_on
        )


@dataclass
class SimulatedJob:
    """A job that ran, on one node of the group."""

    plan: JobPlan
    group: int
    started: float
    steps: list[StepRun] = field(default_factory=list)

    @property
    def ended(self) -> float:
        return self.steps[-1].ended if self.steps else self.started


@dataclass(frozen=True)
class SimulationOutcome:
    """What the engine found: jobs of one node of each group, and the recording of the rates."""

    resources: Resources
    jobs: list[SimulatedJob]
    recording: SimulationRecording
    elapsed_seconds: float
    events: int


class _Rows:
    """The steps that run, and what is written behind them, a row each; rows that ended are used again.

    A row of ``writers`` is what is written behind of a role on a node: ``behind`` has its bytes (0 for a
    step), ``written`` what they take of the resources.  ``held`` is the memory of a step.
    """

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.width = len(resources.places)
        self.jobs: list[SimulatedJob | None] = []
        self.left: list[list[Activity]] = []
        self.free: list[int] = []
        self.active = np.zeros(0, dtype=bool)
        self.uses = np.zeros((0, self.width))
        self.turns = np.zeros((0, self.width))
        self.weighted = np.zeros((0, self.width))
        self.counts = np.zeros((0, self.width))
        self.parts = np.zeros((0, self.width))
        self.fastest = np.zeros(0)
        self.remaining = np.zeros(0)
        self.waited = np.zeros((0, self.width))
        self.channels = np.zeros((0, CHANNELS))
        self.waiters = np.zeros((0, self.width, WAITERS))
        self.group = np.zeros(0, dtype=np.int64)
        self.behind = np.zeros(0)
        self.held = np.zeros(0)
        self.writers: dict[tuple[int, Role], int] = {}
        self.written: dict[int, Uses] = {}

    def take(self, job: SimulatedJob, left: list[Activity]) -> int:
        row = self._free_row(job.group)
        self.jobs[row], self.left[row] = job, left
        return row

    def _free_row(self, group: int) -> int:
        if not self.free:
            self._grow()
        row = self.free.pop()
        self.group[row] = group
        return row

    def _grow(self) -> None:
        old, more = len(self.active), max(64, len(self.active))
        for name in (
            "active",
            "uses",
            "turns",
            "weighted",
            "counts",
            "parts",
            "fastest",
            "remaining",
            "waited",
            "channels",
            "waiters",
            "group",
            "behind",
            "held",
        ):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)]))
        self.jobs += [None] * more
        self.left += [[] for _ in range(more)]
        self.free += range(old + more - 1, old - 1, -1)

    def begin(self, row: int, now: float) -> bool:
        """Begin the next step that takes time; False where the job has none left."""
        job = self.jobs[row]
        assert job is not None
        while self.left[row]:
            step = self.left[row].pop(0)
            if step.behind:
                step = self._behind(job, step)
            job.steps.append(StepRun(step, now, now))
            if not step.uses.amounts and step.alone_seconds <= LEAST_SECONDS:
                continue
            self._fill(row, job.group, step.uses, step.alone_seconds)
            self.channels[row] = channels_of(step)
            self.held[row] = step.step.memory_bytes or 0.0
            for column in step.uses.amounts:
                self.waiters[row, column] = waiters_of(step, column)
            return True
        return False

    def _fill(self, row: int, group: int, uses: Uses, alone_seconds: float) -> None:
        self.uses[row] = self.turns[row] = self.weighted[row] = self.counts[row] = self.parts[row] = 0.0
        self.waited[row] = self.waiters[row] = self.behind[row] = self.held[row] = 0.0
        for column, amount in uses.amounts.items():
            weight = self.resources.weight(group, column)
            self.uses[row, column] = amount
            self.turns[row, column] = uses.turns.get(column, amount)
            self.weighted[row, column] = amount * weight
            self.counts[row, column] = weight
            self.parts[row, column] = uses.parts.get(column, 1.0)
        self.fastest[row] = 1.0 / alone_seconds if alone_seconds > LEAST_SECONDS else np.inf
        self.remaining[row] = 1.0
        self.active[row] = True

    def _behind(self, job: SimulatedJob, step: Activity) -> Activity:
        own = self.active & (self.group == job.group)
        dirty = float((self.behind * self.remaining)[own].sum())
        held = float(self.held[own].sum()) + (step.step.memory_bytes or 0.0)
        room = max(self.resources.dirty_bytes(job.group, held) - dirty, 0.0)
        awaited: list[tuple[WrittenBehind, float]] = []
        for written in step.behind:
            ratio = min(room / written.bytes, 1.0)
            room -= ratio * written.bytes
            if ratio < 1.0:
                awaited.append((written, 1.0 - ratio))
            if ratio > 0.0:
                self._write_behind(job.group, written, ratio)
        return step.waiting_for(awaited)

    def _write_behind(self, group: int, written: WrittenBehind, ratio: float) -> None:
        more, uses = ratio * written.bytes, Uses().with_ratio(written.uses, ratio)
        channels = channels_behind(written, ratio)
        row = self.writers.get((group, written.role))
        if row is None:
            row = self.writers[group, written.role] = self._free_row(group)
        else:
            left = float(self.remaining[row])
            more += left * self.behind[row]
            channels += left * self.channels[row]
            uses = uses.with_ratio(self.written[row], left)
        self._fill(row, group, uses, 0.0)
        self.channels[row], self.behind[row], self.written[row] = channels, more, uses

    def end(self, row: int, now: float) -> SimulatedJob:
        job = self.jobs[row]
        assert job is not None
        last = job.steps[-1]
        last.ended = now
        last.waited = {
            int(column): float(self.waited[row, column]) for column in np.flatnonzero(self.waited[row])
        }
        self.active[row] = False
        return job

    def all_written(self, row: int) -> None:
        del self.written[row]
        self.writers = {key: other for key, other in self.writers.items() if other != row}
        self.active[row] = False
        self.release(row)

    def release(self, row: int) -> None:
        self.jobs[row] = None
        self.free.append(row)


def simulate(resources: Resources, plans: Sequence[Plan], steps: Steps) -> SimulationOutcome:
    """Run a plan on each group of nodes (``plans`` in the order of the groups) until all have ended.

    The plan's own state machine (``Progress``) says what may start.  Raises
    ``MawlError`` where jobs wait for each other for ever.
    """
    return _Engine(resources, plans, steps).run()


class _Engine:
    """The plans on their way: moves from the end of a step, or of a delay, to the next."""

    def __init__(self, resources: Resources, plans: Sequence[Plan], steps: Steps) -> None:
        self.resources, self.steps = resources, steps
        self.rows = _Rows(resources)
        self.progress = [Progress(plan) for plan in plans]
        self.recording = SimulationRecording(resources, len(plans))
        self.jobs: list[SimulatedJob] = []
        self.now, self.events = 0.0, 0

    def run(self) -> SimulationOutcome:
        everybody = range(len(self.progress))
        touched: Iterable[int] = everybody
        while True:
            for group in touched:
                self._start(group)
            moments = [state.next_start_seconds(self.now) for state in self.progress]
            later = min((moment for moment in moments if moment is not None), default=None)
            active = np.flatnonzero(self.rows.active)
            if (later is not None and active.size) or (self.rows.behind[active] == 0.0).any():
                touched = self._advance(active, later)
            elif later is not None:
                self.now, touched = later, everybody
            else:
                break
            if self.now == later:
                touched = everybody
        for state in self.progress:
            if not state.finished:
                name = next(job for job, what in state.state.items() if what == "waiting")
                raise MawlError("the plan never ends", why=f"job {name} waits for ever")
        return SimulationOutcome(self.resources, self.jobs, self.recording, self.now, self.events)

    def _start(self, group: int) -> None:
        state = self.progress[group]
        while startable := state.startable(self.now):
            for job in startable:
                state.start(job.job)
                run = SimulatedJob(job, group, self.now)
                self.jobs.append(run)
                row = self.rows.take(run, list(self.steps(group, job)))
                if not self.rows.begin(row, self.now):
                    self.rows.release(row)
                    state.end(job.job, well=True)

    def _advance(self, active: NDArray[np.int64], later: float | None) -> list[int]:
        """Go on to the end of the next step, or to ``later``; the groups in which a job ended."""
        rows = self.rows
        self.events += 1
        is_step = rows.behind[active] == 0.0
        rates, bound = self._rates(active, is_step)
        remaining = rows.remaining[active]
        with np.errstate(divide="ignore"):
            seconds = float((remaining / rates).min())
        until = self.now + seconds
        if later is not None and later < until:
            until, seconds = later, later - self.now
        waiting = np.where((bound == OWN) | ~is_step, 0.0, 1.0 - rates / rows.fastest[active])
        rows.waited[active, np.maximum(bound, 0)] += waiting * seconds
        waits = rows.waiters[active, np.maximum(bound, 0)] * waiting[:, None]
        moved = np.hstack([rows.channels[active] * rates[:, None], rows.uses[active] * rates[:, None], waits])
        self.recording.add(self.now, seconds, moved, rows.group[active], bound, waiting, is_step)
        self.now = until
        rows.remaining[active] = remaining - rates * seconds
        touched = set()
        done = rows.remaining[active] <= DONE
        for row in map(int, active[done & ~is_step]):
            rows.all_written(row)
        for row in map(int, active[done & is_step]):
            job = rows.end(row, until)
            if not rows.begin(row, until):
                rows.release(row)
                self.progress[job.group].end(job.plan.job, well=True)
                touched.add(job.group)
        return sorted(touched)

    def _rates(
        self, active: NDArray[np.int64], is_step: NDArray[np.bool_]
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Steps share the resources, then the kernel's writers share the rest; and what bounds each."""
        rows = self.rows
        capacity = self.resources.capacities(rows.counts[active], rows.parts[active])
        rates, bound = np.zeros(len(active)), np.full(len(active), OWN)
        for which in (is_step, ~is_step):
            if which.any():
                rates[which], bound[which] = self._shares(active[which], capacity)
                capacity = np.maximum(
                    capacity - rates[which] @ rows.weighted[active[which]], capacity * LEAST_LEFT
                )
        return rates, bound

    def _shares(self, of: NDArray[np.int64], capacity: Floats) -> tuple[Floats, NDArray[np.int64]]:
        rows = self.rows
        uses, fastest = rows.uses[of], rows.fastest[of]
        if not self.resources.in_turns:
            return shares(uses, rows.turns[of], rows.weighted[of], fastest, capacity)
        in_turns, at = self.resources.fastest(uses, rows.parts[of])
        least = np.minimum(fastest, in_turns)
        rates, bound = shares(uses, rows.turns[of], rows.weighted[of], least, capacity)
        return rates, np.where((bound == OWN) & (in_turns < fastest), at, bound)


def active_seconds(outcome: SimulationOutcome, sessions: int) -> float:
    """Seconds until the tail begins (docs/design/figures.md); ``sessions`` are those of all nodes."""
    groups = outcome.resources.groups
    spans = [
        JobSpan(job.started, job.ended, job.plan.trail_out)
        for job in outcome.jobs
        for _ in range(groups[job.group].count)
    ]
    return tail_at(spans, sessions, outcome.elapsed_seconds)

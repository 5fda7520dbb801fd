"""The share of a plan's bytes that reaches the devices at a given memory, by direction.

The plan's own state machine starts jobs; each makes its declared passes block by block over tables of
its own and over input tables, through one ``PageCache``, and its
temporary tables go when the program declares.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import keeps_results
from mawl.plan.needs import ZYGOTE_BYTES
from mawl.plan.programs import Pass, Program, Step
from mawl.plan.progress import Progress
from mawl.plan.workload import JobPlan, Plan
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.page_cache import MovedBytes, MovedWays, PageCache, PushedOut, WriteBack, blocks_of

BLOCKS_OF_MEMORY = 256
"""The model's block is this part of memory: finer ones change reach by less than 0.01."""

BOOKKEEPING_RATIO = 0.028
"""The kernel's own memory for cached pages, over these pages: for each page of 4 KiB a buffer head of 104
bytes, for 64 pages a node of 576 bytes in the cache's tree.  It counts in the same control group."""

DIRECT_TABLES: Mapping[str, frozenset[str] | None] = {
    "random_access": None,
    "wide_sort": frozenset({"transactions"}),
}
"""What passes by the page cache where ``direct`` is not ``no``: these tables; None: all (Options.direct)."""


@dataclass(frozen=True, kw_only=True)
class DeviceReach:
    """Shares of application bytes that reached a device; None with ``reason`` where it cannot be told.

    ``by_role`` has the bytes of each role behind them.  By job and step, ``removal_seconds`` is how long it
    waits for files that it removes while they are written, ``pushed_out`` what the cache gave up and read
    again meanwhile.
    """

    read_ratio: float | None
    write_ratio: float | None
    reason: str | None = None
    by_role: Mapping[Role, MovedWays] = field(default_factory=dict)
    removal_seconds: Mapping[tuple[str, str], float] = field(default_factory=dict)
    pushed_out: Mapping[tuple[str, str], PushedOut] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ShownJob:
    """What a run showed of a job; None, or missing: it did not.

    ``memory_bytes`` is the job's peak without what it shares with the process that started it
    (``shared_bytes``), ``step_bytes`` the same of each step, ``step_seconds`` how long the steps took.
    """

    memory_bytes: float | None
    shared_bytes: float | None
    step_bytes: Mapping[str, float]
    step_seconds: Mapping[str, float]


@dataclass(frozen=True)
class _Request:
    """One block of one pass; ``seconds`` is what the job takes for it, ``removes``: the block goes then."""

    step: str
    file: str
    number: int
    size: float
    writes: bool
    direct: bool
    removes: bool
    seconds: float


def reach_of(
    plan: Plan,
    memory_bytes: float,
    *,
    catalogue: Mapping[str, Program] = CATALOGUE,
    write_back: WriteBack | None = None,
    stretch: float = 1.0,
    shown: Mapping[str, ShownJob] | None = None,
    rates: Mapping[str, float] | None = None,
) -> DeviceReach:
    """The reach of all jobs of one node's plan with ``memory_bytes``, from a cold cache.

    The cache has what the memory of the running jobs leaves.  How long a step takes decides what lies in the
    cache side by side, and what written bytes live long enough to be written back.  Both are what a run
    showed of the job (``shown``); else the memory is declared, and the time that of the job alone
    (``expected_seconds``), ``stretch`` times as long beside the others, shared out by bytes.
    ``rates`` are bytes a second that the devices of the roles write; without them writing takes no time.
    """
    undeclared = {job.program for job in plan.jobs() if job.program not in catalogue}
    undeclared |= {
        job.program
        for job in plan.jobs()
        if job.program in catalogue and not catalogue[job.program].is_declared
    }
    if undeclared:
        names = ", ".join(sorted(undeclared))
        return DeviceReach(read_ratio=None, write_ratio=None, reason=f"the bytes of {names} are not declared")
    replay = _Replay(plan, memory_bytes, catalogue, write_back, stretch, shown or {}, rates or {})
    replay.run()
    roles: dict[Role, MovedWays] = {role: replay.cache.moved[role] for role in ROLES}
    return DeviceReach(
        read_ratio=_reached([ways.read for ways in roles.values()]),
        write_ratio=_reached([ways.written for ways in roles.values()]),
        by_role=roles,
        removal_seconds=replay.removal_seconds,
        pushed_out=replay.pushed_out,
    )


def _reached(moved: Iterable[MovedBytes]) -> float | None:
    parts = list(moved)
    asked = sum(part.application_bytes for part in parts)
    return sum(part.device_bytes for part in parts) / asked if asked else None


class _Replay:
    """Jobs on their way through the cache, in the order in which their requests are due."""

    def __init__(
        self,
        plan: Plan,
        memory_bytes: float,
        catalogue: Mapping[str, Program],
        write_back: WriteBack | None,
        stretch: float,
        shown: Mapping[str, ShownJob],
        rates: Mapping[str, float],
    ) -> None:
        self.catalogue, self.stretch, self.shown = catalogue, stretch, shown
        self.memory_bytes = memory_bytes
        self.free_bytes = memory_bytes - _shared(shown)
        self.held: dict[str, float] = {}
        self.block_bytes = memory_bytes / BLOCKS_OF_MEMORY
        self.cache = PageCache(self._page_bytes(), write_back, kind_of=_role, rates=rates)
        self.removal_seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.pushed_out: dict[tuple[str, str], PushedOut] = {}
        self.counted = self.cache.pushed_out
        self.late: defaultdict[str, float] = defaultdict(float)
        self.now = 0.0
        self.progress = Progress(plan)
        self.due: list[tuple[float, int, JobPlan, Iterator[_Request]]] = []
        self.started = 0

    def run(self) -> None:
        now = 0.0
        self._start(now)
        while self.due:
            self.now, order, job, requests = heapq.heappop(self.due)
            now = self.now
            request = next(requests, None)
            if request is None and job.job in self.late:
                heapq.heappush(self.due, (now + self.late.pop(job.job), order, job, requests))
                continue
            if request is None:
                self._end(job)
                self._start(now)
                continue
            self._request(request, job, now)
            late = self.late.pop(job.job, 0.0)
            heapq.heappush(self.due, (now + request.seconds + late, order, job, requests))
            if not self.progress.running:
                self._start(now)

    def _start(self, now: float) -> None:
        """Start what may start; delays count from now where nothing else runs."""
        plans = self.progress.startable(now)
        if not plans and not self.due:
            later = self.progress.next_start_seconds(now)
            plans = [] if later is None else self.progress.startable(later)
            now = now if later is None else later
        for job in plans:
            self.progress.start(job.job)
            self.started += 1
            heapq.heappush(self.due, (now, self.started, job, self._requests(job)))
            self._hold(job, self._memory(job))

    def _end(self, job: JobPlan) -> None:
        self.progress.end(job.job, well=True)
        program = self.catalogue[job.program]
        for temporary in program.temporaries:
            if temporary.role != "data" or not keeps_results(job, keeps_outputs=False):
                self.cache.delete(_file(program, job, temporary.name), self.now)
        self._hold(job, 0.0)

    def _hold(self, job: JobPlan, size: float) -> None:
        self.free_bytes += self.held.get(job.job, 0.0) - size
        self.held[job.job] = size
        self.cache.resize(self._page_bytes())

    def _page_bytes(self) -> float:
        return self.free_bytes / (1.0 + BOOKKEEPING_RATIO)

    def _memory(self, job: JobPlan, step: str | None = None) -> float:
        shown = self.shown.get(job.job)
        held = None if shown is None else shown.step_bytes.get(step or "", shown.memory_bytes)
        return self.catalogue[job.program].memory_bytes(job.options) if held is None else held

    def _request(self, request: _Request, job: JobPlan, now: float) -> None:
        if request.direct:
            ways = self.cache.of(request.file)
            self.cache.pass_by(ways.written if request.writes else ways.read, request.size)
        elif request.writes:
            self.cache.write_block(request.file, request.number, request.size, now)
        else:
            self.cache.read_block(request.file, request.number, request.size, now)
        if request.removes:
            read_at = now + request.seconds
            late = self.cache.delete_block(request.file, request.number, read_at)
            self._removed(job, request.step, late)
        self._count(job, request.step)

    def _count(self, job: JobPlan, step: str) -> None:
        own = self.pushed_out.setdefault((job.job, step), PushedOut())
        now, before = self.cache.pushed_out, self.counted
        if now is before:
            return
        self.pushed_out[job.job, step] = own.plus(now).plus(before, -1.0)
        self.counted = now

    def _removed(self, job: JobPlan, step: str, seconds: float) -> None:
        if seconds > 0.0:
            self.removal_seconds[job.job, step] += seconds
            self.late[job.job] += seconds

    def _requests(self, job: JobPlan) -> Iterator[_Request]:
        program = self.catalogue[job.program]
        last = program.last_steps()
        for step in program.steps:
            if step.kind == "verify":
                continue
            ending = [one for one in program.temporaries if last.get(one.name) == step.name]
            parts = frozenset(one.name for one in ending if one.removed == "parts")
            self._hold(job, self._memory(job, step.name))
            yield from self._step(program, job, step, parts)
            for one in ending:
                if one.removed == "step":
                    self._removed(job, step.name, self.cache.delete(_file(program, job, one.name), self.now))

    def _seconds_per_byte(self, program: Program, job: JobPlan, step: Step) -> float:
        shown = self.shown.get(job.job)
        if shown is None or step.name not in shown.step_seconds:
            moved = sum(sum(ways.values()) for ways in program.bytes_by_role(job.scale).values())
            return self.stretch * program.expected_seconds(job.scale, job.options.queue_depth) / max(moved, 1)
        moved = sum(size for name, *_, size in program.passes(job.scale) if name == step.name)
        return shown.step_seconds[step.name] / max(moved, 1)

    def _step(self, program: Program, job: JobPlan, step: Step, parts: frozenset[str]) -> Iterator[_Request]:
        """The blocks of all passes of a step, side by side in proportion to their lengths.

        Of the tables ``parts`` each block goes once it is read.
        """
        seconds_per_byte = self._seconds_per_byte(program, job, step)
        merged: list[tuple[float, _Request]] = []
        for writes, passes in ((False, step.reads), (True, step.writes)):
            for one in passes:
                removes = not writes and one.table in parts
                requests = list(self._pass(program, job, step, one, writes, removes, seconds_per_byte))
                merged += [((index + 0.5) / len(requests), one) for index, one in enumerate(requests)]
        merged.sort(key=lambda placed: placed[0])
        yield from (request for _, request in merged)

    def _pass(
        self,
        program: Program,
        job: JobPlan,
        step: Step,
        one: Pass,
        writes: bool,
        removes: bool,
        seconds_per_byte: float,
    ) -> Iterator[_Request]:
        _, size = program.table_size(one.table, job.scale)
        blocks = blocks_of(size, self.block_bytes)
        direct = program.name in DIRECT_TABLES and job.options.direct != "no"
        tables = DIRECT_TABLES.get(program.name)
        direct = direct and (tables is None or one.table in tables)
        left = size * one.share
        file = _file(program, job, one.table)
        for position in range(math.ceil(len(blocks) * max(one.share, 1.0))):
            number = position % len(blocks)
            moved = min(blocks[number], left)
            if moved <= 0:
                return
            left -= moved
            yield _Request(step.name, file, number, moved, writes, direct, removes, moved * seconds_per_byte)


def _shared(shown: Mapping[str, ShownJob]) -> float:
    """Memory that jobs share with the process that starts them: as a run showed it, else what is planned."""
    return max(
        (one.shared_bytes for one in shown.values() if one.shared_bytes is not None), default=ZYGOTE_BYTES
    )


def _file(program: Program, job: JobPlan, table: str) -> str:
    """Input tables are shared by the jobs of a replica; temporaries are a job's own."""
    role, _ = program.table_size(table, job.scale)
    is_input = any(one.name == table for one in program.inputs)
    return f"{role}/{table}/{job.replica}" if is_input else f"{role}/{job.job}/{table}"


def _role(file: str) -> str:
    return file.partition("/")[0]

"""Run a derived job: each step spreads its bytes and its computing evenly over its length."""

from __future__ import annotations

import contextlib
import heapq
from collections.abc import Iterator
from typing import NamedTuple

from mawl.measure.accounting import resident_bytes
from mawl.plan.derived_program import WORD_BYTES, Files, at_core_speed, files_of, input_name, scaled
from mawl.plan.programs import Direction
from mawl.programs.context import JobContext
from mawl.programs.derived_kernels import CHUNK_WORDS, CHUNK_WORDS_OF_THREADS, Kernels, Memory, Pace
from mawl.programs.derived_requests import (
    Block,
    FileReader,
    FileWriter,
    OwnFile,
    Sizes,
    Stream,
    TableReader,
    salt_of,
    sizes_of,
)
from mawl.records.model.derived import DerivedStep
from mawl.records.model.records import Answer, StepKind
from mawl.records.spec.program_options import ROLES, Role

SLICES = 64
"""A step that moves little looks at its CPU seconds at least so often."""

OWN_ROLES: tuple[Role, ...] = ("work", "util")


class Window(NamedTuple):
    """The part of a step, as shares of it, in which a stream moves."""

    start: float
    end: float


WHOLE, FIRST, SECOND = Window(0.0, 1.0), Window(0.0, 0.5), Window(0.5, 1.0)


def run(context: JobContext) -> Answer:
    return _DerivedJob(context).run()


class _DerivedJob:
    def __init__(self, context: JobContext) -> None:
        assignment = context.assignment
        assert assignment.derived is not None
        self.context = context
        self.job = at_core_speed(scaled(assignment.derived, assignment.scale), assignment.core_speed)
        self.files: dict[Role, Files] = {role: files_of(self.job.steps, role) for role in OWN_ROLES}
        self.made: dict[tuple[Role, int], OwnFile] = {}

    def run(self) -> Answer:
        for number, step in enumerate(self.job.steps):
            kind: StepKind = "data" if step.procedure.upper() == "DATA" else "procedure"
            with self.context.steps.step(step.name, kind) as recorded:
                self._step(number, step)
                reads = any(step.load(role).read_bytes for role in ROLES)
                if reads:
                    recorded.rows_read = step.rows
                else:
                    recorded.rows_written = step.rows
            for role in OWN_ROLES:
                for file in self.files[role].gone[number]:
                    self.made.pop((role, file)).path.unlink()
        return {
            "steps": len(self.job.steps),
            "rows": sum(step.rows or 0 for step in self.job.steps),
            "moved_bytes": sum(step.moved_bytes for step in self.job.steps),
        }

    def _step(self, number: int, step: DerivedStep) -> None:
        threads = min(step.threads, self.context.threads)
        salt = self._salt(number, "memory")
        with contextlib.ExitStack() as opened:
            size = CHUNK_WORDS if threads == 1 else CHUNK_WORDS_OF_THREADS
            least = Memory(0, salt, chunk_words=size)
            kernels = [Kernels(step.kernel, least, one, threads) for one in range(threads)]
            pace = Pace(step.cpu_seconds, [one.unit for one in kernels])
            opened.callback(pace.close)
            streams = list(self._streams(number, step, opened))
            # Once before looking: a kernel's first unit brings its code and its buffers into memory.
            for kernel in kernels:
                kernel.unit()
            held = Memory(self._to_hold(step), salt, chunk_words=size)
            for kernel in kernels:
                kernel.memory = held
            for at, stream in in_turn(streams):
                pace.reach(at)
                if stream is not None:
                    stream.move()
            pace.reach(1.0)

    def _to_hold(self, step: DerivedStep) -> int:
        """The step's memory, less what the process has taken since it was ready."""
        taken = (resident_bytes() or 0) - (self.context.steps.ready_bytes or 0)
        return step.memory_bytes - max(taken, 0)

    def _streams(
        self, number: int, step: DerivedStep, opened: contextlib.ExitStack
    ) -> Iterator[tuple[Window, Stream]]:
        for role in ROLES:
            load = step.load(role)
            if load.written_bytes:
                size = self._sizes(number, f"{role} written", load.written_bytes, load.random_writes)
                file = self._file(role, number, load.written_bytes)
                self.made[role, number] = file
                block = Block(min(size.request_bytes, load.written_bytes))
                yield self._window(number, step, role, "written"), FileWriter(file, size, block, opened)
        for role in ROLES:
            load = step.load(role)
            if not load.read_bytes:
                continue
            size = self._sizes(number, f"{role} read", load.read_bytes, load.random_reads)
            block = Block(min(size.request_bytes, load.read_bytes))
            if role == "data":
                for stream in self._tables(step, size, block, opened):
                    yield self._window(number, step, role, "read"), stream
            else:
                files = [self.made[role, one] for one in self.files[role].sources[number]]
                yield (
                    self._window(number, step, role, "read"),
                    FileReader(files, load.read_bytes, size, block, opened),
                )

    def _window(self, number: int, step: DerivedStep, role: Role, direction: Direction) -> Window:
        """Where in the step the bytes move: a file that it reads back is written before.

        A step that spills, and a sort, read their rows in the first half; a sort writes them in the second.
        """
        if role in OWN_ROLES and self.files[role].sources.get(number) == (number,):
            return FIRST if direction == "written" else SECOND
        if direction == "read":
            return FIRST if role != "util" and (step.util.written_bytes or step.kernel == "sort") else WHOLE
        takes = step.data.read_bytes or step.work.read_bytes
        return SECOND if role != "util" and step.kernel == "sort" and takes else WHOLE

    def _tables(
        self, step: DerivedStep, size: Sizes, block: Block, opened: contextlib.ExitStack
    ) -> Iterator[Stream]:
        """A stream for each table: the bytes in proportion to the sizes."""
        tables = [self.context.table(input_name(name)) for name in step.tables]
        left, held = step.data.read_bytes, sum(table.manifest.bytes for table in tables)
        for table in tables:
            share = round(left * table.manifest.bytes / held / WORD_BYTES) * WORD_BYTES
            held -= table.manifest.bytes
            left -= share
            if share:
                yield TableReader(table, share, size, block, opened)

    def _sizes(self, number: int, which: str, moved_bytes: int, requests: int) -> Sizes:
        return sizes_of(moved_bytes, requests, self.context.options.bufsize_bytes, self._salt(number, which))

    def _file(self, role: Role, number: int, size_bytes: int) -> OwnFile:
        name = f"step-{number + 1:05d}.rows"
        if role == "data":
            path = self.context.output(name)
        else:
            path = self.context.work(name) if role == "work" else self.context.util(name)
        return OwnFile(path, size_bytes, self._salt(number, role))

    def _salt(self, number: int, which: str) -> int:
        return salt_of(self.context.assignment.seed, self.job.name, number, which)


def in_turn(streams: list[tuple[Window, Stream]]) -> Iterator[tuple[float, Stream | None]]:
    """The next stream to move and the share of the step at which it does, evenly over each window.

    None: nothing moves, and it is time to compute.
    """
    waiting: list[tuple[float, int]] = [(window.start, number) for number, (window, _) in enumerate(streams)]
    heapq.heapify(waiting)
    slices = 1
    while waiting:
        at, number = heapq.heappop(waiting)
        while slices / SLICES <= at:
            yield slices / SLICES, None
            slices += 1
        window, stream = streams[number]
        yield at, stream
        if stream.moved_bytes < stream.total_bytes:
            done = stream.moved_bytes / stream.total_bytes
            heapq.heappush(waiting, (window.start + done * (window.end - window.start), number))
    for number in range(slices, SLICES):
        yield number / SLICES, None

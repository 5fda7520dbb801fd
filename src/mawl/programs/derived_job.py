"""Run a derived job: each step spreads its bytes and its checked units of computing evenly over its length.

NumPy's calls release the interpreter's lock, so that threads compute side by side.
"""

from __future__ import annotations

import contextlib
import heapq
import mmap
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mawl.measure.accounting import resident_bytes
from mawl.plan.derived_program import WORD_BYTES, Files, at_core_speed, files_of, input_name, scaled
from mawl.plan.programs import Direction
from mawl.programs.context import JobContext, check_equal
from mawl.programs.derived_requests import (
    MULTIPLIER,
    ROW_BYTES,
    ROW_WORDS,
    Block,
    FileReader,
    FileWriter,
    OwnFile,
    Sizes,
    Stream,
    TableReader,
    keys,
    salt_of,
    sizes_of,
    sum_of_keys,
)
from mawl.records.model.derived import KERNELS, DerivedStep, Kernel
from mawl.records.model.records import Answer, StepKind
from mawl.records.spec.program_options import ROLES, Role

Words = NDArray[np.uint64]

CHUNK_WORDS = 2**14
"""Of a unit: 128 KiB, so that a step that holds a megabyte can compute in it."""

CHUNK_WORDS_OF_THREADS = 2**16
"""The same with several threads: calls of NumPy last longer, and threads wait less for the interpreter."""

_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
_MODULUS = 2**64
_CLASS_SHIFT = np.uint64(56)
_VALUE_MASK = np.uint64(0xFFFF)
_MATRIX = 96
_SPARSE_ROW = 8


class Memory:
    """What a step holds: keys of rows from 0 on, in pages that go back to the system when it is dropped."""

    def __init__(self, size_bytes: int, salt: int, *, chunk_words: int = CHUNK_WORDS) -> None:
        self.salt, self.chunk_words = salt, chunk_words
        self.count = max(size_bytes // 8, chunk_words)
        # Populated at once: page by page the kernel would take as long as the keys, and longer.
        self.words: Words = np.frombuffer(mmap.mmap(-1, self.count * 8, flags=_FLAGS), np.uint64)
        first = self.words[:chunk_words]
        keys(0, first, salt)
        for start in range(chunk_words, self.count, chunk_words):
            rest = self.words[start : start + chunk_words]
            np.add(first[: len(rest)], np.uint64(start * MULTIPLIER % _MODULUS), out=rest)

    def chunk(self, number: int) -> tuple[int, Words]:
        """The number of the first key and the keys of a whole chunk; they come round."""
        start = number % (self.count // self.chunk_words) * self.chunk_words
        return start, self.words[start : start + self.chunk_words]


class Kernels:
    """The units of one thread: each call of ``unit`` does the next one, over the ``memory`` of then.

    ``number`` is the thread's of ``threads``: they take turns over the chunks.
    """

    def __init__(self, kernel: Kernel, memory: Memory, number: int, threads: int) -> None:
        self.memory = memory
        self._number, self._threads = number, threads
        self._size = memory.chunk_words
        self._scratch = np.empty(self._size, np.uint64)
        self._done = 0
        # No bound method is kept: it would keep the memory until a collection of garbage.
        self._work = _UNITS[kernel]
        self._block = Block(self._size * 8 if kernel == "write" else 0)
        # Whole numbers, so that sums of products are exact in 53 bits whatever their order.
        side = np.arange(_MATRIX * _MATRIX, dtype=np.float64).reshape(_MATRIX, _MATRIX)
        self._left, self._right = side % 251, side % 241

    def unit(self) -> None:
        """Do one unit; raises ``WrongAnswerError`` where its result is wrong."""
        self._work(self)
        self._done += 1

    def _mixed(self) -> tuple[Words, int]:
        """A chunk's keys times another odd number at each turn, and their sum: never the same work twice."""
        start, chunk = self.memory.chunk(self._number + self._done * self._threads)
        factor = (2 * self._done + 1) * MULTIPLIER % _MODULUS
        np.multiply(chunk, np.uint64(factor), out=self._scratch)
        expected = factor * sum_of_keys(start, self._size, self.memory.salt) % _MODULUS
        self._check_sum("that are held", self._scratch, expected)
        return self._scratch, expected

    def _check_sum(self, what: str, words: Words, expected: int) -> None:
        check_equal(f"the sum of the keys {what}", int(np.add.reduce(words, dtype=np.uint64)), expected)

    def _scan(self) -> None:
        mixed, expected = self._mixed()
        bound = np.uint64(_MODULUS // 4)
        chosen, others = mixed[mixed < bound], mixed[mixed >= bound]
        check_equal("the number of rows of a scan", len(chosen) + len(others), len(mixed))
        found = int(np.add.reduce(chosen, dtype=np.uint64)) + int(np.add.reduce(others, dtype=np.uint64))
        check_equal("the sum of the keys of a scan", found % _MODULUS, expected)

    def _sort(self) -> None:
        mixed, expected = self._mixed()
        mixed.sort()
        check_equal("that sorted keys rise", bool((mixed[1:] >= mixed[:-1]).all()), True)
        self._check_sum("after a sort", mixed, expected)

    def _join(self) -> None:
        """Look every key up in a hash table of all of them; what collided is found in an ordered list."""
        probes, expected = self._mixed()
        bits = len(probes).bit_length()  # twice as many places as keys
        places = (probes >> np.uint64(64 - bits)).astype(np.intp)
        table = np.zeros(2**bits, np.int32)
        table[places] = np.arange(len(probes), dtype=np.int32)
        met = probes.take(table.take(places))
        missed = np.flatnonzero(met != probes)
        rest = np.sort(probes.take(missed))
        met[missed] = rest.take(np.searchsorted(rest, probes.take(missed)))
        check_equal("the rows that a join found", bool((met == probes).all()), True)
        self._check_sum("of a join", met, expected)

    def _summarise(self) -> None:
        mixed, _ = self._mixed()
        classes = (mixed >> _CLASS_SHIFT).astype(np.uint8)
        values = mixed & _VALUE_MASK
        order = classes.argsort(kind="stable")
        ordered = classes.take(order)
        starts = np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
        sums = np.add.reduceat(values.take(order), starts)
        check_equal("the sum over classes", int(sums.sum()), int(np.add.reduce(values)))

    def _look_up(self) -> None:
        mixed, _ = self._mixed()
        places = mixed % np.uint64(self.memory.count)
        found = self.memory.words.take(places.astype(np.intp))
        places *= np.uint64(MULTIPLIER)
        places += np.uint64(self.memory.salt)
        check_equal("the keys of rows that were looked up", bool((found == places).all()), True)

    def _write(self) -> None:
        first = self._done * (self._size // ROW_WORDS)
        self._block.fill(first, self._size // ROW_WORDS * ROW_BYTES, self.memory.salt)
        self._block.check(first, self._size * 8, self.memory.salt, "a block that was made")

    def _dense(self) -> None:
        """One product of matrices, checked by Freivalds (1977): (AB)x = A(Bx) for a vector x."""
        product = self._left @ self._right
        vector = np.arange(_MATRIX, dtype=np.float64) + self._done % 7
        right = self._left @ (self._right @ vector)
        check_equal("a product of matrices", bool(np.array_equal(product @ vector, right)), True)

    def _sparse(self) -> None:
        """A matrix of eight entries a row times a vector; the sum of the result from its column sums."""
        mixed, _ = self._mixed()
        columns = (mixed & np.uint64(self._size - 1)).astype(np.intp)
        entries = (mixed >> _CLASS_SHIFT).astype(np.float64)
        vector = np.arange(self._size, dtype=np.float64)
        result = np.add.reduceat(entries * vector.take(columns), np.arange(0, self._size, _SPARSE_ROW))
        by_column = np.bincount(columns, weights=entries, minlength=self._size)
        check_equal("the sum of a sparse product", float(result.sum()), float(by_column @ vector))

    def _hold(self) -> None:
        start, chunk = self.memory.chunk(self._number + self._done * self._threads)
        expected = sum_of_keys(start, self._size, self.memory.salt)
        self._check_sum("that are held", chunk, expected)


_UNITS: dict[Kernel, Callable[[Kernels], None]] = {
    "scan": Kernels._scan,
    "sort": Kernels._sort,
    "join": Kernels._join,
    "summarise": Kernels._summarise,
    "look_up": Kernels._look_up,
    "write": Kernels._write,
    "dense": Kernels._dense,
    "sparse": Kernels._sparse,
    "hold": Kernels._hold,
}


REFERENCE_SECONDS = 0.00039
"""CPU seconds of a round on the machine of the reference times (median of nine looks, 2026-11-29)."""

ROUNDS = 300


def core_speed(clock: Callable[[], float] = time.thread_time) -> float:
    """The reference core's seconds over this core's, of the fastest of ``ROUNDS`` rounds.

    The fastest, since neighbours of a core only ever make a round slower.  Takes about a fifth of a second.
    """
    memory = Memory(0, 1)
    with threadpool_limits(1):
        kernels = [Kernels(kernel, memory, 0, 1) for kernel in KERNELS]
        seconds = []
        for _ in range(ROUNDS):
            began = clock()
            for kernel in kernels:
                kernel.unit()
            seconds.append(clock() - began)
    return REFERENCE_SECONDS / min(seconds)


SHORTEST_SECONDS = 0.002
"""If less than this is missing, no unit is done: the next look makes up for it, or the step lacks it."""

SHORTEST_SECONDS_OF_THREAD = 0.010
"""With several threads less than this each is not worth waking them."""


class Pace:
    """Keeps the CPU seconds of this process since it was made at a share of those of the step.

    ``units`` are the units of each thread; the first one's run in the calling thread.  ``clock`` gives the
    CPU seconds of the whole process, input and output included: what those take is not computed.
    """

    def __init__(
        self,
        cpu_seconds: float,
        units: Sequence[Callable[[], None]],
        *,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._cpu_seconds, self._units, self._clock = cpu_seconds, units, clock
        self._began = clock()
        self._pool = ThreadPoolExecutor(len(units) - 1) if len(units) > 1 else None

    def reach(self, share: float) -> None:
        """Compute until the process has used this share of the CPU seconds; raises what a unit raises."""
        goal = self._began + share * self._cpu_seconds
        least = SHORTEST_SECONDS if self._pool is None else SHORTEST_SECONDS_OF_THREAD * len(self._units)
        if goal - self._clock() < (least if share < 1.0 else SHORTEST_SECONDS / 2):
            return
        others = (
            []
            if self._pool is None
            else [self._pool.submit(self._until, goal, unit) for unit in self._units[1:]]
        )
        self._until(goal, self._units[0])
        for other in others:
            other.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def _until(self, goal: float, unit: Callable[[], None]) -> None:
        while self._clock() < goal:
            unit()


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
            pace = Pace(step.cpu_seconds, [kernel.unit for kernel in kernels])
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

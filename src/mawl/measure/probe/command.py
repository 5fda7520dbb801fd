"""The tests that a probe makes, and their fio command lines (docs/design/probe.md).

Each command repeats its test by hand.  It runs in the directory of the files and names them relative to it:
fio expands ``$jobname`` in a path, takes ``:`` in it for a separator, and copies it into its JSON as it is.

``psync``: each stream has one request under way, as a program that reads a table has; more of them
(``depth``) need an asynchronous engine; ``--thread``: all
streams in one process, which dies with mawl; ``--fallocate=none``: preallocated extents are stored
uncompressed by btrfs; ``--randrepeat=0``: else each run of fio writes the same random bytes, which a store
may deduplicate; ``--overwrite=1``: a file that is not there is laid out first, so that writes
never measure its growing.  A buffered test moves each byte once and syncs at its end: repeated, it
would measure the page cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Literal

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import format_memory, format_request
from mawl.importers.formats.fio import fio_time
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Content, Direction, Pattern

KIB = 2**10
MIB = 2**20

KINDS: dict[str, tuple[Pattern, Direction]] = {
    "sequential-read": ("sequential", "read"),
    "sequential-write": ("sequential", "write"),
    "sequential-mixed": ("sequential", "mixed"),
    "random-read": ("random", "read"),
    "random-write": ("random", "write"),
    "random-mixed": ("random", "mixed"),
}
Direct = Literal["yes", "no", "both"]

READ_SHARE: dict[Direction, float] = {"read": 1.0, "write": 0.0, "mixed": 0.65}
SEQUENTIAL_REQUEST_BYTES = (64 * KIB, 256 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB)
RANDOM_REQUEST_BYTES = (8 * KIB, 64 * KIB)

DEFAULT_SECONDS = 10.0
DEFAULT_FILE_BYTES = 2 * 2**30
LEAST_FITTED_BYTES = 64 * MIB
MOST_FILL_RATIO = 0.98
MOST_DEPTH = 256
GROWTH_RATIO = 1.05
"""The search for the device's best doubles the depth while the rate grows by this factor."""
CURVE_SHARES = (0.15, 0.3, 0.5, 0.7, 0.85, 0.95)
"""Rates of the latency curve, as shares of the best rate."""
Engine = Literal["psync", "libaio", "io_uring"]
STEADY_BOUND = 6
"""A test that waits for a steady rate takes at most so many times its seconds."""


class PlannedTest(msgspec.Struct, frozen=True, kw_only=True):
    """One test to make, with ``streams`` processes that have ``depth`` requests under way each.

    ``requests_per_second`` bounds the rate of all processes together, with arrivals at random.
    """

    pattern: Pattern
    direction: Direction
    request_bytes: int
    streams: int
    direct: bool
    depth: int = 1
    engine: Engine = "psync"
    requests_per_second: float | None = None

    @property
    def words(self) -> str:
        """``sequential read, 256 KiB, 2 streams, direct``."""
        streams = "1 stream" if self.streams == 1 else f"{self.streams} streams"
        way = "mixed 65:35" if self.direction == "mixed" else self.direction
        how = "direct" if self.direct else "buffered"
        deep = "" if self.depth == 1 else f" of {self.depth} requests"
        held = "" if self.requests_per_second is None else f", {self.requests_per_second:.0f} requests/s"
        return f"{self.pattern} {way}, {format_request(self.request_bytes)}, {streams}{deep}, {how}{held}"


class ProbeChoice(msgspec.Struct, frozen=True, kw_only=True):
    """All that a probe does at each target.

    ``file_bytes`` are shared out over the streams of a test.  With ``layout_seconds`` the files are smaller
    on a target that takes longer to write them, but not below ``LEAST_FITTED_BYTES``.  ``fill_ratios``
    are the used shares of the file system at which all tests are made; empty for as it is found.
    """

    shapes: list[PlannedTest]
    seconds: float = DEFAULT_SECONDS
    file_bytes: int = DEFAULT_FILE_BYTES
    layout_seconds: float | None = None
    content: Content = "incompressible"
    precondition: bool = False
    fill_ratios: list[float] = []
    steady: bool = False
    seeks_best: bool = False
    """Whether each test goes on at twice the depth while its rate grows."""
    curve: bool = False
    """Whether latency is measured at rates below the best one."""

    @property
    def most_test_seconds(self) -> float:
        """The bound of one test's time, less what a buffered write takes to reach the device."""
        return self.seconds * (STEADY_BOUND if self.steady else 1)

    def stream_bytes(self, streams: int) -> int:
        """What each of so many streams reads or writes: its share, in whole requests of any size."""
        largest = max(shape.request_bytes for shape in self.shapes)
        return self.file_bytes // streams // largest * largest

    def file_sizes(self) -> list[int]:
        """The size of each stream's file, so that every test finds its own region laid out."""
        counts = sorted({shape.streams for shape in self.shapes})
        return [
            max(self.stream_bytes(streams) for streams in counts if streams > index)
            for index in range(counts[-1])
        ]

    def fitted(self, most_bytes: float) -> ProbeChoice:
        """The same with files of at most so many bytes together, as far as the smallest files allow."""
        larger = max(sum(self.file_sizes()) / max(most_bytes, 1.0), 1.0)
        requests = max(shape.request_bytes for shape in self.shapes) * max(
            shape.streams for shape in self.shapes
        )
        size = max(int(self.file_bytes / larger) // MIB * MIB, LEAST_FITTED_BYTES, requests)
        return msgspec.structs.replace(self, file_bytes=min(size, self.file_bytes))

    def check(self) -> None:
        """Raises ``UsageError`` where a stream would have less than one request."""
        for shape in self.shapes:
            if not self.stream_bytes(shape.streams):
                largest = max(other.request_bytes for other in self.shapes)
                raise UsageError(
                    f"--file-size {format_memory(self.file_bytes)} leaves each of {shape.streams} streams "
                    f"less than a request of {format_request(largest)}",
                    cure=f"name {format_memory(largest * shape.streams)} or more, or fewer streams",
                )


def default_shapes(cores: int, direct: Direct, load_streams: int | None = None) -> list[PlannedTest]:
    """The papers' table (256 KiB sequential, by one stream and by as many as cores), and random tests.

    ``load_streams`` is the number of requests that a known load can have under way.  If it is more than the
    cores, the papers' table also has tests by so many streams, and the random tests use so many.
    """
    most = max(cores, load_streams or cores)
    every = sorted({1, cores, most})
    return [
        *_grid(["sequential-read", "sequential-write"], [PAPERS_REQUEST_BYTES], every, direct),
        *_grid(["random-read"], RANDOM_REQUEST_BYTES, [most], direct),
        *_grid(["random-mixed"], RANDOM_REQUEST_BYTES[1:], [most], direct),
    ]


def at_depths(
    shapes: Sequence[PlannedTest], depths: Sequence[int], engine: Engine | None
) -> list[PlannedTest]:
    """The same tests at each depth; an engine is chosen where a depth needs one (``engine_of``)."""
    return [
        msgspec.structs.replace(shape, depth=depth, engine=engine_of(depth, engine, direct=shape.direct))
        for shape in shapes
        for depth in depths
    ]


def engine_of(depth: int, engine: Engine | None, *, direct: bool) -> Engine:
    """The asked engine, else ``psync`` for one request and ``libaio`` for more.

    Raises ``UsageError`` for an engine that would have fewer requests under way than it says.
    """
    if engine is None and depth > 1 and not direct:
        raise UsageError(
            f"--depth {depth} of a buffered test needs --engine io_uring",
            why="libaio waits for each buffered request",
        )
    chosen = engine or ("psync" if depth == 1 else "libaio")
    if depth > 1 and (chosen == "psync" or (chosen == "libaio" and not direct)):
        raise UsageError(
            f"--engine {chosen} has one {'' if direct else 'buffered '}request under way, "
            f"and --depth asks for {depth}",
            cure="leave --engine out" if direct else "name --engine io_uring",
        )
    return chosen


def deeper(shape: PlannedTest) -> PlannedTest | None:
    """The same at twice the depth; None at the largest, and for a buffered test."""
    if not shape.direct or 2 * shape.depth > MOST_DEPTH:
        return None
    depth, engine = 2 * shape.depth, None if shape.engine == "psync" else shape.engine
    return msgspec.structs.replace(shape, depth=depth, engine=engine_of(depth, engine, direct=shape.direct))


def curve_tests(best: PlannedTest, requests_per_second: float) -> list[PlannedTest]:
    """Tests below the best rate.  They may have more requests under way, so that a queue shows as latency."""
    depth = min(4 * best.depth, MOST_DEPTH)
    engine = engine_of(depth, None if best.engine == "psync" else best.engine, direct=best.direct)
    return [
        msgspec.structs.replace(
            best, depth=depth, engine=engine, requests_per_second=share * requests_per_second
        )
        for share in CURVE_SHARES
    ]


def full_shapes(cores: int, direct: Direct) -> list[PlannedTest]:
    """Every pattern at every size by 1, 2, 4 and so on up to twice the cores."""
    streams = full_streams(cores)
    return [
        *_grid(["sequential-read", "sequential-write"], SEQUENTIAL_REQUEST_BYTES, streams, direct),
        *_grid(["random-read", "random-write", "random-mixed"], RANDOM_REQUEST_BYTES, streams, direct),
    ]


def full_streams(cores: int) -> list[int]:
    powers = [2**power for power in range((2 * cores).bit_length()) if 2**power <= 2 * cores]
    return sorted({*powers, cores, 2 * cores})


def chosen_shapes(
    kinds: Sequence[str] | None,
    sizes: Sequence[int] | None,
    streams: Sequence[int] | None,
    *,
    cores: int,
    direct: Direct,
) -> list[PlannedTest]:
    """Every combination of what was named, with the default for what was not."""
    return _grid(
        kinds or ["sequential-read", "sequential-write"],
        sizes or [PAPERS_REQUEST_BYTES],
        streams or sorted({1, cores}),
        direct,
    )


def _grid(
    kinds: Sequence[str], sizes: Sequence[int], streams: Sequence[int], direct: Direct
) -> list[PlannedTest]:
    ways = {"yes": [True], "no": [False], "both": [True, False]}[direct]
    return [
        PlannedTest(
            pattern=KINDS[kind][0], direction=KINDS[kind][1], request_bytes=size, streams=count, direct=way
        )
        for way, kind, size, count in product(ways, kinds, sizes, streams)
    ]


FIO = "fio"
STREAM = "stream."
FILL = "fill."
DIALLED_PERCENT = 90
"""fio's share of zeros that gives the default dial of the input tables: 0.896 saved by zstd-1 at 1 MiB."""
STEADY_LIMIT = "bw:5%"

_RW = {
    ("sequential", "read"): "read",
    ("sequential", "write"): "write",
    ("sequential", "mixed"): "rw",
    ("random", "read"): "randread",
    ("random", "write"): "randwrite",
    ("random", "mixed"): "randrw",
}


def probe_command(shape: PlannedTest, choice: ProbeChoice) -> list[str]:
    """One test over the streams' files, which fio makes where they are missing."""
    words = [
        FIO,
        "--name=probe",
        f"--filename_format={STREAM}$jobnum",
        f"--size={choice.stream_bytes(shape.streams)}",
        f"--bs={shape.request_bytes}",
        f"--rw={_RW[shape.pattern, shape.direction]}",
        f"--numjobs={shape.streams}",
        f"--direct={int(shape.direct)}",
        f"--ioengine={shape.engine}",
        f"--iodepth={shape.depth}",
        *_COMMON,
        "--group_reporting",
        "--overwrite=1",
        "--invalidate=1",
        "--percentile_list=50:90:99:99.9",
        f"--runtime={fio_time(choice.most_test_seconds)}",
        *_content(choice.content),
    ]
    if shape.direction == "mixed":
        words.append(f"--rwmixread={100 * READ_SHARE[shape.direction]:g}")
    if shape.requests_per_second is not None:
        each = max(round(shape.requests_per_second / shape.streams), 1)
        words += [f"--rate_iops={each}", "--rate_process=poisson"]
    if shape.direct:
        words.append("--time_based")
    if not shape.direct and shape.direction != "read":
        words.append("--end_fsync=1")
    if waits_for_steady(shape, choice):
        words += [f"--steadystate={STEADY_LIMIT}", f"--steadystate_duration={fio_time(choice.seconds)}"]
    return words


def waits_for_steady(shape: PlannedTest, choice: ProbeChoice) -> bool:
    """Whether a test goes on until its rate is steady; a buffered one moves each byte once, and cannot."""
    return choice.steady and shape.direct


def layout_command(sizes: Sequence[int], choice: ProbeChoice, *, direct: bool) -> list[str]:
    """Write the streams' files, twice where the probe preconditions."""
    words = _writing(choice.content, direct=direct)
    if choice.precondition:
        words.append("--loops=2")
    for index, size in enumerate(sizes):
        words += _file(f"{STREAM}{index}", size)
    return words


def fill_command(file: str, size: int, *, direct: bool) -> list[str]:
    """Write one file, which fills the file system up to a level; never compressible."""
    return [*_writing("incompressible", direct=direct), *_file(file, size)]


_COMMON = (
    *("--thread", "--fallocate=none", "--randrepeat=0"),
    *("--eta=never", "--output-format=json"),
)


def _writing(content: Content, *, direct: bool) -> list[str]:
    return [FIO, "--rw=write", f"--bs={MIB}", f"--direct={int(direct)}", "--ioengine=psync", *_COMMON,
            "--end_fsync=1", *_content(content)]  # fmt: skip


def _file(name: str, size: int) -> list[str]:
    return [f"--name={name}", f"--filename={name}", f"--size={size}"]


def _content(content: Content) -> list[str]:
    """Without ``refill_buffers`` fio repeats itself: zstd-1 saves 0.12 of that, and deduplication more."""
    if content == "dialled":
        return [f"--buffer_compress_percentage={DIALLED_PERCENT}"]
    return ["--refill_buffers"]

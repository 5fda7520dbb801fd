"""random_access and the direct scan beside fio with the same pattern: psync, direct, same files and sizes.

Scans are random_access's pass over its pages, and ``read_batches`` as wide_sort
reads its input; look-ups are random_access's own, keys compared.  fio reads the same files in the same
requests, and as many random pages; so does a bare loop of preadv, the second peer of look-ups.  Each
stream has a file and a process of its own; start-up, the index and fio's start are outside the times.  CPU
is user and system time of the streams.  As a script (``python -m bench.direct
batches|pages|look_ups|bare FILE``) it is one stream, which says that it is ready, waits for a line, and
prints its figures.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from bench.harness import Result, at_least, at_most, sized, spread
from mawl.figures.statistics import quantile
from mawl.measure.step import StepRecorder
from mawl.programs.context import JobContext
from mawl.programs.declarations.random_access import PAGE_BYTES, TABLES
from mawl.programs.random_access import POINTS, Lanes, PageFile, _Table
from mawl.programs.tables import arrow
from mawl.programs.tables.direct import DirectIo
from mawl.records.model.messages import Assignment
from mawl.records.spec.program_options import Options

NAME = "direct"
PAIRS = sized(15, 2)
STREAMS = sized((1, 4), (1, 2))
SCAN_BYTES = sized(256, 32) * 2**20
TABLE = TABLES[1]
ROWS = SCAN_BYTES // PAGE_BYTES * TABLE.rows_per_page
LOOK_UPS = sized(8192, 1024)
RATE_BOUND, CPU_BOUND = 0.95, 1.3

_BUFSIZE = Options().bufsize_bytes


class Figures(msgspec.Struct, frozen=True):
    """What streams side by side took: seconds of the longest, CPU seconds and bytes of all."""

    seconds: float
    cpu_seconds: float
    bytes: int

    @property
    def rate(self) -> float:
        """MB/s of all streams together."""
        return self.bytes / self.seconds / 1e6


def run() -> list[Result]:
    """Rates and CPU compared with fio's, 1 and 4 streams; raises where direct I/O is refused."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-", dir=os.environ.get("MAWL_BENCH_DIR")) as name:
        place = Path(name)
        _require_direct(place)
        rows = []
        for kind, make, options in (
            ("batches", _make_table, _scan_options),
            ("pages", _make_pages, _scan_options),
            ("look_ups", _make_pages, _points),
        ):
            files = [make(place / f"{kind}-{number}") for number in range(max(STREAMS))]
            for streams in STREAMS:
                some = files[:streams]
                pairs = _pairs(
                    lambda some=some, kind=kind: _ours(kind, some),  # type: ignore[misc]
                    lambda some=some, options=options: _fio(some, options()),  # type: ignore[misc]
                )
                title = f"direct {kind.replace('_', '-')}, {streams} stream{'s' if streams > 1 else ''}"
                rows += _rows(title, pairs, "fio")
                if kind == "look_ups":
                    pairs = _pairs(
                        lambda some=some: _ours("look_ups", some),  # type: ignore[misc]
                        lambda some=some: _ours("bare", some),  # type: ignore[misc]
                    )
                    rows += _rows(title, pairs, "bare requests")
            for file in files:
                file.unlink()
        return rows


def _pairs(ours: Callable[[], Figures], peer: Callable[[], Figures]) -> list[tuple[Figures, Figures]]:
    """Pairs in turns (ABBA), after one of each that does not count."""
    ours(), peer()
    pairs = []
    for number in range(PAIRS):
        if number % 2:
            other, mine = peer(), ours()
        else:
            mine, other = ours(), peer()
        pairs.append((mine, other))
    return pairs


def _rows(title: str, pairs: Sequence[tuple[Figures, Figures]], peer: str) -> list[Result]:
    rates = [mine.rate / other.rate for mine, other in pairs]
    low = lower_bound(rates)
    detail = (
        f"ours {spread([mine.rate for mine, _ in pairs], 'MB/s')}, "
        f"{peer} {spread([other.rate for _, other in pairs], 'MB/s')}; ratio {spread(rates)}"
    )
    cpu = [mine.cpu_seconds / mine.bytes / (other.cpu_seconds / other.bytes) for mine, other in pairs]
    per_gb = [
        spread([side.cpu_seconds / side.bytes * 1e9 for side in sides], "CPU s a GB")
        for sides in zip(*pairs, strict=True)
    ]
    told = f"ours {per_gb[0]}, {peer} {per_gb[1]}; pairs {min(cpu):.3g} to {max(cpu):.3g}"
    return [
        at_least(f"{title}: rate / {peer}, 95 % lower bound", low, "x", RATE_BOUND, detail),
        at_most(f"{title}: CPU / {peer}", statistics.median(cpu), "x", CPU_BOUND, told),
    ]


def lower_bound(ratios: Sequence[float]) -> float:
    """The lower end of the two-sided 95 % interval of the mean of ratios, by Student's t on logarithms."""
    logs = [math.log(ratio) for ratio in ratios]
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(statistics.fmean(logs) - quantile(0.975, len(logs) - 1) * error)


def _require_direct(place: Path) -> None:
    probe = place / "probe"
    probe.write_bytes(bytes(PAGE_BYTES))
    descriptor, _ = DirectIo("yes").open(probe, os.O_RDONLY)
    os.close(descriptor)


def _make_table(path: Path) -> Path:
    """A table as input tables are: batches of about a MiB, 50 columns of numbers."""
    columns, rows = 50, arrow.batch_rows(50 * 8)
    numbers = np.random.default_rng(1).random((columns, rows))
    batch = pa.RecordBatch.from_arrays(
        [arrow.array(column) for column in numbers], names=[f"c{number}" for number in range(columns)]
    )
    with arrow.TableWriter(path, batch.schema, bufsize_bytes=_BUFSIZE) as writer:
        for _ in range(SCAN_BYTES // batch.nbytes):
            writer.write(batch)
    _settle(path)
    return path


def _make_pages(path: Path) -> Path:
    _table(path).write()
    made = path / f"{TABLE.name}.pages"
    _settle(made)
    return made


def _settle(path: Path) -> None:
    """On the device, and out of the page cache: direct requests first write what is only in memory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _table(place: Path) -> _Table:
    """random_access's medium table, its file in a directory ``place``."""
    place.mkdir(exist_ok=True)
    assignment = Assignment(
        run_id="bench",
        job="job",
        program="random_access",
        scale=1.0,
        seed=1,
        replica=0,
        options=Options(direct="yes", queue_depth=1),
        inputs={},
        results=str(place),
        work=[str(place)],
        util=[str(place)],
        log=str(place / "log"),
    )
    return _Table(JobContext(assignment, StepRecorder("job", lambda _: None)), TABLE, ROWS)


def _scan_options() -> list[str]:
    return ["--rw=read", f"--bs={_BUFSIZE}"]


def _points() -> list[str]:
    return ["--rw=randread", f"--bs={PAGE_BYTES}", "--norandommap", "--randrepeat=0",
            f"--number_ios={LOOK_UPS}"]  # fmt: skip


def _fio(files: Sequence[Path], options: Sequence[str]) -> Figures:
    """fio's streams over the same files."""
    jobs = [word for number, file in enumerate(files) for word in (f"--name=s{number}", f"--filename={file}")]
    done = subprocess.run(
        ["fio", "--output-format=json", "--ioengine=psync", "--direct=1", "--readonly", *options, *jobs],
        capture_output=True,
        check=True,
    )
    streams = json.loads(done.stdout)["jobs"]
    return Figures(
        seconds=max(stream["read"]["runtime"] for stream in streams) / 1000,
        cpu_seconds=sum(
            (stream["usr_cpu"] + stream["sys_cpu"]) / 100 * stream["job_runtime"] / 1000 for stream in streams
        ),
        bytes=sum(stream["read"]["io_bytes"] for stream in streams),
    )


def _ours(kind: str, files: Sequence[Path]) -> Figures:
    """Our streams over the files, released together."""
    streams = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.direct", kind, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        for file in files
    ]
    for stream in streams:
        assert stream.stdout is not None and stream.stdout.readline() == "ready\n"
    for stream in streams:
        assert stream.stdin is not None
        stream.stdin.write("go\n")
        stream.stdin.flush()
    figures = [msgspec.json.decode(stream.communicate()[0], type=Figures) for stream in streams]
    return Figures(
        seconds=max(one.seconds for one in figures),
        cpu_seconds=sum(one.cpu_seconds for one in figures),
        bytes=sum(one.bytes for one in figures),
    )


def _bare_requests(file: Path, direct: DirectIo) -> None:
    """As many random pages as there are look-ups, and nothing done with them."""
    descriptor, _ = direct.open(file, os.O_RDONLY)
    space = memoryview(mmap.mmap(-1, POINTS * PAGE_BYTES))
    targets = [[space[at : at + PAGE_BYTES]] for at in range(0, len(space), PAGE_BYTES)]
    pages = os.fstat(descriptor).st_size // PAGE_BYTES
    numbers = np.random.default_rng().integers(0, pages, LOOK_UPS).tolist()
    preadv = os.preadv
    for place, number in enumerate(numbers):
        preadv(descriptor, targets[place % POINTS], number * PAGE_BYTES)
    direct.read_bytes += LOOK_UPS * PAGE_BYTES
    os.close(descriptor)


def _stream(kind: str, file: Path) -> None:
    if kind == "batches":
        direct = DirectIo("yes")

        def work() -> None:
            for _ in arrow.read_batches(file, bufsize_bytes=_BUFSIZE, direct=direct):
                pass

    elif kind == "pages":
        direct = DirectIo("yes")

        def work() -> None:
            with PageFile(file, direct, bufsize_bytes=_BUFSIZE) as pages:
                for _ in pages.chunks():
                    pass

    elif kind == "bare":
        direct = DirectIo("yes")

        def work() -> None:
            _bare_requests(file, direct)

    else:
        table = _table(file.parent)
        table.build_index()
        table.reads = LOOK_UPS
        direct, work = table.io, lambda: table.look_up(Lanes())
    print("ready", flush=True)
    sys.stdin.readline()
    before, began, cpu = direct.read_bytes, time.monotonic(), time.process_time()
    work()
    figures = Figures(
        seconds=time.monotonic() - began,
        cpu_seconds=time.process_time() - cpu,
        bytes=direct.read_bytes - before,
    )
    print(msgspec.json.encode(figures).decode(), flush=True)


if __name__ == "__main__":
    _stream(sys.argv[1], Path(sys.argv[2]))

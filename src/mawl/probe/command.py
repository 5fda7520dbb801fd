"""The command lines of fio that a probe runs; each repeats its test by hand (docs/design/probe.md).

They run in the directory of the files and name them relative to it: fio expands ``$jobname`` in a path,
takes ``:`` in it for a separator, and copies it into its JSON as it is.

``psync``: each stream has one request under way, as a program that reads a table has; ``--thread``: all
streams in one process, which dies with mawl; ``--fallocate=none``: preallocated extents are stored
uncompressed by btrfs; ``--randrepeat=0``: else each run of fio writes the same random bytes, which a store
may deduplicate; ``--overwrite=1``: a file that is not there is laid out first, so that writes
never measure its growing.  A buffered test moves each byte once and syncs at its end: repeated, it
would measure the page cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from mawl.formats.fio import fio_time
from mawl.model.probe import Content
from mawl.probe.choice import MIB, READ_SHARE, PlannedTest, ProbeChoice

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
    if shape.direct:
        words.append("--time_based")
    if not shape.direct and shape.direction != "read":
        words.append("--end_fsync=1")
    if waits_for_steady(shape, choice):
        words += [f"--steadystate={STEADY_LIMIT}", f"--steadystate_duration={fio_time(choice.seconds)}"]
    return words


def waits_for_steady(shape: PlannedTest, choice: ProbeChoice) -> bool:
    """A buffered test moves each byte once, and cannot wait."""
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
    *("--ioengine=psync", "--thread", "--fallocate=none", "--randrepeat=0"),
    *("--eta=never", "--output-format=json"),
)


def _writing(content: Content, *, direct: bool) -> list[str]:
    return [FIO, "--rw=write", f"--bs={MIB}", f"--direct={int(direct)}", *_COMMON, "--end_fsync=1",
            *_content(content)]  # fmt: skip


def _file(name: str, size: int) -> list[str]:
    return [f"--name={name}", f"--filename={name}", f"--size={size}"]


def _content(content: Content) -> list[str]:
    """Without ``refill_buffers`` fio repeats itself: zstd-1 saves 0.12 of that, and deduplication more."""
    if content == "dialled":
        return [f"--buffer_compress_percentage={DIALLED_PERCENT}"]
    return ["--refill_buffers"]

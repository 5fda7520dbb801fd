"""What a probe of the storage found (``probe.json``), and the definitions of its figures.

See docs/design/probe.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mawl.records.definitions import (
    block,
    flag,
    listing,
    rate,
    seconds,
    share,
    size,
    text,
    unitless,
)
from mawl.records.spec.program_options import Role

PROBE_FORMAT_VERSION = "1.2"

PAPERS_REQUEST_BYTES = 2**18
"""The request size of the papers' table of storage, and of SAS (``bufsize``): 256 KiB."""

MOST_PER_SECOND = 1e15
"""A petabyte a second: what is above it in a file is no measurement."""

PAGE = "docs/design/probe.md"
TEST = f"{PAGE}, A test"
TARGET = f"{PAGE}, A target"
CURVE = f"{PAGE}, Latency against load"
GUIDELINE = f"{PAGE}, The guideline"

Pattern = Literal["sequential", "random"]
Direction = Literal["read", "write", "mixed"]
Content = Literal["incompressible", "dialled"]


class ProbeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of one test, as fio measured it: completion latency, from submission to completion."""

    bytes: Annotated[int, Meta(ge=0), size("Bytes moved.", TEST)]
    bytes_per_second: Annotated[
        float, Meta(ge=0, le=MOST_PER_SECOND), rate("Bytes moved, over the time of the test.", TEST)
    ]
    requests_per_second: Annotated[
        float, Meta(ge=0, le=MOST_PER_SECOND), unitless("Requests completed, per second.", TEST)
    ]
    latency_seconds: Annotated[
        dict[str, Annotated[float, Meta(ge=0)]],
        seconds(
            "Time from submission to completion of a request: mean, min, max, and percentiles as p50, p99, "
            "p99.9.",
            TEST,
        ),
    ]


class ProbeTest(msgspec.Struct, frozen=True, kw_only=True):
    """One fio job: a pattern at a request size by so many streams.

    ``streams`` are all requests under way: those of each process (``depth``) times the processes.
    ``read_share_ratio`` is 1 for reads, 0 for writes, 0.65 for the mixed 65:35.  ``fill_ratio`` is the
    used share of the file system at which it ran, where that was asked for.  A direction that the
    test does not have is None; a test that gave no figures has both None and a ``remark``.
    """

    pattern: Annotated[Pattern, text("sequential or random.", TEST)]
    direction: Annotated[Direction, text("read, write or mixed.", TEST)]
    request_bytes: Annotated[int, Meta(ge=1, le=2**62), size("Size of a request.", TEST)]
    streams: Annotated[int, Meta(ge=1, le=2**62), unitless("Requests under way at once.", TEST)]
    depth: Annotated[
        int, Meta(ge=1, le=2**62), unitless("Requests that each process has under way (iodepth).", TEST)
    ] = 1
    engine: Annotated[
        str | None, text("How fio makes its requests (ioengine).", TEST, absent="the file does not say")
    ] = None
    asked_requests_per_second: Annotated[
        float | None,
        unitless("The rate that fio was held to; null: as fast as the device takes them.", CURVE),
    ] = None
    direct: Annotated[bool, flag("Whether it went past the page cache (O_DIRECT).", TEST)]
    content: Annotated[
        Content, text("incompressible, or dialled: the bytes shrink as those of input tables do.", TEST)
    ]
    read_share_ratio: Annotated[float, Meta(ge=0, le=1), share("Share of its requests that read.", TEST)]
    elapsed_seconds: Annotated[
        Annotated[float, Meta(ge=0)] | None, seconds("How long it ran.", TEST, absent="it gave no figures")
    ]
    read: Annotated[ProbeFigures | None, block("What it read.", TEST, absent="it does not read")]
    write: Annotated[ProbeFigures | None, block("What it wrote.", TEST, absent="it does not write")]
    cpu_seconds: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        seconds("CPU time of fio, user and system.", TEST, absent="it gave no figures"),
    ]
    command: Annotated[
        list[str], listing("The command line that repeats it by hand, in a directory of the target.", TEST)
    ]
    fill_ratio: Annotated[
        float | None, share("Used share of the file system; null: as it was (--fill).", TARGET)
    ] = None
    preconditioned: Annotated[
        bool, flag("Whether its files were written twice before the first test.", TARGET)
    ] = False
    steady: Annotated[
        bool | None,
        flag("Whether the rate was steady before the time was up; null: not asked for (--steady).", TEST),
    ] = None
    remark: Annotated[str | None, text("What was different, or why it gave no figures.", TEST)] = None


class ProbeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One probed directory: what holds it, and its tests.  ``name`` is unique in the probe."""

    name: Annotated[str, text("Its name, once in a probe.", TARGET)]
    directory: Annotated[str, text("The probed directory.", TARGET)]
    node: Annotated[str, text("The node that probed.", TARGET)]
    roles: Annotated[
        list[Role], listing("The roles it was named for; empty: no role lies on it yet.", TARGET)
    ]
    file_system: Annotated[str | None, text("Type of its file system.", TARGET)]
    source: Annotated[str | None, text("What is mounted there.", TARGET)]
    devices: Annotated[list[str], listing("Its block devices.", TARGET)]
    size_bytes: Annotated[int | None, size("Size of its file system.", TARGET)]
    free_bytes: Annotated[int | None, size("Free bytes before its first test.", TARGET)]
    tests: list[ProbeTest]
    curve: list[ProbeTest] = []
    """Tests at rates below the device's best, by pattern and direction (--curve)."""
    problem: Annotated[str | None, text("Why it has no tests, or not all: one sentence.", TARGET)] = None


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """All targets of one ``mawl probe``, or of imported fio files."""

    format_version: str = PROBE_FORMAT_VERSION
    created_at: float
    """Seconds since the epoch, UTC."""
    tool: str
    """``fio-3.33``."""
    physical_cores: Annotated[float, Meta(gt=0)] | None
    """Those that CPU affinity and a CPU quota left to the probe; vCPUs where ``core_basis`` says so."""
    core_basis: str | None
    targets: list[ProbeTarget]

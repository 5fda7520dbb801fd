"""What a probe of the storage found (``probe.json``), and the definitions of its figures.

See docs/design/probe.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mawl.records.definitions import (
    Metric,
    block,
    bytes_metric,
    count_metric,
    flag,
    flag_metric,
    listing,
    rate,
    rate_metric,
    ratio_metric,
    seconds,
    share,
    size,
    text,
    text_metric,
    unitless,
)
from mawl.records.spec.program_options import Role

PROBE_FORMAT_VERSION = "1.1"

PAPERS_REQUEST_BYTES = 2**18
"""The request size of the papers' table of storage, and of SAS (``bufsize``): 256 KiB."""

MOST_PER_SECOND = 1e15
"""A petabyte a second: what is above it in a file is no measurement."""

PAGE = "docs/design/probe.md"
TEST = f"{PAGE}, A test"
TARGET = f"{PAGE}, A target"
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

    ``read_share_ratio`` is 1 for reads, 0 for writes, 0.65 for the mixed 65:35.  ``fill_ratio`` is the
    used share of the file system at which it ran, where that was asked for.  A direction that the
    test does not have is None; a test that gave no figures has both None and a ``remark``.
    """

    pattern: Pattern
    direction: Direction
    request_bytes: Annotated[int, Meta(ge=1, le=2**62), size("Size of a request.", TEST)]
    streams: Annotated[int, Meta(ge=1, le=2**62), unitless("Requests under way at once.", TEST)]
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


_FIGURES: tuple[Metric, ...] = tuple(
    metric
    for direction in ("read", "write")
    for metric in (
        bytes_metric(f"targets.*.tests.*.{direction}.bytes", "Bytes that the test moved.", TEST),
        rate_metric(
            f"targets.*.tests.*.{direction}.bytes_per_second",
            "These bytes over the time in which any stream moved them.",
            TEST,
        ),
        ratio_metric(
            f"targets.*.tests.*.{direction}.requests_per_second", "Requests per second (IOPS).", TEST
        ),
        Metric(
            f"targets.*.tests.*.{direction}.latency_seconds",
            "seconds",
            "object",
            "Response time from submission to completion: mean, min, max, and percentiles.",
            TEST,
        ),
    )
)

PROBE_METRICS: tuple[Metric, ...] = (
    text_metric("tool", "The version of fio.", TEST),
    Metric("created_at", "time", "text", "When the probe began (UTC).", TEST),
    Metric(
        "physical_cores",
        "count",
        "float",
        "Cores that CPU affinity and a CPU quota left to the probe, rounded; in core_basis.",
        GUIDELINE,
    ),
    text_metric("core_basis", "physical core or vCPU.", GUIDELINE),
    text_metric("targets.*.name", "Its role, with a number from the second on, or its directory.", TARGET),
    Metric("targets.*.roles", "-", "list", "The roles it was named for.", TARGET),
    text_metric("targets.*.file_system", "Type of the file system.", TARGET),
    Metric("targets.*.devices", "-", "list", "Block devices that the file system names as its own.", TARGET),
    bytes_metric("targets.*.size_bytes", "Size of the file system.", TARGET),
    bytes_metric("targets.*.free_bytes", "What could be filled when its probe began.", TARGET),
    text_metric("targets.*.problem", "Why it has no or not all figures.", TARGET),
    text_metric("targets.*.tests.*.pattern", "sequential or random.", TEST),
    text_metric("targets.*.tests.*.direction", "read, write or mixed.", TEST),
    bytes_metric("targets.*.tests.*.request_bytes", "Bytes of each request.", TEST),
    count_metric("targets.*.tests.*.streams", "Streams, each with one request under way.", TEST),
    flag_metric("targets.*.tests.*.direct", "Whether it passed the page cache by.", TEST),
    text_metric("targets.*.tests.*.content", "incompressible or dialled.", TEST),
    ratio_metric("targets.*.tests.*.read_share_ratio", "Share of requests that read.", TEST),
    Metric("targets.*.tests.*.elapsed_seconds", "seconds", "float", "How long it moved bytes.", TEST),
    Metric("targets.*.tests.*.cpu_seconds", "seconds", "float", "CPU time of all its streams.", TEST),
    Metric("targets.*.tests.*.command", "-", "list", "The command line that repeats it by hand.", TEST),
    ratio_metric("targets.*.tests.*.fill_ratio", "Used share of the file system, where asked for.", TEST),
    flag_metric("targets.*.tests.*.preconditioned", "Whether its files were written twice.", TEST),
    flag_metric("targets.*.tests.*.steady", "Whether its rate became steady in time.", TEST),
    text_metric("targets.*.tests.*.remark", "What was not as asked, or why it has no figures.", TEST),
    *_FIGURES,
    rate_metric(
        "guideline.*.read_bytes_per_second_per_core",
        "Read rate by as many streams as cores, per core.",
        GUIDELINE,
    ),
    rate_metric(
        "guideline.*.write_bytes_per_second_per_core", "Write rate by as many streams, per core.", GUIDELINE
    ),
    text_metric("guideline.*.read_test", "The test that the read rate is of.", GUIDELINE),
    text_metric("guideline.*.write_test", "The test that the write rate is of.", GUIDELINE),
    text_metric("guideline.*.core_basis", "physical core or vCPU.", GUIDELINE),
    rate_metric(
        "guideline.*.warn_bytes_per_second_per_core", "Below it the guideline is not met.", GUIDELINE
    ),
    rate_metric("guideline.*.good_bytes_per_second_per_core", "From it on it is good.", GUIDELINE),
    text_metric("guideline.*.standing", "good, warn or below: of the lower of both rates.", GUIDELINE),
    flag_metric("guideline.*.met", "Whether both rates are at least the lower bound.", GUIDELINE),
    text_metric("guideline.*.reason", "Why it cannot be judged.", GUIDELINE),
)
"""Names in ``probe.json``; ``guideline`` by target is in what ``mawl probe --json`` prints."""

"""What a probe of the storage found: ``probe.json``, of its own or in a run folder (docs/design/probe.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mawl.spec.program_options import Role

PROBE_FORMAT_VERSION = "1.1"

PAPERS_REQUEST_BYTES = 2**18
"""The request size of the papers' table of storage, and of SAS (``bufsize``): 256 KiB."""

MOST_PER_SECOND = 1e15
"""A petabyte a second: what is above it in a file is no measurement."""

Pattern = Literal["sequential", "random"]
Direction = Literal["read", "write", "mixed"]
Content = Literal["incompressible", "dialled"]


class ProbeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of one test, as fio measured it: completion latency, from submission to completion."""

    bytes: Annotated[int, Meta(ge=0)]
    bytes_per_second: Annotated[float, Meta(ge=0, le=MOST_PER_SECOND)]
    requests_per_second: Annotated[float, Meta(ge=0, le=MOST_PER_SECOND)]
    latency_seconds: dict[str, Annotated[float, Meta(ge=0)]]
    """``mean``, ``min``, ``max``, and percentiles as ``p50``, ``p99``, ``p99.9``."""


class ProbeTest(msgspec.Struct, frozen=True, kw_only=True):
    """One fio job: a pattern at a request size by so many streams.

    ``read_share_ratio`` is 1 for reads, 0 for writes, 0.65 for the mixed 65:35.  ``fill_ratio`` is the
    used share of the file system at which it ran, where that was asked for.  A direction that the
    test does not have is None; a test that gave no figures has both None and a ``remark``.
    """

    pattern: Pattern
    direction: Direction
    request_bytes: Annotated[int, Meta(ge=1, le=2**62)]
    streams: Annotated[int, Meta(ge=1, le=2**62)]
    direct: bool
    content: Content
    read_share_ratio: Annotated[float, Meta(ge=0, le=1)]
    elapsed_seconds: Annotated[float, Meta(ge=0)] | None
    read: ProbeFigures | None
    write: ProbeFigures | None
    cpu_seconds: Annotated[float, Meta(ge=0)] | None
    command: list[str]
    """The command line that repeats it by hand, in a directory of the target."""
    fill_ratio: float | None = None
    preconditioned: bool = False
    steady: bool | None = None
    """Whether the rate was steady before the bound of time; None where that was not asked."""
    remark: str | None = None


class ProbeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One probed directory: what holds it, and its tests.  ``name`` is unique in the probe."""

    name: str
    directory: str
    node: str
    roles: list[Role]
    """The roles it was named for; empty for a candidate that no role lies on yet."""
    file_system: str | None
    source: str | None
    devices: list[str]
    size_bytes: int | None
    free_bytes: int | None
    tests: list[ProbeTest]
    problem: str | None = None
    """Why it has no or not all tests: one sentence."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """All targets of one ``mawl probe``, or of imported fio files."""

    format_version: str = PROBE_FORMAT_VERSION
    created_at: float
    """Seconds since the epoch, UTC."""
    tool: str
    """``fio-3.33``."""
    physical_cores: Annotated[float, Meta(gt=0)] | None
    """Of the node that probed; vCPUs where ``core_basis`` says so."""
    core_basis: str | None
    targets: list[ProbeTarget]

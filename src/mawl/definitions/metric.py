"""What a metric is, and where definitions come from: a page of docs/ with its heading, or a manual page."""

from __future__ import annotations

from typing import Literal

import msgspec

Unit = Literal[
    "seconds",
    "bytes",
    "ratio",
    "count",
    "bytes per second",
    "per hour",
    "512-byte blocks",
    "hertz",
    "joules",
    "watts",
    "time",
    "text",
    "-",
]
Kind = Literal["float", "integer", "text", "boolean", "object", "list"]

RUSAGE = "getrusage(2), wait4(2)"
PROC_IO = "proc_pid_io(5)"
PAGE = "docs/design/figures.md"
COUNTED = f"{PAGE}, Which jobs count"
REAL = f"{PAGE}, Real time"
MEMORY = f"{PAGE}, Memory of a job"
AT_ONCE = f"{PAGE}, Gate and jobs at once"
PHASES = f"{PAGE}, Phases and the tail"
IMPORTED_TIMES = "docs/design/importers.md, Nights far apart"
RATIO = f"{PAGE}, CPU over real time"
BYTES = f"{PAGE}, Bytes"
THROUGHPUT = f"{PAGE}, Throughput"
PROGRAM_WAITS = f"{PAGE}, Waits of a program"
WAITS = "docs/design/waits.md"
WINDOWS = f"{PAGE}, Windows"
CPU_ACCOUNT = f"{PAGE}, The CPU account"
SAMPLES = f"{PAGE}, Samples"
MISSING = f"{PAGE}, What is missing"
SIGNATURE_PAGE = "docs/design/signature.md, What each row is"
LATER = f"{PAGE}, Null in this version"
ADJUSTED = "docs/design/threads.md, Scaled accounting"
HOST_PAGE = "docs/design/host.md"
HOST = f"{HOST_PAGE}, Processors, memory and pressure"
HOST_DEVICES = f"{HOST_PAGE}, Block devices"
CAPS = "docs/design/caps.md"
HOST_ROLES = f"{HOST_PAGE}, Which devices hold a role"
HOST_NETWORK = f"{HOST_PAGE}, Networks, fabrics and network file systems"
SERIES = f"{HOST_PAGE}, Series"
CACHE = f"{HOST_PAGE}, Cold and warm starts"
OPTIONS = "docs/reference/options.md"
PLAN = "plan.toml of the run"
FACTS = "run.json of the run"
TABLES = "the tables of the run folder"
LOSSES = "docs/design/verdict.md, What a resource cost"
VOLUME_PAGE = "docs/design/volumes.md, What is reported"
VOLUME_SPACE = "docs/design/volumes.md, Space"


class Metric(msgspec.Struct, frozen=True):
    """One figure: what it is called, counted in, and means (one sentence), and where from."""

    name: str
    unit: Unit
    type: Kind
    definition: str
    source: str


def count_metric(name: str, definition: str, source: str = COUNTED) -> Metric:
    """A whole number."""
    return Metric(name, "count", "integer", definition, source)


def seconds_metric(name: str, definition: str, source: str) -> Metric:
    """A duration."""
    return Metric(name, "seconds", "float", definition, source)


def bytes_metric(name: str, definition: str, source: str = COUNTED) -> Metric:
    """A size."""
    return Metric(name, "bytes", "integer", definition, source)


def rate_metric(name: str, definition: str, source: str) -> Metric:
    """Bytes a second."""
    return Metric(name, "bytes per second", "float", definition, source)


def flag_metric(name: str, definition: str, source: str) -> Metric:
    """Yes or no."""
    return Metric(name, "-", "boolean", definition, source)


def ratio_metric(name: str, definition: str, source: str) -> Metric:
    """A ratio, or a mean of counts."""
    return Metric(name, "ratio", "float", definition, source)


def text_metric(name: str, definition: str, source: str = FACTS) -> Metric:
    """A name or sentence."""
    return Metric(name, "text", "text", definition, source)


def object_metric(name: str, definition: str, source: str = LATER) -> Metric:
    """A block that this version leaves null, unless its source says otherwise."""
    return Metric(name, "-", "object", definition, source)

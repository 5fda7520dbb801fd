"""Definitions of figures: unit, meaning, source, and why a figure may be missing.

A field is ``name: Annotated[Number | None, seconds("What it is.", PAGE)]``.  Where several fields hold the
same struct, its definitions have places (``{when}``) that ``words`` at each of these fields fill.
A source is a page of docs/ with its heading, or a manual page.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

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
ADJUSTED = "docs/design/threads.md, Scaled accounting"
HOST_PAGE = "docs/design/host.md"
HOST = f"{HOST_PAGE}, Processors, memory and pressure"
HOST_DEVICES = f"{HOST_PAGE}, Block devices"
CAPS = "docs/design/caps.md"
CLOUD = f"{HOST_PAGE}, Cloud and instance type"
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
    """One figure: what it is called, what it means (one sentence), where from, and what it is counted in."""

    name: str
    definition: str
    source: str
    unit: Unit
    type: Kind


count_metric = partial(Metric, unit="count", type="integer")
seconds_metric = partial(Metric, unit="seconds", type="float")
bytes_metric = partial(Metric, unit="bytes", type="integer")
ratio_metric = partial(Metric, unit="ratio", type="float")
text_metric = partial(Metric, unit="text", type="text")
object_metric = partial(Metric, unit="-", type="object")


Number: TypeAlias = int | float
"""A figure as it was counted: a sum of whole numbers stays one."""


class Figure(msgspec.Struct, frozen=True):
    """What a figure is.

    ``absent`` says why it may be null where nothing else is known, ``within`` the same of all that its block
    holds.  ``null_answers`` says that a null is an answer and not a gap (no limit, nothing to explain), in
    the block as in all that it holds.  A block without a ``definition`` has no entry of its own.
    ``member`` is what a list or mapping holds, in one word: the label of its figures in OpenMetrics, which
    has none of a list or mapping without it.  Members of a list are told apart by their field ``name``.
    """

    definition: str = ""
    source: str = ""
    unit: Unit = "-"
    type: Kind = "object"
    absent: str = ""
    within: str = ""
    null_answers: bool = False
    member: str = ""


class Words(msgspec.Struct, frozen=True):
    """What definitions of a struct say at one of the fields that hold it, and their ``source`` there."""

    places: dict[str, str]
    source: str | None = None


def words(*, source: str | None = None, **places: str) -> Words:
    """The words for the places in the definitions of a struct."""
    return Words(places, source)


block = Figure
"""A group of figures under one name in the JSON summary."""

count = partial(Figure, unit="count", type="integer")
seconds = partial(Figure, unit="seconds", type="float")
size = partial(Figure, unit="bytes", type="integer")
blocks = partial(Figure, unit="512-byte blocks", type="integer")
rate = partial(Figure, unit="bytes per second", type="float")
share = partial(Figure, unit="ratio", type="float")
"""A ratio, or a mean of counts."""
hourly = partial(Figure, unit="per hour", type="float")
hertz = partial(Figure, unit="hertz", type="float")
joules = partial(Figure, unit="joules", type="float")
watts = partial(Figure, unit="watts", type="float")
unitless = partial(Figure, unit="-", type="float")
"""A figure whose unit stands in another one."""
flag = partial(Figure, unit="-", type="boolean")
text = partial(Figure, unit="text", type="text")
sentence = partial(Figure, unit="-", type="text")
"""One of a list of sentences."""
instant = partial(Figure, unit="time", type="text")
"""A point in time (ISO 8601, UTC)."""
listing = partial(Figure, unit="-", type="list")
"""Several values in an order; it has no unit."""

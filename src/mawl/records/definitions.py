"""Definitions of figures: unit, meaning, source, and why a figure may be missing.

A field is ``name: Annotated[Number | None, seconds("What it is.", PAGE)]``.  Where several fields hold the
same struct, its definitions have places (``{when}``) that ``words`` at each of these fields fill.
A source is a page of docs/ with its heading, or a manual page.
"""

from __future__ import annotations

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


Number: TypeAlias = int | float
"""A figure as it was counted: a sum of whole numbers stays one."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """What a figure is.

    ``absent`` says why it may be null where nothing else is known, ``within`` the same of all that its block
    holds.  ``null_answers`` says that a null is an answer and not a gap (no limit, nothing to explain), in
    the block as in all that it holds.  A block without a ``definition`` has no entry of its own.
    ``member`` is what a list or mapping holds, in one word: the label of its figures in OpenMetrics, which
    has none of a list or mapping without it.  Members of a list are told apart by their field ``name``.
    """

    unit: Unit = "-"
    type: Kind = "object"
    definition: str = ""
    source: str = ""
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


def count(definition: str, source: str, *, absent: str = "") -> Figure:
    """A whole number."""
    return Figure(unit="count", type="integer", definition=definition, source=source, absent=absent)


def seconds(definition: str, source: str, *, absent: str = "") -> Figure:
    """A duration."""
    return Figure(unit="seconds", type="float", definition=definition, source=source, absent=absent)


def size(definition: str, source: str, *, absent: str = "", kind: Kind = "integer") -> Figure:
    """Bytes."""
    return Figure(unit="bytes", type=kind, definition=definition, source=source, absent=absent)


def rate(definition: str, source: str, *, absent: str = "") -> Figure:
    """Bytes a second."""
    return Figure(unit="bytes per second", type="float", definition=definition, source=source, absent=absent)


def share(definition: str, source: str, *, absent: str = "") -> Figure:
    """A ratio, or a mean of counts."""
    return Figure(unit="ratio", type="float", definition=definition, source=source, absent=absent)


def hourly(definition: str, source: str, *, absent: str = "") -> Figure:
    """So many an hour."""
    return Figure(unit="per hour", type="float", definition=definition, source=source, absent=absent)


def hertz(definition: str, source: str, *, absent: str = "") -> Figure:
    """A frequency."""
    return Figure(unit="hertz", type="float", definition=definition, source=source, absent=absent)


def joules(definition: str, source: str, *, absent: str = "") -> Figure:
    """An energy."""
    return Figure(unit="joules", type="float", definition=definition, source=source, absent=absent)


def watts(definition: str, source: str, *, absent: str = "") -> Figure:
    """A power."""
    return Figure(unit="watts", type="float", definition=definition, source=source, absent=absent)


def unitless(definition: str, source: str, *, absent: str = "") -> Figure:
    """A figure whose unit stands beside it."""
    return Figure(unit="-", type="float", definition=definition, source=source, absent=absent)


def flag(definition: str, source: str, *, absent: str = "") -> Figure:
    """Yes or no."""
    return Figure(unit="-", type="boolean", definition=definition, source=source, absent=absent)


def text(definition: str, source: str, *, absent: str = "", null_answers: bool = False) -> Figure:
    """A name or sentence."""
    return Figure(
        unit="text",
        type="text",
        definition=definition,
        source=source,
        absent=absent,
        null_answers=null_answers,
    )


def sentence(definition: str, source: str) -> Figure:
    """One of a list of sentences."""
    return Figure(unit="-", type="text", definition=definition, source=source)


def instant(definition: str, source: str, *, absent: str = "") -> Figure:
    """A point in time (ISO 8601, UTC)."""
    return Figure(unit="time", type="text", definition=definition, source=source, absent=absent)


def listing(definition: str, source: str, *, absent: str = "") -> Figure:
    """A figure with several values in an order; it has no unit."""
    return Figure(unit="-", type="list", definition=definition, source=source, absent=absent)


def block(
    definition: str = "",
    source: str = "",
    *,
    absent: str = "",
    within: str = "",
    null_answers: bool = False,
    member: str = "",
) -> Figure:
    """A group of figures under one name in the JSON summary."""
    return Figure(
        definition=definition,
        source=source,
        absent=absent,
        within=within,
        null_answers=null_answers,
        member=member,
    )

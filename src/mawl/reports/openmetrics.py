"""Summaries as OpenMetrics text: what a scrape of ``/metrics`` and ``mawl report --format openmetrics`` give.

The names follow from the metric registry, so there is no second list to keep: ``mawl_`` and the path of
the figure with ``_`` for its dots; what ``*`` stands for becomes a label (``programs.*.user_cpu_seconds``
is ``mawl_programs_user_cpu_seconds{program=...}``), and so does what stands behind the unit
(``real_time_seconds.median`` is ``real_time_seconds{statistic="median"}``).  Every figure is a gauge: it
describes one run.  A figure that is null is absent, never 0.  While a run goes on, ``mawl_window_...``
are the figures of its newest window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from mawl.base.units import parse_instant
from mawl.importers.formats.text import one_line
from mawl.records.definitions import Metric
from mawl.records.model.fields import places
from mawl.records.model.metrics import METRICS
from mawl.records.model.signature import SIGNATURE
from mawl.records.model.summary.summary import Summary
from mawl.records.model.summary.time import WindowFigures

PREFIX = "mawl_"
UNITS = ("bytes_per_second", "seconds", "bytes", "ratio", "hertz", "joules", "watts")
"""Units that end a metric's name, the longest first."""

LABELS = {place.name: place.figure.member for place in places(Summary) if place.figure.member}
"""What ``*`` stands for behind a path; figures behind any other list are not exported."""

NAMES = {
    "started_at": "started_timestamp_seconds",
    "ended_at": "ended_timestamp_seconds",
    "jobs.total": "jobs_with_record",
}
"""Figures whose own name means something else to OpenMetrics."""

Labels = dict[str, str]
Sample = tuple[Labels, float]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A metric family: its name, its unit (empty for none), and the path of its figure in a summary."""

    name: str
    unit: str
    definition: str
    path: str
    label: str | None = None
    """Label of what stands behind the unit in the path."""
    statistic: str = ""


def render(*summaries: Summary) -> str:
    """The summaries of ``judged`` as one exposition, each run told apart by its labels.

    A second summary with the labels of the first is left out: a scrape may not hold a sample twice.
    """
    lines = list(_info(summaries))
    written: set[str] = set()
    seen: set[str] = set()
    for family in families():
        samples = [
            line
            for summary in summaries
            for line in _lines(family, summary)
            if not _known(seen, line.rpartition(" ")[0])
        ]
        if not samples:
            continue
        if family.name not in written:
            written.add(family.name)
            lines += _head(family)
        lines += samples
    return "\n".join([*lines, "# EOF"])


@cache
def families() -> tuple[Family, ...]:
    """Every family that a summary may fill, members of one name next to each other."""
    found: dict[str, list[Family]] = {}
    signature = {f"signature.{row.name}": f"signature.{row.name}.value" for row in SIGNATURE}
    for metric in METRICS:
        numeric = metric.type in ("float", "integer", "boolean") or metric.unit == "time"
        if metric.name in signature:
            family = _family(metric, signature[metric.name])
        elif numeric and not metric.name.startswith("signature.") and "ROLE" not in metric.name:
            family = _family(metric, metric.name.replace("windows.*.", "window."))
        else:
            continue
        found.setdefault(family.name, []).append(family)
    return tuple(family for members in found.values() for family in _told(members))


def newest_window(summary: Summary) -> WindowFigures | None:
    """The last window of a run that goes on; what one of a finished run did is no news."""
    return summary.windows[-1] if summary.windows and summary.outcome == "running" else None


def _told(members: list[Family]) -> list[Family]:
    """The members of one name, each with the definitions of all: a family has one line of help."""
    if members[0].label is None:
        return members
    help_text = "; ".join(f"{member.statistic}: {member.definition.rstrip('.')}" for member in members) + "."
    return [msgspec.structs.replace(member, definition=help_text) for member in members]


def _family(metric: Metric, path: str) -> Family:
    parts = [part for part in path.removesuffix(".value").split(".") if part != "*"]
    label, statistic = None, ""
    for unit in UNITS:
        if len(parts) > 1 and parts[-2].endswith(f"_{unit}"):
            statistic = parts.pop()
            label = "role" if parts[-1] == "blocked_seconds" else "statistic"
            break
    name = PREFIX + NAMES.get(metric.name, "_".join(parts))
    ends = [unit for unit in UNITS if name.endswith(f"_{unit}")]
    return Family(
        name=name,
        unit=ends[0] if ends else "",
        definition=metric.definition,
        path=path,
        label=label,
        statistic=statistic,
    )


def _head(family: Family) -> Iterator[str]:
    yield f"# TYPE {family.name} gauge"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {_escaped(family.definition)}"


def _lines(family: Family, summary: Summary) -> Iterator[str]:
    run = {"run_id": summary.run_id, "workload": summary.workload.name}
    block, *inside = family.path.split(".")
    tree = newest_window(summary) if block == "window" else getattr(summary, block, None)
    for labels, value in _found(tree, inside, block):
        behind = {} if family.label is None else {family.label: family.statistic}
        yield f"{family.name}{_labels({**run, **labels, **behind})} {_number(value)}"


def _found(tree: Any, parts: list[str], before: str) -> Iterator[Sample]:
    """The figures at a path, with the labels of what its ``*`` stand for; no samples below a null."""
    if tree is None:
        return
    if not parts:
        value = parse_instant(tree) if isinstance(tree, str) else tree
        if isinstance(value, int | float) and math.isfinite(value):
            yield {}, float(value)
        return
    if parts[0] != "*":
        held = tree.get(parts[0]) if isinstance(tree, dict) else getattr(tree, parts[0], None)
        yield from _found(held, parts[1:], f"{before}.{parts[0]}" if before else parts[0])
        return
    if before not in LABELS:
        return
    members = tree.items() if isinstance(tree, dict) else [(one.name, one) for one in tree]
    for name, member in members:
        for labels, value in _found(member, parts[1:], f"{before}.*"):
            yield {LABELS[before]: name, **labels}, value


def _info(summaries: Sequence[Summary]) -> Iterator[str]:
    """What is text about the runs, as labels of one sample each."""
    if summaries:
        yield f"# TYPE {PREFIX}run info"
        yield f"# HELP {PREFIX}run What is text about a run."
    seen: set[str] = set()
    for summary in summaries:
        facts = {
            "run_id": summary.run_id,
            "workload": summary.workload.name,
            "scale": summary.workload.scale_name,
            "kind": summary.kind,
            "outcome": summary.outcome,
            "core_basis": summary.host.core_basis if summary.host else None,
            "limit": summary.limit.verdict if summary.limit else None,
            "validity": summary.validity.status if summary.validity else None,
            "mawl_version": summary.mawl_version,
        }
        line = f"{PREFIX}run_info{_labels({name: text for name, text in facts.items() if text})} 1"
        if not _known(seen, line):
            yield line


def _known(seen: set[str], text: str) -> bool:
    """Whether the text was there before; it is from now on."""
    if text in seen:
        return True
    seen.add(text)
    return False


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(one_line(text))}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)

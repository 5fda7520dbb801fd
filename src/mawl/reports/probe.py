"""A probe as text: for each target the papers' table (IOPS, MB/s, response time), and the guideline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from mawl.advice.guideline import TargetGuideline
from mawl.base.errors import UnreadableRunError
from mawl.base.units import (
    counted_noun,
    format_instant,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_request,
)
from mawl.figures.demand import figures_of
from mawl.importers.formats.text import one_line
from mawl.records.model.probe import Probe, ProbeTarget, ProbeTest
from mawl.records.store import Run
from mawl.reports.document import Part, Sentences, Table, each
from mawl.reports.layout import ABSENT, Form, figure, format_count

HEAD = ("activity", "streams", "IOPS", "MB/s", "response: mean", "p50", "p99", "max ms")
CURVE_HEAD = ("at a rate", "requests/s asked", *HEAD[2:])
DOUBLED = 2.0
WAYS = {"read": "reads", "write": "writes"}


def parts(probe: Probe, guidelines: Mapping[str, TargetGuideline]) -> list[Part]:
    """The tables of all targets for a terminal; ``guidelines`` are those of ``probe_guidelines``."""
    cores = (
        f", {counted_noun(round(probe.physical_cores), probe.core_basis or 'core')}"
        if probe.physical_cores
        else ""
    )
    head = f"probe of {format_instant(probe.created_at)[:19]}Z by {probe.tool}{cores}"
    targets = [_target(target, guidelines.get(target.name)) for target in probe.targets]
    return [*each(Sentences([head])), *targets]


def stored_probe(run: Run) -> Probe | None:
    """The probe of a stored run; None where it holds none, or one that is damaged."""
    try:
        return run.probe
    except UnreadableRunError:
        return None


def _target(target: ProbeTarget, guideline: TargetGuideline | None) -> Part:
    sentences = [*sentences_of(target), *([_guideline(guideline)] if guideline else [])]
    return Part(
        [
            Sentences([title_of(target)]),
            Table(head=HEAD, rows=rows_of(target)),
            Table(head=CURVE_HEAD, rows=[row for test in target.curve for row in _curve_rows(test)]),
            Sentences([*_knees(target), *sentences]),
        ]
    )


def rows_of(target: ProbeTarget) -> list[tuple[str, ...]]:
    """A row of cells under HEAD for each test and direction."""
    return [row for test in target.tests for row in _rows(test)]


def sentences_of(target: ProbeTarget) -> list[str]:
    """What was not as asked, and what went wrong."""
    remarks = dict.fromkeys(test.remark for test in target.tests if test.remark)
    sentences = [f"remark: {remark}" for remark in remarks]
    if any(test.steady is False for test in target.tests):
        sentences.append("remark: a rate that did not become steady in time is marked with ~")
    return sentences + ([f"problem: {target.problem}"] if target.problem else [])


def title_of(target: ProbeTarget) -> str:
    """Which directory, and what holds it, in one line."""
    given = target.name.removesuffix(target.directory).removesuffix(": ")
    name = f"{one_line(given)}: " if given else ""
    held = [one_line(target.file_system or "file system not known")]
    held += [f"on {', '.join(target.devices)}"] if target.devices else []
    held += [f"{format_memory(target.size_bytes)}"] if target.size_bytes is not None else []
    held += [f"{format_memory(target.free_bytes)} free"] if target.free_bytes is not None else []
    return f"{name}{one_line(target.directory)} ({', '.join(held)})"


def _rows(test: ProbeTest) -> list[tuple[str, ...]]:
    """A row of each direction; a test without figures has a row of dashes."""
    ways = [way for way in WAYS if figures_of(test, way) is not None] or [
        "write" if test.direction == "write" else "read"
    ]
    return [(_activity(test, way), *_cells(test, way)) for way in ways]


def _curve_rows(test: ProbeTest) -> list[tuple[str, ...]]:
    asked = test.asked_requests_per_second or 0.0
    return [(name, format_count(asked), *cells) for name, _, *cells in _rows(test)]


def _knees(target: ProbeTarget) -> list[str]:
    """For each curve, at which rate p99 is twice that of the lowest rate."""
    curves: dict[tuple[str, str, int], list[ProbeTest]] = {}
    for test in target.curve:
        curves.setdefault((test.pattern, test.direction, test.request_bytes), []).append(test)
    return [sentence for tests in curves.values() for way in WAYS for sentence in _knee(tests, way)]


def _knee(tests: list[ProbeTest], way: str) -> list[str]:
    known = [
        (figures.requests_per_second, p99)
        for test in tests
        if (figures := figures_of(test, way)) is not None and (p99 := figures.latency_seconds.get("p99"))
    ]
    if len(known) < 2:
        return []
    known.sort()
    name = f"{format_request(tests[0].request_bytes)} {tests[0].pattern} {WAYS[way]}"
    lowest = known[0][1]
    rate = doubling_rate(known)
    at = f"p99 is {_milliseconds(lowest)} ms at {format_count(known[0][0])} requests/s"
    if rate is None:
        return [f"{name}: {at} and has not doubled at {format_count(known[-1][0])}"]
    below = [at for at, p99 in known if at > rate and p99 < DOUBLED * lowest]
    if below:
        return [
            f"{name}: {at}; where it doubles is not known: twice that at {format_count(rate)}, "
            f"less again at {format_count(below[-1])} (measure longer: --seconds)"
        ]
    return [f"{name}: {at} and has doubled at {format_count(rate)}"]


def doubling_rate(curve: Sequence[tuple[float, float]]) -> float | None:
    """The first rate at which latency is twice that of the lowest rate, between two points on a line.

    ``curve`` has rates in ascending order with their latencies; None where it stays below.
    """
    bound = DOUBLED * curve[0][1]
    for (rate, latency), (next_rate, next_latency) in pairwise(curve):
        if next_latency >= bound > latency:
            return rate + (next_rate - rate) * (bound - latency) / (next_latency - latency)
    return None


def _activity(test: ProbeTest, way: str) -> str:
    size = format_request(test.request_bytes)
    mixed = (
        f", mixed {100 * test.read_share_ratio:.0f}:{100 * (1 - test.read_share_ratio):.0f}"
        if test.direction == "mixed"
        else ""
    )
    more = [
        *([] if test.depth == 1 else [f"depth {test.depth}"]),
        *([] if test.direct else ["buffered"]),
        *(["dialled"] if test.content == "dialled" else []),
        *([] if test.fill_ratio is None else [f"{format_percent(test.fill_ratio)} full"]),
    ]
    beside = f" ({', '.join(more)})" if more else ""
    return f"{size} {test.pattern} {WAYS[way]}{mixed}{beside}"


def _cells(test: ProbeTest, way: str) -> list[str]:
    figures = figures_of(test, way)
    if figures is None:
        return [str(test.streams), *[ABSENT] * (len(HEAD) - 2)]
    unsteady = "~" if test.steady is False else ""
    return [
        str(test.streams),
        format_count(figures.requests_per_second),
        unsteady + _megabytes(figures.bytes_per_second),
        *(figure(figures.latency_seconds.get(name), _milliseconds) for name in ("mean", "p50", "p99", "max")),
    ]


def _megabytes(bytes_per_second: float) -> str:
    """MB/s as the papers have them, without the unit."""
    return format_ratio(bytes_per_second / 1e6)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}" if seconds < 0.9995 else f"{seconds * 1e3:.0f}"


def _guideline(guideline: TargetGuideline) -> str:
    basis = guideline.core_basis or "core"
    bounds = (
        f"{format_rate(guideline.warn_bytes_per_second_per_core)} warn, "
        f"{format_rate(guideline.good_bytes_per_second_per_core)} good"
    )
    rate: Form = format_rate
    rates = (
        f"read {figure(guideline.read_bytes_per_second_per_core, rate)}, "
        f"written {figure(guideline.write_bytes_per_second_per_core, rate)}"
    )
    standing = guideline.standing or f"not known: {guideline.reason}"
    test = guideline.read_test or guideline.write_test
    by = f" ({test.partition(', ')[2]})" if test else ""
    return f"guideline: {rates} per {basis}{by}: {standing} ({bounds})"

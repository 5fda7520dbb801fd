"""The first screen: carried or not, what limits, whether to believe it, and the figures asked for first."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from markupsafe import Markup

from mawl.model.summary.summary import Judged
from mawl.reporters.figure import format_count
from mawl.reporters.html.figures import ShownFigures
from mawl.reporters.html.templating import fill
from mawl.reporters.judgement import ROOM, idle_mark, place_of
from mawl.units import format_memory, format_rate, format_ratio, format_seconds

LIMITS = {
    "storage": "Storage",
    "cpu": "The processors",
    "memory": "Memory",
    "network": "The network",
    "none": "Nothing: there was room",
    "mixed": "Several things, by turns",
}
STATUSES = {
    "publishable": ("Yes: fit to publish", "good"),
    "preliminary": ("Preliminary", "warn"),
    "invalid": ("No", "bad"),
}
CARRIED = {"carried": ("Yes", "good"), "not carried": ("No", "bad"), "not known": ("Not known", "warn")}


class Card(NamedTuple):
    """A question in plain words, its answer, and the figures it rests on."""

    question: str
    answer: str
    standing: str
    lines: list[str | Markup]


def verdict(figures: ShownFigures) -> Markup:
    """Three cards and a row of figures."""
    summary = figures.summary
    cards = [] if summary.validity is None else [_carried(summary), _limit(summary), _validity(summary)]
    return fill("verdict.html", cards=cards, keys=_keys(figures))


def _carried(summary: Judged) -> Card:
    capacity = summary.capacity
    answer, standing = CARRIED[capacity.answer]
    lines = list(capacity.reasons)
    if capacity.next_step:
        lines.append(f"next: {capacity.next_step}")
    if capacity.preliminary:
        answer, standing = f"{answer}, preliminary", "bad" if standing == "bad" else "warn"
    return Card("Does this system carry the load?", answer, standing, lines)


def _limit(summary: Judged) -> Card:
    limit = summary.limit
    question = "What limits it?"
    if limit is None:
        return Card(question, "Not known", "warn", [summary.missing.get("limit", "not known")])
    place = place_of(limit).removeprefix(str(limit.verdict)).strip()
    shares = ", ".join(
        f"{name} {share:.0%}"
        for name, share in sorted(msgspec.structs.asdict(limit.shares).items(), key=lambda item: -item[1])
        if share > 0
    )
    lines: list[str | Markup] = [f"of the active time: {shares}"]
    if limit.second:
        lines.append(f"second: {limit.second}")
    room = [
        f"{name} {getattr(limit.headroom, f'{name}_ratio'):.0%}{idle_mark(limit, name)}"
        for name in ROOM
        if getattr(limit.headroom, f"{name}_ratio") is not None
    ]
    if room:
        lines.append(f"headroom: {', '.join(room)}")
    lines += [line.sentence for line in limit.evidence if line.kind == "evidence"][:2]
    return Card(
        question,
        f"{LIMITS[limit.verdict]} {place}".strip(),
        "good" if limit.verdict == "none" else "warn",
        lines,
    )


def _validity(summary: Judged) -> Card:
    validity = summary.validity
    answer, standing = STATUSES[validity.status]
    findings = [finding for finding in validity.findings if finding.severity != "remark"]
    rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    lines: list[str | Markup] = [
        f"{validity.status}: {rules}" if rules else "every rule that could be measured is met"
    ]
    if unknown := ", ".join(one.rule for one in validity.unmeasured if one.severity != "remark"):
        lines.append(f"not known: {unknown}")
    if findings:
        lines.append(findings[0].sentence)
        lines.append(fill("link.html", anchor="findings", text="all findings, each with its fix"))
    return Card("Can this run be trusted?", answer, standing, lines)


def _keys(figures: ShownFigures) -> list[tuple[Markup, Markup]]:
    """The figures asked for first, each with its definition."""
    show, term = figures.show, figures.term
    sustained = ("io", "device", "sustained", "total_bytes_per_second")
    return [
        (term("elapsed", "time.elapsed_seconds"), show(format_seconds, "time", "elapsed_seconds")),
        (term("jobs finished", "jobs.finished"), show(format_count, "jobs", "finished")),
        (
            term("response time (sum)", "time.real_time_seconds"),
            show(format_seconds, "time", "real_time_seconds"),
        ),
        (
            term("sustained, device", "io.device.sustained.total_bytes_per_second"),
            show(format_rate, *sustained),
        ),
        (
            term("sustained, application", "io.application.sustained.total_bytes_per_second"),
            show(format_rate, "io", "application", *sustained[2:]),
        ),
        (
            term("device, per core", "io.device.sustained_bytes_per_second_per_core"),
            show(format_rate, "io", "device", "sustained_bytes_per_second_per_core"),
        ),
        (term("CPU/real", "cpu_real_ratio.of_sums"), show(format_ratio, "cpu_real_ratio", "of_sums")),
        (term("memory of jobs (sum)", "time.memory_bytes"), show(format_memory, "time", "memory_bytes")),
    ]

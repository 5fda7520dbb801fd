"""What the figures mean, in the long report: carried or not, what limits, whether to believe it, and by which
thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

import msgspec

from mawl.advice.answer import WORDS, parts_words
from mawl.advice.guideline import guideline_sentence
from mawl.advice.limit.verdict import costs_words
from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_percent,
    format_plain,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.importers.formats.text import one_line
from mawl.records.definitions import Unit
from mawl.records.model.summary.judgement import Answer, Limit, TimesAlone, Validity
from mawl.records.model.summary.summary import Summary
from mawl.reports.layout import LINE_WIDTH, figure, stacked, wrapped

MOST_FINDINGS = 6

STATUSES = {
    "publishable": ("Yes: fit to publish", "good"),
    "preliminary": ("Preliminary", "warn"),
    "invalid": ("No", "bad"),
}
STATUS = "validity.status"
"""The figure whose definition explains a status."""

CARRIED = {"carried": ("Yes", "good"), "not carried": ("No", "bad"), "not known": ("Not known", "warn")}


def headlines(summary: Summary, step: str | None = None) -> list[tuple[str, str]]:
    """The answers, the limit and the status for the head of the report; none for a summary without them.

    ``step`` is the next one where the answer has none.
    """
    if summary.validity is None or summary.answer is None or summary.guideline is None:
        return []
    alone = summary.times_alone
    return [
        *answers(summary.answer, step),
        ("guideline", guideline_sentence(summary.guideline, summary.missing)),
        *([] if alone is None else [("alone", times_alone_line(alone))]),
        _limit_line(summary),
        ("validity", _validity_line(summary.validity)),
    ]


def grounds(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """The evidence of the verdict, and the findings with their cures."""
    if summary.validity is None:
        return []
    evidence = summary.limit.evidence if summary.limit else []
    lines = [f"{'why' if line.kind == 'evidence' else 'agrees'}: {line.sentence}" for line in evidence]
    findings = summary.validity.findings
    lines += [
        f"{finding.rule} ({finding.severity}): {finding.sentence}; {finding.cure}"
        for finding in findings[:MOST_FINDINGS]
    ]
    more = len(findings) - MOST_FINDINGS
    if more > 0:
        lines.append(f"and {counted_noun(more, 'more finding')} (--format json lists all)")
    return [line for text in lines for line in wrapped(one_line(text), width, "  ")]


def met_words(validity: Validity) -> str:
    """What is true of a run in which no rule found anything worse than a remark."""
    return "every rule that could be measured is met" if validity.unmeasured else "every rule is met"


ROOM = ("cpu", "storage", "memory", "network")
"""The resources of which headroom is known."""
HEADROOM_NAMES = {"cpu": "processors"}
"""Those whose word in sentences is not that of the figure."""


def idle_mark(limit: Limit, name: str) -> str:
    """A mark beside the headroom of storage that is no more than the idle time of its devices."""
    source = getattr(limit.headroom, f"{name}_source", None)
    return " (idle time, not probed)" if name == "storage" and source and "no request" in source else ""


def answers(answer: Answer, step: str | None = None) -> list[tuple[str, str]]:
    """The answer with its reasons, and the next step."""
    step = answer.next_step or step
    lines = [("answer", f"{word_of(answer)}: {'; '.join(answer.reasons)}")]
    if answer.parts.on_cpu is not None:
        lines.append(("parts", parts_words(msgspec.structs.asdict(answer.parts))))
    return [*lines, *([("next", step)] if step else [])]


def word_of(answer: Answer) -> str:
    """``YES``, ``NO`` or ``NOT KNOWN``, with a mark where the answer is preliminary."""
    return WORDS[answer.answer] + (", preliminary" if answer.preliminary else "")


def times_alone_line(found: TimesAlone) -> str:
    """How much longer jobs took in the mix than alone, and what the times alone are of."""
    spreads = [one.spread_ratio for one in found.programs.values() if one.spread_ratio is not None]
    runs = min((one.runs for one in found.programs.values()), default=0)
    said = [
        f"{figure(found.ratio, format_ratio)} times as long in the mix as alone (decides nothing)",
        f"{counted_noun(runs, 'run')} of each of {counted_noun(len(found.programs), 'program')}"
        + (f", which differ by {format_percent(median(spreads))} (median)" if spreads else ""),
        *(
            []
            if found.age_seconds is None
            else [f"the oldest began {format_seconds(found.age_seconds)} before this run"]
        ),
        *([f"on {', '.join(found.places)}"] if found.places else []),
    ]
    return "; ".join(said)


def _limit_line(summary: Summary) -> tuple[str, str]:
    """What limits, or what cost most, with what other causes cost and the headroom."""
    limit = summary.limit
    if limit is None:
        return "limit", f"not known: {summary.missing['limit']}"
    room = ", ".join(
        f"{HEADROOM_NAMES.get(name, name)} "
        f"{figure(getattr(limit.headroom, f'{name}_ratio'), format_percent)}{idle_mark(limit, name)}"
        for name in ROOM
    )
    return "limit" if limit.named else "cost", f"{costs_words(limit)}; headroom: {room}"


def _validity_line(validity: Validity) -> str:
    findings = [finding for finding in validity.findings if finding.severity != "remark"]
    rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    unknown = ", ".join(one.rule for one in validity.unmeasured if one.severity != "remark")
    said = [part for part in (rules, f"not known: {unknown}" if unknown else "") if part]
    return str(validity.status) + (f": {'; '.join(said)}" if said else "")


FORMS: Mapping[Unit, Callable[[float], str]] = {
    "seconds": format_seconds,
    "bytes": format_bytes,
    "bytes per second": format_rate,
}
HEAD = ("thresholds that decided", "value", "source")


def shown(value: float, unit: Unit) -> str:
    """A threshold's value in its unit."""
    return FORMS.get(unit, format_plain)(value)


def rows_of(summary: Summary) -> list[tuple[str, str, str]]:
    """Name, value and source of each threshold that decided something in this run."""
    return [(one.name, shown(one.bound, one.unit), one.source) for one in summary.thresholds or ()]


def thresholds(summary: Summary, width: int = LINE_WIDTH) -> Sequence[str]:
    """The table for a terminal: names and values; the page of thresholds has the sources."""
    found = rows_of(summary)
    if not found:
        return []
    return [
        *stacked([HEAD[:2], *(row[:2] for row in found)], width),
        "sources: mawl report --format json, under thresholds",
    ]

"""Series, findings in words and savings of a campaign of the lab, as lines of text."""

from __future__ import annotations

from collections.abc import Callable

from mawl.lab.experiment.records import LabFound
from mawl.lab.experiment.saving_records import SavingFound
from mawl.lab.experiment.series_records import (
    ArmFigures,
    FindingFound,
    ProgramFound,
    ProgramsFound,
    SeriesFound,
    StepFound,
)
from mawl.reporters.comparison.cells import verdict_words
from mawl.units import counted_noun, format_bytes, format_change, format_latency, format_rate, format_seconds

NOT_KNOWN = "not known"
AGREES = {True: "agrees", False: "does not agree", None: NOT_KNOWN}


def evidence(found: LabFound, value: Callable[[str, float], str]) -> list[str]:
    """Lines of what there is, each part after an empty line; ``value`` formats a figure by its name."""
    lines = ["", "Figures of the arms", *(_figures(one) for one in found.figures)] if found.figures else []
    for series in found.series:
        lines += ["", f"{series.title} ({', '.join(series.roles)})", *_series(series)]
    if found.findings:
        lines += ["", "What the papers say, and what was found here"]
        lines += [line for one in found.findings for line in _finding(one, value)]
    for pair in found.programs:
        lines += ["", f"Programs, {pair.reference} -> {pair.candidate}", *_programs(pair)]
    if found.savings:
        lines += ["", "What compression saved: real, estimated, published"]
        lines += [line for one in found.savings for line in _saving(one)]
        cited = dict.fromkeys(one.citation for one in found.savings if one.citation)
        lines += [f"  {citation}" for citation in cited]
    return lines


def _figures(found: ArmFigures) -> str:
    latencies = ", ".join(
        f"{role} {_or(found.write_latency_seconds[role], format_latency)}" for role in ("work", "util")
    )
    return (
        f"  {found.arm}: real {_or(found.real_time_seconds, format_seconds)}, "
        f"user {_or(found.user_cpu_seconds, format_seconds)}, "
        f"system {_or(found.system_cpu_seconds, format_seconds)}; "
        f"application {_or(found.application_bytes_per_second, format_rate)}, "
        f"device {_or(found.device_bytes_per_second, format_rate)}; mean write latency {latencies}; "
        f"machine busy {_or(found.host_cpu_busy_seconds, format_seconds)}"
    )


def _series(series: SeriesFound) -> list[str]:
    return [
        *(_step(step) for step in series.steps),
        f"  {series.sentence}",
        *(f"    {reason}" for reason in series.reasons),
    ]


def _step(step: StepFound) -> str:
    gain = (
        ""
        if step.gain_ratio is None or step.ideal_gain_ratio is None
        else f" ({format_change(step.gain_ratio)}, ideal {format_change(step.ideal_gain_ratio)})"
    )
    share = "" if step.cap_share_ratio is None else f", {step.cap_share_ratio:.0%} of their caps"
    return (
        f"  {step.arm}: {_volumes(step.volumes)}, {_or(step.bytes_per_second, format_rate)}{gain}{share}, "
        f"elapsed {_or(step.elapsed_seconds, format_seconds)}"
    )


def _finding(found: FindingFound, value: Callable[[str, float], str]) -> list[str]:
    values = " -> ".join(
        NOT_KNOWN if one is None else value(found.figure, one)
        for one in (found.reference_value, found.candidate_value)
    )
    ratio = "" if found.change_ratio is None else f" ({format_change(found.change_ratio)})"
    return [
        f"  {found.text}",
        f"    {found.citation}",
        f"    {found.figure}, {found.reference} -> {found.candidate}: {values}{ratio}, expected "
        f"{found.expected}, found {found.found or NOT_KNOWN}: {AGREES[found.agrees]}",
        *(f"    why: {reason}" for reason in found.reasons),
    ]


def _programs(found: ProgramsFound) -> list[str]:
    """The counts, the change of all jobs, and a line for each program, those that gained most first."""
    one, other = found.runs
    counts = (
        f"{counted_noun(found.faster, 'program')} faster, {found.slower} slower, "
        f"{found.not_told_apart} without a difference"
        if found.judged
        else f"{found.ran_shorter} took less time, {found.ran_longer} more; too few runs to decide"
    )
    return [
        f"  {counts} ({one} against {counted_noun(other, 'run')})",
        f"  all jobs: {_change(found)}, {verdict_words(found.verdict)}",
        *(
            f"    {change.program}: {_change(change)}, {verdict_words(change.verdict)}"
            for change in found.changes
        ),
    ]


def _change(found: ProgramsFound | ProgramFound) -> str:
    between = (
        ""
        if found.low_ratio is None or found.high_ratio is None
        else f" ({format_change(found.low_ratio)} to {format_change(found.high_ratio)})"
    )
    return _or(found.change_ratio, format_change) + between


def _saving(found: SavingFound) -> list[str]:
    published = (
        "" if found.published_saving_ratio is None else f", published {found.published_saving_ratio:.0%}"
    )
    half = "" if found.half_width_ratio is None else f" ± {100 * found.half_width_ratio:.1f}"
    off = "" if found.off_ratio is None else f" ({100 * found.off_ratio:+.1f} points: {AGREES[found.agrees]})"
    spread = (
        ""
        if found.spread_ratio is None
        else f", {100 * found.spread_ratio:.1f} points between {_volumes(len(found.volumes))}"
    )
    return [
        f"  {found.arm}, {found.role}: {_or(found.saving_ratio, _percent)} of "
        f"{format_bytes(found.original_bytes)} by {found.codec} on {found.storage}{spread}",
        f"    estimated {_or(found.estimated_saving_ratio, _percent)}{half}{off}{published}"
        + (f"; {found.reason}" if found.reason else ""),
    ]


def _volumes(count: int) -> str:
    return "1 volume" if count == 1 else f"{count} volumes"


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.1f} %"


def _or(value: float | None, form: Callable[[float], str]) -> str:
    return NOT_KNOWN if value is None else form(value)

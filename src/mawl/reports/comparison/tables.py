"""The tables of a comparison, every cell as text: text, Markdown and HTML lay them out."""

from __future__ import annotations

from mawl.base.units import (
    format_change,
    format_latency,
    format_memory,
    format_percent,
    format_plain,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.comparison.comparability import LIMITS, Difference
from mawl.figures.comparison.compare import Comparison, Matrix, MatrixRow
from mawl.figures.comparison.waits import PLACES, PlaceChange
from mawl.figures.statistics import Interval
from mawl.importers.formats.text import one_line
from mawl.records.definitions import Unit
from mawl.records.model.published import PaperRange
from mawl.records.spec.program_options import ROLES
from mawl.reports.document import WHY, Table, filled
from mawl.reports.layout import ABSENT, Form, figure, format_count

FORMS: dict[Unit, Form] = {
    "seconds": format_seconds,
    "bytes": format_memory,
    "bytes per second": format_rate,
    "ratio": format_ratio,
}


def value(amount: float | None, unit: Unit) -> str:
    """A figure in its unit; ``-`` where it is missing."""
    return figure(amount, FORMS.get(unit, format_plain))


def latency(amount: float | None, unit: Unit) -> str:
    """As ``value``, seconds being those of one request."""
    return figure(amount, format_latency) if unit == "seconds" else value(amount, unit)


def changed(ratio: float | None) -> str:
    """A change in per cent."""
    return figure(ratio, format_change)


def interval(low: float | None, high: float | None) -> str:
    """``-2.1 % to +7.4 %``; one of the ends if they print alike."""
    if low is None or high is None:
        return ABSENT
    return between(format_change(low), format_change(high))


def ranged(some: Interval | None) -> str:
    """A ratio with its range: ``1.21 (1.18 to 1.24)``."""
    return ABSENT if some is None else f"{format_ratio(some.middle)} ({some.words()})"


def between(low: str, high: str) -> str:
    """Both ends of an interval as they are printed; one if they are alike."""
    return low if low == high else f"{low} to {high}"


def span(some: PaperRange | None, unit: Unit) -> str:
    if some is None:
        return ABSENT
    ends = [value(end, unit) for end in (some.low, some.high)]
    return ends[0] if some.low == some.high else " to ".join(ends)


def verdict_words(verdict: str) -> str:
    """A verdict in plain words: ``slower``, ``no difference found``."""
    return "no difference found" if verdict == "not told apart" else verdict


def verdict_cell(verdict: str, smallest: str | None) -> str:
    """The verdict of a row; without a difference, the ``smallest`` change that would show."""
    if verdict == "not judged":
        return ABSENT
    if verdict != "not told apart" or smallest is None:
        return verdict_words(verdict)
    return f"no difference ({smallest} would show)"


def verdict_cell_of_ratio(verdict: str, smallest_ratio: float | None) -> str:
    """As ``verdict_cell``, of a ratio less 1."""
    smallest = None if smallest_ratio is None else format_change(smallest_ratio).lstrip("+")
    return verdict_cell(verdict, smallest)


def signed_seconds(seconds: float) -> str:
    """A change of a time: ``+1.20 s``, ``-1.20 s``, and ``0.00 s`` without a sign."""
    text = format_seconds(abs(seconds))
    if text == format_seconds(0.0):
        return text
    return ("-" if seconds < 0 else "+") + text


ROLE_FIGURES = {
    **{
        f"{way} {figure}": f"io.by_role.*.{way}_latency_seconds.{figure}"
        for way in ("read", "write")
        for figure in ("mean", "p99")
    },
    "device": "",
}
"""Column of a role's table to the figure of the summary that it holds."""

MATRIX_FIGURES = (
    "time.elapsed_seconds",
    "time.real_time_seconds",
    "cpu_real_ratio.of_sums",
    "io.device.peak.total_bytes_per_second",
    "io.device.sustained.total_bytes_per_second",
    "",
    "io.device.sustained_bytes_per_second_per_core",
)


OWN_INTERVALS = (
    "an interval is of its row alone; the verdict judges all rows together (Holm) and needs a larger change"
)
"""Why no difference may be found although the interval of a row leaves out 0."""

VERDICTS_NOTE = f"{OWN_INTERVALS}; in brackets: the change that four of five such comparisons would show"
PLACES_NOTE = "means over runs; share: the change over the reference's time in all places"


def tables(comparison: Comparison) -> list[Table]:
    """All tables that hold something."""
    return filled(
        figures(comparison),
        programs(comparison),
        places(comparison),
        roles(comparison),
        shape(comparison),
        settings(comparison),
    )


def figures(comparison: Comparison) -> Table:
    """The papers' delta table."""
    rows = [
        (
            row.title,
            value(row.reference, row.unit),
            value(row.candidate, row.unit),
            changed(row.change_ratio),
            interval(row.low_ratio, row.high_ratio),
            verdict_cell_of_ratio(row.verdict, row.smallest_effect_ratio),
        )
        for row in comparison.figures
    ]
    return Table(
        name="figures",
        title="figures",
        head=("figures", "reference", "candidate", "change", "95 % interval", "verdict"),
        rows=rows,
        note=_reasons(comparison),
        row_figures=[row.name for row in comparison.figures],
    )


def programs(comparison: Comparison) -> Table:
    """Real time per job, program by program, the most slowed first."""
    found = comparison.programs.changes if comparison.programs else []
    rows = [
        (
            one_line(row.program),
            str(row.jobs),
            format_seconds(row.reference_seconds),
            format_seconds(row.candidate_seconds),
            changed(row.change_ratio),
            interval(row.low_ratio, row.high_ratio),
            verdict_cell_of_ratio(row.verdict, row.smallest_effect_ratio),
        )
        for row in found
    ]
    judged = any(row.verdict != "not judged" for row in found)
    return Table(
        name="programs",
        title="real time per job",
        head=("real time per job", "jobs", "reference", "candidate", "change", "95 % interval", "verdict"),
        rows=rows,
        note=f"geometric means over jobs and runs; {VERDICTS_NOTE}"
        if judged
        else "geometric means over jobs and runs",
    )


def places(comparison: Comparison) -> Table:
    """Where the jobs' time went."""
    return Table(
        name="places",
        title="time of all jobs",
        head=("time of all jobs", "reference", "candidate", "change", "share", "verdict"),
        rows=[_place(row) for row in comparison.places],
        note=PLACES_NOTE if comparison.places else "",
        row_figures=[PLACES[row.place] for row in comparison.places],
    )


def roles(comparison: Comparison) -> Table:
    """Latencies and device throughput by role, both sides in a cell."""
    cells = {
        (row.role, row.name): f"{latency(row.reference, row.unit)} -> {latency(row.candidate, row.unit)}"
        for row in comparison.roles
    }
    rows = [
        (role, *(cells.get((role, name), ABSENT) for name in ROLE_FIGURES))
        for role in ROLES
        if any(known == role for known, _ in cells)
    ]
    return Table(
        name="roles",
        title="by role",
        head=("by role", *ROLE_FIGURES),
        rows=rows,
        note="reference -> candidate: time inside a call, and the rate of devices that hold this role alone",
        head_figures=("", *ROLE_FIGURES.values()),
    )


def shape(comparison: Comparison) -> Table:
    """Per core and in shape: what a published result is compared with."""
    rows = [
        (
            row.title,
            span(row.reference, row.unit),
            span(row.candidate, row.unit),
            changed(row.change_ratio),
        )
        for row in comparison.shape
    ]
    reasons = dict.fromkeys(
        row.reason for row in comparison.shape if row.reason and row.reference and row.candidate
    )
    return Table(
        name="shape",
        title="per core and in shape",
        head=("per core and in shape", "reference", "candidate", "change"),
        rows=rows,
        note="; ".join(reason for reason in reasons if reason),
    )


def changed_caps(comparison: Comparison) -> list[Difference]:
    """Caps in force that differ."""
    return [fact for fact in comparison.differences if fact.name in dict(LIMITS)]


def settings(comparison: Comparison) -> Table:
    """The papers' table of changed settings: what they were and are, their default, what is recommended.

    Caps come first.
    """
    found = comparison.settings
    several = found is not None and len(found.nodes) > 1
    return Table(
        name="settings",
        title="settings that changed",
        head=("settings that changed", "reference", "candidate", "default", "recommended", WHY),
        rows=[
            *(
                (fact.name, fact.reference, fact.candidate, *[ABSENT] * 2, "")
                for fact in changed_caps(comparison)
            ),
            *(
                (
                    " of ".join(part for part in (row.name, row.subject) if part)
                    + (f" on {row.node}" if several else ""),
                    row.reference,
                    row.candidate,
                    row.default or ABSENT,
                    row.recommended or ABSENT,
                    "; ".join(
                        part
                        for part in (
                            row.why,
                            f"now {row.state}" if row.state else None,
                            f"({row.source})" if row.source else None,
                        )
                        if part
                    ),
                )
                for row in (found.changed if found else ())
            ),
        ],
        note=f"{found.left} more did not change, {found.not_checked} are unknown on one side or both "
        "(mawl tune compare --all lists them)"
        if found
        else "",
    )


def matrix_tables(matrix: Matrix) -> list[Table]:
    """Many sides: what they are, and what they did."""
    return [
        Table(
            name="systems",
            title="sides",
            head=(
                "side",
                "slowdown",
                "delivered cores",
                "runs",
                "nodes",
                "sessions",
                "cores",
                "fabric",
                "limit",
            ),
            rows=[_system(row) for row in matrix.rows],
            note="slowdown and delivered cores compare only at one scale and with the same reference times; "
            "limit: what limited most runs of the side; cores: physical ones unless marked vCPU",
        ),
        Table(
            name="throughput",
            title="time and device throughput",
            head=(
                "time and device throughput",
                "elapsed",
                "real time",
                "CPU/real",
                "peak",
                "sustained",
                "per core: peak",
                "sustained",
            ),
            rows=[_throughput(row) for row in matrix.rows],
            head_figures=("", *MATRIX_FIGURES),
            note="real time: sum over the jobs. Totals of unlike machines are to be read, not divided",
        ),
    ]


def _system(row: MatrixRow) -> tuple[str, ...]:
    basis = {"vCPU": " vCPU", "physical core": ""}.get(row.core_basis or "", " ?")
    return (
        one_line(row.label),
        ranged(row.slowdown),
        ranged(row.delivered_cores),
        str(row.runs),
        str(row.nodes),
        figure(row.sessions, format_count),
        ABSENT if row.cores is None else f"{format_plain(row.cores)}{basis}",
        row.fabric or ABSENT,
        row.limit,
    )


def _throughput(row: MatrixRow) -> tuple[str, ...]:
    return (
        one_line(row.label),
        figure(row.elapsed_seconds, format_seconds),
        figure(row.real_time_seconds, format_seconds),
        figure(row.cpu_real_ratio, format_ratio),
        figure(row.peak_bytes_per_second, format_rate),
        figure(row.sustained_bytes_per_second, format_rate),
        figure(row.peak_bytes_per_second_per_core, format_rate),
        figure(row.sustained_bytes_per_second_per_core, format_rate),
    )


def _place(row: PlaceChange) -> tuple[str, ...]:
    return (
        row.place,
        format_seconds(row.reference_seconds),
        format_seconds(row.candidate_seconds),
        signed_seconds(row.change_seconds),
        figure(row.share_ratio, format_percent),
        verdict_cell(row.verdict, figure(row.smallest_seconds, format_seconds)),
    )


def _reasons(comparison: Comparison) -> str:
    found: dict[str, list[str]] = {}
    for row in comparison.figures:
        if row.reason:
            found.setdefault(row.reason, []).append(row.title)
    parts = [f"{', '.join(titles)}: {reason}" for reason, titles in found.items()]
    judged = any(row.verdict != "not judged" for row in comparison.figures)
    first = [VERDICTS_NOTE] if judged else []
    return "; ".join([*first, *parts])

"""Sections of a run's report on its jobs: performance summary, programs, slowest jobs, waits, and shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from mawl.base.errors import UnreadableRunError
from mawl.base.units import (
    format_bytes,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.signature import is_the_mix
from mawl.figures.view import RunView
from mawl.records.model.records import JobRecord, StepRecord
from mawl.records.model.role_io import FILE_ROLES
from mawl.records.model.signature import SIGNATURE
from mawl.records.model.summary.judgement import SignatureFigure
from mawl.records.store import Run
from mawl.reports.html.charts.over_time import NOT_KNOWN, STATES
from mawl.reports.html.figures import (
    Cell,
    ShownFigures,
    absent,
    beside,
    folded,
    paragraph,
    part,
    table,
    tables_in,
)
from mawl.reports.html.page import fill
from mawl.reports.html.sections.verdict import keys
from mawl.reports.layout import Form, figure, format_count
from mawl.reports.paragraphs import FORMS, WAIT_NAMES, mapped_in_waits, memory_in_waits, range_of, standing
from mawl.reports.run_tables.storage import active_devices

MOST_DEVICES = 3
"""Devices whose awaits stand in the summary; the section on the host has all."""

Row = tuple[str, str, Sequence[str], Form]
"""A label, the registry's name, the path in the summary, and the form."""


def _summary_rows(*rows: tuple[str, str, Form]) -> tuple[Row, ...]:
    return tuple((label, name, name.split("."), form) for label, name, form in rows)


TIMES = _summary_rows(
    ("sessions", "workload.sessions", format_count),
    ("jobs", "jobs.total", format_count),
    ("jobs at once, peak", "jobs.peak_concurrent", format_count),
    ("jobs at once, mean", "jobs.mean_concurrent", format_ratio),
    ("workload response time (sum of real time)", "time.real_time_seconds", format_seconds),
    ("CPU time", "time.cpu_seconds", format_seconds),
    ("user CPU time", "time.user_cpu_seconds", format_seconds),
    ("system CPU time", "time.system_cpu_seconds", format_seconds),
    ("elapsed: first start to last end", "time.elapsed_seconds", format_seconds),
    ("active phase", "time.active_seconds", format_seconds),
    ("tail", "time.tail_seconds", format_seconds),
    ("CPU/real of the sums", "cpu_real_ratio.of_sums", format_ratio),
    ("CPU/real, mean of the jobs", "cpu_real_ratio.mean", format_ratio),
    ("CPU/real, standard deviation", "cpu_real_ratio.stddev", format_ratio),
    ("CPU/real, range", "cpu_real_ratio.range", format_ratio),
    ("CPU/real without waiting for processors", "cpu_real_ratio.without_run_queue", format_ratio),
)
FLOWS = _summary_rows(
    ("peak throughput, device", "io.device.peak.total_bytes_per_second", format_rate),
    ("sustained throughput, device", "io.device.sustained.total_bytes_per_second", format_rate),
    ("sustained per core, device", "io.device.sustained_bytes_per_second_per_core", format_rate),
    ("sustained throughput, application", "io.application.sustained.total_bytes_per_second", format_rate),
    ("device bytes read, all programs", "io.device.read_bytes", format_bytes),
    ("device bytes written, all programs", "io.device.written_bytes", format_bytes),
    ("own bytes read at devices", "io.own.read_bytes", format_bytes),
    ("own bytes written at devices", "io.own.written_bytes", format_bytes),
    ("bytes dirtied in memory", "io.dirtied.written_bytes", format_bytes),
    ("of these still in memory at the end", "io.dirtied.still_dirty_bytes", format_bytes),
    ("reach, read: own over application", "io.reach.read_ratio", format_percent),
    ("reach, written", "io.reach.write_ratio", format_percent),
)
HOST = _summary_rows(
    ("processors busy (share of time)", "host.cpu_busy_ratio", format_percent),
    ("processors in I/O wait (share of time)", "host.cpu_iowait_ratio", format_percent),
    ("memory of jobs (sum)", "time.memory_bytes", format_memory),
)


def performance(figures: ShownFigures, view: RunView) -> Markup:
    """Sessions, jobs, times, throughput and latency as the published tables have them."""
    rows = {row[0]: row for row in (*FLOWS, *_awaits(figures), *HOST)}
    return part(
        "summary",
        "Performance summary",
        keys(figures),
        beside(
            _figure_table(figures, "Jobs and times", {row[0]: row for row in TIMES}),
            _figure_table(figures, "Throughput, latency and processors", rows),
        ),
        *tables_in("summary", figures, view),
    )


def _figure_table(figures: ShownFigures, caption: str, rows: dict[str, Row]) -> Markup:
    known, unknown = figures.told(rows, lambda row: [figures.value(*figures.known(*row[2]))])
    cells = [
        (figures.term(label, name), figures.show(form, *path)) for label, name, path, form in known.values()
    ]
    return (table(caption, ("figure", "value"), cells, narrow=True) if cells else Markup()) + unknown


def _awaits(figures: ShownFigures) -> list[Row]:
    """Await of the devices that hold roles, as the published tables give disk service times.

    Of an import without roles, of those that moved most; and the awaits that its files tell.
    """
    host = figures.summary.host
    devices = (host.device if host else None) or {}
    names = active_devices(devices)
    holding = [name for name in names if devices[name].roles] or (names if figures.imported else [])
    return [
        (
            f"{direction} await of {name}, {kind}",
            f"host.device.*.{direction}_await_seconds.{kind}",
            ("host", "device", name, f"{direction}_await_seconds", kind),
            format_latency,
        )
        for name in holding[:MOST_DEVICES]
        for direction in ("read", "write")
        for kind in ("mean", "peak")
        if not figures.imported
        or getattr(getattr(devices[name], f"{direction}_await_seconds"), kind) is not None
    ]


def programs(figures: ShownFigures, view: RunView, distribution: Markup) -> Markup:
    """The tables by program, then the distribution; nothing without jobs."""
    if not figures.summary.programs:
        return Markup()
    return part("programs", "Programs", *tables_in("programs", figures, view), distribution)


MOST_JOBS = 10
MOST_STEPS = 100
"""Steps of one job that are shown: a log may have many thousands."""

TERMS = {"cpu_seconds": "time.cpu_seconds"}
"""Field of a usage that is worked out, to the name that its definition has."""

NO_FIGURE = "the step has no such figure"

COLUMNS: dict[str, tuple[str, Form]] = {
    "real": ("real_time_seconds", format_seconds),
    "CPU": ("cpu_seconds", format_seconds),
    "user CPU": ("user_cpu_seconds", format_seconds),
    "system CPU": ("system_cpu_seconds", format_seconds),
    "read": ("application_read_bytes", format_bytes),
    "written": ("application_written_bytes", format_bytes),
    "own read": ("own_read_bytes", format_bytes),
    "memory": ("memory_bytes", format_memory),
    "page faults": ("page_faults", format_count),
}


def slowest(figures: ShownFigures, run: Run, jobs: Sequence[JobRecord]) -> Markup:
    """A folded table of steps per job, the longest real time first; nothing where none is known."""
    known = [job for job in jobs if job.usage.real_time_seconds is not None]
    longest = sorted(known, key=lambda job: -(job.usage.real_time_seconds or 0.0))[:MOST_JOBS]
    title = "Steps of the slowest jobs"
    if not longest:
        return Markup()
    try:
        steps = run.steps_by_job([job.job for job in longest])
    except UnreadableRunError as error:
        return part("slowest", title, paragraph(f"The steps cannot be read: {error}.", "why"))
    head = (
        "step",
        "kind",
        *(figures.term(label, TERMS.get(field, field)) for label, (field, _) in COLUMNS.items()),
        "read and written by role",
    )
    parts = [folded(_title(job), _slowest_table(job, steps.get(job.job, []), head)) for job in longest]
    return part("slowest", title, *parts)


def _title(job: JobRecord) -> str:
    real = figure(job.usage.real_time_seconds, format_seconds)
    return f"{job.job}: {job.program}, {real}, {job.outcome.replace('_', ' ')}"


def _slowest_table(job: JobRecord, steps: Sequence[StepRecord], head: Sequence[Cell]) -> Markup:
    if not steps:
        return paragraph("It left no record of a step.", "why")
    shown = sorted(steps, key=lambda step: -(step.usage.real_time_seconds or 0.0))[:MOST_STEPS]
    shown.sort(key=lambda step: step.number)
    rows = [
        (
            f"{step.number} {step.name}",
            step.kind,
            *(_cell(getattr(step.usage, field), form) for field, form in COLUMNS.values()),
            _roles(step),
        )
        for step in shown
    ]
    title = (
        f"Steps of {job.job}"
        if len(shown) == len(steps)
        else (f"The {len(shown)} longest of {len(steps)} steps of {job.job}")
    )
    return table(title, head, rows, words=(len(head) - 1,), texts=(1,))


def _cell(value: float | None, form: Form) -> Cell:
    return absent(NO_FIGURE) if value is None else form(value)


def _roles(step: StepRecord) -> Cell:
    if step.io is None:
        return absent("I/O by role was not measured")
    moved = [
        f"{role} {format_bytes(part.read_bytes)} and {format_bytes(part.written_bytes)}"
        for role in FILE_ROLES
        if (part := step.io.get(role)) and (part.read_bytes or part.written_bytes)
    ]
    return ", ".join(moved) or "none"


class TimeShare(NamedTuple):
    """A part of the bar: what it is, its colour, its share of the whole, and its seconds."""

    name: Markup
    colour: str
    share: float
    percent: str
    seconds: str


def spent(figures: ShownFigures) -> Markup:
    """The bar with its legend; nothing of an import, whose jobs' waits no file has."""
    wait, real = figures.summary.wait, figures.summary.time.known.real_time_seconds
    if wait is None or not real or figures.summary.kind == "imported":
        return Markup()
    named = [*STATES.values(), (NOT_KNOWN, "quiet")]
    shares = {part: getattr(wait.shares, f"{part}_ratio") for part in WAIT_NAMES}
    parts = [
        TimeShare(
            figures.term(name, f"wait.shares.{part}_ratio"),
            colour,
            share,
            format_percent(share),
            format_seconds(share * real),
        )
        for (part, share), (name, colour) in zip(shares.items(), named, strict=True)
        if share is not None and (share or part != "unknown")
    ]
    contained = filter(None, (memory_in_waits(figures.summary), mapped_in_waits(figures.summary)))
    return fill("spent.html", parts=parts, contained="; ".join(contained))


BULLET_WIDTH = 100.0
BEYOND = 1.25
"""A bullet ends this far beyond the larger of value and range."""


def signature(figures: ShownFigures) -> Markup:
    """A row per figure: value, published range, a bullet of both, and what to make of it;
    nothing of a workload that is not the mix whose shape is published."""
    if not is_the_mix(figures.summary.programs):
        return Markup()
    rows = []
    for row in SIGNATURE:
        found, form = figures.summary.signature[row.name], FORMS[row.unit]
        rows.append(
            (
                figures.term(row.title, f"signature.{row.name}"),
                figures.show(form, "signature", row.name, "value"),
                range_of(found, form) or "none given",
                _bullet(found),
                standing(found),
                "; ".join(part for part in (found.reason, f"the range: {found.source}") if part),
            )
        )
    head = ("figure", "value", "published", "both", "standing", "why, and where the range is from")
    return part(
        "signature",
        "Signature: the shape of the load compared with the published one",
        table("Value of this run and range of the papers", head, rows, words=(5,), texts=(4,)),
    )


def _bullet(found: SignatureFigure) -> Markup:
    """The range as a band, the value as a line, from 0 on; nothing where one of them is missing."""
    value, low, high = found.value, found.low, found.high
    if value is None or (low is None and high is None):
        return Markup()
    most = max(bound for bound in (value, low, high) if bound is not None) * BEYOND or 1.0
    start = BULLET_WIDTH * (low or 0.0) / most
    end = BULLET_WIDTH if high is None else BULLET_WIDTH * high / most
    return fill("bullet.html", start=start, width=end - start, value=BULLET_WIDTH * value / most)

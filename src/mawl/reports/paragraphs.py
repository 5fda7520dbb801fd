"""What reports say in words: waits, the signature, sums over jobs, and hardware threads."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.advice.limit.costs import LEAST_COST_RATIO
from mawl.base.units import (
    counted_noun,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.signature import is_the_mix
from mawl.records.definitions import Unit
from mawl.records.model.signature import SIGNATURE
from mawl.records.model.summary.judgement import SignatureFigure, ThreadMode
from mawl.records.model.summary.summary import Summary
from mawl.records.model.summary.time import TimeShares, Wait
from mawl.records.spec.program_options import ROLES
from mawl.reports.layout import (
    ABSENT,
    LINE_WIDTH,
    Form,
    cpu_parts,
    figure,
    figures,
    format_count,
    stacked,
    wrapped,
)
from mawl.reports.run_lines import labelled, periods_text

FORMS: dict[Unit, Form] = {
    "ratio": format_ratio,
    "bytes": format_memory,
    "bytes per second": format_rate,
}


def signature(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """A line per row with value, range and standing, and the reasons under the table.

    A workload that is not the mix has one line: the ranges say nothing about it.
    """
    if not is_the_mix(summary.programs):
        return wrapped(
            "signature: not shown, since this workload is not the mix of programs whose shape is published",
            width,
            "  ",
        )
    block = summary.signature
    rows: list[Sequence[str]] = [("signature", "value", "published", "")]
    reasons: dict[str, int] = {}
    for row in SIGNATURE:
        found, form = block[row.name], FORMS[row.unit]
        note = standing(found)
        if found.reason:
            note += f" ({reasons.setdefault(found.reason, len(reasons) + 1)})"
        rows.append((row.title, figure(found.value, form), range_of(found, form), note))
    notes = "; ".join(f"({number}) {reason}" for reason, number in reasons.items())
    return [*stacked(rows, width), *wrapped(notes, width, "")]


def standing(row: SignatureFigure) -> str:
    """Whether a row of the signature is inside its range, or why that says nothing."""
    if row.value is None:
        return "no value"
    where = {True: "inside", False: "outside", None: "for information"}[row.inside]
    return where if row.meaningful else "not meaningful"


def range_of(row: SignatureFigure, form: Form) -> str:
    """The published range of a row in words; empty where there is none."""
    low, high = row.low, row.high
    if low is None and high is None:
        return ""
    if high is None:
        return f"above {form(low)}" if low is not None else ""
    return f"below {form(high)}" if low is None else f"{form(low)} to {form(high)}"


def bounded_waits(wait: Wait) -> str:
    """What is known where the run queue is not (imported logs): CPU time, and the most that was blocked."""
    most, used = figure(wait.blocked_at_most_seconds, format_seconds), "CPU time"
    if wait.on_cpu_seconds is not None:
        used = f"{format_seconds(wait.on_cpu_seconds)} on processors"
    return (
        f"at most {most} (real time less {used}); how much was for processors, data, work or util is not "
        "known"
    )


WAIT_NAMES: dict[str, str] = {
    "on_cpu": "on processors",
    "run_queue": "waiting for processors",
    **{str(role): str(role) for role in ROLES},
    "other": "other waits",
    "unknown": "not known",
}


def wait_shares(shares: TimeShares) -> list[tuple[str, float | None]]:
    """Shares of the jobs' real time, each with its name; what is not known only where there is some."""
    found = [(name, getattr(shares, f"{part}_ratio")) for part, name in WAIT_NAMES.items()]
    return found if round(shares.unknown_ratio, 3) else found[:-1]


def memory_in_waits(summary: Summary) -> str:
    """That the blocked states include waiting for memory; empty if that is not known, or too little to limit.

    The record of a job has its blocked time by role.  How much of it was for memory is known only by window.
    """
    limit = summary.limit
    loss = None if limit is None else limit.losses.memory
    if loss is None or loss < LEAST_COST_RATIO:
        return ""
    share = format_percent(loss)
    return f"the waits include waiting for memory ({share} of the jobs' time)"


def mapped_in_waits(summary: Summary) -> str:
    """How much waiting can be for mapped files; empty where there is none."""
    mapped = None if summary.wait is None else summary.wait.mapped_files
    if mapped is None or not mapped.at_most_seconds:
        return ""
    most, roles = format_seconds(mapped.at_most_seconds), " and ".join(mapped.roles)
    jobs = counted_noun(mapped.jobs, "job")
    return f"up to {most} blocked elsewhere or not known may be for mapped files of {roles} (in {jobs})"


def waits(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """Where the jobs' time went, in one line with shares; nothing where that was not measured."""
    block = summary.wait
    if block is None:
        return []
    if summary.kind == "imported":
        return labelled("waits", bounded_waits(block), width)
    real = summary.time.known.real_time_seconds or 0.0
    text = ", ".join(
        f"{name} {ABSENT}"
        if share is None
        else f"{name} {format_seconds(share * real)} ({format_percent(share)})"
        for name, share in wait_shares(block.shares)
    )
    queue = summary.cpu_real_ratio.without_run_queue
    if queue is not None:
        text += f"; CPU/real without waiting for processors {format_ratio(queue)}"
    for contained in filter(None, (memory_in_waits(summary), mapped_in_waits(summary))):
        text += f"; {contained}"
    return labelled("waits", text, width)


def of_some(summary: Summary, jobs: int) -> str:
    """``75 of 78 jobs``: how many of those that count a sum is over."""
    return f"{jobs} of {summary.jobs.counted} jobs"


def sum_text(summary: Summary, field: str, form: Form) -> str:
    """A sum of the block ``time``; where some jobs lack the figure that of the others, with their number."""
    time = summary.time
    jobs = getattr(time.known.jobs, field.rpartition("_")[0])
    if getattr(time, field) is not None or not jobs:
        return figure(getattr(time, field), form)
    return f"{figure(getattr(time.known, field), form)} ({of_some(summary, jobs)})"


def ratio_text(summary: Summary) -> str:
    """CPU over real time of the sums; where some jobs lack a time that of the others."""
    block = summary.cpu_real_ratio
    known = block.known
    if block.of_sums is not None or not known.jobs:
        return figure(block.of_sums, format_ratio)
    return f"{figure(known.of_sums, format_ratio)} ({of_some(summary, known.jobs)})"


def times(summary: Summary) -> list[tuple[str, str]]:
    """Elapsed time, the sums of time and memory over jobs, and how many jobs there were, in words."""
    time, jobs = summary.time, summary.jobs
    return [
        ("elapsed", periods_text(summary) or figure(time.elapsed_seconds, format_seconds)),
        ("active phase", figure(time.active_seconds, format_seconds)),
        ("real time, sum over jobs", sum_text(summary, "real_time_seconds", format_seconds)),
        *((label, sum_text(summary, field, format_seconds)) for label, field in cpu_parts(time)),
        ("CPU/real of the sums", ratio_text(summary)),
        ("memory, sum over jobs", sum_text(summary, "memory_bytes", format_memory)),
        ("jobs that count", figure(jobs.counted, format_count)),
        ("most jobs at once", figure(jobs.peak_concurrent, format_count)),
    ]


MOST_NODES = 8
BASES = {
    "exact": "exact: one thread a core",
    "estimate": "an estimate: the run was recorded before samples held bounds",
    "dispatched": "the time PowerVM dispatched the processors",
}


def modes(summary: Summary) -> list[str]:
    """A sentence for each node whose mode is known."""
    nodes = summary.smt.nodes if summary.smt else {}
    known = {name: node for name, node in nodes.items() if node.threads_per_core is not None}
    told = [f"{name}: {mode_of(node)}" for name, node in list(known.items())[:MOST_NODES]]
    more = len(known) - len(told)
    return [*told, *([f"and {counted_noun(more, 'more node')} (--format json lists all)"] if more else [])]


def mode_of(node: ThreadMode) -> str:
    """``2 a core (SMT on), 16 in all; busy for 0.83 of the active phase, 20.1 runnable``."""
    busy, runnable = figures((node.busy_ratio, format_ratio), (node.runnable, format_ratio))
    mode = f" (SMT {node.mode})" if node.mode else ""
    places = figure(node.hardware_threads, format_count)
    return (
        f"{node.threads_per_core} a core{mode}, {places} in all; "
        f"busy for {busy} of the active phase, {runnable} runnable"
    )


def busy_cores(summary: Summary) -> str | None:
    """Core-busy seconds with what they are; None where they are not known."""
    host = summary.host
    if host is None or host.core_busy_seconds is None:
        return None
    seconds, least, most = figures(
        *(
            (getattr(host, f"core_busy_{name}"), format_seconds)
            for name in ("seconds", "least_seconds", "most_seconds")
        )
    )
    words = BASES.get(host.core_busy_basis or "")
    if words is None:
        words = f"an estimate between {least} and {most}: the kernel counts each thread alone"
    return f"{seconds} ({words})"


def adjusted_cpu(summary: Summary) -> str | None:
    """The range of the jobs' CPU time without AIX's scaling; None for any other source."""
    span = summary.time.adjusted_cpu_seconds
    if span is None:
        return None
    raw = figure(summary.time.cpu_seconds, format_seconds)
    low, high = figures((span.low, format_seconds), (span.high, format_seconds))
    both = low if low == high else f"{low} to {high}"
    return f"{both} (raw {raw or ABSENT})"


def findings(summary: Summary) -> list[str]:
    """What the rule of the next mode found, with its cure."""
    found = summary.smt.findings if summary.smt else []
    return [f"{one.sentence}; {one.cure}" for one in found]

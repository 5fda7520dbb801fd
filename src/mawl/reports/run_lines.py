"""What was run where, and what it found, in lines of a label and a text that several reports share."""

from __future__ import annotations

import msgspec

from mawl.advice.limit.verdict import limit_words
from mawl.base.units import (
    counted_noun,
    format_memory,
    format_plain,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.view import RunView
from mawl.importers.formats.text import one_line
from mawl.plan.spec import shown_scale
from mawl.records.model.run import NodeFacts
from mawl.records.model.summary.judgement import Limit
from mawl.records.model.summary.summary import Summary
from mawl.records.model.summary.time import Jobs
from mawl.reports.layout import LINE_WIDTH, figure, format_count, wrapped

LABEL_WIDTH = 10
UNKNOWN_NODE = "unknown"
"""How the node of imported logs is called that name none."""


def labelled(name: str, text: str, width: int = LINE_WIDTH) -> list[str]:
    """``name`` and the text beside it, wrapped; the command of *next* is whole."""
    line = f"{name:<{LABEL_WIDTH}}{one_line(text)}"
    return wrapped(line, width, " " * LABEL_WIDTH, whole_command=name == "next")


NO_PAGE_CACHE = "without page cache (--cache none)"


def traits(view: RunView) -> list[str]:
    """The options that every report names with the workload, because they make runs differ."""
    cache = view.facts.cache
    return [NO_PAGE_CACHE] if cache is not None and cache.mode == "none" else []


def workload_text(view: RunView, summary: Summary) -> str:
    """``mixed20 at scale smoke (0.0005 of full): 20 sessions, 71 jobs``; an imported load has no scale."""
    workload = summary.workload
    sizes = f"{counted_noun(workload.sessions, 'session')}, {counted_noun(workload.jobs, 'job')}"
    scale = "" if workload.scale is None else f" at scale {scale_text(workload.scale_name, workload.scale)}"
    return ", ".join([f"{workload.name}{scale}: {sizes}", *traits(view)])


def scale_text(name: str | None, scale: float | None) -> str:
    """The scale's name with its factor of full, or the factor alone if it has no name."""
    factor, known = figure(scale, format_plain), shown_scale(name, scale)
    return factor if known in (None, factor) else f"{known} ({factor} of full)"


def node_text(node: NodeFacts) -> str:
    """A node with processor, cores, memory and kernel, and what the jobs were held to.

    What a file that was imported does not tell is named behind what it tells.
    """
    cores = node.cores and counted_noun(node.cores, node.core_basis or "core")
    memory = None if node.memory_bytes is None else format_memory(node.memory_bytes)
    instance = node.instance_type and " ".join(filter(None, (node.cloud, node.instance_type)))
    parts = [instance, node.cpu_model, cores, memory, node.kernel]
    unknown = [what for what, known in (("cores", cores), ("memory", memory)) if not known]
    parts += [f"{' and '.join(unknown)} not known"] if unknown else []
    if node.cpus_used is not None:
        parts.append(f"used: {counted_noun(len(node.cpus_used), 'CPU')}")
    if node.cpu_quota is not None:
        parts.append(f"CPU quota {node.cpu_quota:g}")
    if node.memory_limit_bytes is not None:
        parts.append(f"limited to {format_memory(node.memory_limit_bytes)}")
    return f"{node_name(node)}: {', '.join(part for part in parts if part)}"


def node_name(node: NodeFacts) -> str:
    """The name of a node; words where no file names it."""
    return "host not named" if node.name == UNKNOWN_NODE else str(node.name)


def outcome_text(summary: Summary) -> str:
    """The outcome with its reason."""
    reason = summary.outcome_reason
    return str(summary.outcome) + (f": {reason}" if reason else "")


def jobs_text(summary: Summary) -> str:
    """How many jobs there are and how they ended."""
    jobs = summary.jobs
    ends = [
        f"{getattr(jobs, name)} {name.replace('_', ' ')}"
        for name in ("finished", "failed", "stopped", "lost", "not_started")
        if getattr(jobs, name) or name == "finished"
    ]
    total = f"{jobs.total}"
    if summary.outcome == "running":
        total += f" of {summary.workload.jobs} ended so far"
    return f"{total}: {', '.join(ends)}"


def recorded_text(summary: Summary) -> str:
    """What a run that did not go through, or still goes on, has left so far."""
    held = ", ".join(
        f"{figure(count, format_count)} {name.removesuffix('s') if count == 1 else name}"
        for name, count in msgspec.structs.asdict(summary.recorded).items()
    )
    if summary.outcome == "running":
        return f"{held} so far; the run is in progress, and sums below cover what has ended"
    return f"{held} in the run folder"


def concurrency_text(jobs: Jobs) -> str:
    """How many jobs ran at once, beside the plan."""
    planned = jobs.planned_peak_concurrent
    return (
        f"peak {figure(jobs.peak_concurrent, format_count)}"
        f"{'' if planned is None else f' of {planned} planned'}, "
        f"mean {figure(jobs.mean_concurrent, format_ratio)}, "
        f"{figure(jobs.seconds_near_peak, format_seconds)} near the peak (at least 90 % of it)"
    )


def periods_text(summary: Summary) -> str | None:
    """Why there is no elapsed time, in one sentence; None for one run."""
    if not summary.time.periods:
        return None
    return str(summary.missing["time.elapsed_seconds"])


def finding(summary: Summary) -> str:
    """``20 sessions carried, limited by work writes``; of a run that was cut short how far it came."""
    limit = limited_by(summary)
    said = _subject_words(summary) + (f", {limit}" if limit else "")
    if not _is_answer_open(summary):
        return said
    they = "it is" if summary.workload.sessions == 1 else "they are"
    return f"{said}; whether {they} carried is not known"


def _is_answer_open(summary: Summary) -> bool:
    whole = summary.outcome == "completed" and summary.kind != "imported"
    return whole and (summary.answer is None or summary.answer.answer == "not known")


def limited_by(summary: Summary) -> str:
    """``limited by work writes on /mnt/b (bandwidth)``, ``largest cost: ...``; empty if it is not known.

    A limit is named where W lies above its bound.
    """
    limit = summary.limit
    if limit is None:
        return ""
    words = limit_words(limit, with_place=False)
    if limit.named:
        return f"limited by {words}{_cap_words(limit)}"
    return words if limit.costs else ""


def _cap_words(limit: Limit) -> str:
    """`` at their cap of 100 MB/s`` where devices were near it in most windows in which jobs waited."""
    directions = [cost.direction for cost in limit.costs if limit.role in cost.roles]
    for one in limit.caps_reached:
        if one.direction in directions and 2 * one.near_windows > one.waited_windows:
            return f" at their cap of {format_rate(one.bytes_per_second)}"
    return ""


def _subject_words(summary: Summary) -> str:
    jobs, workload = summary.jobs, summary.workload
    planned = max(jobs.total, workload.jobs)
    if summary.outcome == "running":
        return f"Running: {jobs.finished} of {planned} jobs finished so far"
    if summary.outcome != "completed" and summary.kind != "imported":
        return f"{str(summary.outcome).capitalize()}: {jobs.finished} of {planned} jobs finished"
    if summary.kind == "imported":
        return counted_noun(jobs.total, "imported job") if jobs.total else "Imported recording of the host"
    sessions = counted_noun(workload.sessions, "session")
    answer = summary.answer
    said = f"{sessions} ran"
    if answer is not None and answer.answer != "not known":
        said = f"{sessions} {answer.answer}" + (" (preliminary)" if answer.preliminary else "")
    return f"Simulated: {said}" if summary.kind == "simulated" else said

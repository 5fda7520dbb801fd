"""A run on one screen."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import Any

from mawl.formats.lines import one_line
from mawl.reporters.columns import LINE_WIDTH
from mawl.reporters.figure import ABSENT, counted_noun, figure, format_count, format_plain
from mawl.reporters.host import host
from mawl.reporters.judgement import grounds, headlines
from mawl.reporters.roles import roles, waits
from mawl.reporters.signature import signature
from mawl.reporters.tables import cpu_account, io, programs, times
from mawl.reporters.throughput import throughput
from mawl.reporters.waits import program_waits
from mawl.units import format_memory, format_ratio, format_seconds

MOST_FAILURES = 5
NO_FIGURES = ("nodes", "volumes", "outcome_reason", "signature", "windows", "inputs.mode", "inputs.reason")
"""Blocks and figures whose nulls say something themselves: no limit, nothing to explain."""

Block = dict[str, Any]


def render(summary: Block) -> str:
    """The summary of :func:`mawl.advice.judge.judged` as text for a terminal.

    A figure that is missing is ``-``; the last line names them and says where the reasons are.
    """
    parts = (
        _head(summary),
        [*times(summary), *waits(summary)],
        programs(summary),
        program_waits(summary),
        io(summary),
        roles(summary),
        throughput(summary),
        host(summary),
        signature(summary),
        cpu_account(summary),
        grounds(summary),
        _ends(summary),
    )
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head(summary: Block) -> list[str]:
    workload = summary["workload"]
    outcome = summary["outcome"] + (f": {summary['outcome_reason']}" if summary["outcome_reason"] else "")
    sizes = f"{counted_noun(workload['sessions'], 'session')}, {counted_noun(workload['jobs'], 'job')}"
    lines = [
        ("run", f"{summary['run_id']} ({summary['kind']}, mawl {summary['mawl_version']})"),
        ("workload", f"{workload['name']} at scale {_scale(workload)}: {sizes}"),
        *(("system", _node(node)) for node in summary["nodes"]),
        ("started", summary["started_at"]),
        ("outcome", outcome),
        ("jobs", _jobs(summary)),
        *([] if summary["outcome"] == "completed" else [("recorded", _recorded(summary))]),
        ("at once", _concurrency(summary["jobs"])),
        *headlines(summary),
    ]
    return [
        line
        for name, text in lines
        for line in wrap(f"{name:<10}{one_line(text)}", LINE_WIDTH, subsequent_indent=" " * 10)
    ]


def _scale(workload: Block) -> str:
    """The scale's name with its factor of full, or the factor alone where it has no name."""
    factor, name = figure(workload["scale"], format_plain), workload["scale_name"]
    if name is None or name[:1].isdigit() or name[:1] == ".":
        return factor
    return f"{name} ({factor} of full)"


def _node(node: Block) -> str:
    cores = f"{node['cores'] or ABSENT} {node['core_basis'] or 'core'}{'' if node['cores'] == 1 else 's'}"
    parts = [node["cpu_model"], cores, figure(node["memory_bytes"], format_memory), node["kernel"]]
    if node["cpus_used"] is not None:
        parts.append(f"used: {counted_noun(len(node['cpus_used']), 'CPU')}")
    if node["memory_limit_bytes"] is not None:
        parts.append(f"limited to {format_memory(node['memory_limit_bytes'])}")
    return f"{node['name']}: {', '.join(part for part in parts if part)}"


def _jobs(summary: Block) -> str:
    jobs = summary["jobs"]
    ends = [
        f"{jobs[name]} {name.replace('_', ' ')}"
        for name in ("finished", "failed", "stopped", "lost", "not_started")
        if jobs[name] or name == "finished"
    ]
    total = f"{jobs['total']}"
    if summary["outcome"] == "running":
        total += f" of {summary['workload']['jobs']} ended so far"
    return f"{total}: {', '.join(ends)}"


def _recorded(summary: Block) -> str:
    """What a run that did not go through, or still goes on, has left so far."""
    held = ", ".join(
        f"{figure(count, format_count)} {name.removesuffix('s') if count == 1 else name}"
        for name, count in summary["recorded"].items()
    )
    if summary["outcome"] == "running":
        return f"{held} so far; the run goes on, and all below is of what has ended"
    return f"{held} in the run folder"


def _concurrency(jobs: Block) -> str:
    planned = jobs["planned_peak_concurrent"]
    return (
        f"peak {figure(jobs['peak_concurrent'], format_count)}"
        f"{'' if planned is None else f' of {planned} planned'}, "
        f"mean {figure(jobs['mean_concurrent'], format_ratio)}, "
        f"{figure(jobs['seconds_near_peak'], format_seconds)} near the peak (at least 90 % of it)"
    )


def _ends(summary: Block) -> list[str]:
    sentences = [
        one_line(
            f"{failure['outcome'].replace('_', ' ')}: {failure['job']}: {failure['reason'] or 'no reason'}"
        )
        for failure in summary["failures"][:MOST_FAILURES]
    ]
    more = len(summary["failures"]) - MOST_FAILURES
    if more > 0:
        jobs = counted_noun(more, "more job")
        sentences.append(f"and {jobs} that did not finish (--format json lists all)")
    sentences += [f"remark: {one_line(remark)}" for remark in summary["remarks"]]
    figures = [path for path in summary["missing"] if not {path, path.split(".")[0]} & {*NO_FIGURES}]
    if figures:
        names = ", ".join(_grouped(figures))
        sentences.append(f"null, reasons with --format json: {names}")
    return [line for text in sentences for line in wrap(text, LINE_WIDTH, subsequent_indent="  ")]


def _grouped(paths: Iterable[str]) -> list[str]:
    """Paths by their block: ``host, io.* (16), time.adjusted_cpu_seconds``."""
    blocks: dict[str, list[str]] = {}
    for path in sorted(paths):
        blocks.setdefault(path.split(".")[0], []).append(path)
    return [own[0] if len(own) == 1 else f"{block}.* ({len(own)})" for block, own in blocks.items()]

"""A run on one screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap
from typing import Any

from mawl.formats.lines import one_line
from mawl.reporters.columns import aligned
from mawl.units import format_bytes, format_memory, format_ratio, format_seconds

ABSENT = "-"
MOST_FAILURES = 10
LINE_WIDTH = 110
NO_FIGURES = ("nodes", "outcome_reason")
"""Blocks whose nulls say something themselves: no limit, nothing to explain."""

Block = dict[str, Any]
Cell = tuple[object, Callable[[float], str]]


def render(summary: Block) -> str:
    """The summary of :func:`mawl.analysis.summary.summarise` as text for a terminal.

    A figure that is missing is ``-``; the last line names them and says where the reasons are.
    """
    parts = (
        _head(summary),
        _times(summary),
        _programs(summary),
        _io(summary),
        _account(summary),
        _ends(summary),
    )
    return "\n\n".join("\n".join(part) for part in parts if part)


def figure(value: object, form: Callable[[float], str]) -> str:
    """A figure as text; ``-`` when it is missing."""
    return form(value) if isinstance(value, int | float) else ABSENT


def _head(summary: Block) -> list[str]:
    workload, jobs = summary["workload"], summary["jobs"]
    scale = workload["scale_name"] or figure(workload["scale"], format_ratio)
    outcome = summary["outcome"] + (f": {summary['outcome_reason']}" if summary["outcome_reason"] else "")
    ends = [
        f"{jobs[name]} {name.replace('_', ' ')}"
        for name in ("finished", "failed", "stopped", "lost", "not_started")
        if jobs[name] or name == "finished"
    ]
    lines = [
        ("run", f"{summary['run_id']} ({summary['kind']}, mawl {summary['mawl_version']})"),
        (
            "workload",
            f"{workload['name']} at scale {scale}: {workload['sessions']} sessions, {workload['jobs']} jobs",
        ),
        *(("system", _node(node)) for node in summary["nodes"]),
        ("started", summary["started_at"]),
        ("outcome", outcome),
        ("jobs", f"{jobs['total']}: {', '.join(ends)}"),
        ("at once", _concurrency(jobs)),
    ]
    return [f"{name:<10}{one_line(text)}" for name, text in lines]


def _node(node: Block) -> str:
    cores = f"{node['cores'] or ABSENT} {node['core_basis'] or 'core'}{'' if node['cores'] == 1 else 's'}"
    parts = [node["cpu_model"], cores, figure(node["memory_bytes"], format_memory), node["kernel"]]
    if node["cpus_used"] is not None:
        parts.append(f"used: {len(node['cpus_used'])} CPUs")
    if node["memory_limit_bytes"] is not None:
        parts.append(f"limited to {format_memory(node['memory_limit_bytes'])}")
    return f"{node['name']}: {', '.join(part for part in parts if part)}"


def _concurrency(jobs: Block) -> str:
    planned = jobs["planned_peak_concurrent"]
    return (
        f"peak {figure(jobs['peak_concurrent'], format_count)}"
        f"{'' if planned is None else f' of {planned} planned'}, "
        f"mean {figure(jobs['mean_concurrent'], format_ratio)}, "
        f"{figure(jobs['seconds_near_peak'], format_seconds)} near the peak"
    )


def format_count(value: float) -> str:
    """A whole number."""
    return f"{value:.0f}"


def _times(summary: Block) -> list[str]:
    time, ratio = summary["time"], summary["cpu_real_ratio"]
    count = summary["jobs"]["counted"]
    rows = [
        ("", "real time", "user CPU", "system CPU", "memory"),
        (
            f"sum over {count} jobs",
            *_figures(
                (time["real_time_seconds"], format_seconds),
                (time["user_cpu_seconds"], format_seconds),
                (time["system_cpu_seconds"], format_seconds),
                (time["memory_bytes"], format_memory),
            ),
        ),
    ]
    left_out = summary["jobs"]["total"] - count
    lines = aligned(rows)
    if left_out:
        jobs = "1 job is" if left_out == 1 else f"{left_out} jobs are"
        lines.append(f"{jobs} left out of sums and tables for want of a right answer")
    ratios = _figures(*((ratio[name], format_ratio) for name in ("of_sums", "mean", "stddev", "range")))
    phases = _figures(
        *((time[f"{name}_seconds"], format_seconds) for name in ("elapsed", "active", "tail", "startup"))
    )
    lines.append(
        "CPU/real  {} of the sums; per job: mean {}, standard deviation {}, range {}".format(*ratios)
    )
    lines.append("elapsed   {} = {} active + {} tail; start-up before it {}".format(*phases))
    return lines


def _figures(*cells: Cell) -> list[str]:
    return [figure(value, form) for value, form in cells]


def _programs(summary: Block) -> list[str]:
    if not summary["programs"]:
        return []
    rows: list[Sequence[str]] = [
        ("program", "jobs", "counted", "real median", "min", "max", "user CPU", "system CPU", "memory")
    ]
    for name, program in summary["programs"].items():
        real = program["real_time_seconds"]
        rows.append(
            (
                one_line(name),
                str(program["jobs"]),
                str(program["counted"]),
                *_figures(
                    (real["median"], format_seconds),
                    (real["min"], format_seconds),
                    (real["max"], format_seconds),
                    (program["user_cpu_seconds"], format_seconds),
                    (program["system_cpu_seconds"], format_seconds),
                    (program["memory_bytes"], format_memory),
                ),
            )
        )
    return aligned(rows)


def _io(summary: Block) -> list[str]:
    rows: list[Sequence[str]] = [("I/O", "read", "written", "read share")]
    for side in ("application", "device"):
        block = summary["io"][side]
        rows.append(
            (
                side,
                *_figures(
                    (block["read_bytes"], format_bytes),
                    (block["written_bytes"], format_bytes),
                    (block["read_ratio"], format_ratio),
                ),
            )
        )
    reach = summary["io"]["reach"]
    rows.append(
        ("reach", *_figures((reach["read_ratio"], format_ratio), (reach["write_ratio"], format_ratio)), "")
    )
    return aligned(rows)


def _account(summary: Block) -> list[str]:
    """The CPU account: what jobs, start-up and checks add up to, beside an outside account."""
    accounts = summary["cpu_account"]
    rows: list[Sequence[str]] = [("CPU account (all jobs)", "user", "system", "together")]
    names = {
        "jobs": "jobs",
        "startup": "start-up",
        "verify": "verify",
        "launcher": "launcher",
        "total": "total",
    }
    blocks = [(title, accounts[name]) for name, title in names.items()]
    outside = summary["outside_cpu"]
    if outside is not None:
        blocks.append((f"outside ({one_line(outside['source'])})", outside))
    for title, block in blocks:
        fields = ("user_cpu_seconds", "system_cpu_seconds", "cpu_seconds")
        rows.append((title, *_figures(*((block[field], format_seconds) for field in fields))))
    overhead = summary["overhead"]
    own = _figures(
        (overhead["cpu_seconds"], format_seconds),
        (overhead["startup_cpu_seconds"], format_seconds),
        (overhead["peak_memory_bytes"], format_memory),
    )
    return [*aligned(rows), "mawl itself: {} of CPU, {} of it before the start, {} of memory".format(*own)]


def _ends(summary: Block) -> list[str]:
    lines = [
        one_line(
            f"{failure['outcome'].replace('_', ' ')}: {failure['job']}: {failure['reason'] or 'no reason'}"
        )
        for failure in summary["failures"][:MOST_FAILURES]
    ]
    more = len(summary["failures"]) - MOST_FAILURES
    if more > 0:
        lines.append(f"and {more} more jobs that did not finish (--format json lists all)")
    lines += [f"remark: {one_line(remark)}" for remark in summary["remarks"]]
    figures = [path for path in summary["missing"] if path.split(".")[0] not in NO_FIGURES]
    if figures:
        names = ", ".join(_grouped(figures))
        lines += wrap(f"null, reasons with --format json: {names}", LINE_WIDTH, subsequent_indent="  ")
    return lines


def _grouped(paths: Iterable[str]) -> list[str]:
    """Paths by their block: ``host, io.* (16), time.adjusted_cpu_seconds``."""
    blocks: dict[str, list[str]] = {}
    for path in sorted(paths):
        blocks.setdefault(path.split(".")[0], []).append(path)
    return [own[0] if len(own) == 1 else f"{block}.* ({len(own)})" for block, own in blocks.items()]

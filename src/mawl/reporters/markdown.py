"""A run as Markdown for a pull request: what it means, its figures, programs and findings behind a fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mawl.reporters.figure import Form, figure, figures, format_count
from mawl.reporters.head import node_text, outcome_text, workload_text
from mawl.reporters.judgement import headlines
from mawl.reporters.markup import code, escaped, table
from mawl.units import format_bytes, format_latency, format_memory, format_rate, format_ratio, format_seconds

Block = dict[str, Any]

WINDOWS = ("peak", "initial", "sustained", "active_mean")


def render(summary: Block) -> str:
    """The summary of :func:`mawl.advice.judge.judged`; a missing figure is ``-``, text is escaped."""
    nodes = [escaped(node_text(node)) for node in summary["nodes"]]
    judged = [[f"**{name}**", escaped(text)] for name, text in headlines(summary)]
    parts = [
        [f"### mawl: {escaped(workload_text(summary['workload']))}"],
        [f"Run {code(summary['run_id'])}, {escaped(outcome_text(summary))}; {'; '.join(nodes)}"],
        [line for name, text in judged for line in (f"- {name}: {text}",)],
        table(("time", "value"), _times(summary)),
        _throughput(summary["io"]),
        _roles(summary["io"]["by_role"] or {}),
        _folded("Programs", _programs(summary["programs"])),
        _folded("Findings", _findings(summary["validity"])),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _times(summary: Block) -> list[tuple[str, str]]:
    time, ratio, jobs = summary["time"], summary["cpu_real_ratio"], summary["jobs"]
    given: tuple[tuple[str, object, Form], ...] = (
        ("elapsed", time["elapsed_seconds"], format_seconds),
        ("active phase", time["active_seconds"], format_seconds),
        ("real time, sum over jobs", time["real_time_seconds"], format_seconds),
        ("user CPU", time["user_cpu_seconds"], format_seconds),
        ("system CPU", time["system_cpu_seconds"], format_seconds),
        ("CPU/real of the sums", ratio["of_sums"], format_ratio),
        ("memory, sum over jobs", time["memory_bytes"], format_memory),
        ("jobs that count", jobs["counted"], format_count),
        ("most jobs at once", jobs["peak_concurrent"], format_count),
    )
    return [(name, figure(value, form)) for name, value, form in given]


def _throughput(io: Block) -> list[str]:
    rows = []
    for side in ("application", "device"):
        block = io[side]
        rates = [(block[name]["total_bytes_per_second"], format_rate) for name in WINDOWS]
        rows.append(
            (
                side,
                *figures(
                    *rates,
                    (block["sustained_bytes_per_second_per_core"], format_rate),
                    (block["read_bytes"], format_bytes),
                    (block["written_bytes"], format_bytes),
                ),
            )
        )
    reach = figures(*((io["reach"][f"{name}_ratio"], format_ratio) for name in ("read", "write")))
    rows.append(("reach", *[""] * 5, *reach))
    heads = [name.replace("_", " ") for name in WINDOWS]
    return table(("throughput", *heads, "sustained per core", "read", "written"), rows)


def _roles(by_role: Block) -> list[str]:
    rows = []
    for name, role in by_role.items():
        read, written = role["read_latency_seconds"], role["write_latency_seconds"]
        cells = figures(
            (role["read_bytes"], format_bytes),
            (role["written_bytes"], format_bytes),
            (role["share_ratio"], format_ratio),
            (role["sequential_ratio"], format_ratio),
            *((latency[part], format_latency) for latency in (read, written) for part in ("mean", "p99")),
        )
        rows.append((name, *cells))
    latencies = ("reads: mean", "p99", "writes: mean", "p99")
    return table(("role", "read", "written", "share", "sequential", *latencies), rows)


def _programs(programs: Block) -> list[str]:
    rows = []
    for name, program in programs.items():
        real = program["real_time_seconds"]
        cells = figures(
            (real["median"], format_seconds),
            (real["min"], format_seconds),
            (real["max"], format_seconds),
            (program["user_cpu_seconds"], format_seconds),
            (program["system_cpu_seconds"], format_seconds),
            (program["memory_bytes"], format_memory),
            (program["stretch"], format_ratio),
        )
        rows.append((code(name), str(program["jobs"]), *cells))
    head = ("program", "jobs", "real median", "min", "max", "user CPU", "system CPU", "memory", "stretch")
    return table(head, rows)


def _findings(validity: Block | None) -> list[str]:
    findings: Sequence[Block] = (validity or {"findings": []})["findings"]
    lines = []
    for one in findings:
        rule, sentence, cure = (escaped(one[name]) for name in ("rule", "sentence", "cure"))
        lines.append(f"- **{rule}** ({one['severity']}): {sentence}; {cure}")
    return lines


def _folded(title: str, lines: list[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"] if lines else []

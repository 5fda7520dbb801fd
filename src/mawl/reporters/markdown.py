"""A run as Markdown for a pull request: what it means, its figures, programs and findings behind a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.model.probe import Probe
from mawl.model.summary.io import Io, RoleFigures
from mawl.model.summary.summary import Summary
from mawl.reporters import demand, probe, threads
from mawl.reporters.compressibility import notes_in_a_run, table_in_a_run
from mawl.reporters.figure import ABSENT, cpu_parts, figure, figures, format_count
from mawl.reporters.head import node_text, outcome_text, workload_text
from mawl.reporters.judgement import headlines
from mawl.reporters.markup import code, escaped, table
from mawl.reporters.periods import period_rows, periods_text
from mawl.reporters.sums import ratio_text, sum_text
from mawl.reporters.volumes import cells, shown_columns, shown_volumes, spread_text
from mawl.units import (
    format_bytes,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)

WINDOWS = ("peak", "initial", "sustained", "active_mean")


def render(summary: Summary, probed: Probe | None = None) -> str:
    """The summary of :func:`mawl.advice.judge.judged`, and the tests of the run's probe.

    A missing figure is ``-``, text is escaped.
    """
    nodes = [escaped(node_text(node)) for node in summary.nodes]
    judged = [[f"**{name}**", escaped(text)] for name, text in headlines(summary)]
    parts = [
        [f"### mawl: {escaped(workload_text(summary))}"],
        ["; ".join([f"Run {code(summary.run_id)}, {escaped(outcome_text(summary))}", *nodes])],
        [line for name, text in judged for line in (f"- {name}: {text}",)],
        table(("time", "value"), _times(summary)),
        table(*_periods(summary)),
        _throughput(summary.io, imported=summary.kind == "imported"),
        _roles(summary.io.by_role or {}),
        _demand(summary),
        *_tests(probed),
        _compressibility(summary),
        _folded("Volumes", _volumes(summary)),
        _folded("Programs", _programs(summary)),
        _folded("Findings", _findings(summary)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _times(summary: Summary) -> list[tuple[str, str]]:
    time, jobs = summary.time, summary.jobs
    given = (
        ("elapsed", periods_text(summary) or figure(time.elapsed_seconds, format_seconds)),
        ("active phase", figure(time.active_seconds, format_seconds)),
        ("real time, sum over jobs", sum_text(summary, "real_time_seconds", format_seconds)),
        *((label, sum_text(summary, field, format_seconds)) for label, field in cpu_parts(time)),
        ("CPU/real of the sums", ratio_text(summary)),
        ("memory, sum over jobs", sum_text(summary, "memory_bytes", format_memory)),
        ("jobs that count", figure(jobs.counted, format_count)),
        ("most jobs at once", figure(jobs.peak_concurrent, format_count)),
    )
    words = (
        ("CPU adjusted for AIX's scaled accounting", threads.adjusted_cpu(summary)),
        ("busy cores", threads.busy_cores(summary)),
        *(("hardware threads", text) for text in threads.modes(summary)),
    )
    return [*given, *((name, escaped(text)) for name, text in words if text)]


def _periods(summary: Summary) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Head and rows of the periods of an import that is not one run."""
    rows = period_rows(summary)
    return (rows[0], rows[1:]) if rows else ((), [])


def _throughput(io: Io, *, imported: bool) -> list[str]:
    """Both sides and the reach; of an import the rows that its files tell."""
    rows = []
    for side in ("application", "device"):
        block = getattr(io, side)
        rates = [(getattr(block, name).total_bytes_per_second, format_rate) for name in WINDOWS]
        rows.append(
            (
                side,
                *figures(
                    *rates,
                    (block.sustained_bytes_per_second_per_core, format_rate),
                    (block.read_bytes, format_bytes),
                    (block.written_bytes, format_bytes),
                ),
            )
        )
    reach = figures(*((getattr(io.reach, f"{name}_ratio"), format_percent) for name in ("read", "write")))
    rows.append(("reach", *[""] * 5, *reach))
    if imported:
        rows = [row for row in rows if set(row[1:]) - {ABSENT, ""}]
    heads = [name.replace("_", " ") for name in WINDOWS]
    return table(("throughput", *heads, "sustained per core", "read", "written"), rows)


def _roles(by_role: Mapping[str, RoleFigures]) -> list[str]:
    rows = []
    for name, role in by_role.items():
        read, written = role.read_latency_seconds, role.write_latency_seconds
        cells = figures(
            (role.read_bytes, format_bytes),
            (role.written_bytes, format_bytes),
            (role.share_ratio, format_percent),
            (role.sequential_ratio, format_percent),
            *(
                (getattr(latency, part), format_latency)
                for latency in (read, written)
                for part in ("mean", "p99")
            ),
        )
        rows.append((name, *cells))
    latencies = ("reads: mean", "p99", "writes: mean", "p99")
    return table(("role", "read", "written", "share", "sequential", *latencies), rows)


def _demand(summary: Summary) -> list[str]:
    """Demand against capability, where the run holds a probe."""
    rows = demand.rows(summary)
    if not rows:
        return []
    return [
        *table(demand.HEAD, rows),
        "",
        *(f"- {escaped(note)}" for note in demand.notes(summary)),
    ]


def _tests(probed: Probe | None) -> list[list[str]]:
    """What the probe of the storage, or an imported file of fio, measured: a table for each directory."""
    if probed is None:
        return []
    parts = []
    for target in probed.targets:
        parts.append([f"{escaped(probed.tool)} in {escaped(probe.title_of(target))}:"])
        parts.append(table(probe.HEAD, [tuple(map(escaped, row)) for row in probe.rows_of(target)]))
        parts.append([f"- {escaped(sentence)}" for sentence in probe.sentences_of(target)])
    return parts


def _volumes(summary: Summary) -> list[str]:
    columns = shown_columns(summary)
    rows = [
        (volume.role, code(volume.directory), *cells(volume, columns)) for volume in shown_volumes(summary)
    ]
    if not rows:
        return []
    head = ("role", "directory", *(label for label, _, _ in columns))
    spread = spread_text(summary)
    return [*table(head, rows), *(["", escaped(spread)] if spread else [])]


def _compressibility(summary: Summary) -> list[str]:
    rows = [[escaped(cell) for cell in row] for row in table_in_a_run(summary)]
    notes = [escaped(note) for note in notes_in_a_run(summary)]
    return [*table(rows[0], rows[1:]), "", *notes] if rows else []


def _programs(summary: Summary) -> list[str]:
    programs, cpu = summary.programs, cpu_parts(summary.time)
    rows = []
    for name, program in programs.items():
        real = program.real_time_seconds
        cells = figures(
            (real.median, format_seconds),
            (real.min, format_seconds),
            (real.max, format_seconds),
            *((getattr(program, field), format_seconds) for _, field in cpu),
            (program.memory_bytes, format_memory),
            (program.slowdown, format_ratio),
        )
        rows.append((code(name), str(program.jobs), *cells))
    labels = [label for label, _ in cpu]
    head = ("program", "jobs", "real median", "min", "max", *labels, "memory", "slowdown")
    return table(head, rows)


def _findings(summary: Summary) -> list[str]:
    """Those of validity, then what the rule of the next SMT mode found."""
    found = [
        *(summary.validity.findings if summary.validity else []),
        *(summary.smt.findings if summary.smt else []),
    ]
    lines = []
    for one in found:
        rule, sentence, cure = (escaped(getattr(one, name)) for name in ("rule", "sentence", "cure"))
        lines.append(f"- **{rule}** ({one.severity}): {sentence}; {cure}")
    return lines


def _folded(title: str, lines: list[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"] if lines else []

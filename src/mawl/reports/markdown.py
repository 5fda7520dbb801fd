"""A run as Markdown: for a pull request, and its disclosure.

For a pull request it says what it means, then its figures, with programs and findings behind a fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from mawl.advice.judge import RULES
from mawl.base.units import (
    format_bytes,
    format_memory,
    format_percent,
    format_plain,
    format_rate,
    format_seconds,
)
from mawl.figures.view import RunView
from mawl.records.model.probe import Probe
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import Finding, Validity
from mawl.records.model.summary.summary import Judged, Summary
from mawl.reports import probe
from mawl.reports.compressibility import notes_in_a_run, table_in_a_run
from mawl.reports.document import Document, Headline, Sentences, Table, each
from mawl.reports.judgement import headlines, met_words
from mawl.reports.layout import ABSENT, Form, code, cpu_parts, escaped, figure, table, with_command
from mawl.reports.paragraphs import adjusted_cpu, busy_cores, modes, ratio_text, sum_text, times
from mawl.reports.run_lines import concurrency_text, node_text, outcome_text, workload_text
from mawl.reports.run_tables import RUN_TABLES
from mawl.reports.run_tables.storage import cap_sentence
from mawl.reports.tables import RunColumn, RunTable, notes_of, shown


def render(view: RunView, summary: Summary) -> str:
    """A run and its summary of ``judged``, and the tests of its probe.

    A missing figure is ``-``, text is escaped.
    """
    nodes = [escaped(node_text(node)) for node in summary.nodes]
    judged = [[f"**{name}**", with_command(text)] for name, text in headlines(summary)]
    parts = [
        [f"### mawl: {escaped(workload_text(view, summary))}"],
        ["; ".join([f"Run {code(summary.run_id)}, {escaped(outcome_text(summary))}", *nodes])],
        [line for name, text in judged for line in (f"- {name}: {text}",)],
        table(("time", "value"), _times(summary)),
        *_tables(view, summary, folded=False),
        *_tests(view.probe),
        _compressibility(summary),
        *_tables(view, summary, folded=True),
        _folded("Findings", _findings(summary)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _times(summary: Summary) -> list[tuple[str, str]]:
    words = (
        ("CPU adjusted for AIX's scaled accounting", adjusted_cpu(summary)),
        ("busy cores", busy_cores(summary)),
        *(("hardware threads", text) for text in modes(summary)),
    )
    return [*times(summary), *((name, escaped(text)) for name, text in words if text)]


def _tests(probed: Probe | str | None) -> list[list[str]]:
    """What the probe of the storage, or an imported file of fio, measured: a table for each directory."""
    if not isinstance(probed, Probe):
        return []
    parts = []
    for target in probed.targets:
        parts.append([f"{escaped(probed.tool)} in {escaped(probe.title_of(target))}:"])
        parts.append(table(probe.HEAD, [tuple(map(escaped, row)) for row in probe.rows_of(target)]))
        parts.append([f"- {escaped(sentence)}" for sentence in probe.sentences_of(target)])
    return parts


def _compressibility(summary: Summary) -> list[str]:
    rows = [[escaped(cell) for cell in row] for row in table_in_a_run(summary)]
    notes = [escaped(note) for note in notes_in_a_run(summary)]
    return [*table(rows[0], rows[1:]), "", *notes] if rows else []


def _tables(view: RunView, summary: Summary, *, folded: bool) -> list[list[str]]:
    """The tables that Markdown folds, or those that it shows at once."""
    return [
        markdown_table(table, view, summary) for table in RUN_TABLES if ("markdown" in table.folded) is folded
    ]


def markdown_table(of: RunTable, view: RunView, summary: Summary) -> list[str]:
    """A table of a run with its notes, a list item each; empty without rows and notes."""
    found = shown(of, view, summary, "markdown")
    rows = [
        [
            *([code(row.name) if of.code else escaped(row.name)] if "markdown" in of.named else []),
            *(_cell(column, column.text(summary, row)) for column in found.columns),
        ]
        for row in found.rows
    ]
    head = [*([of.first] if "markdown" in of.named else []), *(column.label for column in found.columns)]
    above, below = (
        [f"- {escaped(note.text)}" for note in notes]
        for notes in notes_of(of, found, view, summary, "markdown")
    )
    parts = [part for part in (above, table(head, rows), below) if part]
    lines = "\n\n".join("\n".join(part) for part in parts).split("\n") if parts else []
    return _folded(of.fold.format(rows=len(rows)), lines) if "markdown" in of.folded else lines


def _cell(column: RunColumn, text: str) -> str:
    return text if column.holds == "figures" else code(text) if column.holds == "code" else escaped(text)


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


STATUS = {
    "publishable": "Fit to publish: {met}.",
    "preliminary": "Not fit to publish: figures are preliminary, since not every rule is known to be met.",
    "invalid": "Not fit to publish: the run is invalid.",
}


def disclosure(view: RunView, summary: Judged) -> Document:
    """What a reader needs to repeat a run or to doubt it: system, settings, result, and every rule.

    It says first whether the figures may be published; what is not known is ``-``.
    """
    validity = summary.validity
    status = STATUS[validity.status].format(met=met_words(validity))
    facts = {
        "system": _system(view.facts, summary),
        "workload and settings": _settings(view, summary),
        "result": _result(summary),
    }
    return Document(
        headline=Headline(sign="measured", sentence=f"Disclosure of run {summary.run_id}"),
        parts=each(
            Sentences([f"{status} Written by mawl {summary.mawl_version}."]),
            *(Table(title=title, head=("fact", "value"), rows=list(rows)) for title, rows in facts.items()),
            Table(title="rules", head=("rule", "met", "what it found"), rows=_rules(validity)),
        ),
    )


def _system(facts: RunFacts, summary: Judged) -> Iterator[tuple[str, str]]:
    for node in summary.nodes:
        yield "node", node_text(node)
        basis = f"{node.sockets or ABSENT} sockets, {node.physical_cores or ABSENT} physical cores"
        yield "processors", f"{basis}, {node.logical_cpus or ABSENT} logical, SMT {node.smt or ABSENT}"
        yield "virtual machine", node.virtual or "not seen"
    for volume in facts.volumes:
        where = f"{volume.file_system or ABSENT} on {volume.source or ABSENT}"
        disks = f", disks {' '.join(volume.disks)}" if volume.disks else f" ({volume.reason})"
        yield f"{volume.role} on {volume.node}", f"{where}, mounted at {volume.mount_point or ABSENT}{disks}"
    caps = cap_sentence(summary) or summary.missing["caps.together.read.bytes_per_second"]
    yield "I/O caps of control groups", caps
    software = (f"{name} {version}" for name, version in facts.software.items() if version)
    yield "software", ", ".join(software) or ABSENT
    if facts.arrow_pool is not None:
        yield "memory pool of Arrow", facts.arrow_pool
    held = (f"{name}={value}" for name, value in facts.settings.items() if value is not None)
    yield "kernel settings", ", ".join(held) or ABSENT


def _settings(view: RunView, summary: Judged) -> Iterator[tuple[str, str]]:
    facts, workload = view.facts, summary.workload
    # The place of the command itself says nothing to a reader elsewhere.
    yield "command", " ".join([Path(word).name for word in facts.command[:1]] + facts.command[1:]) or ABSENT
    yield "workload", workload_text(view, summary)
    yield "seed", figure(workload.seed, format_plain)
    for name, value in ({} if workload.options is None else msgspec.structs.asdict(workload.options)).items():
        size = name.endswith("_bytes")
        yield name.removesuffix("_bytes"), format_memory(value) if size else str(value).lower()
    yield "start of jobs", facts.start_mode or ABSENT
    yield "jobs at once", concurrency_text(summary.jobs)
    inputs = summary.inputs
    asked = (inputs.mode if inputs else None) or "as they were"
    share = figure(inputs.resident_ratio if inputs else None, format_percent)
    yield "inputs in the page cache before the start", f"{share} of them; asked to be: {asked}"
    yield "runs of this workload for this answer", str(facts.repeats)


def _result(summary: Judged) -> Iterator[tuple[str, str]]:
    time, io = summary.time, summary.io
    yield "started", summary.started_at
    yield "outcome", outcome_text(summary)
    yield from headlines(summary)
    yield (
        "workload response time (sum of real times)",
        sum_text(summary, "real_time_seconds", format_seconds),
    )
    for label, field in cpu_parts(time):
        yield label, sum_text(summary, field, format_seconds)
    yield "CPU/real of the sums", ratio_text(summary)
    given: tuple[tuple[str, object, Form], ...] = (
        ("elapsed", time.elapsed_seconds, format_seconds),
        ("active phase", time.active_seconds, format_seconds),
        ("device, read (all programs)", io.device.read_bytes, format_bytes),
        ("device, written (all programs)", io.device.written_bytes, format_bytes),
        ("own, read at devices", io.own.read_bytes, format_bytes),
        ("own, written at devices", io.own.written_bytes, format_bytes),
        ("dirtied in memory", io.dirtied.written_bytes, format_bytes),
        ("dirtied, still in memory at the end", io.dirtied.still_dirty_bytes, format_memory),
        ("device, peak", io.device.peak.total_bytes_per_second, format_rate),
        ("device, sustained", io.device.sustained.total_bytes_per_second, format_rate),
        ("device, sustained per core", io.device.sustained_bytes_per_second_per_core, format_rate),
        ("window", io.device.window_seconds, format_seconds),
        ("reach, reads", io.reach.read_ratio, format_percent),
        ("reach, writes", io.reach.write_ratio, format_percent),
    )
    for name, value, form in given:
        yield name, figure(value, form)


def _rules(validity: Validity) -> list[tuple[str, ...]]:
    """Every rule: met, remarked on, not known, or not met with what it found."""
    unknown = {one.rule: one.reason for one in validity.unmeasured}
    found: dict[str, list[Finding]] = {}
    for finding in validity.findings:
        found.setdefault(finding.rule, []).append(finding)
    rows: list[tuple[str, ...]] = []
    for rule in RULES:
        own = found.get(rule, [])
        broken = any(finding.severity != "remark" for finding in own)
        sentences = "; ".join(finding.sentence for finding in own)
        met = "NO" if broken else "yes, with a remark" if own else "yes"
        if rule in unknown and not broken:
            met, sentences = f"not known: {unknown[rule]}", ""
        rows.append((rule, met, sentences))
    return rows

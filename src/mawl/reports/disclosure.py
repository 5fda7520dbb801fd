"""A one-page disclosure of a run: the system, what ran with which settings, the rules, the result.

What a reader needs to repeat the run or to doubt it, as Markdown.  Every rule of validity is listed with
what it found, and the page says first whether the figures may be published.
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
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import Finding, Validity
from mawl.records.model.summary.summary import Judged
from mawl.reports.judgement import headlines, met_words
from mawl.reports.layout import ABSENT, Form, code, cpu_parts, escaped, figure, table
from mawl.reports.paragraphs import ratio_text, sum_text
from mawl.reports.run_lines import concurrency_text, node_text, outcome_text, workload_text
from mawl.reports.run_tables.storage import cap_sentence

STATUS = {
    "publishable": "Fit to publish: {met}.",
    "preliminary": "Not fit to publish: figures are preliminary, since not every rule is known to be met.",
    "invalid": "Not fit to publish: the run is invalid.",
}


def render(view: RunView, summary: Judged) -> str:
    """The page; what is not known is ``-``, and text of the run is escaped."""
    validity = summary.validity
    status = STATUS[validity.status].format(met=met_words(validity))
    parts = [
        [f"# Disclosure of run {escaped(summary.run_id)}"],
        [f"**{status}** Written by mawl {escaped(summary.mawl_version)}."],
        ["## System", "", *_rows(_system(view.facts, summary))],
        ["## Workload and settings", "", *_rows(_settings(view, summary))],
        ["## Result", "", *_rows(_result(summary))],
        ["## Rules", "", *_rules(validity)],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def _system(facts: RunFacts, summary: Judged) -> Iterator[tuple[str, object]]:
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


def _settings(view: RunView, summary: Judged) -> Iterator[tuple[str, object]]:
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


def _result(summary: Judged) -> Iterator[tuple[str, object]]:
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


def _rows(rows: Iterator[tuple[str, object]]) -> list[str]:
    return table(("fact", "value"), [(escaped(name), escaped(text)) for name, text in rows], words=True)


def _rules(validity: Validity) -> list[str]:
    """Every rule: met, remarked on, not known, or not met with what it found."""
    unknown = {one.rule: one.reason for one in validity.unmeasured}
    found: dict[str, list[Finding]] = {}
    for finding in validity.findings:
        found.setdefault(finding.rule, []).append(finding)
    rows = []
    for rule in RULES:
        own = found.get(rule, [])
        broken = any(finding.severity != "remark" for finding in own)
        sentences = "; ".join(escaped(finding.sentence) for finding in own)
        met = "**no**" if broken else "yes, with a remark" if own else "yes"
        if rule in unknown and not broken:
            met, sentences = f"not known: {escaped(unknown[rule])}", ""
        rows.append((code(rule), met, sentences))
    return table(("rule", "met", "what it found"), rows, words=True)

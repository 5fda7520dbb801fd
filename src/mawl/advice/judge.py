"""The whole summary of a run: its figures, and what they mean; the status of its validity, and SMT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from mawl.advice.answer import answer_of
from mawl.advice.bounds import AnswerBounds
from mawl.advice.guideline import guideline_of
from mawl.advice.limit.verdict import limit_of
from mawl.advice.validity.host import CLOCK, COMPETITION, FREQUENCY, OVERHEAD, SAMPLING, STEAL, SWAP
from mawl.advice.validity.workload import (
    COVERAGE,
    DRIFT,
    DURATION,
    JOBS,
    REACH,
    REPEATS,
    RESIDENCY,
    SCALE,
    SIMULATED,
    SPACE,
    WRITEBACK,
)
from mawl.base.units import counted_noun, format_percent, format_ratio
from mawl.figures.host_parts import CPU_KINDS, busy_ratio
from mawl.figures.job_sums import reasons
from mawl.figures.missing import Missing
from mawl.figures.threads import is_aix, power_model, threads_per_core
from mawl.figures.view import RunView
from mawl.records.model.run import NodeFacts
from mawl.records.model.summary.judgement import (
    Finding,
    Severity,
    Smt,
    ThreadMode,
    ThresholdUsed,
    Unmeasured,
    Validity,
)
from mawl.records.model.summary.summary import Judged, Summary
from mawl.records.model.thresholds import Threshold, thresholds_of, value_of

Status = Literal["publishable", "preliminary", "invalid"]

RULES = {
    rule.name: rule
    for rule in (
        JOBS,
        REACH,
        SCALE,
        DURATION,
        REPEATS,
        RESIDENCY,
        COMPETITION,
        WRITEBACK,
        CLOCK,
        COVERAGE,
        SAMPLING,
        SWAP,
        STEAL,
        FREQUENCY,
        DRIFT,
        SPACE,
        OVERHEAD,
    )
}
"""Every rule by its name, in the order of the report; one that says nothing is met."""

ORDER: tuple[Severity, ...] = ("invalid", "preliminary", "remark")


def status(said: Sequence[Finding | Unmeasured]) -> Status:
    worst = {one.severity for one in said}
    return "invalid" if "invalid" in worst else "preliminary" if "preliminary" in worst else "publishable"


def validity_of(view: RunView) -> Validity:
    """``validity`` of the summary: findings with the gravest first, what is not known in the rules' order."""
    if view.facts.kind == "simulated":
        said = SIMULATED.results(view)
    else:
        imported = view.facts.kind == "imported"
        said = [one for rule in RULES.values() for one in rule.results(view, imported=imported)]
    found = [one for one in said if isinstance(one, Finding)]
    found.sort(key=lambda finding: ORDER.index(finding.severity))
    unknown = [one for one in said if isinstance(one, Unmeasured)]
    return Validity(status=status(said), findings=found, unmeasured=unknown)


NAME = "smt"
LEAST_BUSY_RATIO = value_of("smt.least_busy_ratio")
SMT_CONTROL_FILE = "/sys/devices/system/cpu/smt/control"
MOST_THREADS = {"POWER5": 2, "POWER6": 2, "POWER7": 4}
"""Hardware threads of a core of older processors; later ones of the family have eight."""


def smt_of(reading: RunView, missing: dict[str, str]) -> Smt | None:
    """``smt`` of the summary; None where the run names no node."""
    nodes = {node.name: _thread_mode(reading, node) for node in reading.facts.machines()}
    if not nodes:
        missing["smt"] = "the run names no node"
        return None
    found = [one for node in reading.facts.machines() if (one := _finding(reading, node, nodes[node.name]))]
    return Smt(nodes=nodes, findings=found)


def _thread_mode(reading: RunView, node: NodeFacts) -> ThreadMode:
    busy = runnable = None
    if reading.samples is not None and reading.windows is not None:
        edges = reading.windows.active_edges
        span = (edges[0], edges[-1])
        changes = {
            kind: reading.samples.changes(node.name, f"host.cpu_{kind}_seconds", span)[0]
            for kind in CPU_KINDS
        }
        busy = busy_ratio({kind: change and change.per_second for kind, change in changes.items()})
        runnable = reading.samples.means(node.name, "host.runnable", span)[0]
    return ThreadMode(
        threads_per_core=threads_per_core(reading.facts, node),
        hardware_threads=node.logical_cpus,
        mode=node.smt,
        busy_ratio=busy,
        runnable=runnable,
    )


def _finding(reading: RunView, node: NodeFacts, block: ThreadMode) -> Finding | None:
    """The next mode, where the processors are busy and more threads could run than there are places."""
    busy, runnable, places = block.busy_ratio, block.runnable, block.hardware_threads
    if busy is None or runnable is None or not places or busy <= LEAST_BUSY_RATIO or runnable <= places:
        return None
    following = _next_mode_on_aix(node, block) if is_aix(reading.facts, node) else _next_mode_on_linux(node)
    if following is None:
        return None
    mode, command = following
    have = counted_noun(block.threads_per_core, "thread") if block.threads_per_core else "threads"
    return Finding(
        rule=NAME,
        severity="remark",
        sentence=f"processors of {node.name} were busy for {format_percent(busy)} of the active phase, and "
        f"{format_ratio(runnable)} threads were runnable for {places} hardware threads ({have} a core)",
        cure=f"try {mode} ({command}) and compare runs before and after: it may help, and it may not",
    )


def _next_mode_on_aix(node: NodeFacts, block: ThreadMode) -> tuple[str, str] | None:
    threads = block.threads_per_core
    most = MOST_THREADS.get(power_model(node) or "", 8)
    if threads is None or threads >= most:
        return None
    return f"SMT-{2 * threads}", f"smtctl -t {2 * threads} -w now"


def _next_mode_on_linux(node: NodeFacts) -> tuple[str, str] | None:
    """``on`` has all threads already; a number is the mode of a POWER machine that has more."""
    mode = node.smt or ""
    if mode == "off":
        return "all hardware threads", f"echo on > {SMT_CONTROL_FILE}"
    if mode == "forceoff":
        return "all hardware threads", "start the kernel without nosmt=force"
    if mode.isdigit() and int(mode) < 8:
        return f"SMT-{2 * int(mode)}", f"echo {2 * int(mode)} > {SMT_CONTROL_FILE}"
    return None


def judged(view: RunView, bounds: AnswerBounds | None = None) -> Judged:
    """The summary of a run with ``answer``, ``guideline``, ``limit``, ``smt`` and ``validity`` filled.

    ``bounds`` are those of answer and guideline; None for the defaults.
    """
    summary = view.summary
    bounds = bounds or AnswerBounds()
    found: Missing = dict(summary.missing)
    probe = None if isinstance(view.probe, str) else view.probe
    limit = limit_of(view, found, bounds.answer_bound)
    validity = validity_of(view)
    whole = msgspec.structs.replace(
        summary,
        limit=limit,
        answer=answer_of(view, bounds.answer_bound, found),
        guideline=guideline_of(view, limit, probe, bounds, found),
        smt=smt_of(view, found),
        validity=validity,
    )
    whole.thresholds = _deciding_thresholds(whole, validity, bounds)
    whole.missing = reasons(whole, found, view.facts.missing)
    return Judged(**msgspec.structs.asdict(whole))


def _deciding_thresholds(summary: Summary, validity: Validity, bounds: AnswerBounds) -> list[ThresholdUsed]:
    """``thresholds`` of a judged summary: those of answers, verdict, and rules with a finding.

    A rule that found nothing is met whatever its threshold's neighbour would be; the page of thresholds has
    them all.
    """
    groups = ["answer", "guideline"]
    if summary.limit:
        groups.append("limit")
        sentences = [line.sentence for line in summary.limit.evidence]
        groups += ["imported.limit"] if summary.kind == "imported" else []
        groups += ["limit.plateau"] if any(line.startswith("plateau") for line in sentences) else []
        groups += ["limit.cap"] if summary.limit.caps_reached else []
        groups += ["limit.links"] if any("their links" in line for line in sentences) else []
    groups += [f"validity.{finding.rule}" for finding in validity.findings]
    groups += ["smt"] if summary.smt and summary.smt.findings else []
    groups += ["imported"] if summary.time.periods else []
    asked = bounds.by_threshold()
    return [_threshold_used(one, asked.get(one.name, one.value)) for one in thresholds_of(groups)]


def _threshold_used(one: Threshold, used: float) -> ThresholdUsed:
    source = one.source if used == one.value else "set by the user (mawl.toml)"
    return ThresholdUsed(name=one.name, bound=used, unit=one.unit, meaning=one.meaning, source=source)

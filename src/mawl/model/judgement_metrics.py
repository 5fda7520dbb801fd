"""Definitions of what a summary concludes: capacity, limit and validity."""

from __future__ import annotations

from mawl.model.capacity_metrics import CAPACITY_METRICS
from mawl.model.metric import (
    Metric,
    count_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    text_metric,
)

VERDICT = "docs/design/verdict.md, The verdict"
LOSSES = "docs/design/verdict.md, What a resource cost"
EVIDENCE = "docs/design/verdict.md, Evidence"
VALIDITY = "docs/design/validity.md, Status"

THREADS = "docs/design/threads.md, The mode"
NEXT_MODE = "docs/design/threads.md, The next mode"

RESOURCES = ("storage", "cpu", "memory", "network")

LIMIT_METRICS: tuple[Metric, ...] = (
    object_metric("limit", "What limits the system; null where no window tells.", VERDICT),
    text_metric("limit.verdict", "storage, cpu, memory, network, none, or mixed.", VERDICT),
    text_metric("limit.role", "The role whose I/O cost most, where the verdict is storage.", VERDICT),
    text_metric("limit.device", "The device that holds that role, where it is one.", VERDICT),
    *(
        rate_metric(
            f"limit.device_{name}peak_bytes_per_second",
            f"What that device {moved} in its highest window of the active phase.",
            VERDICT,
        )
        for name, moved in (("", "read and wrote"), ("read_", "read"), ("write_", "wrote"))
    ),
    *(
        ratio_metric(
            f"limit.shares.{name}",
            f"Share of the active time that tells in windows limited by {name}."
            if name != "none"
            else "Share of the active time that tells in windows that nothing limited.",
            VERDICT,
        )
        for name in (*RESOURCES, "none")
    ),
    *(
        ratio_metric(
            f"limit.losses.{name}",
            f"Mean share of the jobs' time that waiting for {name} cost; of an import at most that share.",
            LOSSES,
        )
        for name in RESOURCES
    ),
    ratio_metric(
        "limit.told_ratio", "Share of the active time whose windows tell what limited them.", VERDICT
    ),
    text_metric("limit.second", "The resource that cost most beside the verdict.", VERDICT),
    ratio_metric("limit.headroom.cpu_ratio", "Mean share of processor time that was idle.", VERDICT),
    ratio_metric(
        "limit.headroom.storage_ratio",
        "1 less the highest of demand over the probe's capability, of any role and direction; without a "
        "probe 1 less the busy share of the busiest device of the roles.",
        VERDICT,
    ),
    text_metric("limit.headroom.storage_source", "Which of both it is, and of what.", VERDICT),
    ratio_metric(
        "limit.headroom.memory_ratio",
        "Least memory that was available over all; below a memory limit 1 less the most that the jobs held "
        "over that limit.",
        VERDICT,
    ),
    text_metric("limit.headroom.memory_source", "The limit in force.", VERDICT),
    ratio_metric(
        "limit.headroom.network_ratio",
        "1 less the highest window of any interface, one way, over its speed.",
        VERDICT,
    ),
    text_metric("limit.headroom.network_source", "The interface.", VERDICT),
    text_metric("limit.evidence.*.kind", "evidence, or support, which never decides.", EVIDENCE),
    text_metric("limit.evidence.*.sentence", "The line, with the figures it used.", EVIDENCE),
)

VALIDITY_METRICS: tuple[Metric, ...] = (
    text_metric("validity.status", "publishable, preliminary or invalid.", VALIDITY),
    text_metric("validity.findings.*.rule", "The rule that found it.", VALIDITY),
    text_metric("validity.findings.*.severity", "invalid, preliminary or remark.", VALIDITY),
    text_metric("validity.findings.*.sentence", "What it found, with the figures it used.", VALIDITY),
    text_metric("validity.findings.*.cure", "What to do about it.", VALIDITY),
    text_metric("validity.unmeasured.*.rule", "A rule whose figure the run does not have.", VALIDITY),
    text_metric(
        "validity.unmeasured.*.severity", "What that makes of the run: preliminary or remark.", VALIDITY
    ),
    text_metric("validity.unmeasured.*.reason", "Why the run does not have it.", VALIDITY),
)

SMT_METRICS: tuple[Metric, ...] = (
    object_metric("smt", "Hardware threads of the cores; null where the run names no node.", THREADS),
    count_metric(
        "smt.nodes.*.threads_per_core",
        "Hardware threads of a core that are on; where cores differ the most of one.",
        THREADS,
    ),
    count_metric("smt.nodes.*.hardware_threads", "Those of the node: its logical processors.", THREADS),
    text_metric("smt.nodes.*.mode", "As the system tells it: on, off, 4, SMT-8 ...", THREADS),
    ratio_metric(
        "smt.nodes.*.busy_ratio", "Share of the active phase's processor time that was busy.", NEXT_MODE
    ),
    ratio_metric("smt.nodes.*.runnable", "Mean runnable threads in the active phase.", NEXT_MODE),
    Metric(
        "smt.findings",
        "-",
        "list",
        "For each node whose next mode is worth a try: rule, severity (remark), sentence and cure.",
        NEXT_MODE,
    ),
)

THRESHOLDS = "docs/reference/thresholds.md"

THRESHOLD_METRICS: tuple[Metric, ...] = (
    text_metric("thresholds.*.name", "A threshold that decided something in this run.", THRESHOLDS),
    Metric("thresholds.*.bound", "-", "float", "Its value, in its base unit.", THRESHOLDS),
    text_metric("thresholds.*.unit", "That unit.", THRESHOLDS),
    text_metric("thresholds.*.meaning", "What it decides.", THRESHOLDS),
    text_metric("thresholds.*.source", "Where it comes from, or what was measured to choose it.", THRESHOLDS),
)

JUDGEMENT_METRICS: tuple[Metric, ...] = (
    *CAPACITY_METRICS,
    *LIMIT_METRICS,
    *SMT_METRICS,
    *VALIDITY_METRICS,
    *THRESHOLD_METRICS,
)

"""Definitions of what a summary concludes: capacity, limit and validity."""

from __future__ import annotations

from mawl.model.metric import (
    Metric,
    count_metric,
    flag_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    text_metric,
)

VERDICT = "docs/design/verdict.md, The verdict"
LOSSES = "docs/design/verdict.md, What a resource cost"
EVIDENCE = "docs/design/verdict.md, Evidence"
CARRIED = "docs/design/capacity.md, Carried or not"
STRETCH = "docs/design/capacity.md, Stretch"
GATE = "docs/design/capacity.md, The gate"
VALIDITY = "docs/design/validity.md, Status"

THREADS = "docs/design/threads.md, The mode"
NEXT_MODE = "docs/design/threads.md, The next mode"

RESOURCES = ("storage", "cpu", "memory", "network")

CAPACITY_METRICS: tuple[Metric, ...] = (
    flag_metric(
        "capacity.carried",
        "Whether the system carries the sessions: null where only a part is not known, or "
        "the run did not go through and no job failed.",
        CARRIED,
    ),
    Metric(
        "capacity.reasons", "-", "list", "A sentence for each of the three parts, with its figures.", CARRIED
    ),
    ratio_metric("capacity.stretch.median", "Median over jobs of real time in the mix over alone.", STRETCH),
    ratio_metric("capacity.stretch.p90", "The same, 90th percentile.", STRETCH),
    ratio_metric("capacity.stretch.longest", "The same, of the job that was stretched most.", STRETCH),
    ratio_metric("capacity.stretch.most", "The bound of the median.", STRETCH),
    ratio_metric("capacity.stretch.by_job.*", "Real time in the mix over alone of one job.", STRETCH),
    count_metric("capacity.stretch.jobs", "Jobs that count and have a time alone.", STRETCH),
    count_metric("capacity.stretch.counted", "Jobs that count.", STRETCH),
    *(
        rate_metric(f"capacity.gate.{name}", definition, GATE)
        for name, definition in (
            ("bytes_per_second_per_core", "Sustained throughput at the device per core."),
            ("warn_bytes_per_second_per_core", "Below it the gate is not met."),
            ("good_bytes_per_second_per_core", "From it on the gate is met without a warning."),
        )
    ),
    text_metric("capacity.gate.core_basis", "What the cores are: physical core or vCPU.", GATE),
    text_metric("capacity.gate.standing", "good, warn or below.", GATE),
    flag_metric("capacity.gate.met", "Whether the throughput is at least the lower bound.", GATE),
)

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
            f"limit.losses.{name}", f"Mean share of the jobs' time that waiting for {name} cost.", LOSSES
        )
        for name in RESOURCES
    ),
    ratio_metric(
        "limit.told_ratio", "Share of the active time whose windows tell what limited them.", VERDICT
    ),
    text_metric("limit.second", "The resource that cost most beside the verdict.", VERDICT),
    ratio_metric("limit.headroom.cpu_ratio", "Mean share of processor time that was idle.", VERDICT),
    ratio_metric("limit.headroom.device_ratio", "1 less sustained over peak device throughput.", VERDICT),
    ratio_metric("limit.headroom.memory_ratio", "Least memory that was available, over all.", VERDICT),
    text_metric("limit.evidence.*.kind", "evidence, or support, which never decides.", EVIDENCE),
    text_metric("limit.evidence.*.sentence", "The line, with the figures it used.", EVIDENCE),
)

VALIDITY_METRICS: tuple[Metric, ...] = (
    text_metric("validity.status", "publishable, indicative or invalid.", VALIDITY),
    text_metric("validity.findings.*.rule", "The rule that found it.", VALIDITY),
    text_metric("validity.findings.*.severity", "invalid, indicative or remark.", VALIDITY),
    text_metric("validity.findings.*.sentence", "What it found, with the figures it used.", VALIDITY),
    text_metric("validity.findings.*.cure", "What to do about it.", VALIDITY),
    text_metric("validity.unmeasured.*.rule", "A rule whose figure the run does not have.", VALIDITY),
    text_metric(
        "validity.unmeasured.*.severity", "What that makes of the run: indicative or remark.", VALIDITY
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

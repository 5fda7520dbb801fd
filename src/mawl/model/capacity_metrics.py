"""Definitions of what a summary says about capacity: the answers, the slowdown, the guideline."""

from __future__ import annotations

from mawl.model.metric import Metric, count_metric, flag_metric, rate_metric, ratio_metric, text_metric

PAGE = "docs/design/capacity.md"
ANSWERS = f"{PAGE}, The answers"
SLOWDOWN = f"{PAGE}, Slowdown and its parts"
INTERVAL = f"{PAGE}, The interval"
GUIDELINE = f"{PAGE}, The guideline"

CAPACITY_METRICS: tuple[Metric, ...] = (
    text_metric("capacity.answer", "carried, not carried or not known: jobs, compute and storage.", ANSWERS),
    flag_metric("capacity.carried", "The same: true, false, or null where it is not known.", ANSWERS),
    flag_metric(
        "capacity.preliminary",
        "Whether the active phase is too short for an answer that can be published.",
        ANSWERS,
    ),
    Metric("capacity.reasons", "-", "list", "A sentence for each part of the answer.", ANSWERS),
    text_metric("capacity.next_step", "The one thing to do where the answer is not known.", ANSWERS),
    *(
        metric
        for part, words in (("compute", "CPU time and run queue"), ("storage", "I/O of data, work and util"))
        for metric in (
            text_metric(f"capacity.{part}.answer", "carried, not carried or not known.", ANSWERS),
            ratio_metric(
                f"capacity.{part}.median",
                f"Median over jobs of the slowdown if only {words} had changed.",
                SLOWDOWN,
            ),
            ratio_metric(f"capacity.{part}.low", "Lower end of its 95 % interval.", INTERVAL),
            ratio_metric(f"capacity.{part}.high", "Upper end of its 95 % interval.", INTERVAL),
            text_metric(f"capacity.{part}.reason", "Why the answer is not known.", ANSWERS),
        )
    ),
    rate_metric(
        "capacity.storage.asked_bytes_per_second",
        "Sustained rate at the device that the answer for the storage is about.",
        ANSWERS,
    ),
    ratio_metric(
        "capacity.slowdown.median", "Median over jobs of real time in the mix over alone.", SLOWDOWN
    ),
    ratio_metric("capacity.slowdown.low", "Lower end of its 95 % interval.", INTERVAL),
    ratio_metric("capacity.slowdown.high", "Upper end of its 95 % interval.", INTERVAL),
    ratio_metric("capacity.slowdown.p90", "90th percentile over jobs.", SLOWDOWN),
    ratio_metric("capacity.slowdown.longest", "The job with the largest slowdown.", SLOWDOWN),
    ratio_metric("capacity.slowdown.most", "The bound of the medians of both parts.", ANSWERS),
    ratio_metric("capacity.slowdown.by_job.*", "Real time in the mix over alone of one job.", SLOWDOWN),
    count_metric("capacity.slowdown.jobs", "Jobs that count and have a time alone.", SLOWDOWN),
    count_metric("capacity.slowdown.counted", "Jobs that count.", SLOWDOWN),
    count_metric("capacity.slowdown.runs_alone", "Runs alone of the kind that has fewest.", INTERVAL),
    *(
        rate_metric(f"capacity.guideline.{name}", definition, GUIDELINE)
        for name, definition in (
            ("bytes_per_second_per_core", "Throughput per core: of a probe, else sustained in this run."),
            ("warn_bytes_per_second_per_core", "Below it the guideline is not met."),
            ("good_bytes_per_second_per_core", "From it on it is good."),
        )
    ),
    text_metric(
        "capacity.guideline.basis", "probe, or run where the storage limited it; null: not judged.", GUIDELINE
    ),
    text_metric("capacity.guideline.core_basis", "What the cores are: physical core or vCPU.", GUIDELINE),
    text_metric("capacity.guideline.standing", "good, warn or below.", GUIDELINE),
    flag_metric("capacity.guideline.met", "Whether the throughput is at least the lower bound.", GUIDELINE),
)

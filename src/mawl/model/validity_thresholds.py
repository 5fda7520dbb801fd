"""The thresholds of the rules that say whether a run can be trusted (docs/design/validity.md)."""

from __future__ import annotations

from mawl.model.threshold import CONVENTION, Threshold, threshold

VALIDITY: tuple[Threshold, ...] = (
    threshold(
        "validity.duration.least_active_seconds",
        1200.0,
        "seconds",
        "An active phase of at least this length can be published.",
        f"{CONVENTION}; write caches, burst credits and heat show within minutes",
    ),
    threshold(
        "validity.repeats.fewest_runs",
        5,
        "count",
        "Runs of the same workload.",
        "docs/design/comparison.md: the interval keeps its level from five runs on",
    ),
    threshold(
        "validity.residency.most_resident_ratio",
        0.1,
        "ratio",
        "Share of the inputs that may be cached before a start that was not declared warm.",
    ),
    threshold(
        "validity.competition.most_cpu_ratio",
        0.1,
        "ratio",
        "Share of all processor time that others may use; writeback by the kernel is in it.",
    ),
    threshold(
        "validity.competition.most_foreign_bytes_ratio",
        0.1,
        "ratio",
        "Share of the bytes at the roles' devices that may be others'; journals and metadata are in it.",
        "docs/design/figures.md, Bytes: what was measured with nobody else there",
    ),
    threshold(
        "validity.competition.least_foreign_bytes_per_second",
        5e6,
        "bytes per second",
        "A smaller rate of others at the roles' devices is no finding.",
    ),
    threshold(
        "validity.writeback.most_left_ratio",
        0.1,
        "ratio",
        "Bytes that memory still held for the devices at the gate, or of the run's own at its end, over all "
        "that the devices were given.",
    ),
    threshold(
        "validity.writeback.least_left_bytes",
        16e6,
        "bytes",
        "Less than this in memory at the gate or at the end is no finding.",
    ),
    threshold(
        "validity.clock.least_step_seconds",
        1.0,
        "seconds",
        "The wall and the monotonic clock may disagree by this much.",
    ),
    threshold(
        "validity.clock.most_slew_ratio",
        0.001,
        "ratio",
        "The same as a share of a duration.",
        "twice the largest slew of adjtimex(2): 500 parts in a million",
    ),
    threshold(
        "validity.coverage.least_ratio",
        0.95,
        "ratio",
        "Share of the kernel's bytes that I/O by role must have seen.",
    ),
    threshold(
        "validity.sampling.longest_step_seconds",
        3.0,
        "seconds",
        "A longer gap between two samples is a gap.",
    ),
    threshold(
        "validity.sampling.most_missed_ratio",
        0.02,
        "ratio",
        "Share of the run that may lie in such gaps.",
    ),
    threshold(
        "validity.sampling.longest_step_intervals",
        3.0,
        "count",
        "The same gap of an imported recording, in intervals of that recording.",
    ),
    threshold("validity.swap.most_bytes", 10e6, "bytes", "Bytes that the system may swap during a run."),
    threshold(
        "validity.steal.most_ratio",
        0.02,
        "ratio",
        "Share of processor time that the hypervisor may give to others.",
    ),
    threshold(
        "validity.frequency.least_kept_ratio",
        0.9,
        "ratio",
        "Processor frequency of the last third of the active phase over that of the first.",
    ),
    threshold(
        "validity.drift.fewest_windows",
        6,
        "count",
        "Windows of the active phase from which thirds are compared.",
    ),
    threshold(
        "validity.drift.least_kept_ratio",
        0.7,
        "ratio",
        "Device throughput of the last third of the active phase over that of the first.",
    ),
    threshold(
        "validity.drift.least_waiting_ratio",
        1.0,
        "ratio",
        "Lower throughput is drift only while this many times as many jobs were blocked as at first.",
    ),
    threshold(
        "validity.drift.least_blocked_jobs",
        0.2,
        "ratio",
        "Fewer blocked jobs (mean) in the last third ask too little to show drift.",
    ),
    threshold(
        "validity.space.least_free_ratio",
        0.1,
        "ratio",
        "Share of a file system that must stay free.",
        f"{CONVENTION}; file systems and flash slow down when nearly full",
    ),
    threshold(
        "validity.overhead.most_ratio",
        0.02,
        "ratio",
        "CPU time of mawl itself while jobs ran over that of the jobs.",
    ),
    threshold(
        "smt.least_busy_ratio",
        0.7,
        "ratio",
        "Processors busier than this make the next mode of hardware threads worth a try.",
        "REDP-5288-00, SMT8 considerations",
    ),
)

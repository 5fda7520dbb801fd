"""All thresholds that a rule, an answer or a verdict uses, as one table (docs/reference/thresholds.md).

A rule reads its values from here (``value_of``) and has none of its own.  docs/design/verdict.md has the
reasons of ``LIMIT``, docs/design/validity.md those of ``VALIDITY``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mawl.records.model.threshold_rows import (
    ANSWER,
    COMPARISON,
    CONVENTION,
    HISTORY,
    QUALIFICATION,
    Threshold,
    threshold,
)

GROUND_TRUTH = "tests/advice/limit/test_ground_truth.py: limits that were made and relaxed on purpose"

LIMIT: tuple[Threshold, ...] = (
    threshold(
        "limit.least_loss_ratio",
        0.2,
        "ratio",
        "A cause limits a run or a window from this share of the jobs' time on; of two named ones their sum.",
        f"{GROUND_TRUTH}; relieving less would not shorten the run by a fifth",
    ),
    threshold(
        "limit.least_known_ratio",
        0.5,
        "ratio",
        "A verdict needs more than this share of the active time known.",
    ),
    threshold(
        "limit.least_cost_ratio",
        0.02,
        "ratio",
        "Causes that cost less than this share of the jobs' time are not listed.",
    ),
    threshold(
        "limit.both_queue_ratio",
        0.3,
        "ratio",
        "The same of the queue of processors behind storage: more processors can end a queue.",
        "docs/design/verdict.md, Is the larger cost the better one to relieve?",
    ),
    threshold(
        "limit.both_storage_ratio",
        0.6,
        "ratio",
        "The same of storage behind the queue of processors: its jobs come back to the queue.",
        "docs/design/verdict.md, Is the larger cost the better one to relieve?",
    ),
    threshold(
        "limit.both_ratio",
        0.5,
        "ratio",
        "A second cause limits a run, too, where it costs at least this part of the first.",
        "docs/design/verdict.md, Is the larger cost the better one to relieve?",
    ),
    threshold(
        "limit.used_ratio",
        0.7,
        "ratio",
        "Storage limits by its bandwidth if its devices moved at least this share of what they can (by a cap "
        "or a probe) while jobs waited, else by the latency of requests.",
        "docs/design/verdict.md, Bandwidth or latency",
    ),
    threshold(
        "limit.least_waiting_jobs",
        2.0,
        "count",
        "With fewer waiting jobs in a window a device may have had none to serve.",
        "docs/design/verdict.md, Bandwidth or latency",
    ),
    threshold(
        "limit.followed_ratio",
        0.5,
        "ratio",
        "Storage limits by latency where its rate grew with the waiting jobs to this power or more, else by "
        "bandwidth.",
        "docs/design/verdict.md, Bandwidth or latency",
    ),
    threshold(
        "limit.least_memory_pressure",
        0.05,
        "ratio",
        "Below this share of time under memory pressure no wait is put down to memory: reclaim makes some.",
    ),
    threshold(
        "limit.least_reread_ratio",
        0.05,
        "ratio",
        "Below this share of the device reads, reading again is not reported.",
    ),
    threshold(
        "limit.least_free_ratio",
        0.1,
        "ratio",
        "Where more of the memory was free all the time, nothing was read again for want of memory.",
    ),
    threshold(
        "limit.others.most_idle_ratio",
        0.1,
        "ratio",
        "Where more of the processors idled, no job waited for one because of other programs.",
    ),
    threshold(
        "limit.plateau.near_top_ratio",
        0.9,
        "ratio",
        "A window is at the top when it moves this share of the highest one.",
    ),
    threshold("limit.plateau.fewest_windows", 4, "count", "Windows at the top that make a plateau."),
    threshold(
        "limit.plateau.more_ratio",
        1.2,
        "ratio",
        "Waits grew when this many times as many jobs were blocked at the same throughput.",
    ),
    threshold(
        "limit.cap.near_ratio",
        0.95,
        "ratio",
        "A role is near a cap when its devices move at least this share of it in a window.",
    ),
    threshold(
        "limit.cap.above_ratio",
        1.1,
        "ratio",
        "A cap is not named if the role's devices moved more than so many times the cap in a window of "
        "waiting.",
        "docs/design/caps.md: reads of 2 s came to 1.07 times their cap",
    ),
    threshold(
        "limit.links.full_ratio",
        0.85,
        "ratio",
        "A link is full when it carries this share of its rate one way over a window.",
        "docs/design/verdict.md, the bed fabric",
    ),
    threshold(
        "limit.links.top_ratio",
        0.8,
        "ratio",
        "A storage server's device is at its top when it moves this share of its highest window, one way.",
        "docs/design/verdict.md, the bed fabric",
    ),
    threshold(
        "limit.links.carrying_ratio",
        0.5,
        "ratio",
        "Such a device must move this share of what all links carry.",
        "docs/design/verdict.md, the bed fabric",
    ),
    threshold(
        "limit.links.fewest_top_windows",
        4,
        "count",
        "Windows that such a device must be at its top.",
        "docs/design/verdict.md, the bed fabric",
    ),
    threshold(
        "limit.links.in_use_ratio",
        0.9,
        "ratio",
        "A device with a request in flight for this share of the time is at its top, too.",
        "docs/design/verdict.md, the bed fabric",
    ),
)

IMPORTED: tuple[Threshold, ...] = (
    threshold(
        "imported.least_gap_seconds",
        4 * 3600.0,
        "seconds",
        "Imported jobs with at least this time between them, in which no job ran, are not one run.",
        f"{CONVENTION}; a night's batch pauses for less, and nights lie further apart",
    ),
    threshold(
        "imported.limit.most_swapped_ratio",
        0.5,
        "ratio",
        "Where more than this share of what devices moved was swapped, an import's windows are not storage.",
    ),
    threshold(
        "imported.limit.full_processors_ratio",
        0.9,
        "ratio",
        "Processors of an import are full when this share of their time is neither idle nor iowait.",
        "docs/design/verdict.md, Imports: 20,000 closed systems solved exactly",
    ),
)

PLACEMENT: tuple[Threshold, ...] = (
    threshold(
        "placement.short_seconds",
        60.0,
        "seconds",
        "In a shorter run files come and go between two looks at the space they take.",
    ),
    threshold(
        "placement.mostly_ratio",
        0.95,
        "ratio",
        "Above this sequential share of the writes their order at the device does not matter.",
    ),
    threshold(
        "placement.worth_ratio",
        0.01,
        "ratio",
        "A move is advised when it is expected to change this share of the summed real time.",
    ),
    threshold(
        "placement.most_overlap",
        2.0,
        "ratio",
        "Reads and writes at the same time take half of the time of one after the other, at best.",
        "arithmetic: two directions",
    ),
    threshold(
        "placement.little_ratio",
        0.05,
        "ratio",
        "A part of the bytes so small that its pattern does not matter.",
    ),
    threshold(
        "placement.flash_ratio",
        0.25,
        "ratio",
        "A target that reads at random at this share of its sequential rate does not seek.",
        f"{CONVENTION}; disks reach a few hundredths",
    ),
    threshold(
        "tuning.close_ratio",
        1e-9,
        "ratio",
        "Numbers that differ by less are the same setting: seconds are floating-point.",
        "rounding of IEEE 754 doubles",
    ),
)


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


THRESHOLDS: dict[str, Threshold] = {
    one.name: one
    for one in (*ANSWER, *LIMIT, *IMPORTED, *VALIDITY, *COMPARISON, *HISTORY, *PLACEMENT, *QUALIFICATION)
}
"""Every threshold by its name, in the order of the reference page."""


def value_of(name: str) -> float:
    """The value of a threshold, in its base unit; KeyError for a name that is not in the table."""
    return THRESHOLDS[name].value


def count_of(name: str) -> int:
    """The value of a threshold that counts; KeyError for a name that is not in the table."""
    return int(THRESHOLDS[name].value)


def thresholds_of(groups: Iterable[str]) -> list[Threshold]:
    """The thresholds of groups (``limit``, ``validity.steal``), in the order of the table."""
    wanted = set(groups)
    return [one for one in THRESHOLDS.values() if one.group in wanted]

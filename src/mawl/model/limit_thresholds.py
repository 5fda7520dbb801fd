"""The thresholds of what limits a run (docs/design/verdict.md), of imports, placement and tuning."""

from __future__ import annotations

from mawl.model.threshold import CONVENTION, Threshold, threshold

GROUND_TRUTH = "tests/advice/limit/test_ground_truth.py: limits that were made and relaxed on purpose"

LIMIT: tuple[Threshold, ...] = (
    threshold(
        "limit.least_loss_ratio",
        0.2,
        "ratio",
        "A resource limits a window when waiting for it costs jobs at least this share of their time; the "
        "processors limit an answer if they add as much, and surely more than storage.",
        f"{GROUND_TRUTH}; relieving less would not shorten the run by a fifth",
    ),
    threshold(
        "limit.named_ratio",
        0.5,
        "ratio",
        "Above this share of the active time one resource is named; otherwise the run is mixed.",
        "docs/design/verdict.md: above half, doubling it helps more than doubling any other",
    ),
    threshold(
        "limit.second_ratio",
        0.02,
        "ratio",
        "A second limit costs at least this share of the jobs' time.",
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

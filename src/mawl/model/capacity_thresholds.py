"""The thresholds of the answers (docs/design/capacity.md) and of comparisons (docs/design/comparison.md)."""

from __future__ import annotations

from mawl.model.threshold import CONVENTION, Threshold, threshold

GUIDELINE = "SAS Institute, Best Practices for Configuring your I/O Subsystem for SAS 9 Applications"

CAPACITY: tuple[Threshold, ...] = (
    threshold(
        "capacity.most_slowdown",
        2.0,
        "ratio",
        "Bound of the median slowdown by compute, and by storage (most_slowdown in mawl.toml).",
        f"{CONVENTION}; an analyst waits twice as long as alone",
    ),
    threshold(
        "capacity.least_reach_ratio",
        0.8,
        "ratio",
        "Below this reach in a direction the page cache, not the storage, made its figures.",
    ),
    threshold(
        "capacity.least_direction_ratio",
        0.05,
        "ratio",
        "A direction with a smaller share of the application's bytes is not asked for its reach.",
    ),
    threshold(
        "capacity.least_active_seconds",
        60.0,
        "seconds",
        "Shortest active phase that answers for the storage, as a preliminary answer.",
        f"{CONVENTION}; twice the 30 s after which Linux writes dirty pages back",
    ),
    threshold(
        "capacity.publishable_active_seconds",
        1200.0,
        "seconds",
        "Shortest active phase whose answer for the storage is not preliminary.",
        "as validity.duration.least_active_seconds",
    ),
    threshold(
        "capacity.fewest_runs_alone",
        3,
        "count",
        "Runs of each kind of job alone that a time alone wants.",
        f"{CONVENTION}; the fewest with a spread that one outlier does not make",
    ),
    threshold(
        "capacity.guideline_bytes_per_second_per_core",
        100e6,
        "bytes per second",
        "Guideline: sustained throughput per core and file system (guideline_warn in mawl.toml).",
        GUIDELINE,
    ),
    threshold(
        "capacity.guideline_good_bytes_per_second_per_core",
        150e6,
        "bytes per second",
        "Good by the guideline (guideline_good in mawl.toml).",
        GUIDELINE,
    ),
)

COMPARISON: tuple[Threshold, ...] = (
    threshold(
        "comparison.fewest_runs",
        5,
        "count",
        "Runs a side below which differences are shown and not judged.",
        "docs/design/comparison.md: the rates at which intervals of five runs err",
    ),
    threshold(
        "comparison.level",
        0.05,
        "ratio",
        "How often a difference may be reported where there is none; also how often no change where "
        "there is one.",
        "custom of the field",
    ),
    threshold(
        "comparison.power",
        0.8,
        "ratio",
        "How often the smallest effect that is printed would be found.",
        "custom of the field",
    ),
    threshold(
        "comparison.margin_ratio",
        0.05,
        "ratio",
        "No change larger than this is claimed when the 90 % interval lies inside (compare --margin).",
        "the margin of run time that the papers call alike (dl980-ioscale-2014)",
    ),
    threshold(
        "comparison.most_warmth_difference",
        0.2,
        "ratio",
        "Shares of cached inputs further apart than this are remarked.",
    ),
    threshold(
        "comparison.sought_ratio",
        0.1,
        "ratio",
        "The slowdown for which the number of runs that would show it is printed.",
    ),
    threshold(
        "comparison.least_share_ratio",
        0.02,
        "ratio",
        "A place whose change is below this share of the reference's time is not named as what differs.",
    ),
    threshold(
        "comparison.least_change_ratio",
        0.1,
        "ratio",
        "A figure of the named role that changed by less is not quoted.",
    ),
    threshold(
        "comparison.links.least_wider_ratio",
        1.05,
        "ratio",
        "Links whose rates differ by less are the same.",
    ),
    threshold(
        "comparison.links.followed_ratio",
        0.5,
        "ratio",
        "Throughput that grew by less than this share of what the links grew by did not follow them.",
    ),
    threshold(
        "comparison.links.longer_ratio",
        1.1,
        "ratio",
        "Service times are long when they pass what the wider links alone would have made by this factor.",
    ),
    threshold(
        "comparison.links.least_blocked_ratio",
        0.2,
        "ratio",
        "Jobs blocked in I/O for a smaller share of their time are not limited by it.",
        "as limit.least_loss_ratio",
    ),
)

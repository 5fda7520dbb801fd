"""Thresholds of answer, comparisons, ``mawl qualify`` and ``mawl history``.

Their reasons are in docs/design: answer.md, comparison.md, qualify-answer.md, history.md.
"""

from __future__ import annotations

import msgspec

from mawl.records.definitions import Unit

CONVENTION = "convention: chosen, not measured"


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """``name`` is ``GROUP.FIGURE``; ``value`` is in base ``unit``; ``source`` is a page, a publication, what
    was measured to choose it, or ``CONVENTION``."""

    name: str
    value: float
    unit: Unit
    meaning: str
    source: str

    @property
    def group(self) -> str:
        """The rule, answer or verdict that uses it: the name without its last part."""
        return self.name.rpartition(".")[0]


def threshold(name: str, value: float, unit: Unit, meaning: str, source: str = CONVENTION) -> Threshold:
    """A row of the table."""
    return Threshold(name=name, value=value, unit=unit, meaning=meaning, source=source)


GUIDELINE = "SAS Institute, Best Practices for Configuring your I/O Subsystem for SAS 9 Applications"

ANSWER: tuple[Threshold, ...] = (
    threshold(
        "answer.bound",
        2.0,
        "ratio",
        "Bound of W, the real time of the jobs over their reference time (answer_bound in mawl.toml).",
        "docs/design/answer.md: chosen from the measured curve of W over sessions a core",
    ),
    threshold(
        "answer.assumed_range_ratio",
        0.10,
        "ratio",
        "Half width of the range of W that is assumed of fewer than three runs.",
        "docs/design/answer.md: how far runs of one load lay apart",
    ),
    threshold(
        "answer.least_covered_ratio",
        0.95,
        "ratio",
        "Least share of the jobs' real time with known reference times (for W) or waits (for its parts).",
    ),
    threshold(
        "answer.least_reach_ratio",
        0.8,
        "ratio",
        "Below this reach in a direction the page cache, not the storage, made its figures.",
    ),
    threshold(
        "answer.least_direction_ratio",
        0.05,
        "ratio",
        "A direction with a smaller share of the application's bytes is not asked for its reach.",
    ),
    threshold(
        "answer.least_active_seconds",
        60.0,
        "seconds",
        "Shortest active phase of a YES.",
        f"{CONVENTION}; twice the 30 s after which Linux writes dirty pages back",
    ),
    threshold(
        "answer.publishable_active_seconds",
        1200.0,
        "seconds",
        "Shortest active phase whose answer is not preliminary.",
        "as validity.duration.least_active_seconds",
    ),
    threshold(
        "guideline.bytes_per_second_per_core",
        100e6,
        "bytes per second",
        "Guideline: sustained throughput per core and file system (guideline_warn in mawl.toml).",
        GUIDELINE,
    ),
    threshold(
        "guideline.good_bytes_per_second_per_core",
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
        "comparison.most_apart_ratio",
        0.125,
        "ratio",
        "The mean places of the runs of two sides that alternate differ by at most this share of all runs.",
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


QUALIFICATION: tuple[Threshold, ...] = (
    threshold(
        "qualification.fewest_runs",
        3,
        "count",
        "Measured runs below which the range is the assumed one, and the answer preliminary.",
        f"{CONVENTION}; Student's factor of the interval is 12.7 with two runs and 4.3 with three",
    ),
    threshold(
        "qualification.assumed_run_spread_ratio",
        0.05,
        "ratio",
        "Spread from run to run that the interval takes where there is one run.",
    ),
    threshold(
        "qualification.burst_seconds",
        1800.0,
        "seconds",
        "Longest time that a burst credit or a cache is taken to serve a load by itself.",
        "a full credit of the volume type gp2 of Amazon EBS lasts 30 minutes at 3,000 requests per second "
        "(its documentation)",
    ),
    threshold(
        "qualification.most_probe_ratio",
        1.1,
        "ratio",
        "Sustained throughput over that of the probe above which something faster than the device served.",
        f"{CONVENTION}; a tenth is what probes of one device differ by",
    ),
    threshold(
        "qualification.least_gain_ratio",
        0.05,
        "ratio",
        "A change that shortens the mix by less is not named.",
        "as comparison.margin_ratio",
    ),
    threshold(
        "qualification.least_nodes_ratio",
        1.25,
        "ratio",
        "Slowdown of all nodes over that of one, from which the others slow a node down.",
        f"{CONVENTION}; a fifth of the time of a job is then due to the other nodes, and two runs of one "
        "node each differ by less even with the assumed spread",
    ),
    threshold(
        "qualification.least_direction_ratio",
        2.0,
        "ratio",
        "Waiting in one direction over the other from which the limit names that direction; the same of the "
        "queue and the speed of processors.",
    ),
    threshold(
        "qualification.more_time_ratio",
        4.0,
        "ratio",
        "The least time that the next step asks for where the answer is open, over the time that was given.",
    ),
)


_MEASURED = "docs/design/history.md: rates of false alarms and of steps that are found"

HISTORY: tuple[Threshold, ...] = (
    threshold(
        "history.whole_level",
        0.005,
        "ratio",
        "How often a night may look like a change of the whole load where there is none.",
        _MEASURED,
    ),
    threshold(
        "history.part_level",
        0.002,
        "ratio",
        "The same of all programs, places and figures together.",
        _MEASURED,
    ),
    threshold("history.fewest_before", 8, "count", "Nights that a level is known from.", _MEASURED),
    threshold(
        "history.fewest_after",
        2,
        "count",
        "Nights at a new level before it is called one: a single bad night is none.",
        CONVENTION,
    ),
    threshold(
        "history.most_after", 7, "count", "Nights back in which a new change is looked for.", _MEASURED
    ),
    threshold(
        "history.least_gap_seconds",
        14400.0,
        "seconds",
        "Runs that begin within this time after the one before ended are of one night.",
        "as imported.least_gap_seconds",
    ),
)

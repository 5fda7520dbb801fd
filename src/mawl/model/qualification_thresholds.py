"""The thresholds of the answer of ``mawl qualify`` (docs/design/qualify-answer.md)."""

from __future__ import annotations

from mawl.model.threshold import CONVENTION, Threshold, threshold

QUALIFICATION: tuple[Threshold, ...] = (
    threshold(
        "qualification.fewest_runs",
        3,
        "count",
        "Measured runs below which the answer is preliminary.",
        f"{CONVENTION}; Student's factor of the interval is 12.7 with two runs and 4.3 with three",
    ),
    threshold(
        "qualification.assumed_run_spread_ratio",
        0.05,
        "ratio",
        "Spread from run to run that the interval takes where there is one run.",
    ),
    threshold(
        "qualification.assumed_alone_spread_ratio",
        0.1,
        "ratio",
        "Spread of the times alone that the interval takes where there are fewer than three.",
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
        "Waiting in one direction over the other from which the limit names that direction.",
    ),
    threshold(
        "qualification.more_time_ratio",
        4.0,
        "ratio",
        "The least time that the next step asks for, over the time that was given.",
    ),
    threshold(
        "qualification.load_ratio",
        0.18,
        "ratio",
        "The most of the given time that the next step counts on as active time of measured runs.",
        "planned on two vCPUs, proofs included: 14 min 54 s of 80 min, 22 min 24 s of 115 min",
    ),
)

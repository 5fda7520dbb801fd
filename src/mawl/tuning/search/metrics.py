"""Definitions of the figures of ``mawl tune search --json``; their names begin with ``search.`` here."""

from __future__ import annotations

from mawl.definitions.metric import (
    Metric,
    count_metric,
    flag_metric,
    object_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)

PAGE = "docs/design/search.md"
EXPLORING = f"{PAGE}, Exploring"
TEST = f"{PAGE}, The test"
RECORD = f"{PAGE}, The record"

SEARCH_METRICS: tuple[Metric, ...] = (
    text_metric("search.campaign", "Name of the campaign.", RECORD),
    text_metric("search.workload", "Workload, as it was named.", RECORD),
    text_metric("search.objective", "response-time, elapsed, sustained or cpu-real.", PAGE),
    text_metric("search.figure", "The objective's figure of a run's summary.", PAGE),
    text_metric("search.outcome", "gain, excluded, open, nothing better or failed.", TEST),
    text_metric("search.statement", "The outcome in a sentence.", TEST),
    object_metric("search.setting", "The point that was tested; null where none looked better.", TEST),
    ratio_metric("search.confidence_ratio", "Confidence level for reporting a gain or ruling one out.", TEST),
    ratio_metric("search.smallest_gain_ratio", "The smallest gain worth having.", TEST),
    ratio_metric(
        "search.change_ratio",
        "Of the figure at the last look: setting over baseline less 1, of geometric means; null without one.",
        TEST,
    ),
    ratio_metric(
        "search.low_ratio",
        "Lower end of the interval of change_ratio; holds at all looks with confidence_ratio, and together "
        "with high_ratio with 2*confidence_ratio - 1.",
        TEST,
    ),
    ratio_metric(
        "search.high_ratio", "Upper end of it; holds at all looks with confidence_ratio, too.", TEST
    ),
    count_metric("search.blocks", "Confirming blocks, two runs a side each.", TEST),
    count_metric("search.looks.*.blocks", "Blocks at the look.", TEST),
    ratio_metric("search.looks.*.change_ratio", "As search.change_ratio, at the look.", TEST),
    ratio_metric("search.looks.*.low_ratio", "Lower end of its interval, as search.low_ratio.", TEST),
    ratio_metric("search.looks.*.high_ratio", "Upper end of it, as search.high_ratio.", TEST),
    text_metric("search.looks.*.decision", "gain, excluded or open.", TEST),
    object_metric("search.trials.*.setting", "The point that was tried.", EXPLORING),
    ratio_metric(
        "search.trials.*.change_ratio", "As search.change_ratio, of the trial; null: a run failed.", EXPLORING
    ),
    count_metric("search.trials.*.repeats", "Pairs of runs of the trial.", EXPLORING),
    flag_metric(
        "search.trials.*.pruned", "Whether it ended after its first repeat, clearly worse.", EXPLORING
    ),
    count_metric("search.points", "Points of the space.", EXPLORING),
    flag_metric("search.explored_all", "Whether every point was tried or is the baseline.", EXPLORING),
    count_metric("search.runs", "Finished runs of the search.", RECORD),
    seconds_metric(
        "search.spent_seconds",
        "Wall time of these runs: the sum of ended_at less started_at of each.",
        RECORD,
    ),
    seconds_metric("search.budget_seconds", "Wall time that they might take.", RECORD),
    count_metric("search.programs.faster", "Programs that the confirming runs show to be faster.", TEST),
    count_metric("search.programs.slower", "Programs that they show to be slower.", TEST),
    count_metric("search.programs.not_told_apart", "Programs of which they show neither.", TEST),
    text_metric("search.programs_reason", "Why programs is null.", TEST),
    text_metric("search.profile", "The profile that was written; null without a gain.", RECORD),
    Metric(
        "search.proposed", "-", "list", "Rows of tune.settings of kernel and devices that differ.", RECORD
    ),
    text_metric("search.proposed_reason", "Why proposed is empty without being known.", RECORD),
)

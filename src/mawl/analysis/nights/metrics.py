"""What the figures of many nights mean; the HTML report of an import shows them."""

from __future__ import annotations

from mawl.definitions.metric import Metric, count_metric, ratio_metric, seconds_metric, text_metric

NIGHTS = "docs/design/importers.md, Many nights on one page"
HISTORY = "docs/design/history.md, How a change is found"

NIGHT_METRICS: tuple[Metric, ...] = (
    text_metric(
        "night.label",
        "Local date on which the night begins; a night lasts from the quietest time of one day to that of "
        "the next.",
        NIGHTS,
    ),
    seconds_metric(
        "night.length_seconds", "First start to last end of the jobs that started in the night.", NIGHTS
    ),
    count_metric("night.jobs", "Jobs that started in the night.", NIGHTS),
    count_metric(
        "night.peak_jobs", "Most jobs at once, of those that started in the night and have an end.", NIGHTS
    ),
    seconds_metric("night.cpu_seconds", "Sum of the CPU time of the jobs that started in the night.", NIGHTS),
    seconds_metric(
        "night.real_seconds", "Sum of the real time of the jobs that started in the night.", NIGHTS
    ),
    ratio_metric(
        "night.jobs_at_once",
        "Mean number of jobs that ran in a quarter of an hour of the local clock, whenever they started.",
        NIGHTS,
    ),
    ratio_metric(
        "night.middle_jobs_at_once",
        "Median over the nights of jobs at once in the same quarter of an hour; the band is from the 10th to "
        "the 90th percentile.",
        NIGHTS,
    ),
    count_metric("trend.nights", "Nights in which a job of the program counted.", NIGHTS),
    ratio_metric("trend.jobs_a_night", "Mean jobs in such a night, at the latest level.", NIGHTS),
    seconds_metric(
        "trend.first_seconds",
        "Geometric mean of the program's real time until its first change; each night counts once.",
        NIGHTS,
    ),
    seconds_metric("trend.last_seconds", "The same since its latest change, or of all nights.", NIGHTS),
    ratio_metric(
        "trend.change_ratio",
        "Latest level over first level, less 1, with the 95 % interval between the nights of both. The "
        "interval ignores that the night was chosen by the evidence, so it is somewhat too narrow.",
        HISTORY,
    ),
    seconds_metric(
        "trend.added_seconds",
        "Latest level less first level, for all of the program's jobs of a night.",
        NIGHTS,
    ),
    text_metric("trend.since", "Date of the first night at the latest level.", HISTORY),
    ratio_metric(
        "trend.smallest_ratio",
        "The change that three nights would show in 80 % of cases, by the spread of the nights.",
        HISTORY,
    ),
)

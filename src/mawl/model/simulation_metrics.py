"""Definitions of the figures of ``mawl simulate --json``; their names begin with ``simulate.`` here."""

from __future__ import annotations

from mawl.definitions.metric import (
    FACTS,
    Kind,
    Metric,
    count_metric,
    flag_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)

PAGE = "docs/design/simulation.md"
CALIBRATED = f"{PAGE}, Calibration"
ANSWER = f"{PAGE}, What is answered"
RANGE = f"{PAGE}, Range"
_LIST: Kind = "list"

_PREDICTION: tuple[Metric, ...] = (
    seconds_metric("simulate.prediction.elapsed_seconds", "First start to last end, predicted.", ANSWER),
    seconds_metric("simulate.prediction.real_time_seconds", "Summed real time, predicted.", ANSWER),
    seconds_metric("simulate.prediction.measured_elapsed_seconds", "That of the run.", FACTS),
    seconds_metric("simulate.prediction.measured_real_time_seconds", "That of the run.", FACTS),
    count_metric("simulate.prediction.nodes", "Simulated nodes.", ANSWER),
    count_metric("simulate.prediction.sessions", "Simulated sessions, of all nodes.", ANSWER),
    count_metric("simulate.prediction.jobs", "Simulated jobs, of all nodes.", ANSWER),
    rate_metric("simulate.prediction.device_peak_bytes_per_second", "Highest window at the devices.", ANSWER),
    rate_metric(
        "simulate.prediction.device_sustained_bytes_per_second", "Median window at the devices.", ANSWER
    ),
    text_metric(
        "simulate.prediction.verdict", "Verdict on the simulated run folder.", "docs/design/verdict.md"
    ),
)

_VALIDITY: tuple[Metric, ...] = (
    ratio_metric(
        "simulate.validity.calibration_error_ratio",
        "Elapsed time of the run simulated on its own system, over the measured, less 1.",
        CALIBRATED,
    ),
    ratio_metric(
        "simulate.validity.alone_ratio",
        "Part of the measured blocked time that steps have even alone.",
        CALIBRATED,
    ),
    ratio_metric(
        "simulate.validity.seek_ratio",
        "Part of the seeks between streams of spinning devices that were made.",
        CALIBRATED,
    ),
    ratio_metric(
        "simulate.validity.factors.*",
        "Asked over measured: nodes, sessions a node, scale, cores, ...; null where not known.",
        RANGE,
    ),
    seconds_metric("simulate.validity.range.low_seconds", "The least that elapsed may be.", RANGE),
    seconds_metric("simulate.validity.range.high_seconds", "The most that elapsed may be.", RANGE),
    Metric("simulate.validity.reasons", "-", _LIST, "Why there is no range, in sentences.", RANGE),
    Metric("simulate.validity.lacks", "-", _LIST, "What the run did not record of its demand.", CALIBRATED),
)

_TABLES: tuple[Metric, ...] = (
    text_metric("simulate.phases.*.phase", "active or tail.", "docs/design/figures.md"),
    text_metric("simulate.phases.*.limit", "What most waiting was for, none or mixed.", ANSWER),
    ratio_metric("simulate.phases.*.shares.*", "Share of the jobs' seconds of the phase.", ANSWER),
    text_metric("simulate.sensitivity.*.resource", "What there is twice of.", ANSWER),
    seconds_metric("simulate.sensitivity.*.elapsed_seconds", "Elapsed with twice of it.", ANSWER),
    ratio_metric("simulate.sensitivity.*.gain_ratio", "What that saves of the elapsed time.", ANSWER),
    Metric("simulate.grow", "-", _LIST, "One row per number of sessions; null without --grow.", ANSWER),
    count_metric("simulate.grow.*.sessions", "Sessions on each node.", ANSWER),
    count_metric("simulate.grow.*.jobs", "Jobs of all nodes.", ANSWER),
    seconds_metric("simulate.grow.*.elapsed_seconds", "Elapsed with so many.", ANSWER),
    Metric("simulate.grow.*.jobs_per_hour", "ratio", "float", "Jobs over elapsed hours.", ANSWER),
    flag_metric("simulate.grow.*.pays", "Whether jobs an hour grew by half of what sessions did.", ANSWER),
    count_metric(
        "simulate.knee_sessions", "The last number that pays; null where all do, or without --grow.", ANSWER
    ),
    Metric("simulate.against", "-", _LIST, "Compared with a real run; null without --against.", ANSWER),
    text_metric("simulate.against.*.figure", "Name of the figure in the summary.", ANSWER),
    Metric("simulate.against.*.predicted", "-", "object", "Its value, predicted.", ANSWER),
    Metric("simulate.against.*.measured", "-", "object", "Its value, measured.", ANSWER),
    ratio_metric("simulate.against.*.error_ratio", "Predicted over measured, less 1.", ANSWER),
    flag_metric("simulate.against.*.agrees", "Of words: whether both are the same.", ANSWER),
)

SIMULATION_METRICS: tuple[Metric, ...] = (
    text_metric("simulate.run_id", "The measured run.", FACTS),
    *_PREDICTION,
    *_VALIDITY,
    *_TABLES,
    object_metric("simulate.system", "The simulated system, as a description.", "docs/design/systems.md"),
)

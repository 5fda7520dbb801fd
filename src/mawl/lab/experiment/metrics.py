"""Definitions of what `mawl lab report --json` holds beside texts and names."""

from __future__ import annotations

from mawl.definitions.metric import Metric, count_metric, flag_metric, ratio_metric, seconds_metric

AGREES = "docs/design/lab.md, Figures of a report"
CALIBRATED = "docs/design/lab.md, Calibration"
PROCESSORS = "docs/design/lab.md, Processors"

LAB_METRICS: tuple[Metric, ...] = (
    ratio_metric(
        "arms.*.speed_factor", "Speed of all volumes in this run over what the bed says.", PROCESSORS
    ),
    ratio_metric(
        "arms.*.cpu_busy_ratio",
        "Share of all CPU time over the run that was not idle, for all programs.",
        PROCESSORS,
    ),
    ratio_metric(
        "arms.*.own_cpu_ratio",
        "Share of all CPU time from the first start to the last end that its jobs and mawl used.",
        PROCESSORS,
    ),
    flag_metric(
        "arms.*.repeated", "Whether all arms ran again, slower, and this run is not judged.", PROCESSORS
    ),
    Metric(
        "calibration.*.expected",
        "-",
        "float",
        "What the bed says, in the measurement's unit: bytes or requests per second.",
        CALIBRATED,
    ),
    Metric(
        "calibration.*.measured",
        "-",
        "float",
        "What was measured, in the same unit; the median where it took several.",
        CALIBRATED,
    ),
    count_metric("calibration.*.tries", "Measurements it took.", CALIBRATED),
    seconds_metric(
        "calibration.*.path_seconds",
        "What a request's way to a modelled disk and back took, which the model takes off each of its seeks; "
        "null for other measurements.",
        CALIBRATED,
    ),
    *(
        Metric(f"claims.*.{name}", "-", "float", definition, AGREES)
        for name, definition in (
            ("published_reference_value", "The figure in the paper's reference, in base units."),
            ("published_candidate_value", "The figure in the paper's candidate, in base units."),
            ("reference_value", "The figure in the reference arm, in base units."),
            ("candidate_value", "The figure in the candidate arm, in base units."),
        )
    ),
    ratio_metric(
        "claims.*.published_change_ratio", "The paper's candidate over its reference, less 1.", AGREES
    ),
    ratio_metric("claims.*.change_ratio", "The candidate arm over the reference arm, less 1.", AGREES),
    flag_metric(
        "claims.*.direction_agrees",
        "Whether both changes have the same sign, that here 2 % or more; null where one is not known.",
        AGREES,
    ),
    flag_metric(
        "verdicts.*.agrees",
        "Whether the run's verdict is what the arm's construction makes it; null without a verdict.",
        AGREES,
    ),
    seconds_metric(
        "pairs.*.blocked_seconds", "Thread-seconds blocked in I/O of all roles, in the reference arm.", AGREES
    ),
    ratio_metric("pairs.*.work_util_blocked_ratio", "Of these, the share of work and util.", AGREES),
    ratio_metric(
        "pairs.*.work_util_ratio",
        "Share of work and util in the application bytes of the reference arm.",
        AGREES,
    ),
)

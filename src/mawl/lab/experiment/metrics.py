"""Definitions of the figures that `mawl lab report --json` prints."""

from __future__ import annotations

from mawl.records.definitions import (
    Metric,
    bytes_metric,
    count_metric,
    flag_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
)

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


PAGE = "docs/design/lab-beds.md"
ARMS = f"{PAGE}, Figures of the arms"
KNEE = f"{PAGE}, The knee"
WORDS = f"{PAGE}, What papers say in words"
PROGRAMS = f"{PAGE}, As found against profile"
SAVINGS = f"{PAGE}, Savings"


LAB_EVIDENCE_METRICS: tuple[Metric, ...] = (
    *(
        seconds_metric(f"figures.*.{name}_seconds", f"{what} of the arm's run, all jobs.", ARMS)
        for name, what in (
            ("real_time", "Real time"),
            ("user_cpu", "User CPU time"),
            ("system_cpu", "System CPU time"),
        )
    ),
    rate_metric("figures.*.application_bytes_per_second", "Application bytes both ways over the run.", ARMS),
    rate_metric(
        "figures.*.device_bytes_per_second", "Bytes both ways at the volumes' devices over the run.", ARMS
    ),
    *(
        seconds_metric(
            f"figures.*.{way}_latency_seconds.{role}",
            f"Mean {way} latency of {role} at the application.",
            ARMS,
        )
        for way in ("read", "write")
        for role in ("data", "work", "util")
    ),
    seconds_metric(
        "figures.*.host_cpu_busy_seconds", "Busy CPU time of the machine, for all programs.", ARMS
    ),
    count_metric("series.*.steps.*.volumes", "Devices of the series' roles in this arm.", KNEE),
    rate_metric(
        "series.*.steps.*.bytes_per_second", "Bytes both ways at these devices over the elapsed time.", KNEE
    ),
    seconds_metric("series.*.steps.*.elapsed_seconds", "Elapsed time of the arm's run.", KNEE),
    ratio_metric("series.*.steps.*.gain_ratio", "Its rate over that of the step before, less 1.", KNEE),
    ratio_metric("series.*.steps.*.ideal_gain_ratio", "Its volumes over those before, less 1.", KNEE),
    rate_metric("series.*.steps.*.cap_bytes_per_second", "Sum of their caps, of one direction.", KNEE),
    ratio_metric("series.*.steps.*.cap_share_ratio", "Rate of the busier direction over that sum.", KNEE),
    ratio_metric("series.*.steps.*.even_ratio", "Mean over largest of the bytes of these devices.", KNEE),
    Metric("series.*.steps.*.concurrent_jobs", "-", "float", "Mean number of jobs side by side.", KNEE),
    ratio_metric("series.*.steps.*.own_cpu_ratio", "Share of all CPU time that the run used.", KNEE),
    count_metric("series.*.knee_volumes", "Volumes at the knee; null without one.", KNEE),
    Metric("findings.*.reference_value", "-", "float", "The figure of the reference arm.", WORDS),
    Metric("findings.*.candidate_value", "-", "float", "The figure of the candidate arm.", WORDS),
    ratio_metric("findings.*.change_ratio", "Candidate over reference, less 1.", WORDS),
    flag_metric(
        "findings.*.agrees",
        "Whether the direction is what the paper's words say; null where a figure is missing.",
        WORDS,
    ),
    Metric("programs.*.runs", "-", "list", "Runs of the reference, and of the candidate.", PROGRAMS),
    flag_metric("programs.*.judged", "Whether both arms have five runs or more.", PROGRAMS),
    ratio_metric(
        "programs.*.change_ratio", "Real time per job, candidate over reference, less 1, all jobs.", PROGRAMS
    ),
    ratio_metric("programs.*.low_ratio", "Lower end of its 95 % interval.", PROGRAMS),
    ratio_metric("programs.*.high_ratio", "Upper end.", PROGRAMS),
    count_metric("programs.*.faster", "Programs judged faster in the candidate.", PROGRAMS),
    count_metric("programs.*.slower", "Programs judged slower.", PROGRAMS),
    count_metric("programs.*.not_told_apart", "Programs of which neither is known.", PROGRAMS),
    count_metric("programs.*.ran_shorter", "Programs that took less time, judged or not.", PROGRAMS),
    count_metric("programs.*.ran_longer", "Programs that took more.", PROGRAMS),
    ratio_metric("programs.*.changes.*.change_ratio", "The same change of one program.", PROGRAMS),
    ratio_metric(
        "programs.*.changes.*.low_ratio", "Lower end of its interval, among all programs.", PROGRAMS
    ),
    ratio_metric("programs.*.changes.*.high_ratio", "Upper end.", PROGRAMS),
    bytes_metric("savings.*.original_bytes", "Bytes of the role before compression.", SAVINGS),
    bytes_metric("savings.*.stored_bytes", "What the storage keeps for them.", SAVINGS),
    bytes_metric("savings.*.volumes.*.original_bytes", "Before compression, on this volume.", SAVINGS),
    bytes_metric("savings.*.volumes.*.stored_bytes", "What the storage keeps for them.", SAVINGS),
    ratio_metric("savings.*.saving_ratio", "Real saving of the role: 1 - stored/original.", SAVINGS),
    ratio_metric(
        "savings.*.spread_ratio",
        "Largest saving of a volume less the smallest.",
        SAVINGS,
    ),
    ratio_metric("savings.*.estimated_saving_ratio", "Estimated saving of the same bytes.", SAVINGS),
    ratio_metric("savings.*.half_width_ratio", "Half-width of the estimate, 0 where all was read.", SAVINGS),
    bytes_metric("savings.*.block_bytes", "Block of the estimate.", SAVINGS),
    ratio_metric("savings.*.off_ratio", "Real less estimated.", SAVINGS),
    flag_metric("savings.*.agrees", "Whether they differ by at most 3 points; else false.", SAVINGS),
    ratio_metric("savings.*.published_saving_ratio", "The paper's saving of this role.", SAVINGS),
)

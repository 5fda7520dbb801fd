"""Definitions of what ``mawl report CAMPAIGN --format json`` holds beside texts, names and the comparison."""

from __future__ import annotations

from mawl.definitions.metric import (
    Metric,
    count_metric,
    flag_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
)

PAGE = "docs/design/campaigns.md"
SMT = "docs/design/threads.md, Modes as an experiment"
ARM_SETTINGS = "docs/design/arm-settings.md"
STATUS = "docs/design/validity.md, Status"
ORDER, SPREAD, KNEE, SCALING = (
    f"{PAGE}, {heading}" for heading in ("Order", "Spread", "The knee", "Scaling over nodes")
)

CAMPAIGN_METRICS: tuple[Metric, ...] = (
    count_metric(
        "warm_up.position", "0: the warm-up run is made before all others, and counts in no figure.", ORDER
    ),
    count_metric("machine.cores", "Logical processors of the machine where the campaign began.", ORDER),
    count_metric("slots.*.position", "Place of the run in the order of the campaign, from 1.", ORDER),
    count_metric(
        "arms.*.size", "Sessions, nodes or threads of a core, where the campaign varies them.", ORDER
    ),
    count_metric("arms.*.runs", "Runs of the arm that are finished.", ORDER),
    count_metric("arms.*.planned", "Runs of the arm that are made or to be made.", ORDER),
    count_metric("arms.*.completed", "Finished runs of the arm in which every job went well.", ORDER),
    count_metric("arms.*.reasons.*.runs", "Runs of the arm that have this reason.", STATUS),
    flag_metric(
        "arms.*.reasons.*.alike",
        "Whether the sentence is the same in all of them; otherwise its figures are those of the run named.",
        STATUS,
    ),
    count_metric(
        "settings.*.reads",
        "Times that the setting of an arm was read back around runs, and was as the arm requires.",
        f"{ARM_SETTINGS}, What counts as taken?",
    ),
    count_metric(
        "settings.*.differing",
        "Times that the setting was read back around runs, and was not as the arm requires.",
        f"{ARM_SETTINGS}, What counts as taken?",
    ),
    count_metric("smt.*.threads", "Hardware threads of a core in this mode.", SMT),
    count_metric("smt.*.runs", "Finished runs in this mode.", SMT),
    seconds_metric("smt.*.real_time_seconds", "Median over runs of time.real_time_seconds.", SMT),
    seconds_metric("smt.*.elapsed_seconds", "Median over runs of time.elapsed_seconds.", SMT),
    rate_metric(
        "smt.*.bytes_per_second",
        "Median over runs of io.application.run_mean.total_bytes_per_second.",
        SMT,
    ),
    ratio_metric("smt.*.core_busy_ratio", "Median over runs of host.core_busy_ratio.", SMT),
    ratio_metric("smt.*.cpu_busy_ratio", "Median over runs of host.cpu_busy_ratio.", SMT),
    count_metric("arms.*.figures.*.runs", "Runs that the figure is over.", SPREAD),
    Metric(
        "arms.*.figures.*.values.*",
        "-",
        "float",
        "The figure of each run in the order in which they were made, in the figure's unit.",
        SPREAD,
    ),
    *(
        Metric(f"arms.*.figures.*.{name}", "-", "float", f"{definition}, in the figure's unit.", SPREAD)
        for name, definition in (
            ("median", "Median over runs"),
            ("lowest", "The least of the runs"),
            ("highest", "The most of the runs"),
            ("mean", "Mean over runs, geometric where all values are above 0"),
            ("low", "Lower end of the mean's 95 % interval (null with fewer than five runs)"),
            ("high", "Upper end of the mean's 95 % interval (null with fewer than five runs)"),
        )
    ),
    ratio_metric(
        "arms.*.figures.*.deviation_ratio",
        "Standard deviation of one run over the mean; null for a single run.",
        SPREAD,
    ),
    count_metric(
        "knee.sessions",
        "The most sessions that are carried; where beyond is fewer than, the least that were tried and are "
        "not; null where no number is carried.",
        KNEE,
    ),
    count_metric("knee.low", "Lower end of the 95 % interval of knee.sessions; null with a reason.", KNEE),
    count_metric("knee.high", "Upper end of the 95 % interval of knee.sessions; null with a reason.", KNEE),
    count_metric("sessions.*.sessions", "A number of sessions that was tried.", KNEE),
    count_metric("sessions.*.runs", "Runs with so many sessions.", KNEE),
    count_metric("sessions.*.agreeing", "Of these, the runs that said what the number was judged.", KNEE),
    flag_metric("sessions.*.carried", "Whether so many sessions are carried, by most of the runs.", KNEE),
    flag_metric("sessions.*.refused", "Whether the machine cannot start so many.", KNEE),
    ratio_metric("sessions.*.median_slowdown", "Median over runs of the median slowdown over jobs.", KNEE),
    count_metric("session_runs.*.sessions", "Sessions of a run.", KNEE),
    ratio_metric("session_runs.*.slowdown", "Median slowdown over the jobs of the run.", KNEE),
    ratio_metric("session_runs.*.most_slowdown", "The bound of that.", KNEE),
    rate_metric(
        "session_runs.*.bytes_per_second_per_core",
        "Throughput per core of the run (capacity.guideline); it decides nothing.",
        KNEE,
    ),
    count_metric("scaling.*.nodes", "Nodes of the runs.", SCALING),
    count_metric("scaling.*.runs", "Runs on so many nodes.", SCALING),
    seconds_metric("scaling.*.elapsed_seconds", "Median over runs of the elapsed time.", SCALING),
    rate_metric(
        "scaling.*.bytes_per_second", "Median over runs of the application's mean throughput.", SCALING
    ),
    rate_metric(
        "scaling.*.run_bytes_per_second.*", "The application's mean throughput in each run.", SCALING
    ),
    ratio_metric("scaling.*.speedup", "Throughput over that of the fewest nodes.", SCALING),
    ratio_metric(
        "scaling.*.efficiency_ratio", "Speedup over how many times the nodes of the fewest.", SCALING
    ),
    ratio_metric("scaling.*.elapsed_ratio", "Elapsed time over that of the fewest nodes.", SCALING),
)

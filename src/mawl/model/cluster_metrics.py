"""Definitions of the figures of a run on several nodes: the block ``cluster`` of its summary."""

from __future__ import annotations

from mawl.model.metric import (
    FACTS,
    Metric,
    bytes_metric,
    count_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)

CLUSTER_PAGE = "docs/design/cluster.md"
CLOCKS = f"{CLUSTER_PAGE}, Clocks"
REPORTED = f"{CLUSTER_PAGE}, What is reported"

_RATE = rate_metric(
    "cluster.network_bytes_per_second",
    "Sum over the nodes of what their networks and fabrics received and sent, the loopback left out.",
    REPORTED,
)

CLUSTER_METRICS: tuple[Metric, ...] = (
    object_metric("cluster", "The nodes of a run on several; null for a run on one.", REPORTED),
    seconds_metric(
        "cluster.gate_skew_seconds", "Between the first and the last opening of the nodes' gates.", CLOCKS
    ),
    seconds_metric(
        "cluster.first_done_seconds",
        "From the first opening to the last end on the node that was done first; lost nodes left out.",
        REPORTED,
    ),
    seconds_metric("cluster.last_done_seconds", "The same of the node that was done last.", REPORTED),
    ratio_metric(
        "cluster.imbalance_ratio", "Last done over the mean of the nodes' times, less one.", REPORTED
    ),
    _RATE,
    text_metric("cluster.nodes.*.workload", "The workload that it ran.", FACTS),
    text_metric("cluster.nodes.*.outcome", "How its own run ended, or lost.", FACTS),
    text_metric("cluster.nodes.*.reason", "Why not well.", FACTS),
    count_metric("cluster.nodes.*.sessions", "Its sessions.", FACTS),
    count_metric("cluster.nodes.*.jobs", "Its planned jobs.", FACTS),
    count_metric("cluster.nodes.*.finished", "Those that finished."),
    count_metric("cluster.nodes.*.lost", "Those that had started and were lost with it."),
    *(
        metric
        for place, words, done, moved in (
            (
                "nodes.*",
                "Sum over its jobs that count",
                "From the first opening to its last job's end.",
                "Received and sent by its networks and fabrics while its jobs ran, the loopback left out; "
                "null where another node of the same machine tells of them.",
            ),
            (
                "mean",
                "Mean over the nodes of the sums",
                "Mean of the nodes' times, lost nodes left out.",
                "Mean of the nodes' rates, networks that nodes of one machine share counted once.",
            ),
        )
        for metric in (
            seconds_metric(f"cluster.{place}.real_time_seconds", f"{words}.", REPORTED),
            seconds_metric(f"cluster.{place}.user_cpu_seconds", f"{words}.", REPORTED),
            seconds_metric(f"cluster.{place}.system_cpu_seconds", f"{words}.", REPORTED),
            bytes_metric(f"cluster.{place}.application_read_bytes", f"{words}.", REPORTED),
            bytes_metric(f"cluster.{place}.application_written_bytes", f"{words}.", REPORTED),
            ratio_metric(f"cluster.{place}.cpu_real_ratio", "CPU over real time of these sums.", REPORTED),
            seconds_metric(f"cluster.{place}.done_seconds", done, REPORTED),
            rate_metric(f"cluster.{place}.network_bytes_per_second", moved, REPORTED),
        )
    ),
    seconds_metric(
        "cluster.nodes.*.clock_offset_seconds",
        "Its clock less the controller's before the gate; taken off all its times.",
        CLOCKS,
    ),
    seconds_metric("cluster.nodes.*.clock_error_seconds", "What that may be wrong by at most.", CLOCKS),
    seconds_metric("cluster.nodes.*.clock_drift_seconds", "What it changed by until the node's end.", CLOCKS),
)

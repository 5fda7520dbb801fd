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

_DIRECTIONS = (("read", "read from"), ("write", "written to"), ("total", "read from and written to"))
_OVER = "its devices, whoever asked"

STORAGE_METRICS: tuple[Metric, ...] = (
    text_metric("cluster.storage.*.outcome", "Whether it was watched to the end (completed).", FACTS),
    text_metric("cluster.storage.*.reason", "Why not.", FACTS),
    Metric(
        "cluster.storage.*.devices", "-", "list", "Its block devices that count: those named, or all.", FACTS
    ),
    bytes_metric("cluster.storage.*.device.read_bytes", f"Bytes read from {_OVER}.", REPORTED),
    bytes_metric("cluster.storage.*.device.written_bytes", f"Bytes written to {_OVER}.", REPORTED),
    *(
        rate_metric(f"cluster.storage.*.device.{figure}.{way}_bytes_per_second", words, REPORTED)
        for way, said in _DIRECTIONS
        for figure, words in (
            ("peak", f"The highest window of the run of the bytes {said} {_OVER}."),
            ("sustained", f"The median window of the active phase of the bytes {said} {_OVER}."),
        )
    ),
    seconds_metric(
        "cluster.storage.*.device.await_seconds.mean",
        "Time of requests of both directions from queueing to completion over their number.",
        REPORTED,
    ),
    seconds_metric(
        "cluster.storage.*.device.await_seconds.peak", "The same in its highest window.", REPORTED
    ),
    *(
        rate_metric(
            f"cluster.storage.*.{way}_bytes_per_second.{figure}",
            f"What its networks and fabrics {way}, each byte once, {words}.",
            REPORTED,
        )
        for way in ("received", "sent")
        for figure, words in (("mean", "over the run"), ("peak", "in the highest window"))
    ),
    seconds_metric(
        "cluster.storage.*.clock_offset_seconds",
        "Its clock less the controller's before the gate; taken off the times of its samples.",
        CLOCKS,
    ),
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
    rate_metric(
        "cluster.network_bytes_per_second",
        "Sum over the nodes of what their networks and fabrics received and sent, each byte once.",
        REPORTED,
    ),
    rate_metric("cluster.network_received_bytes_per_second", "What of it they received.", REPORTED),
    rate_metric("cluster.network_sent_bytes_per_second", "What of it they sent.", REPORTED),
    rate_metric(
        "cluster.link_bytes_per_second",
        "What a node's link to the storage carries each way, as declared (--link).",
        FACTS,
    ),
    *STORAGE_METRICS,
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
                "Received and sent by its networks and fabrics while its jobs ran, each byte once; "
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
            rate_metric(f"cluster.{place}.network_received_bytes_per_second", "What it received.", REPORTED),
            rate_metric(f"cluster.{place}.network_sent_bytes_per_second", "What it sent.", REPORTED),
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

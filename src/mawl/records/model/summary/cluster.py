"""A run on several nodes."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    COUNTED,
    FACTS,
    Number,
    block,
    count,
    listing,
    rate,
    seconds,
    share,
    size,
    text,
    words,
)

CLUSTER_PAGE = "docs/design/cluster.md, What is reported"
CLOCKS = "docs/design/cluster.md, Clocks"


class NodeFigures(msgspec.Struct, kw_only=True):
    """A node of a run on several."""

    workload: Annotated[str, text("The workload that it ran.", FACTS)]
    outcome: Annotated[str, text("How its own run ended, or lost.", FACTS)]
    reason: Annotated[str | None, text("Why not well.", FACTS, absent="nothing to explain")]
    sessions: Annotated[int, count("Its sessions.", FACTS)]
    jobs: Annotated[int, count("Its planned jobs.", FACTS)]
    finished: Annotated[int, count("Those that finished.", COUNTED)]
    lost: Annotated[int, count("Those that had started and were lost with it.", COUNTED)]
    real_time_seconds: Annotated[Number | None, seconds("Sum over its jobs that count.", CLUSTER_PAGE)]
    user_cpu_seconds: Annotated[Number | None, seconds("Sum over its jobs that count.", CLUSTER_PAGE)]
    system_cpu_seconds: Annotated[Number | None, seconds("Sum over its jobs that count.", CLUSTER_PAGE)]
    application_read_bytes: Annotated[Number | None, size("Sum over its jobs that count.", CLUSTER_PAGE)]
    application_written_bytes: Annotated[Number | None, size("Sum over its jobs that count.", CLUSTER_PAGE)]
    cpu_real_ratio: Annotated[Number | None, share("CPU over real time of these sums.", CLUSTER_PAGE)]
    done_seconds: Annotated[
        Number | None, seconds("From the first opening to its last job's end.", CLUSTER_PAGE)
    ]
    network_bytes_per_second: Annotated[
        Number | None,
        rate(
            "Received and sent by its networks and fabrics while its jobs ran, each byte once; "
            "null where another node of the same machine tells of them.",
            CLUSTER_PAGE,
        ),
    ]
    network_received_bytes_per_second: Annotated[Number | None, rate("What it received.", CLUSTER_PAGE)]
    network_sent_bytes_per_second: Annotated[Number | None, rate("What it sent.", CLUSTER_PAGE)]
    clock_offset_seconds: Annotated[
        Number | None,
        seconds("Its clock less the controller's before the gate; taken off all its times.", CLOCKS),
    ]
    clock_error_seconds: Annotated[Number | None, seconds("What that may be wrong by at most.", CLOCKS)]
    clock_drift_seconds: Annotated[Number | None, seconds("What it changed by until the node's end.", CLOCKS)]


class NodeMeans(msgspec.Struct, kw_only=True):
    """Means over the nodes."""

    real_time_seconds: Annotated[Number | None, seconds("Mean over the nodes of the sums.", CLUSTER_PAGE)]
    user_cpu_seconds: Annotated[Number | None, seconds("Mean over the nodes of the sums.", CLUSTER_PAGE)]
    system_cpu_seconds: Annotated[Number | None, seconds("Mean over the nodes of the sums.", CLUSTER_PAGE)]
    application_read_bytes: Annotated[Number | None, size("Mean over the nodes of the sums.", CLUSTER_PAGE)]
    application_written_bytes: Annotated[
        Number | None, size("Mean over the nodes of the sums.", CLUSTER_PAGE)
    ]
    done_seconds: Annotated[
        Number | None, seconds("Mean of the nodes' times, lost nodes left out.", CLUSTER_PAGE)
    ]
    cpu_real_ratio: Annotated[Number | None, share("CPU over real time of these sums.", CLUSTER_PAGE)]
    network_bytes_per_second: Annotated[
        Number | None,
        rate(
            "Mean of the nodes' rates, networks that nodes of one machine share counted once.",
            CLUSTER_PAGE,
        ),
    ]
    network_received_bytes_per_second: Annotated[Number | None, rate("What it received.", CLUSTER_PAGE)]
    network_sent_bytes_per_second: Annotated[Number | None, rate("What it sent.", CLUSTER_PAGE)]


class ServerRates(msgspec.Struct, kw_only=True):
    """Throughput of the devices of a storage server."""

    read_bytes_per_second: Annotated[
        Number | None, rate("{when} of the bytes read from its devices, for all programs.", CLUSTER_PAGE)
    ]
    write_bytes_per_second: Annotated[
        Number | None, rate("{when} of the bytes written to its devices, for all programs.", CLUSTER_PAGE)
    ]
    total_bytes_per_second: Annotated[
        Number | None,
        rate("{when} of the bytes read from and written to its devices, for all programs.", CLUSTER_PAGE),
    ]


class ServerAwait(msgspec.Struct, kw_only=True):
    """Time of requests at the devices of a storage server."""

    mean: Annotated[
        Number | None,
        seconds(
            "Time of requests of both directions from queueing to completion over their number.",
            CLUSTER_PAGE,
        ),
    ]
    peak: Annotated[Number | None, seconds("The same in its highest window.", CLUSTER_PAGE)]


class ServerDevice(msgspec.Struct, kw_only=True):
    """All devices of a storage server together."""

    read_bytes: Annotated[Number | None, size("Bytes read from its devices, for all programs.", CLUSTER_PAGE)]
    written_bytes: Annotated[
        Number | None, size("Bytes written to its devices, for all programs.", CLUSTER_PAGE)
    ]
    peak: Annotated[ServerRates, words(when="The highest window of the run")]
    sustained: Annotated[ServerRates, words(when="The median window of the active phase")]
    await_seconds: ServerAwait


class ServerTraffic(msgspec.Struct, kw_only=True):
    """What the networks of a storage server moved one way."""

    mean: Annotated[
        Number | None,
        rate("What its networks and fabrics {way}, each byte once, over the run.", CLUSTER_PAGE),
    ]
    peak: Annotated[
        Number | None,
        rate("What its networks and fabrics {way}, each byte once, in the highest window.", CLUSTER_PAGE),
    ]


class StorageServer(msgspec.Struct, kw_only=True):
    """A storage server that was watched beside the nodes."""

    outcome: Annotated[str, text("Whether it was watched to the end (completed).", FACTS)]
    reason: Annotated[str | None, text("Why not.", FACTS, absent="nothing to explain")]
    devices: Annotated[list[str], listing("Its block devices that count: those named, or all.", FACTS)]
    device: ServerDevice
    received_bytes_per_second: Annotated[ServerTraffic, words(way="received")]
    sent_bytes_per_second: Annotated[ServerTraffic, words(way="sent")]
    clock_offset_seconds: Annotated[
        Number | None,
        seconds(
            "Its clock less the controller's before the gate; taken off the times of its samples.", CLOCKS
        ),
    ]


class Cluster(msgspec.Struct, kw_only=True):
    """The nodes of a run on several."""

    nodes: Annotated[dict[str, NodeFigures], block(member="node")]
    mean: NodeMeans
    gate_skew_seconds: Annotated[
        Number | None, seconds("Between the first and the last opening of the nodes' gates.", CLOCKS)
    ]
    first_done_seconds: Annotated[
        Number | None,
        seconds(
            "From the first opening to the last end on the node that was done first; lost nodes left out.",
            CLUSTER_PAGE,
        ),
    ]
    last_done_seconds: Annotated[
        Number | None, seconds("The same of the node that was done last.", CLUSTER_PAGE)
    ]
    imbalance_ratio: Annotated[
        Number | None, share("Last done over the mean of the nodes' times, less one.", CLUSTER_PAGE)
    ]
    lost: list[str]
    network_bytes_per_second: Annotated[
        Number | None,
        rate(
            "Sum over the nodes of what their networks and fabrics received and sent, each byte once.",
            CLUSTER_PAGE,
        ),
    ]
    network_received_bytes_per_second: Annotated[
        Number | None, rate("What of it they received.", CLUSTER_PAGE)
    ]
    network_sent_bytes_per_second: Annotated[Number | None, rate("What of it they sent.", CLUSTER_PAGE)]
    link_bytes_per_second: Annotated[
        Number | None,
        rate(
            "What a node's link to the storage carries each way, as declared (--link).",
            FACTS,
            absent="not declared (mawl run --link)",
        ),
    ]
    storage: Annotated[dict[str, StorageServer], block(member="server")]

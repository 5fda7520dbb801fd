"""Definitions of the bytes of a run: application, dirtied, device, own and foreign, and reach."""

from __future__ import annotations

from mawl.model.metric import (
    BYTES,
    THROUGHPUT,
    WINDOWS,
    Metric,
    bytes_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)

IO_METRICS: tuple[Metric, ...] = (
    bytes_metric("io.application.read_bytes", "Bytes that programs read, cache hits included.", BYTES),
    bytes_metric(
        "io.application.written_bytes", "Bytes that programs wrote, into the cache or further.", BYTES
    ),
    bytes_metric(
        "io.dirtied.written_bytes",
        "Bytes of pages that the jobs that count made dirty in memory: charged_written_bytes less "
        "cancelled_written_bytes, not below 0.  Direct writes count, too.",
        BYTES,
    ),
    bytes_metric(
        "io.dirtied.still_dirty_bytes",
        "Bytes of the run's files that were dirty or being written when the last job ended (cachestat; "
        "before Linux 6.5 what the machine held then beyond what it held at the gate).",
        BYTES,
    ),
    bytes_metric(
        "io.dirtied.removed_bytes",
        "Dirty bytes that were dropped when mawl removed the jobs' files: no job's account has them.",
        BYTES,
    ),
    bytes_metric(
        "io.dirtied.at_gate_bytes",
        "Dirty bytes of the whole machine when the gate opened, after the sync of the roles' file systems.",
        BYTES,
    ),
    seconds_metric(
        "io.dirtied.sync_seconds",
        "How long syncfs on the file systems of the roles took right before the gate; of several nodes the "
        "longest.",
        BYTES,
    ),
    bytes_metric(
        "io.device.read_bytes",
        "Bytes that the block devices of the roles read from the first start to the last end, whoever asked.",
        BYTES,
    ),
    bytes_metric(
        "io.device.written_bytes",
        "Bytes that the block devices of the roles were given from the first start to the last end, whoever "
        "asked.",
        BYTES,
    ),
    text_metric("io.device.bytes_source", "The block devices whose counters these are.", BYTES),
    bytes_metric(
        "io.own.read_bytes",
        "The run's part of the bytes read from devices: own_read_bytes of the jobs that count.",
        BYTES,
    ),
    bytes_metric(
        "io.own.written_bytes",
        "The run's part of the bytes written to devices: the control group's io.stat where it accounts for "
        "writeback, else the smaller of io.device.written_bytes and io.dirtied.written_bytes less what was "
        "removed or still dirty at the end.",
        BYTES,
    ),
    ratio_metric("io.own.read_ratio", "Own bytes read over own bytes read and written.", BYTES),
    text_metric("io.own.write_source", "Which of the two ways io.own.written_bytes is known by.", BYTES),
    object_metric("io.foreign", "What the devices of the roles moved beyond the run's own bytes.", BYTES),
    bytes_metric(
        "io.foreign.read_bytes", "Bytes read from the devices less the own ones, not below 0.", BYTES
    ),
    bytes_metric(
        "io.foreign.written_bytes", "Bytes written to the devices less the own ones, not below 0.", BYTES
    ),
    rate_metric(
        "io.foreign.total_bytes_per_second",
        "Both over the time from the first start to the last end.",
        BYTES,
    ),
    ratio_metric("io.foreign.ratio", "Foreign bytes over all bytes that the devices moved.", BYTES),
    *(
        metric
        for side in ("application", "device")
        for metric in (
            ratio_metric(f"io.{side}.read_ratio", "Bytes read over bytes read and written.", BYTES),
            *(
                rate_metric(
                    f"io.{side}.run_mean.{direction}_bytes_per_second",
                    f"Bytes {verb} over the elapsed time (first start to last end).",
                    THROUGHPUT,
                )
                for direction, verb in (
                    ("read", "read"),
                    ("write", "written"),
                    ("total", "read and written"),
                )
            ),
            *(
                rate_metric(
                    f"io.{side}.{figure}.{direction}_bytes_per_second",
                    f"Bytes {verb} per second {when}.",
                    WINDOWS,
                )
                for figure, when in (
                    ("peak", "in the highest window of at least half the length, the initial one among them"),
                    ("initial", "in the first window after all first-stage jobs started"),
                    ("sustained", "in the median window of the active phase"),
                    ("active_mean", "over the whole active phase"),
                )
                for direction, verb in (
                    ("read", "read"),
                    ("write", "written"),
                    ("total", "read and written"),
                )
            ),
            rate_metric(
                f"io.{side}.sustained_bytes_per_second_per_core",
                "Sustained throughput in total per core of the run's core_basis that the jobs could use.",
                WINDOWS,
            ),
            seconds_metric(
                f"io.{side}.window_seconds", "Length of a window: max(5 s, 1 % of the active phase).", WINDOWS
            ),
            text_metric(f"io.{side}.windows_source", "Whose counters the figures over windows are.", WINDOWS),
        )
    ),
    ratio_metric("io.reach.read_ratio", "Own bytes read over bytes that programs read.", BYTES),
    ratio_metric(
        "io.reach.write_ratio",
        "Own bytes written (io.own.written_bytes) over bytes that programs wrote.",
        BYTES,
    ),
)

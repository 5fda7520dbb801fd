"""Bytes that programs asked for, and bytes that reached the devices."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.blocks import Block, Missing, ratio, total
from mawl.model.records import JobRecord

WINDOW_FIGURES = (
    "peak",
    "initial",
    "sustained",
    "active_mean",
    "run_mean",
    "sustained_bytes_per_second_per_core",
    "window_seconds",
)


def io_block(jobs: Sequence[JobRecord], missing: Missing) -> Block:
    """Totals of the jobs that count, by the kernel's account (/proc/PID/io).

    Device bytes written are those charged less those cancelled before they were written (the file
    was removed first).  ``reach`` may pass 1: the kernel reads ahead and writes whole pages.
    """
    application = _side(
        "io.application",
        total(jobs, "application_read_bytes", "io.application.read_bytes", missing),
        total(jobs, "application_written_bytes", "io.application.written_bytes", missing),
        missing,
    )
    charged = total(jobs, "device_written_bytes", "io.device.written_bytes", missing)
    cancelled = total(jobs, "cancelled_written_bytes", "io.device.written_bytes", missing)
    device = _side(
        "io.device",
        total(jobs, "device_read_bytes", "io.device.read_bytes", missing),
        None if charged is None or cancelled is None else max(charged - cancelled, 0),
        missing,
    )
    return {
        "application": application,
        "device": device,
        "by_role": None,
        "reach": {
            "read_ratio": ratio(
                device["read_bytes"], application["read_bytes"], "io.reach.read_ratio", missing
            ),
            "write_ratio": ratio(
                device["written_bytes"], application["written_bytes"], "io.reach.write_ratio", missing
            ),
        },
        "coverage_ratio": None,
    }


def _side(path: str, read: float | None, written: float | None, missing: Missing) -> Block:
    both = None if read is None or written is None else read + written
    return {
        "read_bytes": read,
        "written_bytes": written,
        "read_ratio": ratio(read, both, f"{path}.read_ratio", missing),
        **dict.fromkeys(WINDOW_FIGURES),
    }

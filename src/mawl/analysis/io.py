"""Bytes that programs asked for, bytes that reached the devices, and both over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.analysis.blocks import Block, Missing, ratio, total
from mawl.analysis.device_bytes import COMPRESSED, DeviceBytes
from mawl.analysis.throughput import CHARGED
from mawl.model.records import JobRecord
from mawl.model.thresholds import value_of

NOT_COVERED = "samples do not cover half of the run at each of the devices"
REACHES_STORAGE_RATIO = value_of("capacity.least_reach_ratio")
"""Below this reach the page cache, not the storage, made the figures of a direction."""


def io_block(
    jobs: Sequence[JobRecord],
    elapsed_seconds: float | None,
    in_time: Mapping[str, Block],
    missing: Missing,
    at_devices: DeviceBytes | None = None,
    compressed: Sequence[str] = (),
    over_fuse: Sequence[str] = (),
) -> Block:
    """Totals of the jobs that count, by the kernel's account (/proc/PID/io), and figures over windows.

    ``in_time`` are the window figures of ``application`` and ``device``
    (:func:`mawl.analysis.throughput.side_in_time`).
    ``run_mean`` is those totals over ``elapsed_seconds``, the first start to the last end.
    Device bytes written are those charged less those cancelled before they were written (the file
    was removed first).  Where the jobs have no such account, or one from before compression (``compressed``
    are those roles), they are what moved ``at_devices``, whoever asked: ``bytes_source`` says which, and
    then there is no reach.  Of roles ``over_fuse`` reads are charged to nobody, and there are none.
    ``reach`` may pass 1: the kernel reads ahead and writes whole pages.
    """
    application = _side(
        "io.application",
        total(jobs, "application_read_bytes", "io.application.read_bytes", missing),
        total(jobs, "application_written_bytes", "io.application.written_bytes", missing),
        elapsed_seconds,
        missing,
    )
    own: Missing = {}
    charged = total(jobs, "device_written_bytes", "io.device.written_bytes", own)
    cancelled = total(jobs, "cancelled_written_bytes", "io.device.written_bytes", own)
    read = total(jobs, "device_read_bytes", "io.device.read_bytes", own)
    written = None if charged is None or cancelled is None else max(charged - cancelled, 0)
    source = CHARGED.source
    seconds = elapsed_seconds
    if compressed or (at_devices is not None and read is None and written is None):
        read, written, seconds = _moved(at_devices)
        source = at_devices.source if at_devices is not None else source
        own |= dict.fromkeys(("io.device.read_bytes", "io.device.written_bytes"), NOT_COVERED)
        if compressed and at_devices is None:
            reason = COMPRESSED.format(" and ".join(compressed))
            own |= dict.fromkeys(own, reason)
    if over_fuse and source == CHARGED.source:
        read = None
        own["io.device.read_bytes"] = f"{' and '.join(over_fuse)} on FUSE, whose reads are charged to nobody"
    missing |= own
    device = {**_side("io.device", read, written, seconds, missing), "bytes_source": source}
    reached = device if source == CHARGED.source else {"read_bytes": None, "written_bytes": None}
    return {
        "application": {**application, **in_time["application"]},
        "device": {**device, **in_time["device"]},
        "reach": {
            "read_ratio": ratio(
                reached["read_bytes"], application["read_bytes"], "io.reach.read_ratio", missing
            ),
            "write_ratio": ratio(
                reached["written_bytes"], application["written_bytes"], "io.reach.write_ratio", missing
            ),
        },
    }


def _moved(found: DeviceBytes | None) -> tuple[float | None, float | None, float | None]:
    """Bytes read and written, and the seconds in which both are known."""
    if found is None:
        return None, None, None
    read, written = found.read, found.written
    seconds = [change.seconds for change in (read, written) if change is not None]
    return (
        None if read is None else read.amount,
        None if written is None else written.amount,
        min(seconds, default=None),
    )


def cached_directions(io: Block) -> list[str]:
    """``read`` and ``write`` where programs moved bytes of which too few reached a device."""
    application, reach = io["application"], io["reach"]
    return [
        direction
        for direction, moved in (("read", "read_bytes"), ("write", "written_bytes"))
        if application[moved]
        and (reached := reach[f"{direction}_ratio"]) is not None
        and reached < REACHES_STORAGE_RATIO
    ]


def _side(
    path: str, read: float | None, written: float | None, elapsed_seconds: float | None, missing: Missing
) -> Block:
    both = None if read is None or written is None else read + written
    return {
        "read_bytes": read,
        "written_bytes": written,
        "read_ratio": ratio(read, both, f"{path}.read_ratio", missing),
        "run_mean": {
            f"{name}_bytes_per_second": ratio(
                moved, elapsed_seconds, f"{path}.run_mean.{name}_bytes_per_second", missing
            )
            for name, moved in (("read", read), ("write", written), ("total", both))
        },
    }

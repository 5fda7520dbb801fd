"""Bytes of the four kinds (application, dirtied, device, own), what was others', and reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.analysis.blocks import Block, Missing, counted, ratio, total
from mawl.analysis.device_bytes import DeviceBytes
from mawl.analysis.own_bytes import dirtied_block, foreign_block, own_block
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts
from mawl.model.thresholds import value_of

NOT_COVERED = "samples do not cover half of the run at each of the devices"
REACHES_STORAGE_RATIO = value_of("capacity.least_reach_ratio")
"""Below this reach the page cache, not the storage, made the figures of a direction."""


def io_block(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    elapsed_seconds: float | None,
    in_time: Mapping[str, Block],
    missing: Missing,
    at_devices: DeviceBytes | None = None,
    why_not: str | None = None,
) -> Block:
    """Totals and figures over windows; docs/design/figures.md, Bytes, has the formulas.

    ``in_time`` are the window figures of ``application`` and ``device``
    (:func:`mawl.analysis.throughput.side_in_time`).  ``jobs`` are all; application, dirtied and own bytes
    are of those that count.  ``at_devices`` is what the devices of the roles moved, whoever asked, and
    ``why_not`` why that is not known.  ``reach`` is own over application and may pass 1: the kernel reads
    ahead and writes whole pages.
    """
    good = counted(jobs)
    application = _side(
        "io.application",
        total(good, "application_read_bytes", "io.application.read_bytes", missing),
        total(good, "application_written_bytes", "io.application.written_bytes", missing),
        elapsed_seconds,
        missing,
    )
    read, written, seconds = _moved(at_devices)
    missing |= dict.fromkeys(("io.device.read_bytes", "io.device.written_bytes"), why_not or NOT_COVERED)
    device = _side("io.device", read, written, seconds, missing)
    missing["io.device.bytes_source"] = why_not or NOT_COVERED
    dirtied = dirtied_block(facts, good, missing)
    own = own_block(facts, good, at_devices, missing)
    return {
        "application": {**application, **in_time["application"]},
        "dirtied": dirtied,
        "device": {
            **device,
            "bytes_source": None if at_devices is None else at_devices.source,
            **in_time["device"],
        },
        "own": own,
        "foreign": foreign_block(facts, jobs, at_devices, missing),
        "reach": {
            f"{direction}_ratio": _reach(own, application, direction, moved, missing)
            for direction, moved in (("read", "read_bytes"), ("write", "written_bytes"))
        },
    }


def _reach(own: Block, application: Block, direction: str, moved: str, missing: Missing) -> float | None:
    path = f"io.reach.{direction}_ratio"
    found = ratio(own[moved], application[moved], path, missing)
    if own[moved] is None:
        missing[path] = missing[f"io.own.{moved}"]
    return found


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

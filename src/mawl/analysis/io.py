"""Bytes of the four kinds (application, dirtied, device, own), what was others', and reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from mawl.analysis.blocks import Missing, ratio, total
from mawl.analysis.device_bytes import DeviceBytes, device_bytes
from mawl.analysis.moments import peak_latencies
from mawl.analysis.own_bytes import dirtied_block, foreign_block, own_block
from mawl.analysis.role_devices import devices_by_role
from mawl.analysis.roles import by_role_block, coverage_ratio, direct_block, io_remarks
from mawl.analysis.throughput import APPLICATION, side_in_time
from mawl.model.summary.io import Application, AtDevice, Io, Rates, Reach
from mawl.model.thresholds import value_of

if TYPE_CHECKING:
    from mawl.analysis.view import RunView

NOT_COVERED = "samples do not cover half of the run at each of the devices"
REACHES_STORAGE_RATIO = value_of("capacity.least_reach_ratio")
"""Below this reach the page cache, not the storage, made the figures of a direction."""


def io_block(view: RunView, elapsed_seconds: float | None, missing: Missing) -> Io:
    """Totals, figures over windows and calls by role; docs/design/figures.md, Bytes, has the formulas.

    Application, dirtied and own bytes are of the jobs that count.  ``reach`` is own over application and
    may pass 1: the kernel reads ahead and writes whole pages.
    """
    facts, good, samples, windows = view.facts, view.counted, view.samples, view.windows
    edges = windows.edges if windows else None
    at_devices = view.moved or device_bytes(
        facts, samples, view.device, (edges[0], edges[-1]) if edges else None
    )
    asked, reached = (
        side_in_time(f"io.{name}", counters, facts, view.jobs, windows, samples, missing)
        for name, counters in (("application", APPLICATION), ("device", view.device))
    )
    sums = _sums(
        "io.application",
        total(good, "application_read_bytes", "io.application.read_bytes", missing),
        total(good, "application_written_bytes", "io.application.written_bytes", missing),
        elapsed_seconds,
        missing,
    )
    application = Application(**msgspec.structs.asdict(sums), **msgspec.structs.asdict(asked))
    own = own_block(facts, good, at_devices, missing)
    return Io(
        application=application,
        dirtied=dirtied_block(facts, good, missing),
        device=AtDevice(
            **msgspec.structs.asdict(_at_devices(at_devices, view.device.reason or NOT_COVERED, missing)),
            bytes_source=None if at_devices is None else at_devices.source,
            **msgspec.structs.asdict(reached),
        ),
        own=own,
        foreign=foreign_block(facts, view.jobs, at_devices, missing),
        reach=Reach(
            read_ratio=_reach(own.read_bytes, application.read_bytes, "read", "read_bytes", missing),
            write_ratio=_reach(
                own.written_bytes, application.written_bytes, "write", "written_bytes", missing
            ),
        ),
        by_role=by_role_block(good, facts.roles, peak_latencies(view.moments), missing),
        devices_by_role=devices_by_role(facts, samples, edges, missing),
        coverage_ratio=coverage_ratio(good, missing),
        direct=direct_block(good, missing),
        unseen=io_remarks(good),
    )


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of one side over the run, and their rates."""

    read_bytes: float | None
    written_bytes: float | None
    read_ratio: float | None
    run_mean: Rates


def _at_devices(found: DeviceBytes | None, why_not: str, missing: Missing) -> Sums:
    """What the devices of the roles moved for all programs; ``why_not`` says why that is not known."""
    read, written, seconds = _moved(found)
    missing |= dict.fromkeys(("io.device.read_bytes", "io.device.written_bytes"), why_not)
    missing["io.device.bytes_source"] = why_not
    return _sums("io.device", read, written, seconds, missing)


def _reach(
    own: float | None, application: float | None, direction: str, moved: str, missing: Missing
) -> float | None:
    path = f"io.reach.{direction}_ratio"
    found = ratio(own, application, path, missing)
    if own is None:
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


def cached_directions(io: Io) -> list[str]:
    """``read`` and ``write`` where programs moved bytes of which too few reached a device."""
    application, reach = io.application, io.reach
    return [
        direction
        for direction, moved in (("read", "read_bytes"), ("write", "written_bytes"))
        if getattr(application, moved)
        and (reached := getattr(reach, f"{direction}_ratio")) is not None
        and reached < REACHES_STORAGE_RATIO
    ]


def _sums(
    path: str, read: float | None, written: float | None, elapsed_seconds: float | None, missing: Missing
) -> Sums:
    both = None if read is None or written is None else read + written
    rates = {
        f"{name}_bytes_per_second": ratio(
            moved, elapsed_seconds, f"{path}.run_mean.{name}_bytes_per_second", missing
        )
        for name, moved in (("read", read), ("write", written), ("total", both))
    }
    return Sums(
        read_bytes=read,
        written_bytes=written,
        read_ratio=ratio(read, both, f"{path}.read_ratio", missing),
        run_mean=Rates(**rates),
    )

"""The storage of the roles during the mix: a row of figures, and where they lie."""

from __future__ import annotations

from mawl.model.qualification import AnswerStorage
from mawl.units import format_latency, format_rate, format_ratio

STORAGE_HEAD = ("roles", "device", "read", "written", "latency of reads", "of writes", "queue")


def storage_row(one: AnswerStorage) -> tuple[str, ...]:
    """A row of :data:`STORAGE_HEAD`."""
    rates = (one.read_bytes_per_second, one.write_bytes_per_second)
    latencies = (one.read_latency_seconds, one.write_latency_seconds)
    return (
        ", ".join(one.roles),
        ", ".join(one.devices) or "not known",
        *("-" if rate is None else format_rate(rate) for rate in rates),
        *("-" if seconds is None else format_latency(seconds) for seconds in latencies),
        "-" if one.queue_length is None else format_ratio(one.queue_length),
    )


def lies_on(one: AnswerStorage) -> str:
    """Where roles lie: device, file system and disks."""
    on = ", ".join(one.devices) or "no known device"
    kinds = f" ({', '.join(one.file_systems)})" if one.file_systems else ""
    disks = f" on {' and '.join(one.disks)}" if one.disks else ""
    return f"{', '.join(one.roles)}: {on}{kinds}{disks}"

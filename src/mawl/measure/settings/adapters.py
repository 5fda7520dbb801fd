"""Host bus adapters and NVMe controllers (sysfs-class-scsi_host, fc_host, nvme), and Lustre clients."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mawl.measure.settings.reading import MIB, Subject, names_in

QUEUE_DEPTHS = {"lpfc": "lpfc_lun_queue_depth", "qla2xxx": "ql2xmaxqdepth"}
"""Driver to its module parameter."""


def read(sys: Path) -> Iterator[Subject]:
    """SCSI hosts with their fibre-channel port, then NVMe controllers."""
    for name in names_in(sys / "class/scsi_host"):
        directory, port = sys / "class/scsi_host" / name, sys / "class/fc_host" / name
        found = Subject("adapter", name)
        found.put("kind", "fibre channel" if port.exists() else "scsi")
        found.text("driver", directory / "proc_name")
        found.number("queue", directory / "can_queue")
        found.number("commands_per_device", directory / "cmd_per_lun")
        parameter = QUEUE_DEPTHS.get(str(found.figures["driver"]))
        if port.exists():
            found.text("speed", port / "speed")
            found.text("state", port / "port_state")
        if parameter is not None:
            found.number(
                "lun_queue_depth", sys / "module" / str(found.figures["driver"]) / "parameters" / parameter
            )
        found.number("numa_node", directory / "device/../numa_node")
        yield found
    for name in names_in(sys / "class/nvme"):
        directory = sys / "class/nvme" / name
        found = Subject("adapter", name)
        found.put("kind", "nvme")
        found.text("transport", directory / "transport")
        found.text("state", directory / "state")
        found.number("queue", directory / "queue_count")
        found.read("queue_entries", directory / "sqsize", lambda text: int(text) + 1)
        found.number("numa_node", directory / "numa_node")
        yield found


def read_lustre(proc: Path, sys: Path) -> Iterator[Subject]:
    """Mounts (llite) and targets (osc), wherever this release has its files."""
    for part, figures in (
        (
            "llite",
            {
                "max_read_ahead_bytes": "max_read_ahead_mb",
                "max_read_ahead_per_file_bytes": "max_read_ahead_per_file_mb",
                "max_cached_bytes": "max_cached_mb",
            },
        ),
        ("osc", {"requests_in_flight": "max_rpcs_in_flight", "pages_per_request": "max_pages_per_rpc",
                 "dirty_bytes": "max_dirty_mb", "checksums": "checksums"}),
    ):  # fmt: skip
        for name in sorted(
            {*names_in(sys / "fs/lustre" / part), *names_in(proc / "fs/lustre" / part)} - {"num_refs"}
        ):
            found = Subject("lustre", f"{part}.{name}")
            for figure, file in figures.items():
                places = [
                    base / "fs/lustre" / part / name / file for base in (sys, proc, sys / "kernel/debug")
                ]
                there = next((place for place in places if place.exists()), places[0])
                factor = MIB if figure.endswith("_bytes") else 1
                found.read(figure, there, lambda text, factor=factor: _number(text) * factor)  # type: ignore[misc]
            yield found


def _number(text: str) -> int:
    """``max_cached_mb`` is one line of several; the others are a number alone."""
    match = re.search(r"^max_cached_mb:\s*([0-9]+)", text, re.M)
    return int(match[1]) if match else int(float(text))

"""A run whose host has one of everything: facts, and the growth of its counters per second."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.records.model.run import CacheFacts, RunFacts, VolumeFacts
from mawl.records.spec.program_options import Role
from tests.fakes.measured_run import Rate
from tests.fakes.stored_run import facts

PARTS: dict[str, Rate] = {
    "host.cpu_system_seconds": 0.5,
    "host.cpu_interrupt_seconds": 0.1,
    "host.cpu_iowait_seconds": 1.0,
    "host.cpu_steal_seconds": 0.4,
    "host.context_switches": 2000.0,
    "host.major_faults": 3.0,
    "device.sda.reads": 100.0,
    "device.sda.writes": 50.0,
    "device.sda.read_bytes": 80e6,
    "device.sda.written_bytes": 40e6,
    "device.sda.read_seconds": 0.2,
    "device.sda.write_seconds": 0.5,
    "device.sda.busy_seconds": 0.5,
    "device.sda.queue_seconds": 0.7,
    "device.sda.in_flight": 1.0,
    "device.sda.flushes": 1.0,
    "device.sdb.reads": 1.0,
    "device.sdb.read_bytes": 4096.0,
    "network.eth0.received_bytes": 1e6,
    "network.eth0.sent_bytes": 2e6,
    "fabric.host1.received_bytes": 3e6,
    "fabric.host1.sent_bytes": 4e6,
    "mount./sas.data.reads": 10.0,
    "mount./sas.data.read_seconds": 0.05,
    "mount./sas.data.read_bytes": 5e6,
}


def host_facts(**changes: object) -> RunFacts:
    """Facts with the roles on one disk, and half of the inputs in memory."""
    volumes = [
        VolumeFacts(
            role=role,
            node="bench1",
            directory=f"/mnt/{role}",
            mount_point="/mnt",
            file_system="xfs",
            source="/dev/sda",
            devices=["sda"],
            layers=["sda"],
            disks=["sda"],
            shared_with=[other for other in ("data", "work", "util") if other != role],
        )
        for role in ("data", "work", "util")
    ]
    cache = CacheFacts(mode="cold", input_bytes=2000, resident_bytes=1000, source="cachestat", remarks=["x"])
    return facts(**{"remarks": ["torn"], "volumes": volumes, "cache": cache, **changes})


def apart_facts(work_shares: Sequence[Role] = (), **changes: object) -> RunFacts:
    """Facts with each role on a device of its own, unless work shares one."""
    disks: dict[Role, str] = {"data": "sda", "work": "sdb", "util": "sdc"}
    volumes = [
        VolumeFacts(
            role=role,
            node="bench1",
            directory=f"/mnt/{role}",
            devices=[disk],
            layers=[disk, "vda"],
            shared_with=list(work_shares) if role == "work" else [],
        )
        for role, disk in disks.items()
    ]
    return facts(**{"volumes": volumes, **changes})

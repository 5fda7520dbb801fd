"""Block storage over fibre channel or Ethernet: the ports limit where they are full, else the storage."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.limit import verdict
from mawl.analysis.moments import Moment
from mawl.model.ports import Port, Transport
from tests.fakes.measured_run import WORKLOAD, Rate, reading_of
from tests.fakes.stored_run import ON_SDA, facts
from tests.fakes.views import plain

BLOCKED: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, "role.work.waited_seconds": 3.0}
SPEED = 1e9


def limit_of(transport: Transport | None, ports: list[Port], rates: dict[str, Rate]) -> dict[str, Any]:
    volumes = [msgspec.structs.replace(one, transport=transport) for one in ON_SDA]
    of = facts(outcome="completed", workload=WORKLOAD, volumes=volumes, ports={"bench1": ports})
    return plain(verdict.limit_of(reading_of({**BLOCKED, **rates}, of=of), {}))


FC = [Port(name="host1", kind="fc", bytes_per_second=SPEED)]
ETHERNET = [Port(name="eth0", kind="ethernet", bytes_per_second=SPEED)]


@pytest.mark.parametrize(
    ("transport", "ports", "series", "share", "verdict"),
    [
        ("fc", FC, "fabric.host1.received_bytes", 0.95, "network"),
        ("fc", FC, "fabric.host1.received_bytes", 0.5, "storage"),
        ("iscsi", ETHERNET, "network.eth0.sent_bytes", 0.95, "network"),
        ("nvme-tcp", ETHERNET, "network.eth0.received_bytes", 0.9, "network"),
        ("nvme-tcp", FC, "fabric.host1.received_bytes", 0.95, "storage"),
        (None, ETHERNET, "network.eth0.received_bytes", 0.95, "storage"),
    ],
)
def test_full_ports_are_the_network_and_ports_with_room_are_storage(
    transport: Transport | None, ports: list[Port], series: str, share: float, verdict: str
) -> None:
    block = limit_of(transport, ports, {series: share * SPEED})
    assert block["verdict"] == verdict
    assert block["headroom"]["network_ratio"] == pytest.approx(1.0 - share)
    named = [line["sentence"] for line in block["evidence"] if "of its speed" in line["sentence"]]
    assert bool(named) == (verdict == "network")


def test_a_bond_and_its_members_count_once() -> None:
    ports = [
        Port(name="bond0", kind="ethernet", bytes_per_second=2 * SPEED, members=["eth0", "eth1"]),
        *(Port(name=name, kind="ethernet", bytes_per_second=SPEED) for name in ("eth0", "eth1")),
    ]
    rates: dict[str, Rate] = {
        "network.bond0.received_bytes": 3e8,
        "network.eth0.received_bytes": 2e8,
        "network.eth1.received_bytes": 1e8,
    }
    of = facts(outcome="completed", workload=WORKLOAD, ports={"bench1": ports})
    reading = reading_of({**BLOCKED, **rates}, of=of)
    windows: list[Moment] = reading.active
    assert {round(one.network_bytes_per_second or 0.0) for one in windows} == {300_000_000}
    assert plain(verdict.limit_of(reading, {}))["headroom"]["network_ratio"] == pytest.approx(0.8)

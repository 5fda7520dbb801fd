"""What a device can do by direction: a cap, a probe, or the highest rate of a run that waited for it."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.records.model.node import IoCap
from mawl.records.model.run import NodeFacts, VolumeFacts
from mawl.records.spec.program_options import ROLES
from mawl.simulation.device_rates import CAP, WAITED, limited, peaks_of, rated
from mawl.simulation.measured_system import own_system
from tests.fakes.stored_run import facts
from tests.simulation.scenes import device

PEAKS = peaks_of({"read": [[60.0, 10.0, None]], "write": [[70.0, 20.0, 55.0]]})
CAPS: dict[Any, Any] = {"read": (50, ["read_bps"])}


@pytest.mark.parametrize(
    ("probe", "waited", "caps", "rates", "sources"),
    [
        (None, [], {}, (1e9, 1e9, None), ("assumed", "assumed")),
        (None, ["read"], {}, (60.0, 1e9, None), (WAITED, "assumed")),
        (None, ["read", "write"], {}, (60.0, 70.0, 130.0), (WAITED, WAITED)),
        (None, ["read", "write"], CAPS, (50.0, 70.0, None), (f"{CAP} read_bps", WAITED)),
        ("fio-3.33", ["read"], {}, (90.0, 90.0, None), ("measured: fio-3.33", "measured: fio-3.33")),
        ("fio-3.33", [], CAPS, (50.0, 90.0, None), (f"{CAP} read_bps", "measured: fio-3.33")),
        ("fio-3.33", [], {"write": (95, ["f"])}, (90.0, 90.0, None), ("measured: fio-3.33",) * 2),
    ],
    ids=["nothing", "reads", "both ways", "a cap", "a probe", "a cap below the probe", "a cap above it"],
)
def test_a_rate_is_that_of_a_cap_a_probe_or_a_limit(
    probe: str | None, waited: list[Any], caps: Any, rates: tuple[float, ...], sources: tuple[str, ...]
) -> None:
    """130 bytes a second, the highest of both directions together, are the rate of neither."""
    made, told = rated(device("disk", rate=90e-6), probe, PEAKS, waited, caps)
    assert (
        made.read_bytes_per_second,
        made.write_bytes_per_second,
        made.shared_bytes_per_second,
    ) == pytest.approx(rates)
    assert tuple(told[f"devices.disk.{way}_bytes_per_second"] for way in ("read", "write")) == sources


@pytest.mark.parametrize(
    ("read", "write", "ways"),
    [
        (0.004, 0.0, []),
        (0.1, 0.05, []),
        (0.15, 0.1, ["read", "write"]),
        (0.5, 0.1, ["read"]),
        (0.6, 0.21, ["read", "write"]),
    ],
)
def test_a_device_that_jobs_waited_for_did_what_it_can(read: float, write: float, ways: list[str]) -> None:
    """Two roles on one device: what jobs waited for both counts."""
    waited: Any = {("data", "read"): read, ("work", "write"): write, ("util", "read"): 0.9}
    assert limited(waited, ["data", "work"]) == ways


def test_the_recorded_caps_of_a_run_are_the_rates_of_its_devices() -> None:
    caps = [
        IoCap(device="sda", direction="read", bytes_per_second=60_000_000, file="read_bps", carries=["sda"]),
        IoCap(device="sda", direction="write", requests_per_second=100, file="write_iops", carries=["sda"]),
    ]
    volumes = [
        VolumeFacts(role=role, node="node1", directory=f"/{role}", devices=["sda"], caps=caps)
        for role in ROLES
    ]
    node = NodeFacts(name="node1", cores=2, core_basis="vCPU")
    system = own_system(facts(nodes=[node], volumes=volumes), None, None, {})
    (disk,) = system.devices
    assert (disk.read_bytes_per_second, disk.local) == (60e6, True)
    assert system.sources["devices.sda.read_bytes_per_second"] == f"{CAP} read_bps"
    assert system.sources["devices.sda.write_bytes_per_second"] == "assumed"

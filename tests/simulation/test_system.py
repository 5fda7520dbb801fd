"""What no system can be is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.errors import UsageError
from mawl.simulation.changes import changed, parse_change
from mawl.simulation.system import NodeKind, System
from tests.simulation.scenes import device, system


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({"read_bytes_per_second": 0.0}, "device disk: read_bytes_per_second is 0"),
        ({"write_bytes_per_second": -1.0}, "device disk: write_bytes_per_second is -1"),
        ({"shared_bytes_per_second": float("nan")}, "shared_bytes_per_second is nan"),
        ({"latency_seconds": -0.1}, "latency_seconds must be 0 or more"),
        ({"spinning_streams": 1.0}, "spinning_streams is 1"),
    ],
)
def test_a_device_that_cannot_be_is_refused(figures: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        device(**figures)


@pytest.mark.parametrize("name", ["link", "fabric", "cores", "memory", "data", ""])
def test_a_device_must_not_be_called_as_another_resource(name: str) -> None:
    with pytest.raises(UsageError, match="a device cannot be named"):
        device(name)


def test_a_role_without_a_device_is_refused() -> None:
    with pytest.raises(UsageError, match="role util lies on no device"):
        NodeKind(count=1, cores=1, memory_bytes=1, roles={"data": ("disk",), "work": ("disk",)})
    with pytest.raises(UsageError, match="role data lies on device tape, which is not described"):
        system(roles={"data": ("tape",), "work": ("disk",), "util": ("disk",)})
    with pytest.raises(UsageError, match="device disk is described twice"):
        system(device(), device())
    with pytest.raises(UsageError, match="has no nodes"):
        System(name="none", nodes=(), devices=())


def test_changes_set_one_figure_and_mark_it_assumed() -> None:
    before = system(cores=4)
    texts = ["cores=32", "link=7GB", "fabric=16GB", "disk.read=1GB", "work=flash", "memory=1GiB"]
    after = changed(before, [parse_change(text) for text in texts])
    kind = after.nodes[0]
    assert (kind.cores, kind.link_bytes_per_second, kind.memory_bytes) == (32.0, 7e9, 2.0**30)
    assert after.fabric_bytes_per_second == 16e9
    assert after.device("disk").read_bytes_per_second == 1e9
    assert kind.roles["work"] == ("flash",)
    assert kind.roles["data"] == ("disk",)
    assert set(after.sources.values()) == {"assumed"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cores", "expected KEY=VALUE"),
        ("cores=many", "is no number"),
        ("cores=0", "cores is 0"),
        ("tape.read=1GB", "nothing to set is called so"),
        ("work=tape", "role work lies on device tape, which is not described"),
        ("disk.read=0", "read_bytes_per_second is 0"),
        ("link=0", "link_bytes_per_second is 0"),
    ],
)
def test_a_change_that_cannot_be_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        changed(system(), [parse_change(text)])

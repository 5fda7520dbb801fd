"""Which networks count: each byte once, at the interface or port that carried it."""

from __future__ import annotations

import pytest

from mawl.figures.host_parts import counted_interfaces


@pytest.mark.parametrize(
    ("names", "fabrics", "counted"),
    [
        ({"lo", "eth0"}, (), ["eth0"]),
        ({"lo0", "en0"}, (), ["en0"]),
        ({"bond0", "eth0", "eth1"}, (), ["eth0", "eth1"]),
        ({"bond0", "bond0.100", "ens1f0np0", "ens1f1np1"}, (), ["ens1f0np0", "ens1f1np1"]),
        ({"team0", "enp3s0", "enp3s0.7"}, (), ["enp3s0"]),
        ({"docker0", "veth3f2a", "br-5c1f", "virbr0", "vnet3", "eth0"}, (), ["eth0"]),
        ({"eth0", "eth0:1"}, (), ["eth0"]),
        ({"veth3f2a"}, (), ["veth3f2a"]),
        ({"bond0", "bond0.100"}, (), ["bond0"]),
        ({"eth0", "ib0"}, ("mlx5_0/1",), ["eth0"]),
        ({"eth0", "ib0"}, ("host0",), ["eth0", "ib0"]),
        ({"eth0", "ib0"}, (), ["eth0", "ib0"]),
        ({"bridge-of-a-person", "tunnel"}, (), ["bridge-of-a-person", "tunnel"]),
        ({"lo"}, (), []),
    ],
)
def test_interfaces_that_lie_on_others_do_not_count(
    names: set[str], fabrics: tuple[str, ...], counted: list[str]
) -> None:
    assert counted_interfaces(names, fabrics) == counted

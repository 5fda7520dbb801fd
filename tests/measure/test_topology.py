"""Sockets, cores, threads and memory nodes from a folder that stands in for sysfs."""

from __future__ import annotations

from pathlib import Path

from mawl.measure.machine import Topology, core_siblings, read_topology
from tests.fakes.tree import plant

CPUS = "sys/devices/system/cpu"


def test_two_sockets_with_threads(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            f"{CPUS}/online": "0-7\n",
            f"{CPUS}/smt/control": "on\n",
            f"{CPUS}/cpu0/cpufreq/scaling_driver": "intel_pstate\n",
            f"{CPUS}/cpu0/cpufreq/scaling_governor": "performance\n",
            "sys/devices/system/node/online": "0-1\n",
            **{f"{CPUS}/cpu{n}/topology/physical_package_id": f"{n % 4 // 2}\n" for n in range(8)},
            **{f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 4},{n % 4 + 4}\n" for n in range(8)},
        },
    )
    assert read_topology(tmp_path / "sys") == Topology(
        logical_cpus=8,
        physical_cores=4,
        sockets=2,
        smt="on",
        memory_nodes=2,
        frequency_policy="intel_pstate, performance",
    )


def test_threads_that_are_switched_off_are_no_siblings(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            f"{CPUS}/online": "0-1\n",
            **{f"{CPUS}/cpu{n}/topology/core_cpus_list": f"{n}\n" for n in range(4)},
        },
    )
    assert core_siblings(tmp_path / "sys") == [[0], [1]]


def test_a_machine_that_says_nothing(tmp_path: Path) -> None:
    assert read_topology(tmp_path) == Topology(
        logical_cpus=None,
        physical_cores=None,
        sockets=None,
        smt=None,
        memory_nodes=None,
        frequency_policy=None,
    )

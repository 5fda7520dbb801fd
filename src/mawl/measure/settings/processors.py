"""Frequency, threads, idle states (admin-guide/pm, cputopology.rst), virtualisation, and the container."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from mawl.measure.machine import Machine
from mawl.measure.settings.reading import Subject, known_text, names_in
from mawl.measure.topology import core_siblings, online_processors

KILOHERTZ = 1000
MICROSECONDS = 10**6
HOST_DECIDES = "no cpufreq: on a virtual machine its host decides"


def read(sys: Path, machine: Machine) -> Iterator[Subject]:
    """Processors, then the container."""
    cpu = sys / "devices/system/cpu"
    found = Subject("cpu")
    numbers = online_processors(sys)
    policies = [cpu / f"cpu{number}/cpufreq" for number in numbers]

    def all_of(name: str) -> list[str]:
        return [text for policy in policies if (text := known_text(policy / name)) is not None]

    for figure, name in (
        ("governor", "scaling_governor"),
        ("driver", "scaling_driver"),
        ("energy_preference", "energy_performance_preference"),
    ):
        found.put(figure, ", ".join(sorted(set(all_of(name)))) or None, HOST_DECIDES)
    bounds: tuple[tuple[str, str, Callable[[list[int]], int]], ...] = (
        ("lowest_frequency_hertz", "scaling_min_freq", min),
        ("highest_frequency_hertz", "scaling_max_freq", max),
    )
    for figure, name, end in bounds:
        values = [int(text) * KILOHERTZ for text in all_of(name) if text.isdigit()]
        found.put(figure, end(values) if values else None, HOST_DECIDES)
    off, boost = known_text(cpu / "intel_pstate/no_turbo"), known_text(cpu / "cpufreq/boost")
    turbo = {"0": True, "1": False}.get(off or "", {"0": False, "1": True}.get(boost or ""))
    found.put("turbo", turbo, HOST_DECIDES)
    found.text("smt", cpu / "smt/control")
    siblings = core_siblings(sys)
    found.put("threads_per_core", max(map(len, siblings), default=None))
    _idle(found, cpu, numbers)
    found.put("isolated", known_text(cpu / "isolated") or "none")
    found.put("virtual", machine.virtual or "none")
    yield found


def _idle(found: Subject, cpu: Path, numbers: list[int]) -> None:
    """Of the first processor that is on: they are alike, but for what somebody disabled on one alone."""
    found.read("idle_driver", cpu / "cpuidle/current_driver", lambda text: text or None)
    directory = cpu / f"cpu{numbers[0] if numbers else 0}/cpuidle"
    names, exits = [], []
    for state in names_in(directory):
        if known_text(directory / state / "disable") == "0":
            names.append(known_text(directory / state / "name") or state)
            exits.append(int(known_text(directory / state / "latency") or 0) / MICROSECONDS)
    reason = "no cpuidle: on a virtual machine its host decides"
    found.put("idle_states", " ".join(names) or None, reason)
    found.put("idle_exit_seconds", max(exits, default=None), reason)


def read_container(proc: Path, sys: Path, machine: Machine) -> Subject:
    """Bounds of this process."""
    found = Subject("container")
    found.put("container", machine.container or "none")
    found.put("cpu_quota_cores", machine.cpu_quota_cores, "no bound")
    found.put("memory_limit_bytes", machine.memory_limit_bytes, "no bound")
    found.put("usable_cpus", len(machine.usable_cpus) if machine.usable_cpus else None)
    own = next(
        (
            line[3:]
            for line in (known_text(proc / "self/cgroup") or "").splitlines()
            if line.startswith("0::")
        ),
        None,
    )
    group = sys / "fs/cgroup" / (own or "/").lstrip("/")
    found.put("io_limits", known_text(group / "io.max"), "no bound by io.max of its control group")
    return found

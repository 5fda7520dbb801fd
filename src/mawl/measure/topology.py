"""How the processors of this machine hang together: sockets, cores, threads, memory nodes, frequency.

Source: ``/sys/devices/system`` (Linux Documentation/admin-guide/cputopology.rst, cpu-freq).
"""

from __future__ import annotations

from pathlib import Path

import msgspec


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of what is on; None where the kernel does not say.

    ``smt`` is the kernel's word: on, off, forceoff, notsupported, notimplemented.
    ``frequency_policy`` is driver and governor of the first processor; None without cpufreq, as on
    most virtual machines, where the host decides.
    """

    logical_cpus: int | None
    physical_cores: int | None
    sockets: int | None
    smt: str | None
    memory_nodes: int | None
    frequency_policy: str | None


def read_topology(sys: Path = Path("/sys")) -> Topology:
    """Read it once: it does not change while a run lasts, unless somebody switches processors off."""
    online = online_processors(sys)
    packages = {_text(_processor(sys, number) / "topology/physical_package_id") for number in online}
    frequency = _processor(sys, online[0] if online else 0) / "cpufreq"
    driver, governor = _text(frequency / "scaling_driver"), _text(frequency / "scaling_governor")
    return Topology(
        logical_cpus=len(online) or None,
        physical_cores=len(core_siblings(sys)) or None,
        sockets=len(packages - {None}) or None,
        smt=_text(sys / "devices/system/cpu/smt/control"),
        memory_nodes=len(parse_cpu_list(_text(sys / "devices/system/node/online") or "")) or None,
        frequency_policy=f"{driver}, {governor}" if driver and governor else governor or driver,
    )


def online_processors(sys: Path) -> list[int]:
    """Numbers of the logical processors that are on."""
    return parse_cpu_list(_text(sys / "devices/system/cpu/online") or "")


def core_siblings(sys: Path) -> list[list[int]]:
    """The logical processors of each physical core that is on; empty where the kernel does not say."""
    cores: dict[str, list[int]] = {}
    for number in online_processors(sys):
        topology = _processor(sys, number) / "topology"
        told = _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
        if told:
            cores.setdefault(told, []).append(number)
    return list(cores.values())


def parse_cpu_list(text: str) -> list[int]:
    """Numbers from the kernel's list format, ``0-3,8`` (cpuset(7))."""
    numbers: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def _processor(sys: Path, number: int) -> Path:
    return sys / f"devices/system/cpu/cpu{number}"


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip() or None
    except OSError:
        return None

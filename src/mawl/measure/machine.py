"""Facts of the machine: processors and their topology, memory, limits, and modes of hardware threads (SMT).

Everything is read from ``/proc`` and ``/sys`` (proc(5), sysfs); both are parameters, so that a
folder can stand in for a machine.  Sources: Linux Documentation/admin-guide/cputopology.rst, cpu-freq,
Documentation/ABI/testing/sysfs-devices-system-cpu; on POWER ``ppc64_cpu --smt -n`` and
``--threads-per-core`` of powerpc-utils.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.cloud import read_cloud
from mawl.measure.control_groups import GroupLimits, container_name, read_limits
from mawl.measure.devices import small_text


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
    packages = {small_text(_processor(sys, number) / "topology/physical_package_id") for number in online}
    frequency = _processor(sys, online[0] if online else 0) / "cpufreq"
    driver, governor = small_text(frequency / "scaling_driver"), small_text(frequency / "scaling_governor")
    return Topology(
        logical_cpus=len(online) or None,
        physical_cores=len(core_siblings(sys)) or None,
        sockets=len(packages - {None, ""}) or None,
        smt=small_text(sys / "devices/system/cpu/smt/control") or None,
        memory_nodes=len(parse_cpu_list(small_text(sys / "devices/system/node/online") or "")) or None,
        frequency_policy=f"{driver}, {governor}" if driver and governor else governor or driver or None,
    )


def online_processors(sys: Path) -> list[int]:
    """Numbers of the logical processors that are on."""
    return parse_cpu_list(small_text(sys / "devices/system/cpu/online") or "")


def core_siblings(sys: Path) -> list[list[int]]:
    """The logical processors of each physical core that is on; empty where the kernel does not say."""
    cores: dict[str, list[int]] = {}
    for number in online_processors(sys):
        topology = _processor(sys, number) / "topology"
        told = small_text(topology / "core_cpus_list") or small_text(topology / "thread_siblings_list")
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


CoreBasis = Literal["physical core", "vCPU"]
Bound = int | Literal["unlimited"]

_HYPERVISOR_MAKERS = (
    "qemu", "kvm", "vmware", "virtualbox", "innotek", "xen", "bochs", "parallels", "bhyve", "nutanix",
    "openstack", "google compute engine", "virtual machine", "alibaba cloud ecs", "ovirt", "rhev",
    "amazon ec2", "firecracker", "digitalocean droplet",
)  # fmt: skip


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Soft limits of this process (getrlimit(2)); None where they could not be read."""

    open_files: Bound | None = None
    open_files_most: Bound | None = None
    """The hard limit, up to which a process may raise its own."""
    processes: Bound | None = None
    locked_memory_bytes: Bound | None = None


def network_namespace() -> str | None:
    """The network namespace of this process, as the kernel names it; None where /proc does not tell."""
    try:
        return str(Path("/proc/self/ns/net").readlink())
    except OSError:
        return None


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as this process sees it.

    ``cores`` counts ``core_basis``: physical cores, or vCPUs on a virtual machine, where nobody can
    tell what a vCPU is of a core.  ``usable_cpus`` is the CPU affinity; ``cpu_quota_cores`` and
    ``memory_limit_bytes`` are control-group limits, None without one.  Other fields that are None
    have their reason in ``missing``.
    """

    name: str | None
    kernel: str | None
    cpu_model: str | None
    logical_cpus: int | None
    physical_cores: int | None
    core_basis: CoreBasis
    virtual: str | None
    """What shows that the machine is virtual; None on bare metal."""
    usable_cpus: list[int] | None
    cpu_quota_cores: float | None
    memory_bytes: int | None
    memory_available_bytes: int | None
    """What can be had without swapping, within the control group too."""
    memory_limit_bytes: int | None
    swap_bytes: int | None
    boot_id: str | None
    clock_source: str | None
    load_average: tuple[float, float, float] | None
    container: str | None
    cloud: str | None = None
    """The cloud whose machine this is, as firmware or cloud-init tell; None where they tell of no cloud."""
    instance_type: str | None = None
    autogroup: bool | None
    """Whether the scheduler groups tasks by session (sched(7)), which changes how jobs share CPUs."""
    limits: Limits
    missing: dict[str, str]

    @property
    def confined_cpus(self) -> list[int] | None:
        """The logical CPUs that this process may use where they are fewer than all (taskset, cpuset)."""
        usable, every = self.usable_cpus, self.logical_cpus
        return usable if usable and every is not None and len(usable) < every else None

    @property
    def binding_cpu_quota(self) -> float | None:
        """The quota where it leaves less than the logical CPUs that this process may run on."""
        usable = len(self.usable_cpus) if self.usable_cpus else self.logical_cpus
        if usable and self.cpu_quota_cores and self.cpu_quota_cores >= usable:
            return None
        return self.cpu_quota_cores

    @property
    def binding_memory_limit(self) -> int | None:
        """The memory limit where it leaves less than all memory, in bytes."""
        if self.memory_bytes and self.memory_limit_bytes and self.memory_limit_bytes >= self.memory_bytes:
            return None
        return self.memory_limit_bytes

    @property
    def cores(self) -> int | None:
        return self.logical_cpus if self.core_basis == "vCPU" else self.physical_cores

    @property
    def available_cores(self) -> int | None:
        """The part of ``cores`` that CPU affinity and the quota of the control group leave, 1 at least."""
        if self.cores is None or not self.logical_cpus:
            return self.cores
        cpus: float = len(self.usable_cpus) if self.usable_cpus else self.logical_cpus
        if self.cpu_quota_cores is not None:
            cpus = min(cpus, self.cpu_quota_cores)
        return max(round(self.cores * cpus / self.logical_cpus), 1)


def read_machine(proc: Path = Path("/proc"), sys: Path = Path("/sys"), root: Path = Path("/")) -> Machine:
    """Read all facts; what cannot be read is None, with the reason in ``missing``."""
    source = _Source()
    cpuinfo = source.text("cpu_model", proc / "cpuinfo") or ""
    memory = {
        match[1]: int(match[2]) * 1024
        for match in re.finditer(
            r"^(\w+):\s+(\d+) kB", source.text("memory_bytes", proc / "meminfo") or "", re.M
        )
    }
    groups = read_limits(proc, sys)
    virtual, instance = _virtual(cpuinfo, sys), read_cloud(sys, root)
    online = parse_cpu_list(source.text("logical_cpus", sys / "devices/system/cpu/online") or "")
    processors = len(re.findall(r"^processor\s*:", cpuinfo, re.M))
    loads = (source.text("load_average", proc / "loadavg") or "").split()[:3]
    autogroup = source.text("autogroup", proc / "sys/kernel/sched_autogroup_enabled")
    allowed = re.search(
        r"^Cpus_allowed_list:\s*(\S+)", source.text("usable_cpus", proc / "self/status") or "", re.M
    )
    facts = Machine(
        name=source.text("name", proc / "sys/kernel/hostname") or os.uname().nodename,
        kernel=source.text("kernel", proc / "sys/kernel/osrelease") or os.uname().release,
        cpu_model=_cpu_model(cpuinfo),
        logical_cpus=len(online) or processors or None,
        physical_cores=len(core_siblings(sys)) or None,
        core_basis="vCPU" if virtual else "physical core",
        virtual=virtual,
        usable_cpus=parse_cpu_list(allowed[1]) if allowed else None,
        cpu_quota_cores=groups.cpu_cores,
        memory_bytes=memory.get("MemTotal"),
        memory_available_bytes=_available(memory.get("MemAvailable"), groups),
        memory_limit_bytes=groups.memory_bytes,
        swap_bytes=memory.get("SwapTotal"),
        boot_id=source.text("boot_id", proc / "sys/kernel/random/boot_id"),
        clock_source=source.text(
            "clock_source", sys / "devices/system/clocksource/clocksource0/current_clocksource"
        ),
        load_average=(float(loads[0]), float(loads[1]), float(loads[2])) if len(loads) == 3 else None,
        container=container_name(proc, root),
        cloud=instance.cloud,
        instance_type=instance.instance_type,
        autogroup=None if autogroup is None else autogroup == "1",
        limits=_limits(source.text("limits", proc / "self/limits") or ""),
        missing=source.missing,
    )
    return _with_reasons(facts)


class _Source:
    """Reads small files and remembers why one could not be read."""

    def __init__(self) -> None:
        self.missing: dict[str, str] = {}

    def text(self, fact: str, path: Path) -> str | None:
        try:
            return path.read_text(errors="replace").strip()
        except OSError as error:
            self.missing[fact] = f"{path}: {(error.strerror or str(error)).lower()}"
            return None


_MAY_BE_NONE = {"virtual", "cpu_quota_cores", "memory_limit_bytes", "container", "cloud", "instance_type"}


def _with_reasons(facts: Machine) -> Machine:
    reasons = {
        name: facts.missing.get(name, "the kernel does not say")
        for name in Machine.__struct_fields__
        if name not in _MAY_BE_NONE and getattr(facts, name) is None
    }
    return msgspec.structs.replace(facts, missing=reasons)


def _cpu_model(cpuinfo: str) -> str | None:
    """x86 says ``model name``, POWER ``cpu``, s390 ``processor 0``; 64-bit Arm has numbers only."""
    for key in ("model name", "cpu", "Processor"):
        match = re.search(rf"^{key}\s*:\s*(.+)$", cpuinfo, re.M)
        if match:
            return re.sub(r"\s+", " ", match[1]).strip()
    return None


def _virtual(cpuinfo: str, sys: Path) -> str | None:
    """Evidence of a hypervisor: the CPU flag, the firmware's names, or the kernel's own word."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.M)
    if flags and "hypervisor" in flags[1].split():
        return "hypervisor flag in /proc/cpuinfo"
    source = _Source()
    for name in ("sys_vendor", "product_name"):
        told = source.text(name, sys / "class/dmi/id" / name) or ""
        product = source.text("product", sys / "class/dmi/id/product_name") or ""
        if any(maker in told.lower() for maker in _HYPERVISOR_MAKERS) and ".metal" not in product:
            return f"{name} is {told!r}"
    kind = source.text("type", sys / "hypervisor/type")
    return f"/sys/hypervisor says {kind}" if kind else None


def _available(available: int | None, groups: GroupLimits) -> int | None:
    bounds = [size for size in (available, groups.memory_available_bytes) if size is not None]
    return min(bounds, default=None)


def _limits(text: str) -> Limits:
    return Limits(
        open_files=limit_of_process(text, "Max open files", 1),
        open_files_most=limit_of_process(text, "Max open files", 2),
        processes=limit_of_process(text, "Max processes", 1),
        locked_memory_bytes=limit_of_process(text, "Max locked memory", 1),
    )


def limit_of_process(text: str, name: str, column: int) -> Bound | None:
    """A limit from /proc/self/limits, whose columns are name, soft limit (1), hard limit (2) and unit."""
    match = re.search(rf"^{name}\s+(\S+)\s+(\S+)", text, re.M)
    if match is None:
        return None
    return int(match[column]) if match[column].isdigit() else "unlimited"


SMT_CONTROL = "devices/system/cpu/smt/control"
POWER_TOOL = "ppc64_cpu"
TOOL_SECONDS = 10.0

_NO_SMT_REASONS = {
    "notsupported": "the kernel says that its processors have one thread a core (notsupported)",
    "notimplemented": "the kernel cannot switch threads on this processor (notimplemented)",
    "forceoff": "the firmware or the kernel's command line switched it off until the next boot (forceoff)",
}


class SmtMode(msgspec.Struct, frozen=True, kw_only=True):
    """``word`` is what ``check`` prints in this mode; ``threads`` per core, None if they are not known."""

    word: str
    threads: int | None
    command: str


class SmtModes(msgspec.Struct, frozen=True, kw_only=True):
    """All modes, fewest threads first; ``check`` prints the ``word`` of the mode that is ``current``."""

    check: str
    current: SmtMode
    modes: list[SmtMode]


def read_smt(sys: Path = Path("/sys"), power_tool: str | None = None) -> SmtModes:
    """The modes of this machine; ``power_tool`` is the path of ppc64_cpu (default: as found in PATH).

    Raises ``UnsuitableMachineError`` where there is no second mode.
    """
    tool = power_tool or shutil.which(POWER_TOOL)
    return _linux_modes(sys) if tool is None else _power_modes(tool)


def _linux_modes(sys: Path) -> SmtModes:
    control = sys / SMT_CONTROL
    try:
        word = control.read_text().strip()
    except OSError as error:
        why = f"{control}: {(error.strerror or str(error)).lower()}"
        raise _no_smt(why) from None
    if word not in ("on", "off"):
        raise _no_smt(_NO_SMT_REASONS.get(word, f"{control} says {word[:40]!r}"))
    path = shlex.quote(str(control))
    siblings = max(map(len, core_siblings(sys)), default=0) or None
    modes = [
        SmtMode(word="off", threads=1, command=f"echo off > {path}"),
        SmtMode(word="on", threads=siblings if word == "on" else None, command=f"echo on > {path}"),
    ]
    if word == "on" and siblings == 1:
        raise _no_smt("SMT is on, and each core shows one thread: a virtual machine may hide the others")
    return SmtModes(check=f"cat {path}", current=modes[word == "on"], modes=modes)


def _power_modes(tool: str) -> SmtModes:
    said = _output_of(tool, "--threads-per-core")
    match = re.fullmatch(r"Threads per core: ([1-9][0-9]?)", said)
    if match is None:
        raise _no_smt(f"{tool} --threads-per-core printed {said[:80]!r}")
    if int(match[1]) == 1:
        raise _no_smt(f"{tool} says that its processors have one thread a core")
    path = shlex.quote(tool)
    modes = [
        SmtMode(word=f"SMT={threads}", threads=threads, command=f"{path} --smt={threads}")
        for threads in (1, 2, 4, 8, 16)
        if threads <= int(match[1])
    ]
    word = _output_of(tool, "--smt", "-n")
    current = next((mode for mode in modes if mode.word == word), None)
    if current is None:
        raise _no_smt(f"{tool} --smt -n printed {word[:80]!r}: cores differ, or the mode is not known")
    return SmtModes(check=f"{path} --smt -n", current=current, modes=modes)


def _output_of(tool: str, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [tool, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TOOL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _no_smt(f"{tool}: {error}") from None
    return done.stdout.strip()


def _no_smt(why: str) -> UnsuitableMachineError:
    return UnsuitableMachineError(
        "this machine offers no modes of hardware threads (SMT) to compare",
        why=why,
        cure="switch the mode in the firmware or at the hypervisor, and compare two runs: mawl compare",
    )

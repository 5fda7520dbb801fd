"""Checks whether a run can work here: libraries, memory, limits, clocks, other load, and the page cache.

A problem stops a run; a notice says what will be missing or disturbed.  Both carry their cure.
Sources: ``/proc/stat``, ``/proc/PID/stat`` (proc(5)), adjtimex(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from mawl.base.units import format_memory, format_percent
from mawl.measure.machine import Machine
from mawl.measure.other_programs import OtherPrograms
from mawl.measure.page_cache import keeps
from mawl.measure.preload.build import library
from mawl.measure.space import nearest
from mawl.records.compiled import find_compiler
from mawl.records.model.node import OtherProgram, named
from mawl.records.spec.program_options import Role
from mawl.records.store.files import TEMPORARY_CACHE

if TYPE_CHECKING:
    from packaging.requirements import Requirement

HEAVY_CORES = 0.2
"""A process that used this share of a core during the look is named."""

_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class Noise(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of all CPU time since the watch began; ``heavy`` has the heaviest first.

    ``busy_ratio`` counts all but idle, iowait and steal; ``steal_ratio`` is time the hypervisor gave
    to others.  Both are None when no tick went by, or the kernel does not show them (``/proc`` of processes
    alone).
    """

    seconds: float
    busy_ratio: float | None
    steal_ratio: float | None
    heavy: list[OtherProgram]


class NoiseWatch:
    """Begins a look when it is made; ``look`` ends it.  This process and its children are not heavy."""

    def __init__(self, proc: Path = Path("/proc"), ticks_per_second: int | None = None) -> None:
        self._proc = proc
        self._began_at = time.monotonic()
        self._cpu = _cpu_ticks(proc)
        self._others = OtherPrograms(proc=proc, ticks_per_second=ticks_per_second)
        self._others.look()

    def look(self, seconds: float | None = None) -> Noise:
        """What ran since the watch was made; ``seconds`` stands in for the clock in tests."""
        elapsed = time.monotonic() - self._began_at if seconds is None else seconds
        spent = {name: ticks - self._cpu[name] for name, ticks in _cpu_ticks(self._proc).items()}
        total = sum(spent.values())
        idle = spent["idle"] + spent["iowait"] + spent["steal"]
        self._others.look(last=True)
        heavy = [
            program
            for program in self._others.programs() or []
            if program.cpu_seconds >= HEAVY_CORES * elapsed > 0
        ]
        return Noise(
            seconds=elapsed,
            busy_ratio=(total - idle) / total if total > 0 else None,
            steal_ratio=spent["steal"] / total if total > 0 else None,
            heavy=sorted(heavy, key=lambda process: -process.cpu_seconds),
        )


def _cpu_ticks(proc: Path) -> dict[str, int]:
    """Ticks by kind of all CPUs, all 0 if they cannot be read; what old kernels do not have counts as 0."""
    words: list[str] = []
    with contextlib.suppress(OSError):
        words = (proc / "stat").read_text().splitlines()[0].split()[1:]
    figures = [int(word) for word in words[: len(_CPU_FIELDS)]]
    return dict(zip(_CPU_FIELDS, figures + [0] * (len(_CPU_FIELDS) - len(figures)), strict=True))


Synchronised = Literal["yes", "no"]

_TIME_ERROR = 5
"""Return value of adjtimex(2): the clock is not synchronised to a reliable source."""

_TIMEX_BYTES = 256
"""More than ``struct timex`` takes on any Linux (208 on 64-bit machines)."""


class ClockLook(msgspec.Struct, frozen=True, kw_only=True):
    """A short look at the clocks.

    ``drift_ratio`` is how much faster the wall clock ran than the monotonic clock's raw hardware
    rate: 0 is perfect, a step of the wall clock shows as a large figure.  ``synchronised`` is the
    kernel's word (adjtimex(2)); None where it cannot be asked, with ``reason``.
    """

    seconds: float
    drift_ratio: float
    synchronised: Synchronised | None
    reason: str | None = None


def wall_clock() -> float:
    """Wall clock, seconds since the epoch."""
    return time.clock_gettime(time.CLOCK_REALTIME)


def raw_clock() -> float:
    """Hardware clock that nobody adjusts, seconds since some start."""
    return time.clock_gettime(time.CLOCK_MONOTONIC_RAW)


class ClockWatch:
    """Begins a look when it is made; ``look`` ends it."""

    def __init__(
        self, wall: Callable[[], float] = wall_clock, steady: Callable[[], float] = raw_clock
    ) -> None:
        self._wall, self._steady = wall, steady
        self._began = (wall(), steady())

    def look(self) -> ClockLook:
        """The drift since the watch was made; at least some milliseconds should have passed."""
        wall, steady = self._wall() - self._began[0], self._steady() - self._began[1]
        synchronised, reason = kernel_synchronised()
        return ClockLook(
            seconds=steady,
            drift_ratio=(wall - steady) / steady if steady > 0 else 0.0,
            synchronised=synchronised,
            reason=reason,
        )


def kernel_synchronised() -> tuple[Synchronised | None, str | None]:
    """Whether the kernel counts its clock as synchronised (NTP, PTP), or None and why not known."""
    try:
        call = ctypes.CDLL(None, use_errno=True).adjtimex
    except (OSError, AttributeError):
        return None, "the C library has no adjtimex"
    state = call(ctypes.create_string_buffer(_TIMEX_BYTES))
    if state < 0:
        return None, "adjtimex is not permitted here"
    return ("no" if state == _TIME_ERROR else "yes"), None


Status = Literal["ok", "notice", "problem"]

FEW_FILES = 1024
"""Fewer open files than this are not enough for the partitions of a sort and the pipes of a run."""

FEW_PROCESSES = 512
"""Jobs side by side, their threads, and what else the user runs."""

LARGEST_DRIFT_RATIO = 1e-3
"""The kernel slews a clock by at most 500 ppm (adjtimex(2)), so more is a step or a bad clock."""

BUSY_RATIO = 0.10
"""Other load above this share of the CPUs shows in a run's figures."""

STEAL_RATIO = 0.02
"""Time given to other guests above this share does, too."""

SLOW_CLOCK_SOURCES = frozenset({"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"})


class SuitabilityCheck(msgspec.Struct, frozen=True):
    """One thing looked at: ``text`` says what was found, ``cure`` what to do about it."""

    name: str
    status: Status
    text: str
    cure: str | None = None


def libraries() -> list[str]:
    """Name and version of each package that mawl and its programs need, as far as they are installed."""
    present = [check.text for check in library_checks() if check.status == "ok"]
    return [package for text in present for package in text.split(", ")]


def library_checks(distribution: str = "mawl") -> list[SuitabilityCheck]:
    """The packages that mawl and its programs need, by the metadata of the installed mawl."""
    try:
        requirements = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return [
            SuitabilityCheck(
                "libraries", "problem", f"{distribution} is not installed", "run pip install mawl"
            )
        ]
    present, absent = [], []
    for wanted in _needed_requirements(requirements):
        try:
            present.append(f"{wanted.name} {metadata.version(wanted.name)}")
        except metadata.PackageNotFoundError:
            absent.append(wanted.name)
    found = [SuitabilityCheck("libraries", "ok", ", ".join(present))] if present else []
    return (
        found
        + [
            SuitabilityCheck(
                "libraries", "problem", f"{name} is missing", f"run pip install '{distribution}[programs]'"
            )
            for name in absent
        ]
        + unfit_libraries(distribution)
    )


def unfit_libraries(distribution: str = "mawl") -> list[SuitabilityCheck]:
    """The installed packages whose version is outside of what the metadata of mawl allows."""
    try:
        requirements = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for wanted in _needed_requirements(requirements):
        try:
            version = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            continue
        if not wanted.specifier.contains(version, prereleases=True):
            text = f"{wanted.name} {version} is installed, and mawl needs {wanted.name} {wanted.specifier}"
            cure = f"run pip install '{distribution}[programs]'"
            found.append(SuitabilityCheck("libraries", "problem", text, cure))
    return found


def _needed_requirements(requirements: Iterable[str]) -> Iterator[Requirement]:
    from packaging.requirements import Requirement

    for wanted in map(Requirement, requirements):
        if wanted.marker is None or wanted.marker.evaluate({"extra": "programs"}):
            yield wanted


def compiler_check(environment: Mapping[str, str]) -> SuitabilityCheck:
    """Whether the role counters work: without them no I/O by role, ``--cache none`` or limit."""
    found, made = find_compiler(environment), library(environment)
    if made.path is not None:
        text = found or "no C compiler, and none is needed: the counting library is built"
        if made.path.parent.name == TEMPORARY_CACHE.format(os.geteuid()):
            text += (
                f"; this user has no home that can be written, so {made.path.parent} keeps what mawl compiles"
            )
        return SuitabilityCheck("compiler", "ok", text)
    lost = "no I/O by role, no --cache none and no answer to what limits"
    if found:
        return SuitabilityCheck("compiler", "notice", f"{found}, but {lost}: {made.reason}")
    return SuitabilityCheck(
        "compiler",
        "notice",
        f"no C compiler, so {lost}",
        "install one, for example with apt-get install gcc libc6-dev",
    )


def memory_check(
    machine: Machine, needed_bytes: int | None, basis: str = "declared", in_memory_bytes: int = 0
) -> SuitabilityCheck:
    """Memory that can be had, and what a plan's jobs side by side need; ``basis`` says where that is from.

    ``in_memory_bytes`` are files of the plan on file systems that are memory: they count against the same
    limit.  More than the machine or the control group has is a problem; more than is free now a notice.
    """
    free, whole = machine.memory_available_bytes, machine.memory_bytes
    if free is None or whole is None:
        return SuitabilityCheck(
            "memory", "notice", "how much memory there is cannot be read", "check that /proc is mounted"
        )
    text = f"{format_memory(free)} of {format_memory(whole)} can be had"
    if machine.memory_limit_bytes is not None:
        text += f", within a control group of {format_memory(machine.memory_limit_bytes)}"
    if needed_bytes is None:
        return SuitabilityCheck("memory", "ok", text)
    text += f", and the jobs side by side need {format_memory(needed_bytes)} ({basis})"
    cure = "choose a smaller --scale or lower memsize"
    if in_memory_bytes:
        text += f", and files in memory {format_memory(in_memory_bytes)}"
        needed_bytes += in_memory_bytes
        cure = "put all roles on disks, or choose a smaller --scale"
    most = min(whole, machine.memory_limit_bytes or whole)
    if needed_bytes > most:
        return SuitabilityCheck("memory", "problem", text, cure)
    if needed_bytes > free:
        return SuitabilityCheck("memory", "notice", text, "stop what holds the memory, or the run may swap")
    return SuitabilityCheck("memory", "ok", text)


def memory_limit_check(limit_bytes: int, needed_bytes: int, basis: str, cure: str) -> SuitabilityCheck:
    """``--memory-limit`` and what a plan's jobs side by side need, by the rule of ``run``."""
    need = format_memory(needed_bytes)
    text = f"{format_memory(limit_bytes)}, and the jobs side by side need {need} ({basis})"
    if needed_bytes > limit_bytes:
        return SuitabilityCheck("memory limit", "problem", text, cure)
    return SuitabilityCheck(
        "memory limit", "ok", f"{text}; a run also needs the permission to make control groups"
    )


def limit_checks(machine: Machine, shared_memory: Path = Path("/dev/shm")) -> list[SuitabilityCheck]:
    """Resource limits of the user, and the place for memory that processes share."""
    limits, found = machine.limits, []
    for name, value, least, flag in (
        ("open files", limits.open_files_most, FEW_FILES, "nofile"),
        ("processes", limits.processes, FEW_PROCESSES, "nproc"),
    ):
        if isinstance(value, int) and value < least:
            cure = f"raise {flag} in /etc/security/limits.conf to {least} or more and log in again"
            found.append(SuitabilityCheck("limits", "notice", f"at most {value} {name} are allowed", cure))
    if not os.access(shared_memory, os.W_OK | os.X_OK):
        cure = f"mount a tmpfs there (mount -t tmpfs tmpfs {shared_memory})"
        text = f"{shared_memory} cannot be written, so only one process makes the input tables"
        found.append(SuitabilityCheck("limits", "notice", text, cure))
    if found:
        return found
    return [
        SuitabilityCheck("limits", "ok", f"{limits.open_files_most} open files, {limits.processes} processes")
    ]


def container_check(machine: Machine) -> SuitabilityCheck:
    """Container and CPU limits: a quota makes jobs wait for CPU while the processors are idle."""
    where = f"in a {machine.container} container" if machine.container else "no container"
    usable = len(machine.usable_cpus or [])
    text = f"{where}, {usable} of {machine.logical_cpus} CPUs may be used"
    if machine.cpu_quota_cores is not None and machine.cpu_quota_cores < usable:
        return SuitabilityCheck(
            "container",
            "notice",
            f"{text}, with a quota of {machine.cpu_quota_cores:g} CPUs",
            "take a node whose CPU manager has the policy static, and a limit of whole CPUs"
            if machine.container == "kubernetes"
            else "give the container whole CPUs instead (--cpuset-cpus), so that jobs are not throttled",
        )
    return SuitabilityCheck("container", "ok", text)


def clock_checks(machine: Machine, clock: ClockLook) -> list[SuitabilityCheck]:
    """Clock source, steadiness and synchronisation."""
    found = []
    drift = f"{clock.drift_ratio * 1e6:+.0f} ppm against the hardware clock over {clock.seconds:.1f} s"
    if abs(clock.drift_ratio) > LARGEST_DRIFT_RATIO:
        cure = "let the time service settle, then look again"
        found.append(SuitabilityCheck("clock", "notice", f"the wall clock jumped or drifts: {drift}", cure))
    if machine.clock_source in SLOW_CLOCK_SOURCES:
        cure = "see the kernel's log for why tsc was refused"
        found.append(
            SuitabilityCheck(
                "clock", "notice", f"clock source {machine.clock_source} makes every reading slow", cure
            )
        )
    if clock.synchronised == "no":
        found.append(
            SuitabilityCheck(
                "clock",
                "notice",
                "the wall clock is not synchronised, so runs of several machines cannot be lined up",
                "start a time service such as chrony; one machine alone needs none",
            )
        )
    state = {
        "yes": "synchronised",
        "no": "not synchronised",
        None: f"synchronisation unknown ({clock.reason})",
    }
    text = f"{machine.clock_source}, {drift}, {state[clock.synchronised]}"
    return found or [SuitabilityCheck("clock", "ok", text)]


def proc_checks(proc: Path = Path("/proc")) -> list[SuitabilityCheck]:
    """Notices where ``/proc`` is mounted with options that hide a part of it (proc(5))."""
    found = []
    if missing := [name for name in ("stat", "meminfo", "diskstats", "vmstat") if not (proc / name).exists()]:
        names = ", ".join(missing)
        text = f"{names} are missing (mounted with subset=pid?), so reports lack what the machine did"
        found.append(SuitabilityCheck("proc", "notice", text, f"mount {proc} without subset=pid"))
    try:
        (proc / "1/stat").read_bytes()
    except OSError:
        text = "processes of other users are hidden (mounted with hidepid?), so other load is not named"
        found.append(SuitabilityCheck("proc", "notice", text, f"mount {proc} without hidepid to see names"))
    return found


def noise_checks(machine: Machine, noise: Noise) -> list[SuitabilityCheck]:
    """Other load, which a run would measure as if it were its own machine's slowness."""
    found = []
    if noise.busy_ratio is not None and noise.busy_ratio > BUSY_RATIO:
        text = (
            f"the processors are {format_percent(noise.busy_ratio)} busy with other work{named(noise.heavy)}"
        )
        found.append(SuitabilityCheck("noise", "notice", text, "stop it, or wait until it is done"))
    if noise.steal_ratio is not None and noise.steal_ratio > STEAL_RATIO:
        text = f"the hypervisor gives {format_percent(noise.steal_ratio)} of the CPU time to other guests"
        found.append(
            SuitabilityCheck("noise", "notice", text, "run on a dedicated host, or repeat and compare")
        )
    load = f"load average {machine.load_average[0]:g}" if machine.load_average else "load average unknown"
    if noise.busy_ratio is None:
        text = f"how busy the processors are is unknown, {load}"
        return [SuitabilityCheck("noise", "notice", text, "make sure that nothing else runs here")]
    text = f"processors {format_percent(noise.busy_ratio)} busy over {noise.seconds:.1f} s, {load}"
    return found or [SuitabilityCheck("noise", "ok", text)]


def worst_status(checks: Sequence[SuitabilityCheck]) -> Status:
    """``problem`` if one is there, else ``notice``, else ``ok``."""
    found = {check.status for check in checks}
    return "problem" if "problem" in found else "notice" if "notice" in found else "ok"


def why_cached(roles: Mapping[Role, Iterable[Path]], environment: Mapping[str, str]) -> str | None:
    """Why files of these directories cannot be kept out of the page cache; None where they can be."""
    missing = library(environment).reason
    if missing is not None:
        return f"mawl's counting library cannot be used: {missing}"
    for role, places in roles.items():
        for place in places:
            reason = keeps(nearest(place))
            if reason is not None:
                return f"{role}: {reason}"
    return None

"""Can a run work here?  Facts of the machine in, one sentence for each thing worth knowing out.

A problem stops a run, a notice says what will be missing or disturbed; both carry their cure.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec
from packaging.requirements import Requirement

from mawl.compiled import find_compiler
from mawl.measure.clock import ClockLook
from mawl.measure.machine import Machine
from mawl.measure.noise import Noise
from mawl.measure.preload.build import is_ready
from mawl.units import format_memory

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
    for wanted in _of_programs(requirements):
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
    for wanted in _of_programs(requirements):
        try:
            version = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            continue
        if not wanted.specifier.contains(version, prereleases=True):
            text = f"{wanted.name} {version} is installed, and mawl needs {wanted.name} {wanted.specifier}"
            cure = f"run pip install '{distribution}[programs]'"
            found.append(SuitabilityCheck("libraries", "problem", text, cure))
    return found


def _of_programs(requirements: Iterable[str]) -> Iterator[Requirement]:
    """What the base and the programs need."""
    for wanted in map(Requirement, requirements):
        if wanted.marker is None or wanted.marker.evaluate({"extra": "programs"}):
            yield wanted


def compiler_check(environment: Mapping[str, str]) -> SuitabilityCheck:
    """Whether the role counters can be built: without them no I/O by role, ``--cache none`` or limit."""
    found = find_compiler(environment)
    if found:
        return SuitabilityCheck("compiler", "ok", found)
    if is_ready(environment):
        return SuitabilityCheck(
            "compiler", "ok", "no C compiler, and none is needed: the counting library is built"
        )
    return SuitabilityCheck(
        "compiler",
        "notice",
        "no C compiler, so no I/O by role, no --cache none and no answer to what limits",
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


def noise_checks(machine: Machine, noise: Noise) -> list[SuitabilityCheck]:
    """Other load, which a run would measure as if it were its own machine's slowness."""
    found = []
    if noise.busy_ratio is not None and noise.busy_ratio > BUSY_RATIO:
        heavy = ", ".join(f"{p.name} ({p.pid}) {p.cores:.1f} CPU" for p in noise.heavy[:5])
        text = f"the CPUs are {noise.busy_ratio:.0%} busy with other work{': ' + heavy if heavy else ''}"
        found.append(SuitabilityCheck("noise", "notice", text, "stop it, or wait until it is done"))
    if noise.steal_ratio is not None and noise.steal_ratio > STEAL_RATIO:
        text = f"the hypervisor gives {noise.steal_ratio:.0%} of the CPU time to other guests"
        found.append(
            SuitabilityCheck("noise", "notice", text, "run on a dedicated host, or repeat and compare")
        )
    load = f"load average {machine.load_average[0]:g}" if machine.load_average else "load average unknown"
    busy = "unknown" if noise.busy_ratio is None else f"{noise.busy_ratio:.0%}"
    return found or [SuitabilityCheck("noise", "ok", f"CPUs {busy} busy over {noise.seconds:.1f} s, {load}")]


def worst(checks: Sequence[SuitabilityCheck]) -> Status:
    """``problem`` if one is there, else ``notice``, else ``ok``."""
    found = {check.status for check in checks}
    return "problem" if "problem" in found else "notice" if "notice" in found else "ok"

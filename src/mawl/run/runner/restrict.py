"""Restrict a run to a part of the machine, and let the kernel keep an outside account of it.

Control groups are used where the user may make them (root, or a delegated subtree); without that
``--memory-limit`` is refused, because a run that claims a limit it did not have is a wrong figure.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from pathlib import Path

from mawl.base.errors import UnsuitableMachineError
from mawl.base.units import format_memory
from mawl.measure.control_groups import group_paths, shows_more
from mawl.records.model.run import OutsideCpu

CGROUPS = Path("/sys/fs/cgroup")
GROUP_PREFIX = "mawl-"
_UNLIMITED = 2**63
"""Bytes: more than any limit of memory."""

PATIENCE_SECONDS = 0.02
"""Between two tries to remove a group."""


class Restriction:
    """The control groups of one run: an account of CPU time always, a memory limit where asked.

    ``groups`` are the directories that the launcher joins; empty if none may be made.
    """

    def __init__(
        self,
        run_id: str,
        memory_limit_bytes: int | None,
        *,
        root: Path = CGROUPS,
        proc: Path = Path("/proc"),
    ) -> None:
        self.groups: list[Path] = []
        self.reason: str | None = None
        """Why there is no outside account; None if there is one."""
        self._account: Path | None = None
        name = f"{GROUP_PREFIX}{run_id}"
        memory = account = None
        if memory_limit_bytes is not None:
            memory = _make(root, proc, "memory", name, memory_limit_bytes)
        if memory is not None:
            self.groups.append(memory)
            # In version 2 a process is in one group for all controllers: the last one that it joined.
            account = memory if _is_unified(memory) else None
        if account is None:
            account = _make(root, proc, "cpuacct", name, _UNLIMITED)
        if account is not None and account not in self.groups:
            self.groups.append(account)
        if account is None:
            self.reason = "no control group could be made (needs root or a delegated cgroup)"
        self._account = account
        if memory_limit_bytes is not None:
            self._limit(memory, memory_limit_bytes, _limiting_own(root, proc, memory_limit_bytes))

    def _limit(self, group: Path | None, limit: int, held: Path | None) -> None:
        """Write the limit; ``held`` is what ``_limiting_own`` found."""
        why = "this user may not make memory control groups"
        cure = "run as root, or under systemd-run --user --scope -p Delegate=yes"
        if group is None and held is not None:
            why = f"jobs in a group next to {held} would leave its limits"
            cure = f"limit that group: systemd-run --scope -p MemoryMax={limit} mawl run ..."
        if group is not None:
            for name in ("memory.max", "memory.limit_in_bytes"):
                if (group / name).exists():
                    try:
                        (group / name).write_text(str(limit))
                        return
                    except OSError as error:
                        why = f"{group / name}: {error.strerror}"
        self.close()
        raise UnsuitableMachineError(
            f"cannot hold the run to --memory-limit {format_memory(limit)}",
            why=why,
            cure=cure,
        )

    def account(self) -> OutsideCpu | None:
        """CPU seconds of all that ran in the group, by the kernel's account; None without one."""
        if self._account is None:
            return None
        with contextlib.suppress(OSError, ValueError, KeyError):
            usage = self._account / "cpuacct.usage"
            if usage.exists():
                return OutsideCpu(source="control group cpuacct", cpu_seconds=int(usage.read_text()) / 1e9)
            stat = _pairs(self._account / "cpu.stat")
            return OutsideCpu(
                source="control group cpu.stat",
                cpu_seconds=stat["usage_usec"] / 1e6,
                user_cpu_seconds=stat["user_usec"] / 1e6,
                system_cpu_seconds=stat["system_usec"] / 1e6,
            )
        return None

    def written_bytes(self, devices: Collection[str], sys: Path = Path("/sys")) -> int | None:
        """What the group's own pages and direct writes put onto these devices (``io.stat``, version 2).

        None where no group of the run has an I/O controller with a memory controller beside it: without
        both the kernel does not charge writeback to a group (Linux Documentation/admin-guide/cgroup-v2.rst,
        Writeback).
        """
        for group in self.groups:
            with contextlib.suppress(OSError, ValueError, KeyError):
                if not {"io", "memory"} <= set((group / "cgroup.controllers").read_text().split()):
                    continue
                names = {(sys / "class/block" / name / "dev").read_text().strip() for name in devices}
                lines = (group / "io.stat").read_text().splitlines()
                found = dict(line.split(" ", 1) for line in lines if " " in line)
                return sum(
                    int(dict(pair.split("=") for pair in found[name].split())["wbytes"])
                    for name in names
                    if name in found
                )
        return None

    def close(self) -> None:
        for group in self.groups:
            remove_group(group)
        self.groups.clear()


def remove_group(group: Path, seconds: float = 1.0) -> None:
    """Remove a control group; processes that are just ending get so long."""
    for _ in range(round(seconds / PATIENCE_SECONDS)):
        try:
            group.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(PATIENCE_SECONDS)


def _pairs(file: Path) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split() for line in file.read_text().splitlines())}


def leftover_groups(run_ids: Collection[str]) -> list[Path]:
    """Groups of these runs, which are over: no process is left in them."""
    found = []
    for controller in ("memory", "cpuacct"):
        for base in _bases(CGROUPS, Path("/proc"), controller):
            for group in (base / f"{GROUP_PREFIX}{run_id}" for run_id in sorted(run_ids)):
                with contextlib.suppress(OSError):
                    if not (group / "cgroup.procs").read_text().strip() and group not in found:
                        found.append(group)
    return found


def _make(root: Path, proc: Path, controller: str, name: str, limit: int) -> Path | None:
    """A new group under this process's own (or its parent), or None if that is refused.

    It is not made under the parent if jobs would leave limits there (``_limiting_own``).
    """
    held = _limiting_own(root, proc, limit)
    for base in _bases(root, proc, controller):
        if held is not None and base == held.parent:
            continue
        group = base / name
        try:
            group.mkdir()
        except FileExistsError:
            return group
        except OSError:
            continue
        wanted = {"memory": ("memory.max", "memory.limit_in_bytes"), "cpuacct": ("cpu.stat", "cpuacct.usage")}
        if any((group / file).exists() for file in wanted[controller]):
            return group
        with contextlib.suppress(OSError):
            group.rmdir()
    return None


def _bases(root: Path, proc: Path, controller: str) -> list[Path]:
    """Directories in which a group for this controller may be made: version 1, then version 2."""
    own = _own(root / controller, group_paths(proc / "self" / "cgroup").get(controller), root, proc)
    unified = _unified_own(root, proc)
    bases = [base for base in (own, unified) if base is not None]
    if unified is not None and unified not in _mounts(root):
        bases.append(unified.parent)
    return bases


def _mounts(root: Path) -> list[Path]:
    return [root, root / "unified"]


def _unified_own(root: Path, proc: Path) -> Path | None:
    path = group_paths(proc / "self" / "cgroup").get("")
    groups = (_own(mount, path, root, proc) for mount in _mounts(root) if _is_unified(mount))
    return next((group for group in groups if group is not None), None)


def _own(mount: Path, path: str | None, root: Path, proc: Path) -> Path | None:
    if path is None or ".." in path.split("/") or shows_more(mount, proc, root.parent.parent):
        return None
    group = mount / path.lstrip("/")
    return group if group.is_dir() else None


def _limiting_own(root: Path, proc: Path, limit: int) -> Path | None:
    """This process's own group of version 2, if it has limits that jobs in a sibling of it would leave.

    A limit of memory counts only below ``limit``, which the sibling will have.
    """
    own = _unified_own(root, proc)
    return own if own is not None and _has_limits(own, limit) else None


def _is_unified(group: Path) -> bool:
    return (group / "cgroup.controllers").exists()


def _has_limits(group: Path, limit: int) -> bool:
    """Whether a group of version 2 has limits of CPUs or I/O, or one of memory below ``limit``."""
    texts = {}
    for name in ("cpu.max", "io.max", "cpuset.cpus", "memory.max", "memory.high"):
        with contextlib.suppress(OSError):
            texts[name] = (group / name).read_text().strip()
    memory = (texts.get("memory.max", ""), texts.get("memory.high", ""))
    return (
        not texts.get("cpu.max", "max").startswith("max")
        or bool(texts.get("io.max") or texts.get("cpuset.cpus"))
        or any(text.isdigit() and int(text) < limit for text in memory)
    )

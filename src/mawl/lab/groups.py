"""Control groups that hold memory: of version 1 where the kernel has it, else of version 2."""

from __future__ import annotations

from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")


def memory_groups(name: str) -> list[Path]:
    """Where the memory group of a bed or trial may lie: version 1, version 2."""
    return [base / f"mawl-lab-{name}" for base in (CONTROL_GROUPS / "memory", CONTROL_GROUPS)]


def make_memory_group(name: str) -> Path | None:
    """The file that takes the limit of a new group; None where no group with one can be made."""
    for group in memory_groups(name):
        try:
            group.mkdir(exist_ok=True)
        except OSError:
            continue
        for file in ("memory.limit_in_bytes", "memory.max"):
            if (group / file).exists():
                return group / file
        group.rmdir()
    return None

"""Which modes of hardware threads (SMT) this machine offers, and the commands that read and set one.

Sources: ``/sys/devices/system/cpu/smt/control`` (Linux, Documentation/ABI/testing/sysfs-devices-system-cpu);
on POWER ``ppc64_cpu --smt -n`` and ``--threads-per-core`` of powerpc-utils.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec

from mawl.errors import UnsuitableMachineError
from mawl.measure.topology import core_siblings

CONTROL = "devices/system/cpu/smt/control"
POWER_TOOL = "ppc64_cpu"
SECONDS = 10.0

_WHY = {
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

    Raises :class:`~mawl.errors.UnsuitableMachineError` where there is no second mode.
    """
    tool = power_tool or shutil.which(POWER_TOOL)
    return _of_linux(sys) if tool is None else _of_power(tool)


def _of_linux(sys: Path) -> SmtModes:
    control = sys / CONTROL
    try:
        word = control.read_text().strip()
    except OSError as error:
        why = f"{control}: {(error.strerror or str(error)).lower()}"
        raise _without(why) from None
    if word not in ("on", "off"):
        raise _without(_WHY.get(word, f"{control} says {word[:40]!r}"))
    path = shlex.quote(str(control))
    siblings = max(map(len, core_siblings(sys)), default=0) or None
    modes = [
        SmtMode(word="off", threads=1, command=f"echo off > {path}"),
        SmtMode(word="on", threads=siblings if word == "on" else None, command=f"echo on > {path}"),
    ]
    if word == "on" and siblings == 1:
        raise _without("SMT is on, and each core shows one thread: a virtual machine may hide the others")
    return SmtModes(check=f"cat {path}", current=modes[word == "on"], modes=modes)


def _of_power(tool: str) -> SmtModes:
    said = _printed(tool, "--threads-per-core")
    found = re.fullmatch(r"Threads per core: ([1-9][0-9]?)", said)
    if found is None:
        raise _without(f"{tool} --threads-per-core printed {said[:80]!r}")
    if int(found[1]) == 1:
        raise _without(f"{tool} says that its processors have one thread a core")
    path = shlex.quote(tool)
    modes = [
        SmtMode(word=f"SMT={threads}", threads=threads, command=f"{path} --smt={threads}")
        for threads in (1, 2, 4, 8, 16)
        if threads <= int(found[1])
    ]
    word = _printed(tool, "--smt", "-n")
    current = next((mode for mode in modes if mode.word == word), None)
    if current is None:
        raise _without(f"{tool} --smt -n printed {word[:80]!r}: cores differ, or the mode is not known")
    return SmtModes(check=f"{path} --smt -n", current=current, modes=modes)


def _printed(tool: str, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [tool, *arguments], capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _without(f"{tool}: {error}") from None
    return done.stdout.strip()


def _without(why: str) -> UnsuitableMachineError:
    return UnsuitableMachineError(
        "this machine offers no modes of hardware threads (SMT) to compare",
        why=why,
        cure="switch the mode in the firmware or at the hypervisor, and compare two runs: mawl compare",
    )

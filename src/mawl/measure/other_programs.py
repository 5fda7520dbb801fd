"""Which processes that are not the run's used processors and moved bytes, by looks at ``/proc`` (proc(5)).

What a process reaped counts as its own: so a child that came and went between two looks counts as its
parent's, and one that was seen does not count twice.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from mawl.importers.formats.text import one_line
from mawl.measure.processes import PROC
from mawl.records.model.node import OtherProgram, largest_first

LOOK_SECONDS = 10.0
MOST_COST_RATIO = 0.01
"""Looks take at most this share of one processor: on a machine with many processes they are fewer."""
MOST_PROGRAMS, MOST_KERNEL_THREADS = 10, 3
"""Of a node."""
MOST_ENDED = 1000
"""Ended processes that are remembered; of more only the largest."""

_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of include/linux/sched.h in the flags of ``stat``."""
_FIRST_NAMESPACE = "pid:[4026531836]"
"""PROC_PID_INIT_INO of include/linux/proc_ns.h: the namespace in which all processes are visible."""
_ROUNDING_TICKS = 2

HIDDEN = "processes of other users are hidden (/proc is mounted with hidepid)"
CONTAINED = "mawl ran in a PID namespace (a container), where processes outside of it are not visible"

Key = tuple[int, int]
"""Pid and start time: a pid that is used again is another process."""


class _Counts(NamedTuple):
    """What a process used since its start: clock ticks, those of reaped children, and bytes of both."""

    ticks: int = 0
    child_ticks: int = 0
    read: int | None = 0
    written: int | None = 0

    @property
    def all_ticks(self) -> int:
        return self.ticks + self.child_ticks


class _Process:
    """Counts of a process before jobs ran, and the last ones.  ``reaped`` is what children had that were seen
    and ended, which is in its own counts now."""

    def __init__(self, pid: int, before: _Counts) -> None:
        self.pid, self.before, self.now = pid, before, before
        self.name, self.parent, self.kernel = "", 0, False
        self.reaped = [0, 0, 0]
        self.ended: list[_Counts] = []
        """Counts of children that ended since the look before."""

    def leave_out_ended(self) -> None:
        """Take out what children had used that it reaped, since it counts as theirs.

        A parent that ignores SIGCHLD reaps none, and the time of its children does not show that one was.
        """
        for child in self.ended.copy():
            gained = self.now.child_ticks - self.before.child_ticks - self.reaped[0]
            if child.all_ticks <= gained + _ROUNDING_TICKS:
                own = (child.all_ticks, child.read or 0, child.written or 0)
                self.reaped = [one + more for one, more in zip(self.reaped, own, strict=True)]
                self.ended.remove(child)

    def used(self, node: str, ticks_per_second: int) -> OtherProgram:
        before, now = self.before, self.now
        ticks = max(now.all_ticks - before.all_ticks - self.reaped[0], now.ticks - before.ticks)
        read, written = (
            None if old is None or new is None else max(new - old - reaped, 0)
            for old, new, reaped in (
                (before.read, now.read, self.reaped[1]),
                (before.written, now.written, self.reaped[2]),
            )
        )
        return OtherProgram(
            node=node,
            pid=self.pid,
            name=self.name,
            cpu_seconds=ticks / ticks_per_second,
            read_bytes=read,
            written_bytes=written,
            kernel_thread=self.kernel,
        )


class OtherPrograms:
    """Looks at all processes except this one, what hangs below it, and what has ``mark`` in its environment,
    alone or before a hyphen (other nodes of the run).

    The first look is what later ones are compared with.
    """

    def __init__(
        self, node: str = "", mark: str | None = None, proc: Path = PROC, ticks_per_second: int | None = None
    ) -> None:
        self._node, self._proc = node, proc
        self._mark = None if mark is None else mark.encode()
        self._ticks = ticks_per_second or os.sysconf("SC_CLK_TCK")
        self._known: dict[Key, _Process] = {}
        self._living: dict[int, Key] = {}
        self._own: set[Key] = set()
        self._looked = False
        self._next: float | None = None

    def look_when_due(self, monotonic: float) -> None:
        if self._next is None or monotonic >= self._next:
            began = time.thread_time()
            self.look()
            cost = time.thread_time() - began
            self._next = monotonic + max(LOOK_SECONDS, cost / MOST_COST_RATIO)

    def look(self, *, last: bool = False) -> None:
        """Take the counts; bytes of what used no processor since the look before only at the ``last``."""
        found: dict[int, tuple[int, list[bytes], str]] = {}
        first, self._looked = not self._looked, True
        for pid in _pids(self._proc):
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = Path(f"{self._proc}/{pid}/stat").read_bytes()
                name = one_line(text[text.index(b"(") + 1 : text.rindex(b")")].decode(errors="replace"))
                fields = text[text.rindex(b")") + 2 :].split(maxsplit=20)
                found[pid] = int(fields[1]), fields, name
        before, self._living = self._living, {}
        own = self._own_of({pid: parent for pid, (parent, *_) in found.items()})
        for pid, (parent, fields, name) in found.items():
            with contextlib.suppress(ValueError, IndexError):
                key = pid, int(fields[19])
                if pid in own or key in self._own or self._is_marked(key):
                    self._own.add(key)
                    continue
                self._take(key, parent, fields, name or "(no name)", first=first, last=last)
                self._living[pid] = key
        self._end(before)

    def _take(
        self, key: Key, parent: int, fields: list[bytes], name: str, *, first: bool, last: bool
    ) -> None:
        process = self._known.get(key)
        kernel = bool(int(fields[6]) & _KERNEL_THREAD)
        ticks, children = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
        read, written = (None, None) if process is None else (process.now.read, process.now.written)
        if not kernel and (last or process is None or process.now[:2] != (ticks, children)):
            read, written = _bytes_of(self._proc, key[0])
            if read is None and process is not None:  # it has become a zombie, or its files were closed to us
                read, written = process.now.read, process.now.written
        now = _Counts(ticks, children, read, written)
        if process is None:
            process = self._known[key] = _Process(key[0], now if first else _Counts())
        process.now, process.name, process.parent, process.kernel = now, name, parent, kernel

    def _own_of(self, parents: dict[int, int]) -> set[int]:
        below = defaultdict(list)
        for pid, parent in parents.items():
            below[parent].append(pid)
        own = [os.getpid()]
        for pid in own:  # grows while it is walked
            own += below[pid]
        return set(own)

    def _is_marked(self, key: Key) -> bool:
        if self._mark is None or key in self._known:
            return False
        with contextlib.suppress(OSError):
            words = Path(f"{self._proc}/{key[0]}/environ").read_bytes().split(b"\0")
            return any(word == self._mark or word.startswith(self._mark + b"-") for word in words)
        return False

    def _end(self, before: dict[int, Key]) -> None:
        """Hand what ended to the nearest process above it that lives: that, or one between, reaped it."""
        living = [self._known[key] for key in self._living.values()]
        for process in living:
            process.leave_out_ended()
            process.ended.clear()
        for pid, key in before.items():
            if self._living.get(pid) == key:
                continue
            above = self._known[key].parent
            while above in before and self._living.get(above) != before[above]:
                above = self._known[before[above]].parent
            if above in self._living:
                self._known[self._living[above]].ended.append(self._known[key].now)
        for process in living:
            process.leave_out_ended()
        ended = [key for key in self._known if self._living.get(key[0]) != key]
        if len(ended) > MOST_ENDED:
            ended.sort(key=lambda key: self._used(key).weight)
            for key in ended[: MOST_ENDED // 2]:
                del self._known[key]

    def _used(self, key: Key) -> OtherProgram:
        return self._known[key].used(self._node, self._ticks)

    def programs(self) -> list[OtherProgram] | None:
        """Those that used most, the largest first, then kernel threads; None where nothing could be seen."""
        if not self._looked:
            return None
        every = largest_first(one for key in self._known if (one := self._used(key)).weight > 0.0)
        programs = [one for one in every if not one.kernel_thread][:MOST_PROGRAMS]
        programs += [one for one in every if one.kernel_thread][:MOST_KERNEL_THREADS]
        return programs if programs or self.hidden() is None else None

    def hidden(self) -> str | None:
        """Why some processes of the machine could not be seen; None where all could be."""
        if not self._looked:
            return "the run ended before its gate opened"
        try:
            Path(f"{self._proc}/1/stat").read_bytes()
        except OSError:
            return HIDDEN
        with contextlib.suppress(OSError):
            if str((self._proc / "self/ns/pid").readlink()) != _FIRST_NAMESPACE:
                return CONTAINED
        return None


def _pids(proc: Path) -> list[int]:
    try:
        return [int(name) for name in os.listdir(proc) if name.isdigit()]
    except OSError:
        return []


def _bytes_of(proc: Path, pid: int) -> tuple[int | None, int | None]:
    """Bytes that a process caused to be read from devices, and that it made dirty or wrote directly."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = Path(f"{proc}/{pid}/io").read_bytes().split()
        return int(words[9]), int(words[11])
    return None, None

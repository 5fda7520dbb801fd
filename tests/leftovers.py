"""What a run of the tests left in the machine, looked for in the kernel when the run ends.

A plugin of every tier (``tests/conftest.py`` loads it).  Several runs may be under way at once, so each
names only what is its own: processes that carry this run's mark in their environment, and mounts, loop
devices and shared memory that name its temporary directory.  What is new, nobody holds and names no run
fails this one too where no other run of the tests was there; else it is told and fails nothing.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.processes import marked_processes
from mawl.records.volumes import leftovers_under

VARIABLE = "MAWL_TEST_RUN"
PATIENCE_SECONDS = 5.0
"""So long may the kernel take to end what the tests have ended."""
PREFIX = "mawl-"

HANDLED = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM, signal.SIGPROF),
    *(signal.SIGPIPE, signal.SIGUSR1, signal.SIGUSR2),
)
_HANDLERS = pytest.StashKey[dict[signal.Signals, Any]]()

SHARED_MEMORY = Path("/dev/shm")
GROUPS = Path("/sys/fs/cgroup")
NAMESPACES = Path("/run/netns")
MOUNTS = Path("/proc/self/mounts")
BLOCK = Path("/sys/block")


class Leftovers:
    """What one run of the tests left, against what was there when it began."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._before = set(_things())
        self.others = self._other_runs()

    def _other_runs(self) -> bool:
        return bool(set(marked_processes(VARIABLE)) - {self.mark})

    def own(self, base: Path) -> list[str]:
        """What is certainly of the run with this temporary directory."""
        alive = [pid for pid in marked_processes(VARIABLE).get(self.mark, []) if not _is_tracker(pid)]
        found = [f"processes: {alive}"] if alive else []
        found += [f"mount: {line}" for line in _read(MOUNTS).splitlines() if _within(line, base)]
        for backing in BLOCK.glob("loop*/loop/backing_file"):
            file = _read(backing).strip()
            if _within(file, base):
                found.append(f"loop device: /dev/{backing.parents[1].name} of {file}")
        return [*found, *(str(thing) for thing in self._new() if _names(thing, base))]

    def unclaimed(self, base: Path) -> list[str]:
        """New things that nobody alive holds, and that name no run of the tests."""
        return [str(thing) for thing in self._new() if _forsaken(thing) and not _names(thing, base)]

    def _new(self) -> Iterable[Path]:
        return sorted(set(_things()) - self._before)

    def look(self, base: Path) -> tuple[list[str], list[str]]:
        """What fails this run, and what is only told, once the kernel had time to end things."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (own := self.own(base)) + (unclaimed := self.unclaimed(base)) and time.monotonic() < deadline:
            time.sleep(0.2)
        if self.others or self._other_runs():
            return own, unclaimed
        return own + unclaimed, []


def _is_tracker(pid: int) -> bool:
    """Whether it is Python's own tracker of shared memory, which ends with the tests' process."""
    return "multiprocessing.resource_tracker" in _read(Path(f"/proc/{pid}/cmdline"))


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _within(text: str, base: Path) -> bool:
    # A mount's blanks are octal; one run's directory may begin like another's.
    return f"{base}/" in text.replace("\\040", " ")


def _things() -> Iterable[Path]:
    yield from SHARED_MEMORY.glob(f"{PREFIX}*")
    yield from GROUPS.glob(f"**/{PREFIX}*")
    yield from NAMESPACES.glob(f"{PREFIX}*")


def _names(thing: Path, base: Path) -> bool:
    """Whether counters in shared memory name directories of this run."""
    needle = os.fsencode(f"{base}/")
    return any(needle in _bytes(file) for file in thing.glob("*.counters")) if thing.is_dir() else False


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _forsaken(thing: Path) -> bool:
    if not thing.exists():
        return False
    if thing.is_relative_to(SHARED_MEMORY):
        # A run holds a lock on its directory; other entries are of tests and have no such holder.
        return thing in leftovers_under(SHARED_MEMORY) or not thing.name.startswith(f"{PREFIX}run-")
    if thing.is_relative_to(GROUPS):
        return not any(_read(file).strip() for file in thing.rglob("cgroup.procs"))
    return True


_KEY: pytest.StashKey[Leftovers] = pytest.StashKey()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Mark this run; its workers and every command of its tests inherit the mark."""
    if hasattr(session.config, "workerinput"):
        return
    mark = secrets.token_hex(8)
    os.environ[VARIABLE] = mark
    session.config.stash[_KEY] = Leftovers(mark)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Fail a run that left something, and name it."""
    yield
    found = session.config.stash.get(_KEY, None)
    base = _base(session.config)
    if found is None or base is None:
        return
    own, told = found.look(base)
    report(own, told, _writer(session.config))
    if own:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Note who handles signals before the test and its fixtures, and before what stops them in time."""
    item.stash[_HANDLERS] = {number: signal.getsignal(number) for number in HANDLED}
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Fail a test that leaves a handler of a signal, or interrupts blocked, and undo it.

    Later tests would end or go on by that handler, and their commands inherit what is ignored or blocked.
    """
    yield
    left = []
    if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
        left.append("SIGINT blocked")
    for number, before in item.stash.get(_HANDLERS, {}).items():
        now = signal.getsignal(number)
        if now != before and before is not None:
            signal.signal(number, before)
            left.append(f"{number.name} handled by {now!r}")
    if left:
        pytest.fail(f"the test left {', '.join(left)}", pytrace=False)


def report(own: list[str], told: list[str], say: Callable[[str], object]) -> None:
    """One line for each thing."""
    for thing in own:
        say(f"left behind by this run of the tests: {thing}")
    for thing in told:
        say(f"left behind by this run of the tests or another: {thing}")


def _base(config: pytest.Config) -> Path | None:
    factory = getattr(config, "_tmp_path_factory", None)
    return None if factory is None else Path(factory.getbasetemp())


def _writer(config: pytest.Config) -> Callable[[str], object]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return print if reporter is None else reporter.write_line

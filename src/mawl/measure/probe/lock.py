"""One probe at a time on a disk: a lock (flock) that goes with its process, however that ends.

It is on what sysfs says of the disk: every user may read that, it is there already, and nothing stays of a
lock.  What has no disk (a network file system, memory) is locked at its mount.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from mawl.measure.processes import user_of
from mawl.records.model.run import VolumeFacts

BLOCKS = Path("/sys/class/block")
LOCKS = Path("/proc/locks")


@contextlib.contextmanager
def alone_on(facts: VolumeFacts, says: Callable[[str], None]) -> Iterator[None]:
    """The only probe on the disks below a directory; waits for another one, and ``says`` who that is.

    An interrupt ends the wait and goes up.  A lock that cannot be had costs a sentence.
    """
    place = facts.mount_point or facts.directory
    locked = [(disk, BLOCKS / disk / "dev") for disk in facts.disks] or [(place, Path(place))]
    with contextlib.ExitStack() as held:
        try:
            for name, file in sorted(locked):  # in one order, so that no two wait for each other
                lock = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
                held.callback(os.close, lock)
                _lock(lock, name, says)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            says(f"not known whether another probe is on {name}: {file}: {why}")
        yield


def _lock(lock: int, name: str, says: Callable[[str], None]) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        says(f"waiting for {_holder(lock)}, which probes {name}, too")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _holder(lock: int) -> str:
    """``process 12 (user me)``, as the kernel says (proc_locks(5))."""
    status = os.fstat(lock)
    own = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with contextlib.suppress(OSError):
        for line in LOCKS.read_text().splitlines():
            words = line.split()
            if words[1:2] == ["FLOCK"] and words[5:6] == [own]:
                return f"process {words[4]} ({user_of(Path('/proc', words[4]))})"
    return "a process that is not seen from here"

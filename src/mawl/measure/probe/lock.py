"""One probe at a time on a block device: a lock (flock) that goes with its process, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from mawl.measure.processes import user_of
from mawl.records.model.run import VolumeFacts

PLACE = Path("/dev/shm")
"""Where all users of a machine may make files; a container has its own, and does not see other probes."""
BLOCKS = Path("/sys/class/block")
LOCKS = Path("/proc/locks")
OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextlib.contextmanager
def alone_on(facts: VolumeFacts, says: Callable[[str], None]) -> Iterator[None]:
    """The only probe on the disks below a directory; waits for another one, and ``says`` who that is.

    An interrupt ends the wait and goes up.  A lock that cannot be had costs a sentence.
    """
    what = ", ".join(facts.disks) or facts.mount_point or facts.directory
    with contextlib.ExitStack() as held:
        try:
            for number in sorted(_numbers(facts)):  # in one order, so that no two wait for each other
                file = PLACE / f"mawl-probe-{number}"
                held.callback(_unlock, file, _locked(file, what, says))
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            says(f"not known whether another probe is on {what}: {error.filename or PLACE}: {why}")
        yield


def _numbers(facts: VolumeFacts) -> set[str]:
    """MAJOR:MINOR of each disk; of the file system where no disk is known."""
    with contextlib.suppress(OSError):
        if found := {(BLOCKS / disk / "dev").read_text().strip() for disk in facts.disks}:
            return found
    device = Path(facts.directory).stat().st_dev
    return {f"{os.major(device)}:{os.minor(device)}"}


def _locked(file: Path, what: str, says: Callable[[str], None]) -> int:
    """The file, locked and not removed meanwhile."""
    while True:
        lock = _opened(file)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                says(f"waiting for {_holder(lock)}, which probes {what}, too")
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _opened(file: Path) -> int:
    """The file of whoever made it; without O_CREAT, which fs.protected_regular refuses for another user's."""
    while True:
        with contextlib.suppress(FileNotFoundError):
            return os.open(file, OPENED)
        with contextlib.suppress(FileExistsError):
            lock = os.open(file, OPENED | os.O_CREAT | os.O_EXCL)
            os.fchmod(lock, 0o644)  # whatever the umask: others shall see it
            return lock


def _unlock(file: Path, lock: int) -> None:
    with contextlib.suppress(OSError):  # another user's stays
        file.unlink()
    os.close(lock)


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

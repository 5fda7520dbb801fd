"""One run of fio with a time limit, and the marked directory that it runs in."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError, cure_of
from mawl.base.process import die_with_parent
from mawl.base.removal import remove_tree
from mawl.base.units import format_memory
from mawl.measure.devices import MEMORY_FILE_SYSTEMS, volume_facts
from mawl.measure.processes import uninterrupted, user_of
from mawl.measure.space import space_of
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Role
from mawl.records.volumes import claim_directory

LAST_SECONDS = 10.0
"""How long a killed fio may take to go; one that hangs in the kernel is left to it."""
MOST_ERROR_CHARACTERS = 300

BLOCKS = Path("/sys/class/block")
LOCKS = Path("/proc/locks")


class FioExit(msgspec.Struct, frozen=True, kw_only=True):
    """``status`` is the exit status, negative for a signal; None where fio was ended for want of time.

    ``stuck``: it could not be killed, since it waits in the kernel for the device.
    """

    status: int | None
    output: str
    errors: str
    stuck: bool = False


def fio_version() -> str:
    """``fio-3.33``.  Raises ``UnsuitableMachineError`` with the install line without it."""
    if shutil.which("fio") is None:
        raise UnsuitableMachineError(
            "fio is not installed",
            why="the probe measures with it",
            cure="install it: apt-get install fio, dnf install fio or zypper install fio",
        )
    try:
        done = subprocess.run(
            ["fio", "--version"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            timeout=30,
        )  # fmt: skip
        words = done.stdout.split()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnsuitableMachineError("fio cannot be run", why=str(error)) from None
    if done.returncode or not words:
        raise UnsuitableMachineError(
            "fio cannot be run", why=f"fio --version ended with status {done.returncode}"
        )
    return words[0]


def run_fio(
    command: Sequence[str], directory: Path, timeout_seconds: float, environment: Mapping[str, str]
) -> FioExit:
    """Run fio in a directory, in a session of its own (Ctrl-C is ours to handle); it dies with this process.

    ``environment`` comes on top of this process's.  An interrupt kills fio and goes on up.
    """
    parent = os.getpid()
    process: subprocess.Popen[str] | None = None
    try:
        with uninterrupted():
            process = subprocess.Popen(
                command,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env={**os.environ, "LC_ALL": "C", **environment},
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(parent),
            )
        output, errors = process.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        assert process is not None, "it was waited for"
        return FioExit(status=None, output="", errors="", stuck=not _kill(process))
    except BaseException:
        if process is not None:
            _kill(process)
        raise
    return FioExit(status=process.returncode, output=output, errors=errors)


def _kill(process: subprocess.Popen[str]) -> bool:
    """Kill the whole session; whether it went."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        process.communicate(timeout=LAST_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def failure(ended: FioExit, timeout_seconds: float, error: int | None = None) -> str:
    """Why a run gave no figures, in a sentence; ``error`` is the errno that fio's results name."""
    if ended.status is None:
        went = "; it hangs in the kernel and could not be killed" if ended.stuck else ""
        return f"fio did not end within {timeout_seconds:.0f} s and was ended{went}"
    said = next(
        (line.strip() for line in ended.errors.splitlines() if "error" in line.lower()),
        next((line.strip() for line in ended.errors.splitlines() if line.strip()), ""),
    )
    told = f": {said.removeprefix('fio: ')[:MOST_ERROR_CHARACTERS]}" if said else ""
    if error:
        return f"fio met error {error}, {os.strerror(error).lower()}{told}"
    if ended.status < 0:
        return f"fio was killed by {signal.Signals(-ended.status).name}{told}"
    return f"fio ended with status {ended.status}{told}"


SPARE_RATIO = 0.01
"""Share of a file system that a probe leaves free beyond its own files."""
DIRECT_BYTES = 1 << 16
ZFS_WITH_DIRECT = 2, 3
"""The first release of OpenZFS whose O_DIRECT goes past its cache (openzfs/zfs pull request 10018)."""


class ProbePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A directory, the name of its target, and the roles it was named for."""

    name: str
    directory: Path
    roles: list[Role] = []


def facts_of(place: ProbePlace, node: str) -> VolumeFacts:
    """What holds the directory (the role in these facts says nothing here)."""
    return volume_facts({"data": [place.directory]}, node)[0]


@contextlib.contextmanager
def claimed_directory(place: ProbePlace, run_id: str) -> Iterator[Path]:
    """A marked directory in the place, which goes with all that is in it.

    Raises ``UnsuitableMachineError`` where it cannot be made; a directory that is not
    there is not made, since a probe below a mount that is missing would be of another disk.
    """
    directory = place.directory
    try:
        if not stat.S_ISDIR(directory.stat().st_mode):
            raise refusal(directory, "it is a file", "name a directory")
        made, lock = claim_directory(directory, run_id, "probe")
    except FileNotFoundError:
        cure = "mount or make it first, or name another directory"
        raise refusal(directory, "it is not there", cure) from None
    except (OSError, UnsuitableMachineError) as error:
        if isinstance(error, UnsuitableMachineError) and error.where == str(directory):
            raise
        cure = "name a directory that you may write to"
        if isinstance(error, UnsuitableMachineError):
            raise refusal(directory, error.why or str(error), cure) from None
        why = (error.strerror or str(error)).lower()
        raise refusal(directory, why, cure_of(error, directory, cure)) from None
    try:
        try:
            yield made
        except BaseException:
            # What went wrong first is what is told; a directory that stays carries its mark.
            remove_tree(made)
            raise
        _remove(made)
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    if kept := remove_tree(path).remarks():
        raise UnsuitableMachineError(
            "the probe's files could not be removed",
            where=str(path),
            why="; ".join(kept),
            cure="run mawl clean with this directory once it can be written",
        )


def refusal(directory: Path, why: str, cure: str) -> UnsuitableMachineError:
    """Why a place gets no probe."""
    return UnsuitableMachineError("cannot be probed", where=str(directory), why=why, cure=cure)


def why_cached(file_system: str | None, directory: Path, sys: Path = Path("/sys")) -> str | None:
    """Why requests with O_DIRECT would not go past the memory of this file system; None where they do.

    tmpfs takes O_DIRECT since Linux 6.6, and OpenZFS before 2.3; both serve it from memory all the same.
    Raises OSError for what fails beside a refusal of O_DIRECT.
    """
    if file_system in MEMORY_FILE_SYSTEMS:
        return f"{file_system} lies in memory"
    if file_system == "zfs" and _zfs_version(sys) < ZFS_WITH_DIRECT:
        return "ZFS before 2.3 serves O_DIRECT from its cache"
    return None if _takes_direct(directory) else "the file system refuses O_DIRECT"


def _zfs_version(sys: Path) -> tuple[int, int]:
    """The version of the kernel's ZFS; the oldest where it does not say."""
    with contextlib.suppress(OSError):
        match = re.match(r"(\d+)\.(\d+)", (sys / "module/zfs/version").read_text(errors="replace"))
        if match:
            return int(match[1]), int(match[2])
    return 0, 0


def _takes_direct(directory: Path) -> bool:
    """Whether a file can be written with O_DIRECT; raises OSError for anything else that fails."""
    path = directory / "direct"
    block = mmap.mmap(-1, DIRECT_BYTES)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, block)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
        return False
    finally:
        block.close()
        path.unlink(missing_ok=True)
    return True


def check_room(directory: Path, needed_bytes: int) -> None:
    """Refuse a probe that would not fit, before it writes anything."""
    space = space_of(directory)
    size, free = space.size_bytes, space.free_bytes
    if needed_bytes + SPARE_RATIO * size > free:
        raise refusal(
            directory,
            f"its files take {format_memory(needed_bytes)}, {format_memory(free)} are free, "
            f"and {format_memory(SPARE_RATIO * size)} shall stay so",
            "free space there, or let mawl probe use smaller files (--file-size)",
        )


@contextlib.contextmanager
def alone_on(facts: VolumeFacts, says: Callable[[str], None]) -> Iterator[None]:
    """The only probe on the disks below a directory; waits for another one, and ``says`` who that is.

    A lock (flock) goes with its process, however that ends.  It is on what sysfs says of the disk: every user
    may read that, and nothing stays of it.  What has no disk (a network file system, memory) is locked at its
    mount.  An interrupt ends the wait and goes up.  A lock that cannot be had costs a sentence.
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

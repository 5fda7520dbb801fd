"""The page cache: how much of a file it holds, loading and dropping files, dirty pages, and syncs.

Sources: cachestat(2) (Linux 6.5), mincore(2), posix_fadvise(2), syncfs(2), /proc/meminfo (proc_meminfo(5)),
/proc/PID/io (proc_pid_io(5)), and Linux Documentation/admin-guide/sysctl/vm.rst (drop_caches), which alone
needs root.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError
from mawl.base.foreign import read_regular
from mawl.measure.devices import MEMORY_FILE_SYSTEMS, mount_of, read_mounts
from mawl.measure.host.files import number_after

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
WINDOW_BYTES = 2**30
"""How much of a file is mapped at once to ask for its pages."""

READ_BYTES = 2**20
_FORSAKEN_SECONDS = 3600.0
_LOWEST_BIT = bytes(value & 1 for value in range(256))
CACHESTAT = 451
"""The call's number: of those since Linux 5.1 all architectures that mawl knows use the same."""


class Residency(msgspec.Struct, frozen=True, kw_only=True):
    """How much of some files is in memory.

    ``resident_bytes`` is None, with ``reason``, where the kernel would not tell; ``dirty_bytes`` (not
    yet written, so not to be dropped) is known from cachestat only.
    """

    bytes: int
    resident_bytes: int | None
    dirty_bytes: int | None = None
    source: str | None = None
    reason: str | None = None


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _CacheStat(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


def residency(files: Iterable[Path], calls: Iterable[str] = ("cachestat", "mincore")) -> Residency:
    """Of all files together, by the first of ``calls`` that works here; files that vanish count as none.

    mincore tells the truth about files of this user only (it says "resident" of any other), so it
    gives a reason instead for those.
    """
    paths = list(files)
    reason = "no way to ask the kernel was tried"
    for source in calls:
        try:
            total = resident = dirty = 0
            for path in paths:
                size, pages, unwritten = _of_file(path, _CALLS[source])
                total, resident = total + size, resident + min(pages * PAGE_BYTES, size)
                dirty += min(unwritten * PAGE_BYTES, size)
        except OSError as error:
            reason = f"{source}: {(error.strerror or str(error)).lower()}"
            continue
        known = dirty if source == "cachestat" else None
        return Residency(bytes=total, resident_bytes=resident, dirty_bytes=known, source=source)
    sizes = sum(path.stat().st_size for path in paths if path.is_file())
    return Residency(bytes=sizes, resident_bytes=None, reason=reason)


def drop(files: Iterable[Path]) -> list[str]:
    """Write the files' dirty pages and take them out of the cache; sentences for files that refuse.

    What other processes have mapped or locked stays, and so does all of a file system in memory:
    ``residency`` afterwards tells.
    """
    remarks = []
    for path in files:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fdatasync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
        except OSError as error:
            remarks.append(f"{path}: not dropped from the cache: {(error.strerror or str(error)).lower()}")
    return remarks


def keeps(directory: Path) -> str | None:
    """Why files of a directory stay in memory after they were written and dropped; None where they go.

    A file of 1 MiB is written there and tried, unless the directory is not writable.  Where the file cannot
    be written (a full disk), the reason says so.
    """
    mount = mount_of(directory, read_mounts())
    if mount is not None and mount.file_system in MEMORY_FILE_SYSTEMS:
        return f"{mount.file_system} keeps all of its files in memory"
    if not os.access(directory, os.W_OK | os.X_OK):
        return None
    # It has no name in the directory, so that a kill leaves none.
    try:
        with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
            if file.write(bytes(READ_BYTES)) < READ_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            path = Path(f"/proc/self/fd/{file.fileno()}")
            refused = drop([path])
            found = residency([path])
    except OSError as error:
        return f"no file can be written there ({(error.strerror or str(error)).lower()})"
    if refused:
        return refused[0]
    if not found.resident_bytes:
        return None
    kind = "the file system" if mount is None else mount.file_system
    return f"{kind} kept {found.resident_bytes} of {READ_BYTES} bytes in memory after they were dropped"


def leftover_trial_files(directory: Path) -> list[Path]:
    """Files in a directory by which a killed run of an older version tried the page cache.

    These are this user's, an hour old, and hold nothing but up to 1 MiB of zeros.
    """
    return [file for file in sorted(directory.glob(".mawl-cache-*")) if _is_trial_file(file)]


def _is_trial_file(file: Path) -> bool:
    try:
        found = file.lstat()
        if found.st_uid != os.geteuid() or time.time() - found.st_mtime < _FORSAKEN_SECONDS:
            return False
        return not any(read_regular(file, READ_BYTES, inside=file.parent))
    except OSError:
        return False


def load(files: Iterable[Path]) -> list[str]:
    """Read the files once, so that they are in the cache as far as it holds them; sentences for the rest."""
    remarks = []
    buffer = bytearray(READ_BYTES)
    for path in files:
        try:
            with path.open("rb", buffering=0) as file:
                while file.readinto(buffer):
                    pass
        except OSError as error:
            remarks.append(f"{path}: not read into the cache: {(error.strerror or str(error)).lower()}")
    return remarks


def drop_machine_wide(proc: Path = Path("/proc")) -> None:
    """Write what is dirty and drop the clean caches of the whole machine; root only.

    Raises ``UnsuitableMachineError`` where that is refused.
    """
    os.sync()
    switch = proc / "sys/vm/drop_caches"
    try:
        switch.write_text("3\n")
    except OSError as error:
        raise UnsuitableMachineError(
            "the caches of the machine cannot be dropped",
            where=str(switch),
            why=(error.strerror or str(error)).lower(),
            cure="run as root, or leave --drop-caches out: --cache cold drops the input tables without it",
        ) from None


def _of_file(path: Path, call: Callable[[int, int], tuple[int, int]]) -> tuple[int, int, int]:
    """Size of a file in bytes, its pages in memory, and those of them that are dirty."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0, 0, 0
    try:
        size = os.fstat(descriptor).st_size
        return (size, *call(descriptor, size)) if size else (0, 0, 0)
    finally:
        os.close(descriptor)


def _cachestat(descriptor: int, size: int) -> tuple[int, int]:
    stat = _CacheStat()
    arguments = ctypes.byref(_Range(0, size)), ctypes.byref(stat), ctypes.c_uint(0)
    if ctypes.CDLL(None, use_errno=True).syscall(CACHESTAT, ctypes.c_int(descriptor), *arguments):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(stat.cached), int(stat.dirty + stat.writeback)


def _mincore(descriptor: int, size: int) -> tuple[int, int]:
    owner = os.fstat(descriptor).st_uid
    if os.geteuid() not in (0, owner):
        raise OSError(errno.EPERM, "the file belongs to another user, so the kernel says nothing about it")
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    resident = 0
    for offset in range(0, size, WINDOW_BYTES):
        length = min(WINDOW_BYTES, size - offset)
        address = library.mmap(
            None, ctypes.c_size_t(length), mmap.PROT_READ, mmap.MAP_SHARED, descriptor, ctypes.c_long(offset)
        )
        if address in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        place = ctypes.c_void_p(address)
        states = bytearray(-(-length // PAGE_BYTES))
        status = library.mincore(
            place, ctypes.c_size_t(length), (ctypes.c_ubyte * len(states)).from_buffer(states)
        )
        failure = ctypes.get_errno()
        library.munmap(place, ctypes.c_size_t(length))
        if status:
            raise OSError(failure, os.strerror(failure))
        # Only the lowest bit of each byte has a meaning.
        resident += sum(states.translate(_LOWEST_BIT))
    return resident, 0


_CALLS: dict[str, Callable[[int, int], tuple[int, int]]] = {"cachestat": _cachestat, "mincore": _mincore}


LONGEST_SYNC_SECONDS = 600.0
"""A sync that takes longer is left alone: a device that cannot write that much in ten minutes is a fact."""

MOST_FILES = 200_000
"""So many files are asked for their dirty pages; of more the machine's figure stands for them."""

SYNCING = """
import ctypes, os, sys, time
began = time.monotonic()
failed = []
for path in sys.argv[1:]:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        failed.append(f"{path}: {error.strerror}")
        continue
    library = ctypes.CDLL(None, use_errno=True)
    if library.syncfs(descriptor):
        failed.append(f"{path}: {os.strerror(ctypes.get_errno())}")
print(time.monotonic() - began, "; ".join(failed), sep="\\n")
"""
"""A process of its own: a call that waits for a slow device cannot be interrupted, a process can be left."""


def machine_dirty_bytes(proc: Path = Path("/proc")) -> int | None:
    """``Dirty`` and ``Writeback`` of the machine; None where the kernel does not say."""
    with contextlib.suppress(OSError):
        text = (proc / "meminfo").read_bytes()
        parts = [number_after(text, key) for key in (b"\nDirty:", b"\nWriteback:")]
        return None if None in parts else sum(int(part or 0) for part in parts) * 1024
    return None


def dirty_of(places: Iterable[Path], since: float | None = None) -> tuple[int | None, str]:
    """Dirty bytes of the files below ``places``, and the call that told, or why it is not known.

    ``since`` (seconds since the epoch): only files that were changed from then on.
    """
    files: list[Path] = []
    for seen, path in enumerate(_files(places)):
        if seen >= MOST_FILES:
            return None, f"there are more than {MOST_FILES} files"
        with contextlib.suppress(OSError):
            if since is None or path.stat().st_mtime >= since:
                files.append(path)
    found = residency(files, calls=("cachestat",))
    if found.dirty_bytes is None:
        return None, found.reason or "the kernel does not say"
    return found.dirty_bytes, "cachestat of the files"


def removed_unwritten_bytes() -> int | None:
    """Dirty bytes that this process took away with files it removed so far (``cancelled_write_bytes``)."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path("/proc/self/io").read_bytes().rsplit(b":", 1)[1])
    return None


class Sync:
    """``syncfs`` of the file systems that hold some directories, each once, in a process that may be left.

    ``seconds`` and ``reason`` are known once ``ended`` says so: how long it took, or why that is None.
    """

    def __init__(self, directories: Sequence[Path], longest_seconds: float = LONGEST_SYNC_SECONDS) -> None:
        by_device: dict[int, Path] = {}
        for directory in directories:
            with contextlib.suppress(OSError):
                by_device.setdefault(directory.stat().st_dev, directory)
        self.seconds: float | None = None
        self.reason: str | None = None
        self._until = time.monotonic() + longest_seconds
        self._longest = longest_seconds
        self._process: subprocess.Popen[str] | None = None
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", SYNCING, *map(str, by_device.values())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            self.reason = f"syncfs could not be started: {(error.strerror or str(error)).lower()}"

    def ended(self) -> bool:
        process = self._process
        if process is None:
            return True
        if process.poll() is None:
            if time.monotonic() < self._until:
                return False
            self.reason = f"the file systems of the roles were not written within {self._longest:g} s"
            self.leave()
            return True
        self._process = None
        text = process.communicate()[0].splitlines()
        if process.returncode or not text:
            self.reason = f"syncfs failed (exit status {process.returncode})"
        else:
            self.seconds, self.reason = float(text[0]), text[1] if len(text) > 1 and text[1] else None
        return True

    def wait(self) -> None:
        """Until it is over.  A Ctrl-C meanwhile leaves it."""
        try:
            while not self.ended():
                time.sleep(0.01)
        except KeyboardInterrupt:
            self.reason = "interrupted"
            self.leave()

    def leave(self) -> None:
        """Ask the process to end and do not wait: the kernel ends it when its call returns."""
        if self._process is not None:
            self._process.kill()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        for directory, _, names in os.walk(place):
            for name in names:
                path = Path(directory, name)
                if path.is_file() and not path.is_symlink():
                    yield path

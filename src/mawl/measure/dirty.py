"""What memory holds of writes: asking for it, and waiting until file systems have written it.

Sources: /proc/meminfo (proc_meminfo(5)), cachestat(2), syncfs(2), /proc/PID/io (proc_pid_io(5)).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mawl.measure.host.files import number_after
from mawl.measure.page_cache import residency

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

    ``seconds`` and ``reason`` are known once :meth:`ended` says so: how long it took, or why that is None.
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
        """Whether it is over: written, refused, or longer than it may take."""
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

"""One run of fio: ended in time or ended by us, and what it says of itself when it fails."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.errors import UnsuitableMachineError
from mawl.measure.kernel import die_with_parent, uninterrupted

LAST_SECONDS = 10.0
"""How long a killed fio may take to go; one that hangs in the kernel is left to it."""
MOST_SENTENCE = 300


class FioEnded(msgspec.Struct, frozen=True, kw_only=True):
    """``status`` is the exit status, negative for a signal; None where fio was ended for want of time.

    ``stuck``: it could not be killed, since it waits in the kernel for the device.
    """

    status: int | None
    output: str
    errors: str
    stuck: bool = False


def fio_version() -> str:
    """``fio-3.33``.  Raises :class:`~mawl.errors.UnsuitableMachineError` with the install line without it."""
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
) -> FioEnded:
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
        return FioEnded(status=None, output="", errors="", stuck=not _killed(process))
    except BaseException:
        if process is not None:
            _killed(process)
        raise
    return FioEnded(status=process.returncode, output=output, errors=errors)


def _killed(process: subprocess.Popen[str]) -> bool:
    """Kill the whole session; whether it went."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        process.communicate(timeout=LAST_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def failure(ended: FioEnded, timeout_seconds: float, error: int | None = None) -> str:
    """Why a run gave no figures, in a sentence; ``error`` is the errno that fio's results name."""
    if ended.status is None:
        went = "; it hangs in the kernel and could not be killed" if ended.stuck else ""
        return f"fio did not end within {timeout_seconds:.0f} s and was ended{went}"
    said = next(
        (line.strip() for line in ended.errors.splitlines() if "error" in line.lower()),
        next((line.strip() for line in ended.errors.splitlines() if line.strip()), ""),
    )
    told = f": {said.removeprefix('fio: ')[:MOST_SENTENCE]}" if said else ""
    if error:
        return f"fio met error {error}, {os.strerror(error).lower()}{told}"
    if ended.status < 0:
        return f"fio was killed by {signal.Signals(-ended.status).name}{told}"
    return f"fio ended with status {ended.status}{told}"

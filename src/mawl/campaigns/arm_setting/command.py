"""One command of a setting: run by sh, bounded in time, its output kept in a file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mawl.measure.kernel import die_with_parent, uninterrupted
from mawl.measure.processes import descendants, kill_marked, signal_all

MARK = "MAWL_SETTING_COMMAND"
"""The variable by which a command is found after mawl was killed: the campaign's mark and its number."""

GRACE_SECONDS = 2.0
"""Between SIGTERM and SIGKILL for a command that takes too long."""

LOOK_SECONDS = 0.05
"""Between two looks at how much a command has printed."""

PRINTED_CHARACTERS = 4000
LARGEST_OUTPUT_BYTES = 2**20


class CommandEnd(NamedTuple):
    """How a command ended; ``exit_status`` as a shell has it, None with the reason where it was stopped."""

    seconds: float
    exit_status: int | None
    printed: str
    reason: str | None


def run_command(
    command: str,
    output: Path,
    seconds: float,
    mark: str,
    directory: str,
    environment: Mapping[str, str],
    *,
    in_memory: bool = False,
) -> CommandEnd:
    """Run a command to its end, or to the end of its time.

    It runs in a separate session, so Ctrl-C does not reach it; an interrupt here stops it and is raised
    again.  ``output`` gets what it prints, errors as well, of which only the beginning takes room.  With
    ``in_memory`` that is written when the command has ended, and only if there is room: what is undone is
    undone on a full disk, too.
    """
    parent, began = os.getpid(), time.monotonic()
    with os.fdopen(os.memfd_create("output"), "w+b") if in_memory else output.open("w+b") as file:
        process: subprocess.Popen[bytes] | None = None
        reason = None
        try:
            with uninterrupted():
                process = subprocess.Popen(
                    ["/bin/sh", "-c", command],
                    cwd=directory,
                    env={**environment, MARK: mark},
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=lambda: die_with_parent(parent, signal.SIGKILL),
                )
            status = _waited(process, began + seconds, file.fileno())
        except OSError as error:
            if process is not None:
                stop(process, mark)
                raise
            why = (error.strerror or str(error)).lower()
            return CommandEnd(time.monotonic() - began, None, "", f"it could not start in {directory}: {why}")
        except BaseException:
            if process is not None:
                stop(process, mark)
            raise
        if status is None:
            stop(process, mark)
            reason = f"it was stopped after {seconds:g} s"
            if process.returncode is None:
                reason += f", and its process {process.pid} did not end"
        elif status < 0:
            status, reason = 128 - status, f"it was ended by {_signal_name(-status)}"
        _shorten(file.fileno())
        file.seek(0)
        content = file.read(LARGEST_OUTPUT_BYTES)
    if in_memory:
        with contextlib.suppress(OSError):
            output.write_bytes(content)
    printed = content.decode(errors="replace").strip()[:PRINTED_CHARACTERS]
    return CommandEnd(time.monotonic() - began, status, printed, reason)


def _waited(process: subprocess.Popen[bytes], ends: float, output: int) -> int | None:
    """The exit status of a command, None at the end of its time; its output is kept short meanwhile."""
    while (left := ends - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=min(left, LOOK_SECONDS))
        _shorten(output)
    return process.poll()


def _shorten(output: int) -> None:
    """Free what lies behind the beginning of an output: its writer goes on behind a hole."""
    if os.fstat(output).st_size > LARGEST_OUTPUT_BYTES:
        os.ftruncate(output, LARGEST_OUTPUT_BYTES)


def _signal_name(number: int) -> str:
    """``SIGTERM``; most of the real-time signals have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def stop(process: subprocess.Popen[bytes], mark: str) -> None:
    """End a command and all that it started, as far as mawl may: nobody waits for one that does not end."""
    below = [process.pid, *descendants(process.pid)]
    signal_all(below, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=GRACE_SECONDS)
    signal_all(below, signal.SIGKILL)
    kill_marked(MARK, mark)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=GRACE_SECONDS)

"""Runs and inputs of a qualification, each in a process of its own: the one place that starts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from mawl.errors import InterruptedRunError, MawlError, UnsuitableMachineError, UsageError
from mawl.measure.kernel import die_with_parent

LOOK_SECONDS = 0.25


def carried(
    words: Sequence[str], log: Path, directory: str, lock: int | None, show: Callable[[str], None]
) -> None:
    """Run ``mawl WORDS`` to its end; raises what it ended with, by its exit status.

    What it says goes into ``log``, and its last line is shown meanwhile.
    """
    parent = os.getpid()
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "mawl", *words],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            pass_fds=() if lock is None else (lock,),
            process_group=0,
            preexec_fn=lambda: die_with_parent(parent, signal.SIGTERM),
        )
        try:
            while process.poll() is None:
                try:
                    process.wait(timeout=LOOK_SECONDS)
                except subprocess.TimeoutExpired:
                    show(_last_line(log))
        except BaseException:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait()
            except BaseException:
                process.kill()
                process.wait()
                raise
            raise
    status, sentence = process.returncode, _last_line(log).removeprefix(f"mawl {words[0]}: ")
    if status == 130 or status < 0:
        raise InterruptedRunError("the run was stopped")
    if status == 2:
        raise UsageError(sentence)
    if status == 1:
        raise UnsuitableMachineError(sentence)
    if status:
        raise MawlError(f"mawl {words[0]} ended with status {status}", where=str(log), why=sentence)


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""

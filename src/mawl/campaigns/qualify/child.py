"""Runs and inputs of a qualification, each in a process of its own: the one place that starts them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from mawl.campaigns.command import without_settings
from mawl.campaigns.process import answered
from mawl.errors import InterruptedRunError
from mawl.spec.answer import Task


def carried(task: Task, log: Path, directory: str, lock: int | None, show: Callable[[str], None]) -> None:
    """Do a task to its end; a run whose jobs failed has come to its end, too.

    What it says goes into ``log``, and its last line is shown meanwhile.  Raises what it ended with.
    """
    log.write_bytes(b"")
    answer = answered(
        task,
        log,
        directory=directory,
        environment=without_settings(os.environ),
        kept_open=() if lock is None else (lock,),
        look=lambda: show(_last_line(log)),
    )
    if answer.status == 130:
        raise InterruptedRunError("the run was stopped")
    if answer.failure is not None:
        raise answer.failure.error()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""

"""One run of a campaign: ``mawl run`` in a process of its own, as anybody would call it.

A process of its own has a fresh zygote, so that each repeat has an address-space layout of its own
(docs/design/launch.md), and what kills a run does not kill the campaign.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mawl.errors import InterruptedRunError, MawlError, UnsuitableMachineError, UsageError
from mawl.measure.kernel import die_with_parent
from mawl.model.campaign import Arm, Campaign
from mawl.store.layout import FACTS

LOOK_SECONDS = 0.25
LARGEST_LOG_BYTES = 2**20


class MawlRun:
    """Makes runs of a campaign as its record says; what a run says goes into a log beside its folder."""

    def __init__(self, record: Campaign, show: Callable[[str], None], program: Sequence[str] = ()) -> None:
        """``show`` gets what a run says of its progress; ``program`` stands for ``mawl`` in tests."""
        self._record, self._show = record, show
        self._program = list(program) or [sys.executable, "-m", "mawl"]

    def words(self, arm: Arm, folder: Path) -> list[str]:
        """The arguments of the run, all of them."""
        output = ["--output", str(folder), "--html", "no"]
        return ["run", arm.workload, *self._record.words, *arm.words, *output]

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        """Make the run; see :class:`~mawl.campaigns.series.Execute`."""
        log = folder.with_name(f"{folder.name}.log")
        with log.open("wb") as file:
            status = self._carry(self.words(arm, folder), file.fileno(), log, lock)
        if status == 130 or status < 0:
            raise InterruptedRunError(f"run {folder.name} was stopped")
        if (folder / FACTS).exists():
            return
        reason = _last_line(log) or f"exit status {status}"
        sentence = reason.removeprefix("mawl run: ")
        if status == 2:
            raise UsageError(f"run {folder.name} cannot be made", why=sentence)
        if status == 1:
            raise UnsuitableMachineError(sentence)
        raise MawlError(f"run {folder.name} ended with status {status}", where=str(log), why=sentence)

    def _carry(self, words: Sequence[str], output: int, log: Path, lock: int) -> int:
        """Start, show its progress, wait; an interrupt is passed on, and the run's end waited for."""
        parent = os.getpid()
        process = subprocess.Popen(
            [*self._program, *words],
            cwd=self._record.directory,
            env=run_environment(os.environ, self._record.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            pass_fds=(lock,),
            # Ctrl-C on a terminal reaches this process alone, which passes it on once.
            process_group=0,
            preexec_fn=lambda: die_with_parent(parent, signal.SIGTERM),
        )
        shown = 0
        try:
            while True:
                try:
                    status = process.wait(timeout=LOOK_SECONDS)
                    self._tell(log, shown)
                    return status
                except subprocess.TimeoutExpired:
                    shown = self._tell(log, shown)
        except BaseException:
            _stop(process)
            raise

    def _tell(self, log: Path, shown: int) -> int:
        """Show what the log has beyond ``shown`` bytes; how much has been shown now."""
        with log.open("rb") as file:
            file.seek(shown)
            text = file.read(LARGEST_LOG_BYTES)
        whole = text.rfind(b"\n") + 1
        for line in text[:whole].decode(errors="replace").splitlines():
            self._show(line)
        return shown + whole


def run_environment(present: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run: this process's, with the campaign's settings in place of its own."""
    own = {name: value for name, value in present.items() if not name.startswith("MAWL_")}
    return {**own, **kept}


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end at once and wait for that; interrupts meanwhile kill it."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""

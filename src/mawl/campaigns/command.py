"""One run of a campaign, as its record says, in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.campaigns.process import CHILD, answered
from mawl.errors import InterruptedRunError, UsageError
from mawl.model.campaign import Arm, Campaign
from mawl.spec.answer import Task
from mawl.store.layout import FACTS

LARGEST_LOG_BYTES = 2**20


class MawlRun:
    """Makes runs of a campaign; what a run says of its progress goes into a log beside its folder."""

    def __init__(self, record: Campaign, show: Callable[[str], None], program: Sequence[str] = CHILD) -> None:
        """``show`` gets what a run says of its progress; ``program`` stands for mawl in tests."""
        self._record, self._show, self._program = record, show, program

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        """Make the run; see :class:`~mawl.campaigns.series.Execute`."""
        assert arm.spec is not None, "a campaign of an older format is not continued"
        log = folder.with_name(f"{folder.name}.log")
        log.write_bytes(b"")
        shown = 0

        def look() -> None:
            nonlocal shown
            shown = self._tell(log, shown)

        answer = answered(
            Task(spec=msgspec.structs.replace(arm.spec, output=str(folder), html=False)),
            log,
            directory=self._record.directory,
            environment=without_settings(os.environ),
            kept_open=(lock,),
            look=look,
            program=self._program,
        )
        if answer.status == 130:
            raise InterruptedRunError(f"run {folder.name} was stopped")
        if answer.failure is None or (folder / FACTS).exists():
            return
        error = answer.failure.error()
        if isinstance(error, UsageError):
            raise UsageError(f"run {folder.name} cannot be made", why=str(error))
        raise error

    def _tell(self, log: Path, shown: int) -> int:
        """Show what the log has beyond ``shown`` bytes; how much has been shown now."""
        with log.open("rb") as file:
            file.seek(shown)
            text = file.read(LARGEST_LOG_BYTES)
        whole = text.rfind(b"\n") + 1
        for line in text[:whole].decode(errors="replace").splitlines():
            self._show(line)
        return shown + whole


def without_settings(present: Mapping[str, str]) -> dict[str, str]:
    """An environment without mawl's settings: all that decides the run is in its spec."""
    return {name: value for name, value in present.items() if not name.startswith("MAWL_")}

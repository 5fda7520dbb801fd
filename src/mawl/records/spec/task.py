"""The answer of a process that was given a ``RunSpec``: how the run ended, or its error."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.base.errors import (
    DamagedTableError,
    InterruptedRunError,
    InvalidFileError,
    MawlError,
    RunFailedError,
    UnreadableRunError,
    UnsuitableMachineError,
    UsageError,
    shortened,
)
from mawl.records.spec.run_spec import RunSpec

RunOutcome = Literal["running", "completed", "failed", "aborted", "interrupted"]

KINDS: dict[str, type[MawlError]] = {
    kind.__name__: kind
    for kind in (
        DamagedTableError,
        InterruptedRunError,
        InvalidFileError,
        MawlError,
        RunFailedError,
        UnreadableRunError,
        UnsuitableMachineError,
        UsageError,
    )
}


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What the process is to do: make the run, or the input tables alone."""

    spec: RunSpec
    verb: Literal["run", "generate"] = "run"


class TaskFailure(msgspec.Struct, frozen=True, kw_only=True):
    """An error as data: its class in ``base.errors``, and the parts of its sentence."""

    kind: str
    what: str
    where: str | None = None
    why: str | None = None
    cure: str | None = None
    exit_code: int = 1

    @classmethod
    def of(cls, error: MawlError) -> TaskFailure:
        return cls(
            kind=type(error).__name__,
            what=shortened(error.what),
            where=error.where and shortened(error.where),
            why=error.why and shortened(error.why),
            cure=error.cure,
            exit_code=error.exit_code,
        )

    def error(self) -> MawlError:
        return KINDS.get(self.kind, MawlError)(self.what, where=self.where, why=self.why, cure=self.cure)


class TaskAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """How a task ended; ``failure`` says why it has no run folder, or none that is whole."""

    status: int
    """The exit status: 0 completed, 1 failed, 2 asked wrongly, 130 interrupted."""
    run_id: str | None = None
    folder: str | None = None
    outcome: RunOutcome | None = None
    outcome_reason: str | None = None
    failure: TaskFailure | None = None

"""A command among a run's jobs: how it starts, its steps out of its log, its check, its record."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from mawl.base.foreign import open_regular
from mawl.base.removal import remove_below
from mawl.base.units import format_plain
from mawl.importers.formats.saslog import read_notes
from mawl.importers.formats.saslog_records import PerformanceNote, step_of
from mawl.plan.catalogue import Command, filled
from mawl.plan.programs import Program
from mawl.plan.workload import JobPlan
from mawl.records.model.messages import Assignment, Failed, Forked, FromLauncher, Reaped, Start, Started
from mawl.records.model.records import JobOutcome, JobRecord, StepRecord, Usage, total
from mawl.records.spec.program_options import Role
from mawl.records.store.files import KEPT_LOG
from mawl.records.volumes import choose
from mawl.run.runner.counting import JobCount
from mawl.run.runner.job import JobRun
from mawl.run.runner.job_io import why_refused, with_own_peak
from mawl.run.runner.sampling import Sampling

CHECK_STEP = "check"
WHOLE_STEP = "command"
LARGEST_LOG_BYTES = 2**28
MIB, KIB = 2**20, 2**10
_NOTES_OF_STEPS = ("data", "procedure", "view")
STAMP_SECONDS = 1.0
"""What a stamp of whole seconds may be off."""


class CommandRun(JobRun):
    """Collects what is known about a command, and then about its check, which runs under the same name."""

    def __init__(self, plan: JobPlan, program: Program, node: str, command: Command) -> None:
        super().__init__(plan, program, node)
        self.command = command
        """As it starts: no placeholders any more."""
        self._assignment: Assignment | None = None
        self._log = Path()
        self._ended: tuple[Reaped, JobCount | None, float] | None = None
        self._check_started: Started | None = None
        self._removed: str | None = None

    def take(self, message: FromLauncher) -> None:
        """Note what a message says; what it says of the check does not overwrite the command's own."""
        if self._ended is None or isinstance(message, Forked):
            super().take(message)
        elif isinstance(message, Started):
            self._check_started = message
        elif isinstance(message, Failed):
            self.failed = message

    def starts(self, told: Assignment, data: Sequence[Path]) -> Start:
        """The message that starts the command; ``data`` are the directories of the role."""
        assignment = self._assignment = msgspec.structs.replace(
            told, work=[_chosen(told, "work", told.work)], util=[_chosen(told, "util", told.util)]
        )
        texts = self.command.texts().values()
        place = Path(_chosen(told, "data", [str(directory) for directory in data]))
        self.command = filled(self.command, values(self.plan, assignment, place))
        self._log = Path(assignment.work[0], self.command.log or assignment.log)
        if any("{results}" in text for text in texts):
            Path(assignment.results).mkdir(mode=0o700)
        return self._start(assignment, self.command.argv, gate=self.plan.gate)

    def reaped(self, message: Reaped, sampling: Sampling, *, may_check: bool) -> Start | JobRecord:
        """A process tree is gone: the message that starts the check, or the record where nothing follows."""
        if self._ended is not None:
            return self._record_of_both(message)
        count = sampling.roles.take(message.job)
        self._removed = self._removed_directory()
        self._ended = (
            with_own_peak(message, self.started, count),
            count,
            sampling.last_run_delay_seconds(message.job),
        )
        if not (may_check and self.command.check and self._assignment) or (
            self._outcome(message)[0] != "finished" or self.stopping is not None
        ):
            return self._record_of_both(None)
        # What a check reads and writes is none of the job's own.
        plain = msgspec.structs.replace(self._assignment, counters=None)
        return self._start(plain, self.command.check, gate=None)

    def _start(self, assignment: Assignment, argv: tuple[str, ...], *, gate: str | None) -> Start:
        return Start(
            assignment=assignment,
            gate=gate,
            command=list(argv),
            directory=assignment.work[0],
            environment={name: value for name, value in self.command.environment if value is not None},
        )

    def _record_of_both(self, checked: Reaped | None) -> JobRecord:
        """The record: the command's own figures, and the check as ``verify``; fills ``steps``."""
        assert self._ended is not None
        failed = self.failed
        if checked is not None:
            checked = with_own_peak(checked, self._check_started, None)
            self.failed = None  # the command itself did not fail, or there would be no check
        made = self.record(*self._ended)
        self.failed = failed
        outcome, reason = (made.outcome, made.reason) if checked is None else self._outcome_of_check(checked)
        if outcome != "finished" and self._assignment is not None:
            # What a failed job has published so far is no result.
            results = Path(self._assignment.results)
            remove_below(results.parent, results.name)
        remark = None
        if made.outcome != "finished" or self.command.log_format is None:
            notes: list[StepRecord] = []
        else:
            notes, remark = self._steps_of_log(made)
        self.steps = notes or [_whole(made)]
        if checked is None:
            return msgspec.structs.replace(made, steps=len(self.steps), reason=reason or remark)
        check = self._check_step(checked, made)
        self.steps.append(check)
        return msgspec.structs.replace(
            made,
            outcome=outcome,
            reason=reason or remark,
            verified=True if outcome == "finished" else False if outcome == "failed" else None,
            verify=check.usage,
            total=total([made.total, checked.usage]),
            steps=len(self.steps),
            leftover_processes=made.leftover_processes + checked.leftover_processes,
        )

    def _outcome(self, reaped: Reaped) -> tuple[JobOutcome, str | None]:
        wanted = self.command.success_exit_codes
        if self.stopping is not None and (reaped.signal is not None or reaped.exit_code not in wanted):
            return self.stopping, self.stop_reason
        if self.failed is not None:
            return "failed", self.failed.sentence
        refused = why_refused(reaped.exit_code, reaped.signal)
        if reaped.signal is not None:
            why = refused or "its log may say why"
            return "failed", f"the command was killed by signal {reaped.signal}; {why}"
        if reaped.exit_code not in wanted and refused is not None:
            return "failed", f"the command ended with exit status {reaped.exit_code}; {refused}"
        if reaped.exit_code not in wanted:
            good = " or ".join(str(code) for code in wanted)
            return "failed", (
                f"the command ended with exit status {reaped.exit_code}, and {good} would be success; "
                "its log may say why, and success_exit_codes names others"
            )
        if self._removed is not None:
            return "failed", self._removed
        return "finished", None

    def _removed_directory(self) -> str | None:
        """A sentence on a directory of the job that is gone; mawl removes those of a command only later."""
        if self._assignment is None:
            return None
        for role, place in (("work", self._assignment.work[0]), ("util", self._assignment.util[0])):
            if Path(place).is_symlink():
                return (
                    f"the command put a link in the place of its {role} directory {place}; keep the directory"
                )
            if not Path(place).is_dir():
                return f"the command removed its {role} directory {place}; remove only what is in it"
        return None

    def _outcome_of_check(self, checked: Reaped) -> tuple[JobOutcome, str | None]:
        if self.stopping is not None and checked.exit_code != 0:
            return self.stopping, self.stop_reason
        if self.failed is not None:
            return "failed", f"the check of the command's results: {self.failed.sentence}"
        if checked.exit_code == 0:
            return "finished", None
        how = f"signal {checked.signal}" if checked.signal else f"exit status {checked.exit_code}"
        return (
            "failed",
            f"the check of the command's results ended with {how}; the job's log has what it said",
        )

    def _verified(self, outcome: JobOutcome) -> bool | None:  # noqa: ARG002
        """None: only a check, which comes later, looks at the results."""
        return None

    def _peak(self, reaped: Reaped) -> int | None:
        """The kernel's account of the command, whatever its log says of its steps."""
        return reaped.usage.os_memory_bytes

    def _check_step(self, checked: Reaped, record: JobRecord) -> StepRecord:
        began = self._check_started
        startup = began.used if began is not None and began.used is not None else Usage()
        real = None
        if began is not None and began.monotonic is not None and checked.ended_monotonic is not None:
            real = checked.ended_monotonic - began.monotonic
        return StepRecord(
            job=self.plan.job,
            number=len(self.steps) + 1,
            name=CHECK_STEP,
            kind="verify",
            started_at=began.at if began is not None else record.ended_at or checked.ended_at,
            ended_at=checked.ended_at,
            usage=msgspec.structs.replace(checked.usage, real_time_seconds=real or startup.real_time_seconds),
        )

    def _keep_log(self, content: BinaryIO) -> None:
        """A copy in the run folder, since what lies under work goes with the job."""
        assert self._assignment is not None
        kept = Path(self._assignment.log).with_name(f"{self.plan.job}{KEPT_LOG}")
        if str(self._log) != self._assignment.log:
            descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as copy:
                shutil.copyfileobj(content, copy)

    def _home_of_log(self) -> Path:
        """The directory below which no part of the log's path may be a link: one of the job's own, where the
        command makes what it likes; else the log's."""
        assert self._assignment is not None
        own = (self._assignment.work[0], self._assignment.util[0], self._assignment.results)
        return next((Path(place) for place in own if self._log.is_relative_to(place)), self._log.parent)

    def _steps_of_log(self, record: JobRecord) -> tuple[list[StepRecord], str | None]:
        """Steps out of a SAS log, or a remark that says why there are none."""
        where = self.plan.command.log if self.plan.command is not None else None
        try:
            # The command made it: a pipe there would hold the run, a link lead to a file of somebody else.
            with open_regular(self._log, inside=self._home_of_log()) as content:
                if os.fstat(content.fileno()).st_size > LARGEST_LOG_BYTES:
                    most = f"{LARGEST_LOG_BYTES // MIB} MiB"
                    return [], f"its SAS log has more than {most} and was not read for steps"
                lines = io.TextIOWrapper(content, encoding="utf-8", errors="replace")
                notes = [note for note in read_notes(lines) if note.kind in _NOTES_OF_STEPS]
                lines.detach().seek(0)
                self._keep_log(content)
        except OSError as error:
            return [], (
                f"its SAS log {where or 'on its output'} cannot be read for steps: "
                f"{(error.strerror or str(error)).lower()}; the key log names what the command writes"
            )
        if not notes:
            return [], "its SAS log holds no performance notes, so it is one step; run SAS with -fullstimer"
        return _steps(self.plan.job, notes, record), None


def job_run(plan: JobPlan, program: Program, node: str) -> JobRun:
    """What collects a job's figures: of a program, or of a command."""
    if plan.command is None:
        return JobRun(plan, program, node)
    return CommandRun(plan, program, node, plan.command)


def _chosen(assignment: Assignment, role: Role, places: Sequence[str]) -> str:
    # Of a job's own directories the parents are asked for their space: those stand on every volume.
    around = places if role == "data" else [str(Path(place).parent) for place in places]
    return places[choose(assignment.volume_order, around, assignment.turns.get(role, 0))]


def values(plan: JobPlan, assignment: Assignment, data: Path) -> dict[str, str]:
    """What stands in the place of each placeholder of ``PLACEHOLDERS``."""
    options = plan.options
    return {
        "work": assignment.work[0],
        "util": assignment.util[0],
        "data": str(data.absolute()),
        "results": assignment.results,
        "log": assignment.log,
        "memsize": str(options.memsize_bytes),
        "memsize_mib": str(options.memsize_bytes // MIB),
        "sortsize": str(options.sortsize_bytes),
        "sortsize_mib": str(options.sortsize_bytes // MIB),
        "bufsize": str(options.bufsize_bytes),
        "bufsize_kib": str(options.bufsize_bytes // KIB),
        "cpucount": str(options.cpucount),
        "scale": format_plain(plan.scale, 6),
        "seed": str(assignment.seed),
        "replica": str(plan.replica),
        "session": plan.session,
        "stage": str(plan.stage),
        "job": plan.job,
        "run_id": assignment.run_id,
    }


def _whole(record: JobRecord) -> StepRecord:
    ended = record.ended_at or 0.0
    return StepRecord(
        job=record.job,
        number=1,
        name=WHOLE_STEP,
        kind="procedure",
        started_at=record.started_at if record.started_at is not None else ended,
        ended_at=ended,
        usage=record.usage,
        io=record.io,
        waits=record.waits,
    )


def _steps(job: str, notes: Sequence[PerformanceNote], record: JobRecord) -> list[StepRecord]:
    steps = []
    for number, note in enumerate(notes, 1):
        ended = _stamp(note.ended_at, record)
        real = note.usage.real_time_seconds
        began = None if ended is None or real is None else max(ended - real, record.started_at or 0.0)
        steps.append(step_of(note, job, number, began, ended))
    return steps


def _stamp(written: float | None, record: JobRecord) -> float | None:
    """When a step ended, by the stamp of its log in the zone of this machine; None where that cannot be."""
    if written is None or record.started_at is None or record.ended_at is None:
        return None
    at = time.mktime((*time.gmtime(written)[:8], -1))
    if not record.started_at - STAMP_SECONDS <= at <= record.ended_at + STAMP_SECONDS:
        return None
    return min(max(at, record.started_at), record.ended_at)

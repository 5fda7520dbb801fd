"""A launcher without processes: every job says at once what its behaviour tells it to."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

from mawl.records.model.messages import (
    Answered,
    Failed,
    Forked,
    FromLauncher,
    Hello,
    LaunchMode,
    Ready,
    Reaped,
    Release,
    Start,
    Started,
    StepEnded,
    Stop,
    ToLauncher,
)
from mawl.records.model.records import StepRecord, Usage

WELL = ("well", "stepped clock")


class FakeLauncher:
    """Behaviours by job name.

    ``well`` (default), ``stepped clock``, ``fail``, ``wrong``, ``killed``, ``silent``, ``hang``, ``lose``:
    ``hang`` runs until it is stopped; ``lose`` ends the launcher itself when the job starts.
    ``on_start`` is called with the name of each job that starts.
    """

    job_seconds = 2.0
    """From the start of a job to its end."""

    def __init__(
        self,
        behaviours: dict[str, str] | None = None,
        on_start: Callable[[str], None] | None = None,
        mode: LaunchMode = "zygote",
    ) -> None:
        self.behaviours = behaviours or {}
        self.on_start = on_start or (lambda _: None)
        self.lost: str | None = None
        self.complaints: list[str] = []
        self.sent: list[ToLauncher] = []
        self.started: list[str] = []
        self._waiting: list[Start] = []
        self._queue: list[FromLauncher] = []
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._tell(Hello(pid=1, mode=mode, usage=Usage(user_cpu_seconds=1.0, system_cpu_seconds=0.5)))

    def monotonic(self) -> float:
        """The clock of durations."""
        return time.monotonic()

    def now(self) -> float:
        """The wall clock."""
        return time.time()

    def fileno(self) -> int:
        return self._read

    def receive(self) -> list[FromLauncher]:
        with contextlib.suppress(BlockingIOError):
            os.read(self._read, 65536)
        told, self._queue = self._queue, []
        return told

    def send(self, message: ToLauncher) -> None:
        self.sent.append(message)
        match message:
            case Start():
                name = message.assignment.job
                self._tell(Forked(job=name, pid=4_000_000))
                self._tell(
                    Ready(
                        job=name,
                        at=self.now(),
                        resident_bytes=100,
                        startup=Usage(user_cpu_seconds=0.25, system_cpu_seconds=0.0),
                    )
                )
                if message.gate is None:
                    self._run(name)
                else:
                    self._waiting.append(message)
            case Release():
                for start in self._waiting:
                    self._run(start.assignment.job)
                self._waiting.clear()
            case Stop(job=name):
                self._tell(self._reaped(name, signal=15))

    def usage(self) -> Usage:
        return Usage()

    def close(self, timeout_seconds: float = 10.0) -> Usage:
        return Usage()

    def _run(self, name: str) -> None:
        self.started.append(name)
        self.on_start(name)
        behaviour = self.behaviours.get(name, "well")
        if behaviour == "lose":
            self.lost = "it was killed by signal 9"
            os.write(self._write, b"!")
            return
        # The wall clock may be set while the job runs: only the monotonic one tells how long it took.
        stepped = 3600.0 if behaviour == "stepped clock" else 0.0
        self._tell(Started(job=name, at=self.now() - stepped, monotonic=self.monotonic()))
        if behaviour == "hang":
            return
        for number, (step, kind) in enumerate((("read", "data"), ("verify", "verify")), 1):
            if behaviour in WELL or step == "read":
                self._tell(StepEnded(step=self._step(name, number, step, kind)))
        if behaviour in WELL:
            self._tell(Answered(job=name, answer={"rows": 3}))
        elif behaviour in ("fail", "wrong"):
            self._tell(Failed(job=name, sentence=f"{name} went wrong", wrong_answer=behaviour == "wrong"))
        if behaviour == "killed":
            self._tell(self._reaped(name, signal=9))
        else:
            self._tell(self._reaped(name, exit_code=1 if behaviour in ("fail", "wrong") else 0))

    def _step(self, job: str, number: int, name: str, kind: str) -> StepRecord:
        return StepRecord(
            job=job,
            number=number,
            name=name,
            kind=kind,  # type: ignore[arg-type]
            started_at=self.now(),
            ended_at=self.now(),
            usage=Usage(
                real_time_seconds=0.5,
                user_cpu_seconds=0.5,
                system_cpu_seconds=0.0,
                os_memory_bytes=700 if kind == "verify" else 600,
                application_read_bytes=10,
            ),
        )

    def _reaped(self, job: str, *, exit_code: int | None = None, signal: int | None = None) -> Reaped:
        return Reaped(
            job=job,
            ended_at=self.now() + self.job_seconds,
            exit_code=exit_code,
            signal=signal,
            usage=Usage(
                real_time_seconds=2.5,
                user_cpu_seconds=1.75,
                system_cpu_seconds=0.25,
                os_memory_bytes=800,
                application_read_bytes=30,
            ),
            leftover_processes=0,
            ended_monotonic=self.monotonic() + self.job_seconds,
        )

    def _tell(self, message: FromLauncher) -> None:
        self._queue.append(message)
        os.write(self._write, b"!")

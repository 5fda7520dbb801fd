"""The loop of a run: start jobs, take their messages, sample once a second, stop when interrupted.

Ctrl-C once stops starting jobs, twice stops the jobs; SIGTERM and SIGHUP do both at once.
"""

from __future__ import annotations

import os
import resource
import selectors
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, Self

from mawl.base.errors import MawlError
from mawl.importers.formats.saslog_write import job_log
from mawl.plan.mix import is_of_catalogue
from mawl.plan.needs import turns
from mawl.plan.progress import Progress
from mawl.plan.workload import START_GATE, JobPlan
from mawl.records.model.messages import (
    Answered,
    Failed,
    Forked,
    FromLauncher,
    Hello,
    Reaped,
    Release,
    Start,
    Started,
    StepEnded,
    Stop,
)
from mawl.records.model.records import EventRecord, JobOutcome, JobRecord
from mawl.records.store.files import OWN_LOG
from mawl.records.store.folder import RunWriter
from mawl.records.volumes import Volumes
from mawl.run.launch.client import JobLauncher
from mawl.run.runner.command_job import CommandRun, job_run
from mawl.run.runner.job import JobRun, assignment, no_place, not_started, without_directories
from mawl.run.runner.request import AT_ONCE, Listener, Opening, RunRequest
from mawl.run.runner.sampling import Sampling, TickRates, status_of


class Interrupts:
    """Counts interrupts while in its ``with`` block; ``fileno()`` becomes readable at each.

    ``level`` is 0 (none), 1 (start nothing more) or 2 (stop the jobs now).
    """

    def __init__(self) -> None:
        self.level = 0
        self.name = ""
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._previous: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def fileno(self) -> int:
        """Readable when a signal came since the last ``drain``."""
        return self._read

    def drain(self) -> None:
        try:
            os.read(self._read, 4096)
        except BlockingIOError:
            return

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        os.close(self._read)
        os.close(self._write)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self.level = min(self.level + 1, 2) if number == signal.SIGINT else 2
        self.name = signal.Signals(number).name
        os.write(self._write, b"!")


STOP_GRACE_SECONDS = 2.0
TICK_SECONDS = 1.0
LOOK_SECONDS = 0.05
"""How often a shut gate asks whether it may open."""


class RunLoop:
    """One run on one node, from the launcher's greeting to the last job's record."""

    def __init__(
        self,
        request: RunRequest,
        *,
        node: str,
        platform: str | None = None,
        launcher: JobLauncher,
        writer: RunWriter,
        volumes: Volumes,
        sampling: Sampling,
        look_at_host: Callable[[float], None] = lambda _: None,
        listener: Listener,
        interrupts: Interrupts,
        opening: Opening = AT_ONCE,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.request = request
        self.node = node
        self.platform = platform
        self.launcher = launcher
        self.writer = writer
        self.volumes = volumes
        self.sampling = sampling
        self.look_at_host = look_at_host
        self.listener = listener
        self.interrupts = interrupts
        self.opening = opening
        self.monotonic = monotonic
        self.now = now
        self.progress = Progress(request.plan, request.spec.on_failure)
        counts = {role: len(places) for role, places in volumes.directories.items()}
        self.turns = turns(request.plan, counts, request.spec.volume_order)
        self.jobs: dict[str, JobRun] = {}
        """Jobs that started and have not ended."""
        self.ended = self.failed = 0
        """Jobs that ended, or never will start; those of them that did not finish."""
        self.hello: Hello | None = None
        self.arrow_pools: set[str] = set()
        """Memory pools that Arrow used in the jobs so far."""
        self.released_at: float | None = None
        self.released_monotonic: float | None = None
        self.cpu_at_release: float | None = None
        """CPU seconds of this process when the gate opened."""
        self.lost: str | None = None
        self._zero = 0.0
        self._level = 0
        self._limited = request.spec.timeout_seconds is not None or any(
            job.timeout_seconds is not None for job in request.plan.jobs()
        )
        self._complaints = 0
        self._next_tick = 0.0
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Carry the plan to its end, whatever that is.

        Raises only when the run folder cannot be written any more (the caller kills the jobs).
        """
        self._selector.register(self.launcher.fileno(), selectors.EVENT_READ)
        self._selector.register(self.interrupts.fileno(), selectors.EVENT_READ)
        try:
            self._greet()
            self._gather_at_gate()
            self._release()
            while not self.progress.finished:
                self._start_what_may()
                self._turn(self._pause())
            self._look(self.now())  # the last part of a second, too; a short run has nothing else
        finally:
            self._selector.close()
        for plan, reason in self.progress.skipped():
            self._keep(not_started(plan, self.request.programs[plan.program], self.node, reason))

    @property
    def peak_gate(self) -> int:
        """Jobs that were ready together when the gate opened."""
        return sum(run.ready is not None and run.plan.gate is not None for run in self.jobs.values())

    # -- before the clock starts -------------------------------------------------------------

    def _greet(self) -> None:
        self.listener.launching(self.request.spec.start, self.request.plan.gate_jobs)
        while self.hello is None and self.lost is None and self._level < 2:
            self._turn(TICK_SECONDS)
        if self.hello is not None:
            self._event("launcher_ready", detail=self.request.spec.start)

    def _gather_at_gate(self) -> None:
        """Make the jobs of the start gate ready; they wait there until all of them are."""
        waiting = [job for job in self.progress.startable(0.0) if job.gate == START_GATE]
        if self._level or self.lost is not None:
            return
        for job in waiting:
            self._start(job)
        while self._level == 0 and any(
            run.ready is None and run.plan.job in self.progress.running for run in self.jobs.values()
        ):
            self._turn(TICK_SECONDS)
        self.opening.ready(self.peak_gate)
        while self._level == 0 and self.lost is None and (pause := self.opening.pause_seconds()) != 0:
            self._turn(LOOK_SECONDS if pause is None else min(pause, LOOK_SECONDS))
        if self.interrupts.level:
            self._stop_all(f"the run was interrupted ({self.interrupts.name})")

    def _release(self) -> None:
        # The jobs are sampled before the clock starts: a look at many of them takes time.
        _, figures = self.sampling.look(self.monotonic(), self.launcher.usage())
        own = resource.getrusage(resource.RUSAGE_SELF)
        self.cpu_at_release = own.ru_utime + own.ru_stime
        self._zero = self.released_monotonic = self.monotonic()
        self.released_at = self.now()
        # Without a sample at the start, the jobs' first second would belong to no window.
        self.writer.figures(self.sampling.node, self.released_at, figures)
        self.look_at_host(self.released_at)
        self._next_tick = self._zero + TICK_SECONDS
        self.launcher.send(Release(gate=START_GATE))
        self._event("gate_released", at=self.released_at, detail=f"{self.peak_gate} jobs")

    # -- while it runs -----------------------------------------------------------------------

    def _elapsed(self) -> float:
        return self.monotonic() - self._zero

    def _start_what_may(self) -> None:
        if self._level == 0 and self.lost is None:
            for job in self.progress.startable(self._elapsed()):
                self._start(job)

    def _pause(self) -> float:
        """Seconds until something is due: the tick, a delayed start, a time limit."""
        due = [self._next_tick - self.monotonic()]
        elapsed = self._elapsed()
        delayed = self.progress.next_start_seconds(elapsed)
        if delayed is not None:
            due.append(delayed - elapsed)
        due += [limit - self.monotonic() for _, limit in self._limits()]
        return max(min(due), 0.0)

    def _turn(self, timeout: float | None) -> None:
        """Wait for news at most ``timeout`` seconds and take it; tick when a second is over."""
        for key, _ in self._selector.select(timeout):
            if key.fd == self.interrupts.fileno():
                self.interrupts.drain()
        if self.interrupts.level > self._level:
            self._interrupted()
        for message in self.launcher.receive():
            self._take(message)
        for complaint in self.launcher.complaints[self._complaints :]:
            self._complaints += 1
            self.listener.notice(complaint)
        if self.launcher.lost is not None and self.lost is None:
            self._launcher_lost(self.launcher.lost)
        self._enforce_limits()
        if self.released_at is not None and self.monotonic() >= self._next_tick:
            self._tick()

    def _take(self, message: FromLauncher) -> None:
        match message:
            case Hello():
                self.hello = message
            case Reaped():
                self._reaped(message)
            case _:
                self._take_job_message(message)

    def _take_job_message(self, message: FromLauncher) -> None:
        name = message.step.job if hasattr(message, "step") else message.job  # type: ignore[union-attr]
        run = self.jobs.get(name)
        if run is None or name not in self.progress.running:
            return
        if isinstance(message, StepEnded):
            message = self.sampling.roles.with_io(message)
        run.take(message)
        match message:
            case Forked(pid=pid):
                self.sampling.add(name, pid)
            case Started(at=at):
                self._event("job_started", at=at, job=name)
            case Failed(sentence=sentence):
                self._event("job_failed", job=name, detail=sentence)
            case Answered(arrow_pool=str(pool)):
                self.arrow_pools.add(pool)
            case _ if hasattr(message, "step"):
                self.writer.step(message.step)

    def _reaped(self, message: Reaped) -> None:
        run = self.jobs.get(message.job)
        if run is None or message.job not in self.progress.running:
            return
        if isinstance(run, CommandRun):
            record = run.reaped(message, self.sampling, may_check=self.lost is None)
            if isinstance(record, Start):
                self.launcher.send(record)
                return
            for step in run.steps:
                self.writer.step(step)
            if record.outcome == "finished" and record.reason is not None:
                self.listener.notice(f"{record.job}: {record.reason}")
        else:
            count = self.sampling.roles.take(message.job)
            record = run.record(message, count, self.sampling.last_run_delay_seconds(message.job))
        self.sampling.roles.job_ended(record.job, record.total.cpu_seconds, run.run_delay_seconds, run.last)
        self._job_ended(run, record)

    def _job_ended(self, run: JobRun, record: JobRecord) -> None:
        name = record.job
        # A killed program leaves a part of its output, which is no result; a command removes its own.
        keeps = self.request.keeps_results(run.plan)
        keeps = keeps and (record.outcome == "finished" or not is_of_catalogue(run.plan))
        record = without_directories(self.volumes, record, keeps_results=keeps)
        self.sampling.remove(name, record.total)
        del self.jobs[name]
        self.progress.end(name, well=record.outcome == "finished")
        if self.request.plan.options.fullstimer and record.started_at is not None:
            log = self.request.folder / "logs" / f"{name}{OWN_LOG}"
            log.touch(mode=0o600)
            text = job_log(
                record,
                run.steps,
                platform=self.platform,
                program=self.request.programs.get(record.program),
            )
            log.write_text(text, encoding="utf-8")
        self._keep(record)
        self._event("job_ended", job=name, detail=record.outcome)
        if self.progress.stopped and record.outcome != "finished" and self.request.spec.on_failure == "abort":
            self._stop_all(self.progress.stopped)

    def _keep(self, record: JobRecord) -> None:
        self.ended += 1
        self.failed += record.outcome != "finished"
        self.writer.job(record)
        self.listener.job_ended(record)

    def _start(self, job: JobPlan) -> None:
        run = self.jobs[job.job] = job_run(job, self.request.programs[job.program], self.node)
        self.progress.start(job.job)
        try:
            places = self.volumes.make_job(job.job)
            counters = self.sampling.roles.counters(job.job)
            told = assignment(self.request, job, places, self.turns[job.job], counters)
            start = Start(gate=job.gate, assignment=told)
            if isinstance(run, CommandRun):
                start = run.starts(told, self.volumes.directories["data"])
        except (OSError, MawlError) as error:
            # A full or broken role costs the jobs that need it, and nothing else.
            self._job_ended(run, run.unstarted_record(no_place(self.volumes, error), self.now()))
            return
        self.launcher.send(start)

    # -- limits, interrupts, ends ------------------------------------------------------------

    def _running(self) -> list[JobRun]:
        return [self.jobs[name] for name in self.progress.running]

    def _limits(self) -> Iterator[tuple[JobRun, float]]:
        for run in self._running() if self._limited else ():
            seconds = run.plan.timeout_seconds or self.request.spec.timeout_seconds
            if seconds is not None and run.started_monotonic is not None and run.stopping is None:
                yield run, run.started_monotonic + seconds

    def _enforce_limits(self) -> None:
        now = self.monotonic()
        for run, limit in list(self._limits()):
            if now >= limit:
                seconds = run.plan.timeout_seconds or self.request.spec.timeout_seconds
                self._stop(run, "timed_out", f"the job was stopped at its time limit of {seconds:g} s")

    def _interrupted(self) -> None:
        level, self._level = self._level, self.interrupts.level
        reason = f"the run was interrupted ({self.interrupts.name})"
        if level == 0:
            self.progress.stop(reason)
            self._event("stop_requested", detail=self.interrupts.name)
            if self._level == 1:
                running = len(self.progress.running)
                self.listener.notice(
                    f"interrupted: nothing more starts, {running} running jobs may end; "
                    "press Ctrl-C again to stop them now"
                )
        if self._level == 2:
            self._event("kill_requested", detail=self.interrupts.name)
            self.listener.notice("stopping the running jobs now")
            self._stop_all(reason)

    def _stop_all(self, reason: str) -> None:
        for run in self._running():
            self._stop(run, "stopped", reason)

    def _stop(self, run: JobRun, outcome: JobOutcome, reason: str) -> None:
        if run.stopping is None:
            run.stopping, run.stop_reason = outcome, reason
            self.launcher.send(Stop(job=run.plan.job, grace_seconds=STOP_GRACE_SECONDS))

    def _launcher_lost(self, reason: str) -> None:
        self.lost = reason
        self._event("launcher_lost", detail=reason)
        self.progress.stop(f"the launcher was lost: {reason}")
        for run in self._running():
            sentence = f"the job was lost with its launcher: {reason}"
            count = self.sampling.roles.take(run.plan.job)
            self._job_ended(run, run.lost(sentence, self.now(), count))

    def _tick(self) -> None:
        while self._next_tick <= self.monotonic():
            self._next_tick += TICK_SECONDS
        rates = self._look(self.now())
        for sentence in self.sampling.newly_stopped(self.monotonic()):
            self.listener.notice(sentence)
        self.listener.status(status_of(self.progress, self._elapsed(), self.ended, self.failed, rates))

    def _look(self, now: float) -> TickRates:
        rates = self.sampling.tick(now, self.monotonic(), self.launcher.usage(), self.writer)
        self.look_at_host(now)
        return rates

    def _event(
        self, name: str, *, at: float | None = None, job: str | None = None, detail: str | None = None
    ) -> None:
        self.writer.event(
            EventRecord(happened_at=self.now() if at is None else at, event=name, job=job, detail=detail)  # type: ignore[arg-type]
        )

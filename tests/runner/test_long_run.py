"""A run of 24 hours on a fake clock: nothing that it keeps or does a second grows with its hours."""

from __future__ import annotations

import gc
import heapq
import logging
import os
import statistics
import time
from pathlib import Path

import pytest

from mawl.measure.process import ProcessSampler
from mawl.model.messages import (
    Answered,
    Forked,
    FromLauncher,
    Hello,
    Ready,
    Reaped,
    Release,
    Start,
    Started,
    StepEnded,
    Stop,
    ToLauncher,
)
from mawl.model.records import JobRecord, StepRecord
from mawl.model.run import RunFacts, WorkloadFacts
from mawl.model.usage import Usage
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import load_workload, make_plan
from mawl.runner.interrupts import Interrupts
from mawl.runner.loop import RunLoop
from mawl.runner.request import RunRequest, Status
from mawl.runner.sampling import Sampling
from mawl.spec.program_options import ROLES, StartMode
from mawl.spec.record import RunSpec
from mawl.store import open_run
from mawl.store.folder import RunWriter
from mawl.volumes import Volumes

_LOG = logging.getLogger(__name__)
HOUR = 3600.0
HOURS = 24
SESSIONS = 20
JOB_SECONDS = 600.0
STEPS = 4


class Timetable:
    """A launcher whose jobs last ten minutes of a clock that jumps to whatever comes next."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.lost: str | None = None
        self.complaints: list[str] = []
        self._due: list[tuple[float, int, FromLauncher]] = []
        self._told = 0
        self._waiting: list[str] = []
        # One byte that nobody takes: the loop never waits.
        self._read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        os.write(write, b"!")
        self._tell(0.0, Hello(pid=1, mode="zygote", usage=Usage()))

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> float:
        return 1.7e9 + self.seconds

    def fileno(self) -> int:
        return self._read

    def receive(self) -> list[FromLauncher]:
        following = self.seconds + 1.0
        if self._due:
            following = min(following, max(self._due[0][0], self.seconds))
        self.seconds = following
        news: list[FromLauncher] = []
        while self._due and self._due[0][0] <= self.seconds:
            news.append(heapq.heappop(self._due)[2])
        return news

    def send(self, message: ToLauncher) -> None:
        match message:
            case Start():
                name = message.assignment.job
                self._tell(0.0, Forked(job=name, pid=4_000_000))
                self._tell(0.0, Ready(job=name, at=self.now(), resident_bytes=100, startup=Usage()))
                if message.gate is None:
                    self._carry(name)
                else:
                    self._waiting.append(name)
            case Release():
                for name in self._waiting:
                    self._carry(name)
                self._waiting.clear()
            case Stop():
                raise AssertionError("no job is stopped here")

    def usage(self) -> Usage:
        return Usage()

    def close(self, timeout_seconds: float = 10.0) -> Usage:
        return Usage()

    def _tell(self, seconds: float, message: FromLauncher) -> None:
        self._told += 1
        heapq.heappush(self._due, (self.seconds + seconds, self._told, message))

    def _carry(self, name: str) -> None:
        self._tell(0.0, Started(job=name, at=self.now(), monotonic=self.seconds))
        for number in range(1, STEPS + 1):
            ends = JOB_SECONDS * number / STEPS
            step = StepRecord(
                job=name,
                number=number,
                name=f"step{number}",
                kind="data",
                started_at=self.now() + ends - JOB_SECONDS / STEPS,
                ended_at=self.now() + ends,
                usage=Usage(real_time_seconds=JOB_SECONDS / STEPS, user_cpu_seconds=1.0),
            )
            self._tell(ends, StepEnded(step=step))
        self._tell(JOB_SECONDS, Answered(job=name, answer={"rows": 3}))
        self._tell(JOB_SECONDS, self._reaped(name))

    def _reaped(self, name: str) -> Reaped:
        return Reaped(
            job=name,
            ended_at=self.now() + JOB_SECONDS,
            exit_code=0,
            signal=None,
            usage=Usage(real_time_seconds=JOB_SECONDS, user_cpu_seconds=1.0, system_cpu_seconds=0.0),
            leftover_processes=0,
            ended_monotonic=self.seconds + JOB_SECONDS,
        )


class Hourly:
    """A listener that looks at this process at each full hour: CPU time of the hour, memory, descriptors."""

    def __init__(self) -> None:
        self.cpu_seconds: list[float] = []
        self.resident_bytes: list[int] = []
        self.descriptors: list[int] = []
        self.ended = 0
        self._hour = 0
        self._cpu = time.process_time()

    def launching(self, mode: StartMode, jobs: int) -> None: ...

    def job_ended(self, record: JobRecord) -> None:
        self.ended += record.outcome == "finished"

    def notice(self, text: str) -> None:
        raise AssertionError(text)

    def status(self, status: Status) -> None:
        if status.elapsed_seconds < (self._hour + 1) * HOUR:
            return
        self._hour += 1
        cpu = time.process_time()
        self.cpu_seconds.append(cpu - self._cpu)
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        self.resident_bytes.append(pages * os.sysconf("SC_PAGE_SIZE"))
        self.descriptors.append(len(os.listdir("/proc/self/fd")))
        self._cpu = time.process_time()


@pytest.mark.long(minutes=3)
def test_a_run_of_24_hours_does_not_grow(tmp_path: Path) -> None:
    stages = ", ".join(['["segmentation"]'] * int(HOURS * HOUR / JOB_SECONDS))
    workload = tmp_path / "day.toml"
    workload.write_text(
        'name = "day"\n'
        + "".join(f'[[sessions]]\nname = "s{one}"\nstages = [{stages}]\n' for one in range(SESSIONS))
    )
    spec, where = load_workload(str(workload))
    plan = make_plan(spec, where=where, catalogue=CATALOGUE, scale=0.0005)
    volumes = Volumes({role: [tmp_path / role] for role in ROLES})
    volumes.ensure()
    volumes.claim("r1")
    facts = RunFacts(
        run_id="r1",
        kind="measured",
        mawl_version="0",
        workload=WorkloadFacts(name="day", title="", sessions=SESSIONS, jobs=len(list(plan.jobs()))),
        outcome="running",
        started_at=0.0,
    )
    folder = tmp_path / "run"
    writer = RunWriter(folder, facts)
    launcher, listener, interrupts = Timetable(), Hourly(), Interrupts()
    loop = RunLoop(
        RunRequest(
            run_id="r1",
            folder=folder,
            plan=plan,
            catalogue=CATALOGUE,
            inputs={
                (table.name, job.scale, job.replica): tmp_path / "input"
                for job in plan.jobs()
                for table in CATALOGUE[job.program].inputs
            },
            spec=RunSpec(),
        ),
        node="n1",
        launcher=launcher,
        writer=writer,
        volumes=volumes,
        sampling=Sampling("n1", ProcessSampler()),
        listener=listener,
        interrupts=interrupts,
        monotonic=launcher.monotonic,
        now=launcher.now,
    )
    with interrupts:
        loop.run()
    writer.finish(facts)
    hours = len(listener.cpu_seconds)
    _LOG.info(
        "%d hours, %d jobs; CPU seconds of each hour: %s; MB after each hour: %s",
        hours,
        listener.ended,
        " ".join(f"{seconds:.2f}" for seconds in listener.cpu_seconds),
        " ".join(f"{held / 1e6:.1f}" for held in listener.resident_bytes),
    )
    assert hours >= HOURS - 1
    assert listener.ended == SESSIONS * HOURS * HOUR / JOB_SECONDS
    assert len(set(listener.descriptors)) == 1
    grown = listener.resident_bytes[-1] - listener.resident_bytes[1]
    assert grown < 4 * 2**20, f"{grown / 1e6:.1f} MB more after the last hour than after the second"
    early, late = (statistics.median(some) for some in (listener.cpu_seconds[1:7], listener.cpu_seconds[-6:]))
    assert late < 1.25 * early, f"an hour took {early:.2f} CPU seconds, at the end {late:.2f}"
    assert len(open_run(folder).jobs) == listener.ended

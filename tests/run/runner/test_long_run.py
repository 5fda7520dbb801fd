"""A run of 24 hours on a fake clock: nothing that it keeps or does a second grows with its hours."""

from __future__ import annotations

import gc
import heapq
import logging
import os
import time
from pathlib import Path

import msgspec
import pytest

from mawl.records.model.messages import Answered, FromLauncher, Started, StepEnded, Stop, ToLauncher
from mawl.records.model.records import JobRecord
from mawl.records.spec.program_options import StartMode
from mawl.records.store import open_run
from mawl.run.runner.request import Listener, Status
from tests.fakes.launcher import FakeLauncher
from tests.fakes.loop_bench import Bench

_LOG = logging.getLogger(__name__)
HOUR = 3600.0
HOURS = 24
SESSIONS = 20
STEPS = 4


class Timetable(FakeLauncher):
    """Jobs last ten minutes of a clock that jumps to whatever comes next."""

    job_seconds = 600.0

    def __init__(self) -> None:
        self.seconds = 0.0
        self._due: list[tuple[float, int, FromLauncher]] = []
        self._told = 0
        super().__init__()
        os.write(self._write, b"!")  # one byte that nothing reads, so the loop never waits

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> float:
        return 1.7e9 + self.seconds

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
        assert not isinstance(message, Stop), "no job is stopped here"
        super().send(message)
        # What the fake keeps for other tests would grow with the hours.
        self.sent.clear()
        self.started.clear()

    def _run(self, name: str) -> None:
        self._tell(Started(job=name, at=self.now(), monotonic=self.seconds))
        length = self.job_seconds / STEPS
        for number in range(1, STEPS + 1):
            ends = number * length
            step = msgspec.structs.replace(
                self._step(name, number, f"step{number}", "data"),
                started_at=self.now() + ends - length,
                ended_at=self.now() + ends,
            )
            self._tell(StepEnded(step=step), ends)
        self._tell(Answered(job=name, answer={"rows": 3}), self.job_seconds)
        self._tell(self._reaped(name, exit_code=0), self.job_seconds)

    def _tell(self, message: FromLauncher, seconds: float = 0.0) -> None:
        self._told += 1
        heapq.heappush(self._due, (self.seconds + seconds, self._told, message))


class Hourly(Listener):
    """Looks at this process at each full hour: CPU time of the hour, memory, descriptors."""

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
@pytest.mark.measured(reruns=1)
def test_a_run_of_24_hours_does_not_grow(tmp_path: Path) -> None:
    stages = ", ".join(['["segmentation"]'] * int(HOURS * HOUR / Timetable.job_seconds))
    sessions = "".join(f'[[sessions]]\nname = "s{one}"\nstages = [{stages}]\n' for one in range(SESSIONS))
    listener = Hourly()
    bench = Bench(tmp_path, Timetable(), workload=f'name = "day"\n{sessions}', listener=listener)
    bench.run()
    hours = len(listener.cpu_seconds)
    _LOG.info(
        "%d hours, %d jobs; CPU seconds of each hour: %s; MB after each hour: %s",
        hours,
        listener.ended,
        " ".join(f"{seconds:.2f}" for seconds in listener.cpu_seconds),
        " ".join(f"{held / 1e6:.1f}" for held in listener.resident_bytes),
    )
    assert hours >= HOURS - 1
    assert listener.ended == SESSIONS * HOURS * HOUR / Timetable.job_seconds
    assert len(set(listener.descriptors)) == 1
    grown = listener.resident_bytes[-1] - listener.resident_bytes[1]
    assert grown < 4 * 2**20, f"{grown / 1e6:.1f} MB more after the last hour than after the second"
    # The least of six hours each: what else the machine does only adds CPU time.
    early, late = (min(some) for some in (listener.cpu_seconds[1:7], listener.cpu_seconds[-6:]))
    assert late < 1.25 * early, f"an hour took {early:.2f} CPU seconds, at the end {late:.2f}"
    assert len(open_run(bench.folder).jobs) == listener.ended

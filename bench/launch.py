"""What starting a job costs from the zygote, and how close together a gate starts 35 jobs."""

from __future__ import annotations

import os
import select
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.harness import Result, alternate, at_most, cpu_seconds, ratio, sized, spread
from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.messages import (
    Assignment,
    Failed,
    FromLauncher,
    Ready,
    Reaped,
    Release,
    Start,
    Started,
)
from mawl.records.spec.program_options import Options
from mawl.run.launch.client import Launcher
from mawl.run.launch.setup import THREAD_VARIABLES

NAME = "launch"

RUNS = sized(5, 1)
GATE_JOBS = sized(35, 4)
SPREAD_TARGET_SECONDS = 0.2
START_RATIO_TARGET = 0.1
"""The prototype's zygote took 9 CPU ms for what took a new interpreter 2.6 s; a tenth leaves room."""

_JOBS_A_FIGURE = sized(20, 8)
_BUSY_SECONDS = 0.1
_PATIENCE_SECONDS = 60.0


def execute(assignment: Assignment, _: Callable[[FromLauncher], None]) -> int:
    """What the jobs of this bench do: use ``scale`` seconds of CPU."""
    began = time.process_time()
    while time.process_time() - began < assignment.scale:
        pass
    return 0


def run() -> list[Result]:
    """The rows of this module."""
    modules = sorted({module for program in CATALOGUE.values() for module in program.imports})
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as folder:
        os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
        zygote = _Zygote(Path(folder), modules)
        try:
            return [_start_cost(zygote, modules), _gate_spread(zygote)]
        finally:
            zygote.launcher.close()


class _Zygote:
    """A launcher, and the jobs sent to it so far."""

    def __init__(self, folder: Path, modules: list[str]) -> None:
        self._folder = folder
        self._jobs = 0
        self.launcher = Launcher(
            "zygote", run_id="bench", modules=modules, log=folder / "log", execute="bench.launch:execute"
        )

    def start(self, count: int, busy_seconds: float, gate: str | None = None) -> None:
        """Start jobs that use some CPU each."""
        for _ in range(count):
            self._jobs += 1
            job = f"job{self._jobs}"
            assignment = Assignment(
                run_id="bench",
                job=job,
                program="bench",
                scale=busy_seconds,
                seed=1,
                replica=0,
                options=Options(),
                inputs={},
                results=str(self._folder),
                work=[],
                util=[],
                log=str(self._folder / f"{job}.log"),
            )
            self.launcher.send(Start(assignment=assignment, gate=gate))

    def wait(self, kind: type, count: int) -> list[FromLauncher]:
        """Every message until ``count`` of a kind have come."""
        messages: list[FromLauncher] = []
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while sum(isinstance(message, kind) for message in messages) < count:
            select.select([self.launcher], [], [], 1.0)
            messages += self.launcher.receive()
            failed = [message.sentence for message in messages if isinstance(message, Failed)]
            if failed or self.launcher.lost or time.monotonic() > deadline:
                raise RuntimeError(f"jobs of the bench failed: {failed or self.launcher.lost or 'too slow'}")
        return messages

    def cpu_seconds(self) -> float:
        """CPU of the zygote and of all that it has reaped, so far (in ticks)."""
        text = Path(f"/proc/{self.launcher.pid}/stat").read_bytes()
        fields = text[text.rindex(b")") + 2 :].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _start_cost(zygote: _Zygote, modules: list[str]) -> Result:
    """CPU of one job from the zygote (fork, keeper, ready, reap) over that of a new interpreter."""
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    code = "import " + ", ".join(modules)

    def ours() -> float:
        before = zygote.cpu_seconds()
        zygote.start(_JOBS_A_FIGURE, 0.0)
        zygote.wait(Reaped, _JOBS_A_FIGURE)
        time.sleep(0.05)  # the last keepers still end
        return (zygote.cpu_seconds() - before) / _JOBS_A_FIGURE

    def peer() -> float:
        return cpu_seconds([sys.executable, "-P", "-c", code], env=environment)

    mine, other = alternate(ours, peer, RUNS)
    value, pairs = ratio(mine, other)
    detail = f"zygote {spread(mine, 'CPU s')}, new interpreter {spread(other, 'CPU s')}; {pairs}"
    return at_most("job start / new interpreter", value, "x CPU", START_RATIO_TARGET, detail)


def _gate_spread(zygote: _Zygote) -> Result:
    """First to last start of jobs that one gate releases and that then keep every core busy."""
    spreads = []
    for number in range(RUNS):
        gate = f"gate{number}"
        zygote.start(GATE_JOBS, _BUSY_SECONDS, gate)
        zygote.wait(Ready, GATE_JOBS)
        zygote.launcher.send(Release(gate=gate))
        messages = zygote.wait(Reaped, GATE_JOBS)
        starts = [message.at for message in messages if isinstance(message, Started)]
        spreads.append(max(starts) - min(starts))
    detail = f"{GATE_JOBS} jobs of {_BUSY_SECONDS} CPU s each, {RUNS} gates: {spread(spreads, 's')}"
    return at_most("gate spread", statistics.median(spreads), "s", SPREAD_TARGET_SECONDS, detail)

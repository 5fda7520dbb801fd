"""Several nodes: idle agents, gates, one node through Dask and without, and the controller."""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.fake_nodes import FakeNodes, conducted
from bench.harness import Result, at_most, sized
from mawl.base.errors import RunFailedError
from mawl.records.store import open_run
from mawl.records.store.files import NODES as NODE_RUNS
from mawl.run.cluster.dask_link import LOOPBACK, TUNED

NAME = "cluster"

STARTING_SECONDS, IDLE_SECONDS = sized((6.0, 20.0), (3.0, 3.0))
IDLE_RATIO = 0.005
SKEW_SECONDS = 0.05
MORE_CPU_RATIO = 1.01
PAIRS = sized(3, 1)
WORKLOAD = sized(("mixed20", "--scale", "smoke"), ("nano", "--seed", "2"))
SHORT = ("nano",)
FAKES = sized((4, 64), (1, 2))
SAMPLED_SECONDS = sized(120, 30)
NODES = sized(4, 2)


def run() -> list[Result]:
    """Idle agents, four real nodes once, one node through Dask and without in turns, fake nodes."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        place = Path(directory)
        return [*_idle(place), _skew(place), *_one_node(place), *_controllers(place)]


class _Dask:
    """A scheduler and workers as processes, with or without mawl's settings."""

    def __init__(self, place: Path, workers: int, *, tuned: bool) -> None:
        self.place = place
        place.mkdir()
        settings = {
            f"DASK_{key.upper().replace('.', '__').replace('-', '_')}": str(value)
            for key, value in TUNED.items()
        }
        self._environment = {**os.environ, **(settings if tuned else {})}
        without = ["--no-dashboard", "--dashboard-address", LOOPBACK]
        dashboard = without if tuned else ["--dashboard-address", ":0"]
        quiet = ["--no-nanny", "--memory-limit", "0", *without] if tuned else ["--no-nanny"]
        file = place / "scheduler.json"
        where = ["--scheduler-file", str(file)]
        self.processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", "0",
                                      *dashboard, *where)]  # fmt: skip
        while not file.exists():
            time.sleep(0.1)
        for number in range(workers):
            self.processes.append(
                self._start("worker", "--name", f"node{number + 1}", "--host", "127.0.0.1", *quiet, *where)
            )
        self.address = msgspec.json.decode(file.read_bytes())["address"]
        time.sleep(STARTING_SECONDS)  # they come, and their starts are over

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=self.place, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def cpu_ratios(self) -> list[float]:
        """CPU seconds per second of each process over the idle seconds, the scheduler's first."""
        before, began = [_ticks(process.pid) for process in self.processes], time.monotonic()
        time.sleep(IDLE_SECONDS)
        seconds = (time.monotonic() - began) * os.sysconf("SC_CLK_TCK")
        return [
            (_ticks(process.pid) - old) / seconds for process, old in zip(self.processes, before, strict=True)
        ]

    def memory_bytes(self) -> int:
        """Resident size of all processes."""
        pages = [int(Path(f"/proc/{one.pid}/statm").read_text().split()[1]) for one in self.processes]
        return sum(pages) * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        """End them."""
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def _ticks(pid: int, *, children: bool = False) -> int:
    """User and system time in clock ticks (proc_pid_stat(5)): its own, or of children it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    first = 13 if children else 11
    return int(fields[first]) + int(fields[first + 1])


def _idle(place: Path) -> list[Result]:
    found = {}
    for name, tuned in (("default", False), ("tuned", True)):
        dask = _Dask(place / f"idle-{name}", NODES, tuned=tuned)
        try:
            found[name] = (dask.cpu_ratios(), dask.memory_bytes())
        finally:
            dask.close()
    (scheduler, *workers), memory = found["tuned"]
    (peer_scheduler, *peers), peer_memory = found["default"]
    return [
        at_most(
            "an idle agent",
            statistics.mean(workers) * 1000,
            "CPU ms per s",
            IDLE_RATIO * 1000,
            f"mean of {NODES} tuned workers over {IDLE_SECONDS:g} s; "
            f"default {statistics.mean(peers) * 1000:.2f}",
        ),
        Result(
            "an idle scheduler", scheduler * 1000, "CPU ms per s", "", None,
            f"default {peer_scheduler * 1000:.2f}",
        ),
        Result(
            f"memory of scheduler and {NODES} agents", memory / 1e6, "MB", "", None,
            f"resident; default {peer_memory / 1e6:.0f} MB",
        ),
    ]  # fmt: skip


def _mawl(place: Path, *arguments: str) -> Path:
    """One run; its folder."""
    folder = place / f"run-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "mawl", "run", "--html", "no", "--output", str(folder), *arguments]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailedError("a run under the bench failed", why=f"{done.stdout}{done.stderr}")
    return folder


def _skew(place: Path) -> Result:
    dask = _Dask(place / "skew", NODES, tuned=True)
    try:
        runs = open_run(_mawl(place, "nano", "--cluster", dask.address)).facts.node_runs
    finally:
        dask.close()
    moments = [one.gate_after_seconds for one in runs if one.gate_after_seconds is not None]
    error = max(one.clock.error_seconds for one in runs if one.clock is not None)
    return at_most(
        f"gates of {NODES} nodes apart",
        (max(moments) - min(moments)) * 1000,
        "ms",
        SKEW_SECONDS * 1000,
        f"one run of {NODES} x nano on this machine; clocks within {error * 1000:.2f} ms",
    )


class _Spent(NamedTuple):
    """CPU seconds of a run: everything; the node's run with its agent; its jobs alone.

    Everything is user and system time of the command and all that it started and, through Dask, of what
    the scheduler and the worker's process used from its start to its end, their idle beats in that time
    included: not what they took before it, and not their start.
    """

    whole: float
    node: float
    jobs: float
    elapsed_seconds: float


class _Pair(NamedTuple):
    """The same run through Dask and without."""

    through: _Spent
    local: _Spent

    def more_seconds(self) -> float:
        """CPU beside the jobs that the one took more."""
        return (self.through.whole - self.through.jobs) - (self.local.whole - self.local.jobs)

    def node_more_seconds(self) -> float:
        """The same of the node's run with its agent."""
        return (self.through.node - self.through.jobs) - (self.local.node - self.local.jobs)


def _spent(place: Path, workload: tuple[str, ...], dask: _Dask | None) -> _Spent:
    """A run through Dask (scheduler and worker run already), or a local one (None)."""
    processes = [process.pid for process in dask.processes] if dask else []

    def seconds() -> list[float]:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        clock = os.sysconf("SC_CLK_TCK")
        own = [_ticks(pid) / clock for pid in processes]
        below = sum(_ticks(pid, children=True) for pid in processes) / clock
        return [usage.ru_utime + usage.ru_stime + below, *own]

    before, began = seconds(), time.monotonic()
    folder = _mawl(place, *workload, *(["--cluster", dask.address] if dask else []))
    elapsed = time.monotonic() - began
    spent = [after - old for after, old in zip(seconds(), before, strict=True)]
    run = open_run(folder / NODE_RUNS / "node1" if dask else folder)
    jobs = sum(job.total.cpu_seconds or 0.0 for job in run.job_records())
    own = run.facts.overhead.cpu_seconds
    assert own is not None, "this process has CPU seconds"
    return _Spent(sum(spent), jobs + own + (spent[-1] if dask else 0.0), jobs, elapsed)


def _pairs(place: Path, workload: tuple[str, ...], dask: _Dask) -> list[_Pair]:
    """Pairs in turns; the first run makes the inputs and is nobody's."""
    _spent(place, workload, dask)
    through: list[_Spent] = []
    local: list[_Spent] = []
    for pair in range(PAIRS):
        for side in (None, dask) if pair % 2 else (dask, None):
            (through if side else local).append(_spent(place, workload, side))
    return [_Pair(*pair) for pair in zip(through, local, strict=True)]


def _one_node(place: Path) -> list[Result]:
    """What a run through Dask takes more, as a share and in seconds, of a short run and a longer one."""
    dask = _Dask(place / "one", 1, tuned=True)
    try:
        pairs = _pairs(place, WORKLOAD, dask)
        short = _pairs(place, SHORT, dask)
    finally:
        dask.close()
    return [
        _more(
            "CPU of one node through Dask over local",
            [pair.through.whole / pair.local.whole for pair in pairs],
            [pair.more_seconds() / pair.local.whole for pair in pairs],
            "controller and scheduler counted",
        ),
        _more(
            "CPU of a node and its agent over local",
            [pair.through.node / pair.local.node for pair in pairs],
            [pair.node_more_seconds() / pair.local.node for pair in pairs],
            "the node's own run and the worker's process",
        ),
        _more_seconds(SHORT, short),
        _more_seconds(WORKLOAD, pairs),
    ]


def _more_seconds(words: tuple[str, ...], pairs: list[_Pair]) -> Result:
    more = [pair.more_seconds() for pair in pairs]
    elapsed = statistics.median(pair.through.elapsed_seconds for pair in pairs)
    return Result(
        f"one node through Dask, {words[0]}", statistics.median(more), "CPU s more", "", None,
        f"{' '.join(words)} of {elapsed:.0f} s, controller and scheduler counted; {len(pairs)} pairs: "
        f"{min(more):.2f} to {max(more):.2f}",
    )  # fmt: skip


def _more(name: str, ratios: list[float], beside_jobs: list[float], what: str) -> Result:
    """Judged by what was more beside the jobs, over the whole local run.

    The jobs are the same programs below the same launcher, and with the machine's speed their CPU differs
    between two runs by many times the bound: the ratios of all CPU are told, and tell little.
    """
    return at_most(
        name,
        1.0 + statistics.median(beside_jobs),
        "ratio",
        MORE_CPU_RATIO,
        f"beside the jobs of {' '.join(WORKLOAD)}, {what}; {PAIRS} pairs in turns: "
        f"{1.0 + min(beside_jobs):.3f} to {1.0 + max(beside_jobs):.3f}; with the jobs' own CPU "
        f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})",
    )


def _controllers(place: Path) -> list[Result]:
    """Cost per job from runs without samples, per sample from what runs with them cost more."""
    results = []
    asyncio.run(conducted(FakeNodes(place / "first", 1, 1)))  # imports are nobody's cost per sample
    for count in FAKES:
        bare = FakeNodes(place / f"bare-{count}", count, 0)
        sampled = FakeNodes(place / f"sampled-{count}", count, SAMPLED_SECONDS)
        alone = asyncio.run(conducted(bare))
        whole = asyncio.run(conducted(sampled))
        detail = f"{bare.jobs} jobs in {alone:.2f} CPU s, merged tables included"
        more = f"{sampled.samples} samples for {whole - alone:.2f} CPU s more"
        results += [
            Result(
                f"controller, {count} fake agents",
                alone / bare.jobs * 1e3,
                "CPU ms per job",
                "",
                None,
                detail,
            ),
            Result(
                f"controller, {count} fake agents",
                (whole - alone) / sampled.samples * 1e6,
                "CPU us per sample",
                "",
                None,
                more,
            ),
        ]
    return results

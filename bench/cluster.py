"""Several nodes: idle agents, gates, one node through Dask and without, and the controller."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bench.fake_nodes import FakeNodes, conducted
from bench.harness import Result, at_most
from mawl.cluster.connection import TUNED
from mawl.store import open_run

NAME = "cluster"

IDLE_SECONDS = 20.0
IDLE_RATIO = 0.005
SKEW_SECONDS = 0.05
MORE_CPU_RATIO = 1.01
PAIRS = 3
FAKES = (4, 64)
SAMPLED_SECONDS = 120
NODES = 4


def run() -> list[Result]:
    """Idle agents, four real nodes once, one node through Dask and without in turns, fake nodes."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        place = Path(directory)
        return [*_idle(place), _skew(place), _one_node(place), *_controllers(place)]


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
        quiet = ["--no-nanny", "--no-dashboard", "--memory-limit", "0"] if tuned else ["--no-nanny"]
        dashboard = ["--no-dashboard"] if tuned else ["--dashboard-address", ":0"]
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
        time.sleep(6.0)  # they come, and their starts are over

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


def _ticks(pid: int) -> int:
    """User and system time of a process in clock ticks (proc_pid_stat(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


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
            "memory of scheduler and 4 agents", memory / 1e6, "MB", "", None,
            f"resident; default {peer_memory / 1e6:.0f} MB",
        ),
    ]  # fmt: skip


def _mawl(place: Path, *arguments: str) -> Path:
    """One run of nano; its folder."""
    folder = place / f"run-{time.monotonic_ns()}"
    command = [
        sys.executable,
        "-m",
        "mawl",
        "run",
        "nano",
        "--html",
        "no",
        "--output",
        str(folder),
        *arguments,
    ]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench cluster: {done.stdout}{done.stderr}")
    return folder


def _skew(place: Path) -> Result:
    dask = _Dask(place / "skew", NODES, tuned=True)
    try:
        runs = open_run(_mawl(place, "--cluster", dask.address)).facts.node_runs
    finally:
        dask.close()
    moments = [one.gate_after_seconds for one in runs if one.gate_after_seconds is not None]
    error = max(one.clock.error_seconds for one in runs if one.clock is not None)
    return at_most(
        "gates of 4 nodes apart",
        (max(moments) - min(moments)) * 1000,
        "ms",
        SKEW_SECONDS * 1000,
        f"one run of 4 x nano on this machine; clocks within {error * 1000:.2f} ms",
    )


def _one_node(place: Path) -> Result:
    dask = _Dask(place / "one", 1, tuned=True)
    ratios: list[float] = []
    through: list[float] = []
    local: list[float] = []
    try:
        for pair in range(PAIRS):
            for side in ("local", "dask") if pair % 2 else ("dask", "local"):
                folder = _mawl(place, *(["--cluster", dask.address] if side == "dask" else []))
                jobs = open_run(folder).job_records()
                cpu = sum(job.total.cpu_seconds or 0.0 for job in jobs)
                (through if side == "dask" else local).append(cpu)
            ratios.append(through[-1] / local[-1])
    finally:
        dask.close()
    return at_most(
        "CPU of jobs through Dask over local",
        statistics.median(ratios),
        "ratio",
        MORE_CPU_RATIO,
        f"nano, {PAIRS} pairs in turns: {min(ratios):.3f} to {max(ratios):.3f}; "
        f"{statistics.median(local):.2f} CPU s local",
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

"""What looks at the host cost, beside nmon and sadc: CPU at once a second, where caches are cold.

As a script (``python -m bench.host_sampler FOLDER``) it looks once a second, writes the rows into a run
folder as a run does, and prints the CPU seconds of one look, start-up of the collector included.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.harness import Result, at_most, ratio, sized, spread
from mawl.base.process import become_subreaper
from mawl.measure.host.collector import HostCollector
from mawl.records.model.run import RunFacts, WorkloadFacts
from mawl.records.store.folder import RunWriter
from mawl.run.runner.sampling import HostSampling

NAME = "host_sampler"
RUNS = sized(5, 1)
LOOKS = sized(15, 6)
OTHER_LOOKS = (10, 60, 600)
STARTING_SECONDS, STEADY_SECONDS = sized((4.0, 10), (2.0, 3))
SHARE_OF_NMON = 0.2
STEADY_OF_NMON = 1.0
"""Once both run; docs/design/host.md has the reason why this is not below 1."""
SADC = (Path("/usr/lib/sysstat/sadc"), Path("/usr/lib64/sa/sadc"), Path("/usr/lib/sa/sadc"))


def run() -> list[Result]:
    """Ours and the peers' side by side, so that all see the same machine; medians of five.

    The guard counts start-up on all sides (nmon's snapshot of the machine is most of what it costs in
    a short run).  The steady figures are of seconds 4 to 14.
    """
    become_subreaper()  # nmon leaves its parent
    programs = {"nmon": "nmon", "sadc": next((str(path) for path in SADC if path.exists()), "sadc")}
    whole: dict[str, list[float]] = {name: [] for name in ("ours", *programs)}
    steady: dict[str, list[float]] = {name: [] for name in ("ours", *programs)}
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        for number in range(RUNS):
            for name, figures in _round(programs, Path(directory, str(number))).items():
                whole[name].append(figures[0])
                steady[name].append(figures[1])
    return [
        Result(
            "looks at the host",
            statistics.median(whole["ours"]) * 1000,
            "CPU ms a look",
            "",
            None,
            f"reading, parsing, writing the rows, start-up over {LOOKS} looks: "
            f"{spread(whole['ours'], 'CPU s')}; steady {spread(steady['ours'], 'CPU s')}",
        ),
        *(row for name in programs for row in _against(name, whole, steady)),
    ]


def _against(name: str, whole: dict[str, list[float]], steady: dict[str, list[float]]) -> list[Result]:
    """Our CPU over a peer's; sadc, which starts with nothing and writes binary records, is no bound."""
    value, pairs = ratio(whole["ours"], whole[name])
    detail = f"over {LOOKS} looks with start-up: {name} {spread(whole[name], 'CPU s')} a look; {pairs}"
    row = f"looks at the host / {name}"
    first = (
        at_most(row, value, "x CPU", SHARE_OF_NMON, detail)
        if name == "nmon"
        else Result(row, value, "x CPU", "", None, detail)
    )
    value, pairs = ratio(steady["ours"], steady[name])
    longer = ", ".join(
        f"{_over(looks, 'ours', whole, steady) / _over(looks, name, whole, steady):.2g} over {looks}"
        for looks in OTHER_LOOKS
    )
    detail = f"once running: {name} {spread(steady[name], 'CPU s')} a look; {pairs}; so it is {longer} looks"
    if name == "nmon":
        detail += "; nmon reads no pressure and no groups, mawl not the space of each mount"
    second = (
        at_most(f"{row}, steady", value, "x CPU", STEADY_OF_NMON, detail)
        if name == "nmon"
        else Result(f"{row}, steady", value, "x CPU", "", None, detail)
    )
    return [first, second]


def _over(looks: int, name: str, whole: dict[str, list[float]], steady: dict[str, list[float]]) -> float:
    """CPU seconds of one of so many looks, the start shared out over them."""
    each = statistics.median(steady[name])
    return each + (statistics.median(whole[name]) - each) * LOOKS / looks


def _round(programs: dict[str, str], place: Path) -> dict[str, tuple[float, float]]:
    """CPU seconds of one look of each, start-up included and once running."""
    place.mkdir()
    ours = subprocess.Popen(
        [sys.executable, "-m", "bench.host_sampler", str(place / "run")], stdout=subprocess.PIPE, text=True
    )
    pids = {"ours": ours.pid} | {
        name: _start(name, path, place / name, LOOKS) for name, path in programs.items()
    }
    time.sleep(STARTING_SECONDS)
    before = {name: _own_seconds(pid) for name, pid in pids.items()}
    time.sleep(STEADY_SECONDS)
    steady = {name: (_own_seconds(pid) - before[name]) / STEADY_SECONDS for name, pid in pids.items()}
    whole = {"ours": float(ours.communicate()[0])}
    for name in programs:
        usage = os.wait4(pids[name], 0)[2]
        whole[name] = (usage.ru_utime + usage.ru_stime) / LOOKS
    return {name: (whole[name], steady[name]) for name in pids}


def _own_seconds(pid: int) -> float:
    """CPU seconds of a process so far, without children; to the nanosecond, unlike its ticks."""
    return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[0]) / 1e9


def _start(name: str, program: str, file: Path, looks: int) -> int:
    """The pid of a peer that looks once a second; nmon goes to the background and tells it."""
    if name == "nmon":
        command = [program, "-F", str(file), "-s", "1", "-c", str(looks), "-p"]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        return int(told.split()[0])
    # One look more, since it ends with its last one, and the steady figure reads it while it runs.
    command = [program, "-S", "XALL", "1", str(looks + 1), str(file)]
    return os.posix_spawn(program, command, os.environ)


def _looks(folder: Path) -> float:
    """CPU seconds of one of our looks; the interpreter and Arrow are the runner's anyway."""
    facts = RunFacts(
        run_id="bench",
        kind="measured",
        mawl_version="0",
        workload=WorkloadFacts(name="bench", title="", sessions=0, jobs=0),
        outcome="running",
        started_at=time.time(),
    )
    writer = RunWriter(folder, facts)
    HostSampling("bench", HostCollector(), writer).look(time.time())
    before = time.process_time()
    sampling = HostSampling("bench", HostCollector(), writer)
    spent = time.process_time() - before
    for _ in range(LOOKS):
        time.sleep(1.0)
        before = time.process_time()
        sampling.look(time.time())
        spent += time.process_time() - before
    writer.close()
    return spent / LOOKS


if __name__ == "__main__":
    print(_looks(Path(sys.argv[1])))

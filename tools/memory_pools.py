"""Compare Arrow's memory pools over versions of Arrow: ``python -m tools.memory_pools PYTHON...``.

Each PYTHON is an interpreter with mawl's libraries; the first has the oldest Arrow, the last the newest.
The tool runs the mawl of this clone in each: all programs, one after another, with every pool, several
times by turns.  It prints a row for each pool (docs/design/memory.md).  ``--programs`` adds one for each
program.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.plan.catalogue import NAMES
from mawl.run.launch.setup import ARROW_POOL

ROOT = Path(__file__).resolve().parent.parent
POOLS = ("system", "mimalloc", "jemalloc")
Figures = Mapping[str, tuple[float, float]]
"""Program to its peak memory in bytes and its CPU seconds."""

RUN = """
import sys
from mawl.commands.main import entry
from mawl.run.launch import client
client.ARROW_POOL = sys.argv.pop(1)
entry()
"""
READ = """
import json, sys
import mawl
run = mawl.open_run(sys.argv[1])
for job in run.jobs.to_pylist():
    assert job["outcome"] == "finished", job["reason"]
    cpu = job["user_cpu_seconds"] + job["system_cpu_seconds"]
    print(json.dumps([job["program"], job["memory_bytes"], cpu]))
"""


def workload(programs: Sequence[str]) -> str:
    """A workload file: one session with the programs one after another."""
    stages = ", ".join(f'["{name}"]' for name in programs)
    head = 'name = "pools"\ntitle = "Programs one after another"\n'
    return f'{head}[[sessions]]\nname = "only"\nstages = [{stages}]\n'


def measure(python: str, pool: str, programs: Sequence[str], scale: str, place: Path) -> Figures:
    """One run of the programs with a pool; its inputs stay in ``place`` for the next run."""
    (place / "pools.toml").write_text(workload(programs))
    folder = tempfile.mkdtemp(dir=place)
    roles = [word for role in ("data", "work", "util") for word in (f"--{role}", str(place / role))]
    words = ["run", str(place / "pools.toml"), "--scale", scale, "--output", f"{folder}/run", *roles]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for script, arguments in ((RUN, [pool, *words]), (READ, [f"{folder}/run"])):
        ended = subprocess.run(
            [python, "-c", script, *arguments], cwd=place, env=environment, capture_output=True, text=True
        )
        if ended.returncode:
            raise SystemExit(f"{python} {pool}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    rows = map(json.loads, ended.stdout.splitlines())
    return {program: (memory, cpu) for program, memory, cpu in rows}


def medians(runs: Sequence[Figures]) -> dict[str, tuple[float, float]]:
    """Median peak and median CPU time of each program."""
    return {
        name: (
            statistics.median(run[name][0] for run in runs),
            statistics.median(run[name][1] for run in runs),
        )
        for name in runs[0]
    }


def differences(oldest: Figures, newest: Figures) -> dict[str, float]:
    """By how much the newest Arrow's peak differs from the oldest's, as a ratio of that."""
    return {name: newest[name][0] / oldest[name][0] - 1.0 for name in oldest}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    parser.add_argument("--pools", nargs="+", default=POOLS, help=f"mawl's own is {ARROW_POOL}")
    parser.add_argument("--names", nargs="+", default=NAMES, metavar="PROGRAM")
    parser.add_argument("--scale", default="0.005")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--place", type=Path, help="a directory for inputs and runs (default: a temporary one)"
    )
    parser.add_argument("--programs", action="store_true", help="print a row for each program too")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=asked.place) as place:
        found: dict[tuple[str, str], list[Figures]] = defaultdict(list)
        for _ in range(asked.runs):
            for pool in asked.pools:
                for python in asked.pythons:
                    found[pool, python].append(measure(python, pool, asked.names, asked.scale, Path(place)))
    print(
        "pool | largest difference | sum of peaks in MiB, oldest and newest | CPU seconds, oldest and newest"
    )
    for pool in asked.pools:
        sides = [medians(found[pool, python]) for python in (asked.pythons[0], asked.pythons[-1])]
        changes = differences(*sides)
        worst = max(changes, key=lambda name: abs(changes[name]))
        peaks = [sum(peak for peak, _ in side.values()) / 2**20 for side in sides]
        cpu = [sum(seconds for _, seconds in side.values()) for side in sides]
        print(
            f"{pool} | {changes[worst]:+.1%} {worst} | {peaks[0]:.0f} and {peaks[1]:.0f} "
            f"| {cpu[0]:.1f} and {cpu[1]:.1f}"
        )
        for name in changes if asked.programs else ():
            (old, old_cpu), (new, new_cpu) = (side[name] for side in sides)
            print(
                f"  {name} | {changes[name]:+.1%} | {old / 2**20:.1f} and {new / 2**20:.1f} "
                f"| {old_cpu:.2f} and {new_cpu:.2f}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])

"""Compare Arrow's memory pools over versions of Arrow: ``python -m tools.memory_pools``.

It makes an environment with the oldest Arrow that pyproject.toml allows and one with the newest, and
otherwise the libraries of constraints.txt; they come from the package index.  ``--pythons OLD NEW`` names
two that are there.  In each it runs the mawl of this clone: all programs, one after another, with every
pool, several times by turns.  It prints a row for each pool (docs/design/memory.md), and one for each
program.  The exit status is 1 if a peak with mawl's own pool differs by more than ``MOST``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.requirements import Requirement

from mawl.plan.catalogue import CATALOGUE
from mawl.run.launch.setup import arrow_pool
from tools import versions

ROOT = Path(__file__).resolve().parent.parent
POOLS = ("system", "mimalloc", "jemalloc")
MOST = 0.10
"""A program's peak with the newest Arrow may differ from that with the oldest by this ratio."""
Figures = Mapping[str, tuple[float, float]]
"""Program to its peak memory in bytes and its CPU seconds."""

RUN = """
import sys
from mawl.commands.main import entry
from mawl.run.launch import client
pool = sys.argv.pop(1)
client.arrow_pool = lambda: pool
entry()
"""
READ = """
import json, sys
import mawl
run = mawl.open_run(sys.argv[1])
assert run.facts.arrow_pool == sys.argv[2], run.facts.arrow_pool
for job in run.jobs.to_pylist():
    assert job["outcome"] == "finished", job["reason"]
    cpu = job["user_cpu_seconds"] + job["system_cpu_seconds"]
    print(json.dumps([job["program"], job["memory_bytes"], cpu]))
"""


def environments(scratch: Path) -> list[str]:
    """The interpreters of two new environments: with the oldest and with the newest allowed Arrow."""
    program, wheel = versions.uv(scratch), versions.build(scratch)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["programs"]]
    (arrow,) = (text for text in named if Requirement(text).name == "pyarrow")
    pinned = (ROOT / "constraints.txt").read_text().splitlines(keepends=True)
    (scratch / "pinned.txt").write_text("".join(text for text in pinned if not text.startswith("pyarrow==")))
    found = []
    for resolution in versions.RESOLUTIONS[::-1]:
        python = scratch / resolution / "bin/python"
        versions.run(program, "venv", "--quiet", "--python", sys.executable, scratch / resolution)
        install = (program, "pip", "install", "--quiet", "--python", python, "--resolution", resolution)
        versions.run(*install, "--constraint", scratch / "pinned.txt", wheel, *named, arrow)
        found.append(str(python))
    return found


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
    for script, arguments in ((RUN, [pool, *words]), (READ, [f"{folder}/run", pool])):
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


def compare(
    pythons: Sequence[str], pools: Sequence[str], programs: Sequence[str], scale: str, runs: int, place: Path
) -> dict[str, dict[str, float]]:
    """Print the figures of each pool; the difference of each program, by pool."""
    found: dict[tuple[str, str], list[Figures]] = defaultdict(list)
    for _ in range(runs):
        for pool in pools:
            for python in pythons:
                found[pool, python].append(measure(python, pool, programs, scale, place))
    print("pool, program | largest difference | MiB, oldest and newest | CPU seconds, oldest and newest")
    changes = {}
    for pool in pools:
        old, new = (medians(found[pool, python]) for python in pythons)
        changes[pool] = {name: new[name][0] / old[name][0] - 1.0 for name in programs}
        worst = max(changes[pool].values(), key=abs)
        _print(f"{pool}, all", worst, (_sums(old), _sums(new)))
        for name, change in changes[pool].items():
            _print(f"{pool}, {name}", change, (old[name], new[name]))
    return changes


def _sums(side: Figures) -> tuple[float, float]:
    return sum(peak for peak, _ in side.values()), sum(cpu for _, cpu in side.values())


def _print(name: str, change: float, sides: tuple[tuple[float, float], tuple[float, float]]) -> None:
    (old, old_cpu), (new, new_cpu) = sides
    peaks = f"{old / 2**20:.1f} and {new / 2**20:.1f}"
    print(f"{name} | {change:+.1%} | {peaks} | {old_cpu:.2f} and {new_cpu:.2f}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pythons", nargs=2, metavar=("OLD", "NEW"))
    parser.add_argument("--pools", nargs="+", default=POOLS, choices=POOLS)
    parser.add_argument(
        "--programs", nargs="+", default=list(CATALOGUE), choices=list(CATALOGUE), metavar="NAME"
    )
    parser.add_argument("--scale", default="0.001")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--place", type=Path, help="where a temporary directory goes for inputs and runs")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=asked.place) as name:
        pythons = asked.pythons or environments(Path(name))
        changes = compare(pythons, asked.pools, asked.programs, asked.scale, asked.runs, Path(name))
    return int(any(abs(change) > MOST for change in changes.get(arrow_pool(), {}).values()))


if __name__ == "__main__":
    sys.exit(main())

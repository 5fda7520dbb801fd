"""Measure every program alone, one after another, and keep the figures for docs/reference/programs.md.

``python -m tools.measured --place DIR`` makes a workload of one session with one program a stage in
DIR, runs it (at scale ``quick`` unless ``--scale`` says otherwise; ``--memory-limit`` as for
``mawl run``), and writes ``docs/reference/measured.json`` from the run folder; with ``--cache none`` it is
``measured-none.json``.  ``make reference`` prints both.  The figures are only ever written from a run.
``--times N`` makes so many runs: of each program the job with the median CPU time is kept.
``--program NAME`` measures some programs again and keeps the figures of the others, at the same scale.
``--runs FOLDER...`` takes them from runs of all programs alone that are there already, as
``mawl run --solo`` makes them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

import msgspec

from mawl.base.units import format_bytes, format_instant, format_memory
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import JobSeconds, asked_per_cpu_second
from mawl.plan.programs import Direction
from mawl.plan.spec import parse_scale, scale_name
from mawl.plan.workload import load_workload, make_plan
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import RoleIo
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES, CacheMode, Role
from mawl.records.store import open_run
from mawl.simulation.forecast import is_uncached

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
FILES: dict[CacheMode | None, Path] = {
    None: REFERENCE / "measured.json",
    "none": REFERENCE / "measured-none.json",
}
"""Where the figures of a cache mode are kept."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One program, run alone once; bytes by role are what its calls moved, and what is declared."""

    real_time_seconds: float
    cpu_seconds: float
    memory_bytes: int
    moved: dict[Role, dict[Direction, int]]
    declared: dict[Role, dict[Direction, int]]

    @property
    def moved_bytes(self) -> int:
        """Read and written in all roles."""
        return sum(sum(directions.values()) for directions in self.moved.values())


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when the programs were measured, and what came out."""

    measured_at: str
    mawl_version: str
    scale: float
    memory_limit_bytes: int | None
    machine: str
    cache: CacheMode | None = None
    programs: dict[str, Figures]
    again: dict[str, str] = {}
    """Programs that were measured again later, and when."""
    runs: int = 1
    """Of so many runs each program's job with the median CPU time is kept.

    Of an even number it is the larger of the two in the middle.
    """


def workload(names: Iterable[str] = CATALOGUE) -> str:
    """One session, each stage one program of the catalogue."""
    stages = "".join(f'    ["{name}"],\n' for name in names)
    return f'name = "alone"\n\n[[sessions]]\nname = "alone"\nstages = [\n{stages}]\n'


def figures(job: JobRecord, scale: float) -> Figures:
    """The figures of a finished job; ValueError where it did not finish or one is missing."""
    used = (job.usage.real_time_seconds, job.usage.cpu_seconds, job.usage.memory_bytes)
    real, cpu, memory = used
    if job.outcome != "finished" or job.io is None or real is None or cpu is None or memory is None:
        raise ValueError(f"{job.program}: {job.outcome}, or without I/O by role, time or memory")
    return Figures(
        real_time_seconds=real,
        cpu_seconds=cpu,
        memory_bytes=memory,
        moved={
            role: {
                "read": job.io.get(role, RoleIo()).read_bytes,
                "written": job.io.get(role, RoleIo()).written_bytes,
            }
            for role in ROLES
        },
        declared=CATALOGUE[job.program].bytes_by_role(scale),
    )


def measured(folder: Path) -> Measured:
    """What a run folder of ``workload`` holds."""
    run = open_run(folder)
    facts = run.facts
    scale = facts.workload.scale
    if scale is None:
        raise ValueError(f"{folder}: the run has no scale")
    programs: dict[str, Figures] = {}
    for job in run.job_records():
        if job.program in programs:
            raise ValueError(f"{folder}: {job.program} ran twice, so it did not run alone")
        programs[job.program] = figures(job, scale)
    return Measured(
        measured_at=format_instant(facts.started_at),
        mawl_version=facts.mawl_version,
        scale=scale,
        memory_limit_bytes=facts.nodes[0].memory_limit_bytes,
        cache="none" if is_uncached(facts) else None,
        machine=machine_of(facts),
        programs=programs,
    )


def machine_of(facts: RunFacts) -> str:
    """``2 cores (vCPU) of AMD EPYC, 23.5 GiB, Linux 6.18``: the machine of a run."""
    node = facts.nodes[0]
    memory = format_memory(node.memory_bytes or 0)
    return f"{node.cores} cores ({node.core_basis}) of {node.cpu_model}, {memory}, Linux {node.kernel}"


def middle(found: Sequence[Measured]) -> Measured:
    """Of each program the job with the median CPU time; the rest is of the first run.

    ValueError where the runs differ in scale, machine, memory limit, cache mode or programs.
    """
    same = {
        (one.scale, one.machine, one.memory_limit_bytes, one.cache, *sorted(one.programs)) for one in found
    }
    if len(same) > 1:
        raise ValueError("the runs differ in scale, machine, memory limit, cache mode or programs")
    programs = {
        name: sorted((one.programs[name] for one in found), key=lambda one: one.cpu_seconds)[len(found) // 2]
        for name in found[0].programs
    }
    return msgspec.structs.replace(found[0], programs=programs, runs=len(found))


def merged(stored: Measured, found: Measured) -> Measured:
    """What is kept, with the programs that were measured again; ValueError for another scale or machine."""
    if stored.scale != found.scale:
        raise ValueError(f"the kept figures are of scale {stored.scale:g}, these of {found.scale:g}")
    if stored.machine != found.machine:
        raise ValueError(f"the kept figures are of {stored.machine}, these of {found.machine}")
    return msgspec.structs.replace(
        stored,
        programs=stored.programs | found.programs,
        again=stored.again | {name: found.measured_at for name in found.programs if name in stored.programs},
    )


def cpu_ratios(stored: Measured) -> dict[str, float]:
    """CPU seconds over the reference times, by program, over the median of these ratios.

    The median is what this processor differs from the reference machine by.
    """
    ratios = {
        name: one.cpu_seconds / CATALOGUE[name].cpu_seconds(stored.scale)
        for name, one in stored.programs.items()
    }
    usual = median(ratios.values())
    return {name: ratio / usual for name, ratio in ratios.items()}


def page(stored: Measured) -> list[str]:
    """The section of docs/reference/programs.md that shows them."""
    limit = stored.memory_limit_bytes
    memory = "" if limit is None else f", jobs and page cache within {format_memory(limit)}"
    times = [one.real_time_seconds for one in stored.programs.values()]
    head = ["program", "real time s", "CPU s", "peak memory", *(f"{role} {way}" for role, way in _WAYS)]
    head += ["bytes / declared", "CPU / reference", "MB per CPU s"]
    mode = f", --cache {stored.cache}" if stored.cache else ""
    cpu = cpu_ratios(stored)
    return [
        f"## Measured alone at {scale_name(stored.scale)}{mode}",
        "",
        f"One job of each program, one after another, {stored.measured_at}, mawl {stored.mawl_version};",
        f"{stored.machine}{memory}. Bytes are what read and write calls moved in each role; rates are",
        f"those bytes per CPU second. Longest : shortest is {max(times) / min(times):.1f} : 1.",
        *(
            [f"Each row is the job with the median CPU time of {stored.runs} runs."]
            if stored.runs > 1
            else []
        ),
        "CPU / reference is CPU time over the reference time, divided by the median of all programs, so",
        "that the speed of the processor is not in it.",
        *_asked(stored),
        *(f"The row of {name} is one later job, {at}." for name, at in stored.again.items()),
        "",
        f"| {' | '.join(head)} |",
        f"| {' | '.join(['---'] * len(head))} |",
        *(_row(name, stored.programs[name], cpu[name]) for name in CATALOGUE if name in stored.programs),
        "",
    ]


def _asked(stored: Measured) -> list[str]:
    """What a CPU second of the mix asks, where all of its programs were measured."""
    spec, where = load_workload("mixed20")
    plan = make_plan(spec, where=where, scale=stored.scale)
    took = {name: one.cpu_seconds for name, one in stored.programs.items()}
    seconds = JobSeconds(lambda program, _: took.get(program.name), "measured")
    asked = asked_per_cpu_second(plan, seconds)
    if asked.by_role is None or asked.total is None:
        return []
    roles = ", ".join(
        f"{role} {format_bytes(ways['read'])} read and {format_bytes(ways['written'])} written"
        for role, ways in asked.by_role.items()
    )
    total = format_bytes(asked.total)
    return [f"By these times `mixed20` asks {total} for each CPU second:", f"{roles}."]


_WAYS: list[tuple[Role, Direction]] = [(role, way) for role in ROLES for way in ("read", "written")]


def _row(name: str, one: Figures, cpu_ratio: float) -> str:
    declared = sum(sum(directions.values()) for directions in one.declared.values())
    cells = [
        f"[{name}](#{name})",
        f"{one.real_time_seconds:.1f}",
        f"{one.cpu_seconds:.1f}",
        format_memory(one.memory_bytes),
        *(format_bytes(one.moved[role][way]) for role, way in _WAYS),
        f"{one.moved_bytes / declared:.3f}",
        f"{cpu_ratio:.2f}",
        f"{one.moved_bytes / 1e6 / one.cpu_seconds:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def load(cache: CacheMode | None = None) -> Measured | None:
    """The figures of a cache mode that are kept, or None."""
    file = FILES[cache]
    return msgspec.json.decode(file.read_bytes(), type=Measured) if file.exists() else None


def main(arguments: Sequence[str]) -> int:
    """Run, and keep the figures; the exit status is that of ``mawl run``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--place", type=Path, help="directory for roles and run")
    where.add_argument(
        "--runs", type=Path, nargs="+", help="run folders that each hold every program once, alone"
    )
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--memory-limit")
    parser.add_argument("--cache", choices=[mode for mode in FILES if mode])
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--program", action="append", choices=list(CATALOGUE))
    given = parser.parse_args(arguments)
    if given.runs:
        if given.program or given.memory_limit or given.cache or given.times > 1:
            parser.error("--program, --memory-limit, --cache and --times do not go with --runs")
        _keep(middle([measured(folder) for folder in given.runs]))
        return 0
    parse_scale(given.scale)
    given.place.mkdir(parents=True, exist_ok=True)
    file = given.place / "alone.toml"
    file.write_text(workload(given.program or CATALOGUE))
    command = [sys.executable, "-m", "mawl", "run", file.name, "--scale", given.scale]
    if given.memory_limit:
        command += ["--memory-limit", given.memory_limit]
    if given.cache:
        command += ["--cache", given.cache]
    runs = []
    for _ in range(given.times):
        done = subprocess.run(command, cwd=given.place, check=False)
        if done.returncode:
            return done.returncode
        runs.append(measured(given.place / "runs" / "latest"))
    found, stored = middle(runs), load(given.cache)
    if given.program and stored is not None:
        found = merged(stored, found)
    _keep(found)
    return 0


def _keep(kept: Measured) -> None:
    FILES[kept.cache].write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

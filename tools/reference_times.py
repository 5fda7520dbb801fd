"""Measure the reference times, and write the table of them: ``make reference-times PLACE=DIR``.

``python -m tools.reference_times --place DIR`` runs each program alone in DIR, which should lie on an ext4
file system with a journal of an idle machine: at every knot, with inputs of five seeds, one thread, the
default options and ``--cache none``; it takes about two hours and 60 GB.  ``--scale S`` measures one knot
again and keeps the others.  ``--runs FOLDER...`` takes the times of knots from runs that are there already.
``--provisional NAME...`` names programs that changed since, until they are measured.

The table has one machine: its core has speed 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

import msgspec

from mawl.base.units import format_instant
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import TABLE, CpuSeconds, Knot, ReferenceTimes
from mawl.records.model.run import RunFacts
from mawl.records.store import Run, open_run
from tools.measured import machine_of, workload

ROOT = Path(__file__).resolve().parent.parent
SCALES = (0.0005, 0.005, 0.02, 0.05)
SEEDS = (1, 2, 3, 4, 5)


def seconds_of(run: Run) -> dict[str, float]:
    """CPU seconds by program of a run of each program alone; ValueError where it is not such a run."""
    facts = run.facts
    found = {job.program: job.usage.cpu_seconds for job in run.job_records() if job.outcome == "finished"}
    cache = None if facts.cache is None else facts.cache.mode
    unknown = [name for name in CATALOGUE if not found.get(name)]
    if unknown or cache != "none" or facts.workload.planned_peak_concurrent != 1:
        raise ValueError(
            f"{run.path}: lacks {', '.join(unknown) or 'nothing'}, or jobs alone with --cache none"
        )
    return {name: seconds for name, seconds in found.items() if seconds}


def knot_of(runs: Sequence[Run]) -> Knot:
    """A knot from runs of one scale with different seeds; ValueError where they are not."""
    scales = {run.facts.workload.scale for run in runs}
    seeds = {run.facts.workload.seed for run in runs}
    (scale,) = scales if len(scales) == 1 else (None,)
    if scale is None or len(seeds) < len(runs):
        raise ValueError("the runs of a knot have one scale and different seeds")
    took = [seconds_of(run) for run in runs]
    return Knot(
        scale=scale,
        measured_at=format_instant(max(run.facts.started_at for run in runs)),
        seeds=len(runs),
        programs={
            name: CpuSeconds(median=round(median(of), 3), low=round(min(of), 3), high=round(max(of), 3))
            for name in CATALOGUE
            for of in [[one[name] for one in took]]
        },
    )


def table_of(runs: Sequence[Run], version: int, provisional: Sequence[str] = ()) -> ReferenceTimes:
    """The knots of some runs; ValueError where they are of different machines."""
    machines = {machine_of(run.facts) for run in runs}
    if len(machines) > 1:
        raise ValueError(f"the runs are of several machines: {'; '.join(sorted(machines))}")
    by_scale: dict[float, list[Run]] = {}
    for run in runs:
        by_scale.setdefault(run.facts.workload.scale or 0.0, []).append(run)
    return ReferenceTimes(
        version=version,
        machine=machines.pop(),
        file_system=", ".join(sorted({_file_system(run.facts) for run in runs})),
        cache="none",
        constraints_sha256=hashlib.sha256((ROOT / "constraints.txt").read_bytes()).hexdigest(),
        commit=_commit(),
        provisional=list(provisional),
        knots=[knot_of(by_scale[scale]) for scale in sorted(by_scale)],
    )


def merged(stored: ReferenceTimes, found: ReferenceTimes) -> ReferenceTimes:
    """The stored table with the knots that were measured again; ValueError for another machine's."""
    if stored.machine != found.machine:
        raise ValueError(f"the table is of {stored.machine}, these runs are of {found.machine}")
    knots = {knot.scale: knot for knot in (*stored.knots, *found.knots)}
    return msgspec.structs.replace(
        found, provisional=stored.provisional, knots=[knots[scale] for scale in sorted(knots)]
    )


def _file_system(facts: RunFacts) -> str:
    return ", ".join(sorted({volume.file_system or "unknown" for volume in facts.volumes}))


def _commit() -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def written(table: ReferenceTimes) -> str:
    """The table as JSON, a line for each program of a knot."""
    head = msgspec.to_builtins(table)
    knots = head.pop("knots")
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    lines.append('  "knots": [')
    for number, knot in enumerate(knots, 1):
        programs = knot.pop("programs")
        lines += ["    {", *(f"      {json.dumps(key)}: {json.dumps(value)}," for key, value in knot.items())]
        rows = [f"        {json.dumps(name)}: {json.dumps(one)}" for name, one in programs.items()]
        lines += ['      "programs": {', ",\n".join(rows), "      }"]
        lines.append("    }" if number == len(knots) else "    },")
    return "\n".join(["{", *lines, "  ]", "}", ""])


def measured(place: Path, scales: Iterable[float]) -> list[Run]:
    """Runs of each program alone at some scales, a run for each seed; their inputs go after each run."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "alone.toml").write_text(workload())
    runs = []
    for scale in scales:
        for seed in SEEDS:
            output = place / f"runs/{scale:g}-{seed}"
            command = [sys.executable, "-m", "mawl", "run", "alone.toml", "--cache", "none", "--html", "no"]
            command += ["--scale", f"{scale:g}", "--seed", str(seed), "--output", str(output)]
            subprocess.run(command, cwd=place, check=True)
            shutil.rmtree(place / "mawl-data")
            runs.append(open_run(output))
    return runs


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--place", type=Path, help="directory for roles and runs")
    where.add_argument("--runs", type=Path, nargs="+", help="run folders")
    where.add_argument("--provisional", nargs="*", choices=list(CATALOGUE))
    parser.add_argument("--scale", type=float, choices=SCALES, help="measure one knot again")
    given = parser.parse_args(arguments)
    stored = msgspec.json.decode(TABLE.read_bytes(), type=ReferenceTimes)
    if given.provisional is not None:
        TABLE.write_text(written(msgspec.structs.replace(stored, provisional=given.provisional)))
        return 0
    scales = SCALES if given.scale is None else (given.scale,)
    runs = [open_run(path) for path in given.runs] if given.runs else measured(given.place, scales)
    found = table_of(runs, stored.version + 1)
    whole = {knot.scale for knot in found.knots} >= set(SCALES)
    TABLE.write_text(written(found if whole else merged(stored, found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

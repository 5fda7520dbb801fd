"""What a comparison of five runs with five costs, and how often it errs for pairs with a known effect."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from bench.harness import Result, at_least, at_most, cpu_seconds, sized, spread
from mawl.campaigns.series import in_turn
from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.sides import ComparedRun, side_of
from mawl.figures.statistics import LEVEL, POWER, smallest_effect
from mawl.records.model.records import SampleRecord
from mawl.records.store.folder import RunWriter
from tests.fakes.compared_runs import COMPLETED, compared
from tests.fakes.measured_run import IDLE
from tests.fakes.stored_run import START, facts, job, planned

NAME = "compare"
JOBS, SECONDS = sized((71, 60), (5, 10))
RUNS = 5
TIMES = sized(5, 1)
MOST_SECONDS = 2.0

SPLITS = sized(200, 20)
PLANTED = math.log(1.1)
SPREAD = PLANTED / smallest_effect(1.0, RUNS)
"""Standard deviation of a run's mean log time at which five runs a side find the planted tenth in 80 %."""

JOB_SPREAD = 0.02
NEIGHBOURS = 0.3
"""Correlation of a run with the next, as measured (tests/fakes/compared_runs.py): the drift of a machine."""

ALTERNATING = tuple(in_turn("AB", RUNS))
UNIT = "% of pairs"
BLOCKS = ("A",) * RUNS + ("B",) * RUNS


def run() -> list[Result]:
    """CPU of the whole command, interpreter included; medians of five."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        sides = [Path(directory, name) for name in ("before", "after")]
        for place in range(2 * RUNS):
            _write(sides[place % 2] / f"run-{place}", place)
        command = [sys.executable, "-m", "mawl", "compare", *map(str, sides)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        figures = [cpu_seconds(command) for _ in range(TIMES)]
    middle = sorted(figures)[TIMES // 2]
    detail = f"{2 * RUNS} runs of {JOBS} jobs and {SECONDS} s of samples: {spread(figures, 'CPU s')}"
    return [at_most("compare five runs with five", middle, "CPU s", MOST_SECONDS, detail), *rates()]


def rates() -> list[Result]:
    """How often a difference is named, by the stated rate and three binomial standard errors."""
    rows = []
    for name, effect, stated, judge in (
        ("identical sides judged different", 0.0, LEVEL, at_most),
        ("a planted 10 % judged slower", PLANTED, POWER, at_least),
    ):
        error = 3 * math.sqrt(stated * (1 - stated) / SPLITS) * (1 if judge is at_most else -1)
        found = named_rate(ALTERNATING, effect)
        detail = f"{SPLITS} pairs of {RUNS} alternating runs a side; stated {100 * stated:g} %"
        rows.append(judge(name, 100 * found, UNIT, round(100 * (stated + error), 1), detail))
    detail = f"{SPLITS} pairs, all runs of one side before those of the other"
    return [*rows, at_most("sides in blocks judged at all", 100 * named_rate(BLOCKS, 0.0), UNIT, 0.0, detail)]


def named_rate(order: Sequence[str], effect: float) -> float:
    """Share of SPLITS comparisons that name all jobs slower or faster; B takes ``effect`` (log) longer."""
    random, base, named = np.random.default_rng(1), compared(0), 0
    between = math.sqrt(SPREAD**2 - JOB_SPREAD**2 / len(base.jobs))
    for _ in range(SPLITS):
        sides: dict[str, list[ComparedRun]] = {"A": [], "B": []}
        level = random.normal()
        for number, side in enumerate(order):
            level = NEIGHBOURS * level + math.sqrt(1 - NEIGHBOURS**2) * random.normal()
            shift = between * level + (effect if side == "B" else 0.0)
            jobs = {
                name: msgspec.structs.replace(
                    job, real_time_seconds=20.0 * math.exp(shift + random.normal(0.0, JOB_SPREAD))
                )
                for name, job in base.jobs.items()
            }
            own = msgspec.structs.replace(base.facts, run_id=f"run-{number}", started_at=START + number)
            sides[side].append(msgspec.structs.replace(base, facts=own, jobs=jobs))
        found = compare(*(side_of(name, runs) for name, runs in sides.items())).statement
        named += found is not None and found.verdict in ("slower", "faster")
    return named / SPLITS


def _write(folder: Path, number: int) -> None:
    """A run of synthetic jobs, a little different in each."""
    names = [f"s{at}-1" for at in range(JOBS)]
    some = facts(
        **{
            **COMPLETED,
            "run_id": folder.name,
            "started_at": START + 100.0 * number,
            "planned_jobs": [planned(name) for name in names],
        }
    )
    writer = RunWriter(folder, some)
    for at, name in enumerate(names):
        writer.job(job(name, 0.0, 20.0 + at % 20 + number / 10))
    for second in range(SECONDS):
        writer.samples(
            [
                SampleRecord(
                    node="bench1", sampled_at=START + second, series=series, value=_value(rate, second)
                )
                for series, rate in IDLE.items()
            ]
        )
    writer.finish(some)


def _value(rate: object, second: int) -> float:
    return float(rate) * second if isinstance(rate, int | float) else float(second)

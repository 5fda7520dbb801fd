"""Plant a wrong answer in a program and see that its own checks reject it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from mawl.plan.catalogue import CATALOGUE, INPUTS
from mawl.plan.columns import InputTable
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import Job, assign, run_here

OPTIONS = Options(memsize_bytes=64 * MIB, sortsize_bytes=4 * MIB)

RunJob = Callable[[], Job]


def job_runner(
    program: str,
    scale: float,
    place: Path,
    options: Options = OPTIONS,
    tables: Mapping[str, InputTable] | None = None,
) -> RunJob:
    """Makes the program's inputs once; each call then runs a job of it in this process."""
    inputs = place / "inputs"
    inputs.mkdir()
    names = [table.name for table in CATALOGUE[program].inputs]
    requests = [TableRequest(table=name, scale=scale, seed=3) for name in names]
    made = generate(
        requests, inputs, processes=1, bufsize_bytes=256 * 1024, verify=False, tables=tables or INPUTS
    )
    directories = {name: found.directory for name, found in zip(names, made, strict=True)}
    numbers = itertools.count()

    def run() -> Job:
        assignment = assign(program, scale, options, directories, place / f"job-{next(numbers)}")
        return run_here(msgspec.structs.replace(assignment, seed=3))

    return run


def rejected(job: Job) -> str:
    """The sentence of a job whose answer was found wrong."""
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence
    return job.failed.sentence

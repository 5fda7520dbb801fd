"""Plant a wrong answer in a program and see that its own checks reject it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from mawl.plan.catalogue import CATALOGUE
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import Job, assign, run_here

OPTIONS = Options(memsize_bytes=64 * MIB, sortsize_bytes=4 * MIB)

RunJob = Callable[[], Job]


def job_runner(program: str, scale: float, place: Path) -> RunJob:
    """Makes the program's inputs once; each call then runs a job of it in this process."""
    inputs = place / "inputs"
    inputs.mkdir()
    tables = CATALOGUE[program].inputs
    requests = [TableRequest(table=table.name, scale=scale, seed=3) for table in tables]
    made = generate(requests, inputs, processes=1, bufsize_bytes=256 * 1024, verify=False)
    directories = {table.name: found.directory for table, found in zip(tables, made, strict=True)}
    jobs = 0

    def run() -> Job:
        nonlocal jobs
        jobs += 1
        assignment = assign(program, scale, OPTIONS, directories, place / f"job-{jobs}")
        return run_here(msgspec.structs.replace(assignment, seed=3))

    return run


def rejected(job: Job) -> str:
    """The sentence of a job whose answer was found wrong."""
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence
    return job.failed.sentence

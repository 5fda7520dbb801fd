"""Many seeds of every program: statistical checks must hold whatever the data, not for one lucky table."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.programs.datagen.generate import TableRequest, generate
from tests.contract.jobs import assign, run_here
from tests.contract.test_programs import OPTIONS

SEEDS = range(101, 121)
LAB_SEEDS = 3
"""So many of them belong to the lab tier, the others to the long one."""
SCALES = {
    "tree_ensemble": 0.00035,
    "factorial_design": 0.0003,
    "forecasting": 0.00015,
    "text_topics": 0.0001,
    "portfolio_optimization": 0.0001,
}
SMALL = 0.00006
"""The scale of all others; most have their fewest rows there."""

pytestmark = pytest.mark.lab


@pytest.mark.parametrize(
    "seed",
    [
        *SEEDS[:LAB_SEEDS],
        *(pytest.param(seed, marks=pytest.mark.long(minutes=0.05)) for seed in SEEDS[LAB_SEEDS:]),
    ],
)
@pytest.mark.parametrize("program", sorted(CATALOGUE))
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.long(minutes=0.05))])
def test_the_answer_is_right_for_every_seed(program: str, seed: int, threads: int, tmp_path: Path) -> None:
    scale = SCALES.get(program, SMALL)
    tables = CATALOGUE[program].inputs
    made = generate(
        [TableRequest(table=table.name, scale=scale, seed=seed) for table in tables],
        tmp_path,
        processes=1,
        bufsize_bytes=OPTIONS.bufsize_bytes,
        verify=False,
    )
    inputs = {table.name: found.directory for table, found in zip(tables, made, strict=True)}
    options = msgspec.structs.replace(OPTIONS, cpucount=threads)
    assignment = assign(program, scale, options, inputs, tmp_path / "job")
    job = run_here(msgspec.structs.replace(assignment, seed=seed))
    assert job.failed is None, job.failed
    assert job.answer is not None

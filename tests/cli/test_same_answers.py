"""The same seed gives the same answers: however jobs start, with any threads, cache or place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.records import Answer
from mawl.records.store import open_run
from tests.cli.conftest import Command

RELATIVE_TOLERANCE = 1e-6
"""Sums of floats differ in their last bits when threads share the work."""
IN_ONE_PLACE = frozenset({"direct_io"})
"""Answers that tell about the file system, not about the data."""


def workload(directory: Path) -> str:
    """Every program once, two side by side."""
    names = list(CATALOGUE)
    stages = [names[start : start + 2] for start in range(0, len(names), 2)]
    text = "".join(f"    {json.dumps(stage)},\n" for stage in stages)
    (directory / "each.toml").write_text(f'name = "each"\n[[sessions]]\nname = "a"\nstages = [\n{text}]\n')
    return "each.toml"


def answers(mawl: Command, *options: str) -> dict[str, Answer]:
    """The answers by program of one run, whose jobs all finished."""
    mawl.ok("run", workload(mawl.directory), *options)
    jobs = open_run(mawl.directory / "runs" / "latest").job_records()
    assert {job.program for job in jobs} == set(CATALOGUE)
    return {job.program: job.answer for job in jobs}


def assert_same(found: dict[str, Answer], expected: dict[str, Answer]) -> None:
    for program, answer in expected.items():
        assert set(found[program]) == set(answer), program
        for name in set(answer) - IN_ONE_PLACE:
            value = answer[name]
            wanted = pytest.approx(value, rel=RELATIVE_TOLERANCE) if isinstance(value, float) else value
            assert found[program][name] == wanted, (program, name)


@pytest.mark.lab
@pytest.mark.long(minutes=1.5)
def test_zygote_spawn_four_threads_no_page_cache_and_another_place_agree(
    mawl: Command, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scale = ("--scale", "0.0003")
    first = answers(mawl, *scale)
    assert_same(answers(mawl, *scale, "--start", "spawn", "--option", "cpucount=4"), first)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert_same(answers(Command(elsewhere, elsewhere / "data"), *scale, "--cache", "none"), first)

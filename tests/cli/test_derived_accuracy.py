"""How near derived jobs come to the numbers of their records: steps drawn at random, measured in a real run.

Asked for CPU seconds, bytes and memory: the larger of ratio and inverse is at most 1.25 in the median and 2
at the 95th percentile, and the shares of the roles are within 0.1.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from msgspec.structs import replace

from mawl.records.model.derived import DerivedJob, DerivedStep, DerivedWorkload
from mawl.records.model.records import StepRecord
from mawl.records.spec.program_options import ROLES
from mawl.records.store import open_run
from tests.cli.conftest import Command
from tests.cli.test_derived import shop
from tests.fakes.derived import TABLE, drawn

MEDIAN, PERCENTILE_95, SHARE = 1.25, 2.0, 0.1


class StepErrors(NamedTuple):
    """Of one step: the larger of ratio and inverse, and the largest difference of a role's share."""

    cpu: float
    memory: float
    bytes: float
    share: float


def test_a_few_drawn_steps_come_out_as_their_records_say(mawl: Command) -> None:
    check([replace(drawn(seed, 6), name=f"j{seed}") for seed in (1, 2)], mawl)


@pytest.mark.long(minutes=4)
@pytest.mark.parametrize("sessions", [1, 4])
def test_many_drawn_steps_come_out_as_their_records_say(sessions: int, mawl: Command) -> None:
    jobs = [
        replace(drawn(seed, 12), name=f"j{seed}", session=f"s{seed % sessions}") for seed in range(100, 115)
    ]
    sys.stdout.write(f"{sessions} sessions, {check(jobs, mawl)}\n")


def check(jobs: list[DerivedJob], mawl: Command) -> str:
    """Run the jobs, session by session side by side; all their figures must be as near as is asked."""
    derived = DerivedWorkload(tables=(TABLE,), jobs=tuple(jobs))
    mawl.ok("run", shop(mawl, derived), "--arrivals", "closed", "--output", "made")
    run = open_run(mawl.directory / "made")
    records = {(record.job, record.name): record for record in run.step_records()}
    errors = np.array([errors_of(records[job.name, step.name], step) for job in jobs for step in job.steps])
    middle, most = np.median(errors, axis=0), np.percentile(errors, 95, axis=0)
    text = ", ".join(
        f"{name} {middle[number]:.3f} and {most[number]:.3f}"
        for number, name in enumerate(StepErrors._fields)
    )
    text = f"median and 95th percentile of {len(errors)} steps: {text}"
    assert (middle[:3] <= MEDIAN).all() and (most[:3] <= PERCENTILE_95).all(), text
    assert errors[:, 3].max() <= SHARE, text
    return text


def errors_of(record: StepRecord, step: DerivedStep) -> StepErrors:
    """How far a step was off its record."""
    assert record.io is not None
    found = {role: record.io[role].read_bytes + record.io[role].written_bytes for role in ROLES}
    asked = {role: step.load(role).read_bytes + step.load(role).written_bytes for role in ROLES}
    moved, wanted = sum(found.values()), sum(asked.values())
    shares = [found[role] / moved - asked[role] / wanted for role in ROLES] if wanted else [0.0]
    return StepErrors(
        cpu=quotient(record.usage.cpu_seconds, step.cpu_seconds),
        memory=quotient(record.usage.memory_bytes, step.memory_bytes),
        bytes=quotient(moved, wanted) if wanted else 1.0 + moved,
        share=max(map(abs, shares)),
    )


def quotient(found: float | None, asked: float) -> float:
    assert found is not None
    return max(found / asked, asked / found)

"""Derived jobs from an assignment to an answer, in this process."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.records.model.derived import DerivedJob, RoleLoad
from mawl.records.model.records import StepRecord
from tests.contract.jobs import Job, run_here
from tests.fakes.derived import EVERY_KERNEL, MIXED, assigned


@pytest.mark.parametrize("job", [MIXED, EVERY_KERNEL], ids=["mixed", "every kernel"])
def test_every_step_is_recorded_and_nothing_is_left(job: DerivedJob, tmp_path: Path) -> None:
    done = run_here(assigned(job, tmp_path))
    assert done.failed is None and done.status == 0
    assert [step.name for step in done.steps] == [step.name for step in job.steps]
    assert done.answer == {
        "steps": len(job.steps),
        "rows": sum(step.rows or 0 for step in job.steps),
        "moved_bytes": sum(step.moved_bytes for step in job.steps),
    }
    assert not any(place.exists() for place in done.places)


def test_a_step_moves_the_bytes_of_its_record(tmp_path: Path) -> None:
    done = run_here(assigned(MIXED, tmp_path))
    for record, step in zip(done.steps, MIXED.steps, strict=True):
        loads = [step.data, step.work, step.util]
        read, wrote = record.usage.application_read_bytes, record.usage.application_written_bytes
        # The calls of the process: manifests and what /proc says of it are read, too.
        assert read is not None and wrote is not None
        assert 0 <= read - sum(load.read_bytes for load in loads) < 30_000
        assert 0 <= wrote - sum(load.written_bytes for load in loads) < 10_000


def test_the_cpu_seconds_are_those_of_the_record(tmp_path: Path) -> None:
    done = run_here(assigned(MIXED, tmp_path))
    for record, step in zip(done.steps, MIXED.steps, strict=True):
        assert record.usage.cpu_seconds == pytest.approx(step.cpu_seconds, rel=0.25, abs=0.02)


def test_a_scale_makes_a_job_smaller_in_all_it_does(tmp_path: Path) -> None:
    done = run_here(assigned(MIXED, tmp_path, scale=0.1))
    assert done.failed is None and done.answer is not None
    whole = sum(step.moved_bytes for step in MIXED.steps)
    assert done.answer["moved_bytes"] == pytest.approx(0.1 * whole, rel=0.001)
    assert done.answer["rows"] == 200


def test_results_stay_under_data(tmp_path: Path) -> None:
    assignment = assigned(MIXED, tmp_path)
    assert run_here(assignment).failed is None
    (result,) = Path(assignment.results).iterdir()
    assert result.stat().st_size == 50 * 1024


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def assert_wrong_answer(done: Job) -> None:
    assert done.failed is not None and done.failed.wrong_answer
    assert "the word sum of" in done.failed.sentence
    assert not any(place.exists() for place in done.places)


def test_a_changed_byte_of_a_table_under_work_is_a_wrong_answer(tmp_path: Path) -> None:
    assignment = assigned(MIXED, tmp_path)

    def after(record: StepRecord, job: Job) -> None:
        if record.name == "read":
            (file,) = (file for place in job.places for file in place.glob("*.rows"))
            damage(file)

    assert_wrong_answer(run_here(assignment, after))


def test_a_changed_byte_of_an_input_table_is_a_wrong_answer(tmp_path: Path) -> None:
    assignment = assigned(MIXED, tmp_path)
    (file,) = Path(assignment.inputs["derived-t1"]).glob("state-*")
    damage(file)
    assert_wrong_answer(run_here(assignment))


def test_a_step_that_reads_back_what_it_writes_writes_first(tmp_path: Path) -> None:
    step = msgspec.structs.replace(
        EVERY_KERNEL.steps[0], work=RoleLoad(read_bytes=9 * 10**6, written_bytes=2 * 10**6 + 8)
    )
    job = msgspec.structs.replace(EVERY_KERNEL, steps=(step,))
    done = run_here(assigned(job, tmp_path))
    assert done.failed is None

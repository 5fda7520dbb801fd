"""Which of its own files a derived job reads, and how long they stay."""

from __future__ import annotations

import pytest

from mawl.plan.derived_program import at_core_speed, files_of, scaled
from mawl.records.model.derived import DerivedJob, DerivedStep, RoleLoad


def steps(*loads: tuple[int, int]) -> list[DerivedStep]:
    """Steps that read and write so many bytes under work."""
    return [
        DerivedStep(
            name=f"s{number}",
            procedure="DATA",
            kernel="scan",
            work=RoleLoad(read_bytes=read, written_bytes=written),
        )
        for number, (read, written) in enumerate(loads)
    ]


def test_a_step_reads_the_newest_files_first_as_far_as_it_needs() -> None:
    files = files_of(steps((0, 100), (0, 50), (40, 0), (60, 0), (500, 0)), "work")
    assert files.sources == {2: (1,), 3: (1, 0), 4: (1, 0)}
    assert {step: set(gone) for step, gone in files.gone.items() if gone} == {4: {0, 1}}
    assert files.peak_bytes == 150


def test_a_file_goes_after_its_last_reader() -> None:
    files = files_of(steps((0, 100), (100, 100), (100, 100), (0, 10)), "work")
    assert files.sources == {1: (0,), 2: (1,)}
    assert files.gone == {0: (), 1: (0,), 2: (1, 2), 3: (3,)}
    assert files.peak_bytes == 200


def test_a_first_step_that_reads_takes_what_it_writes() -> None:
    files = files_of(steps((300, 100), (10, 0)), "work")
    assert files.sources == {0: (0,), 1: (0,)}
    assert files.peak_bytes == 100


def test_roles_do_not_mix() -> None:
    files = files_of(steps((0, 100)), "util")
    assert files.sources == {} and files.peak_bytes == 0


@pytest.mark.parametrize("scale", [1.0, 0.5, 2.0, 0.0001, 1e-9])
def test_a_scale_multiplies_bytes_requests_time_and_memory(scale: float) -> None:
    step = DerivedStep(
        name="s",
        procedure="SQL",
        kernel="join",
        rows=1000,
        cpu_seconds=10.0,
        memory_bytes=10**9,
        data=RoleLoad(read_bytes=8 * 10**9, random_reads=10**6),
        util=RoleLoad(written_bytes=10**6),
    )
    (small,) = scaled(DerivedJob(name="a", session="s", steps=(step,)), scale).steps
    assert small.cpu_seconds == 10.0 * scale
    assert small.memory_bytes == round(10**9 * scale)
    assert small.data.read_bytes == max(round(10**9 * scale), 1) * 8
    assert small.data.random_reads == max(round(10**6 * scale), 1)
    assert small.util.written_bytes == max(round(10**6 / 8 * scale), 1) * 8
    assert small.work == RoleLoad()


@pytest.mark.parametrize(
    ("own", "here", "seconds"), [(None, 2.0, 10.0), (1.5, None, 10.0), (1.5, 3.0, 5.0), (2.0, 0.5, 40.0)]
)
def test_a_faster_core_takes_fewer_cpu_seconds(own: float | None, here: float | None, seconds: float) -> None:
    step = DerivedStep(name="s", procedure="IML", kernel="dense", cpu_seconds=10.0)
    job = DerivedJob(name="a", session="s", steps=(step,), core_speed=own)
    assert at_core_speed(job, here).steps[0].cpu_seconds == seconds

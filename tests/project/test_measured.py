"""Figures of programs measured alone: taken from a run, printed with what they are compared with."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import reference_times
from mawl.plan.workload import load_workload, make_plan
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import RoleIo
from mawl.records.spec.program_options import CacheMode
from tests.fakes import stored_run
from tools import measured


def test_the_workload_runs_every_program_once_and_alone(tmp_path: Path) -> None:
    file = tmp_path / "alone.toml"
    file.write_text(measured.workload())
    spec, where = load_workload(str(file))
    plan = make_plan(spec, where=where, scale=0.005)
    assert [job.program for job in plan.jobs()] == list(CATALOGUE)
    assert plan.peak_concurrent == 1


def job(name: str, end: float, **changes: object) -> JobRecord:
    moved = {"work": RoleIo(read_bytes=700, written_bytes=300)}
    return stored_run.job(name, 0.0, end, **{"io": moved, **changes})


def test_figures_come_from_a_finished_job() -> None:
    found = measured.figures(job("s1-1", 20.5), 1.0)
    assert (found.real_time_seconds, found.cpu_seconds) == (20.0, 10.0)
    assert found.moved["work"] == {"read": 700, "written": 300}
    assert found.moved["util"] == {"read": 0, "written": 0}
    assert found.declared == CATALOGUE["wide_sort"].bytes_by_role(1.0)


@pytest.mark.parametrize("changes", [{"outcome": "failed"}, {"io": None}])
def test_a_job_that_failed_or_was_not_counted_gives_no_figures(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="wide_sort: "):
        measured.figures(job("s1-1", 20.5, **changes), 1.0)


def test_the_page_says_where_it_was_measured_and_how_far_programs_lie_apart() -> None:
    stored = measured.Measured(
        measured_at="2026-01-01T08:00:00Z",
        mawl_version="0.1.0",
        scale=0.005,
        memory_limit_bytes=2**30,
        machine="2 cores",
        programs={one.program: measured.figures(one, 0.005) for one in (job("s1-1", 20.5), job("s1-2", 4.5))},
    )
    text = "\n".join(measured.page(stored))
    assert "## Measured alone at quick" in text
    assert "2 cores, jobs and page cache within 1.00 GiB" in text
    assert "Longest : shortest is 5.0 : 1" in text
    assert "| [wide_sort](#wide_sort) | 20.0 | 10.0 | 100 MiB | 0 B | 0 B | 700 B | 300 B |" in text


@pytest.mark.parametrize("cache", [mode for mode, file in measured.FILES.items() if file.exists()])
def test_the_kept_figures_are_of_this_catalogue(cache: CacheMode | None) -> None:
    """A change of what a program moves or takes needs new figures (python -m tools.measured)."""
    stored = measured.load(cache)
    assert stored is not None and stored.cache == cache
    assert set(stored.programs) == set(CATALOGUE)
    for name, one in stored.programs.items():
        assert one.declared == CATALOGUE[name].bytes_by_role(stored.scale)
        for role, directions in one.declared.items():
            for way, size in directions.items():
                assert one.moved[role][way] == pytest.approx(size, rel=0.15, abs=256 * 1024), (
                    name,
                    role,
                    way,
                )
    ratios = {
        name: one.cpu_seconds / CATALOGUE[name].cpu_seconds(stored.scale)
        for name, one in stored.programs.items()
    }
    # Reference times are of --cache none, and these figures of the same processor.
    assert stored.machine == reference_times().machine
    assert median(ratios.values()) == pytest.approx(1.0, abs=0.1)
    if cache == "none":
        assert ratios == pytest.approx(dict.fromkeys(CATALOGUE, 1.0), abs=0.1)


def test_of_several_runs_the_job_with_the_median_cpu_time_is_kept() -> None:
    runs = [
        measured.Measured(
            measured_at=str(end),
            mawl_version="0.1.0",
            scale=0.005,
            memory_limit_bytes=None,
            machine="2 cores",
            programs={one.program: measured.figures(one, 0.005) for one in (job("s1-1", end),)},
        )
        for end in (40.5, 10.5, 20.5)
    ]
    found = measured.middle(runs)
    assert found.programs == runs[2].programs and found.runs == 3 and found.measured_at == "40.5"
    assert "Each row is the job with the median CPU time of 3 runs." in measured.page(found)
    with pytest.raises(ValueError, match="differ"):
        measured.middle([runs[0], msgspec.structs.replace(runs[1], machine="4 cores")])


def test_the_speed_of_the_processor_is_not_in_what_cpu_time_is_compared_by() -> None:
    slow, fast = (
        measured.Measured(
            measured_at="monday",
            mawl_version="0.1.0",
            scale=1.0,
            memory_limit_bytes=None,
            machine="2 cores",
            programs={
                name: msgspec.structs.replace(
                    measured.figures(job("s1-1", 20.5), 1.0),
                    cpu_seconds=CATALOGUE[name].cpu_seconds(1.0) * by,
                )
                for name, by in (
                    ("wide_sort", speed),
                    ("forecasting", 1.2 * speed),
                    ("segmentation", 2 * speed),
                )
            },
        )
        for speed in (2.0, 0.5)
    )
    expected = {"wide_sort": 1 / 1.2, "forecasting": 1.0, "segmentation": 2 / 1.2}
    assert measured.cpu_ratios(slow) == pytest.approx(expected)
    assert measured.cpu_ratios(fast) == pytest.approx(expected)


def test_programs_that_are_measured_again_leave_the_others_as_they_are() -> None:
    first, second = (
        measured.Measured(
            measured_at=at,
            mawl_version="0.1.0",
            scale=0.005,
            memory_limit_bytes=None,
            machine="2 cores",
            programs={one.program: measured.figures(one, 0.005) for one in jobs},
        )
        for at, jobs in (("monday", (job("s1-1", 20.5), job("s1-2", 4.5))), ("friday", (job("s1-2", 5.5),)))
    )
    both = measured.merged(first, second)
    name = job("s1-2", 1.0).program
    assert both.programs[name] == second.programs[name] and both.measured_at == "monday"
    assert {other: one for other, one in both.programs.items() if other != name} == {
        other: one for other, one in first.programs.items() if other != name
    }
    assert f"The row of {name} is one later job, friday." in measured.page(both)
    with pytest.raises(ValueError, match=r"scale 0\.005, these of 1"):
        measured.merged(first, measured.Measured(**{**as_dict(second), "scale": 1.0}))


def as_dict(one: measured.Measured) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__struct_fields__}

"""Where the reference times of a plan's jobs come from: the table, a file, a command, derived logs.

The table of reference times: constants of program and scale, and no part of the load.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import InvalidFileError
from mawl.plan import programs, run_plan
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import mixed, once_each
from mawl.plan.output import write_plan
from mawl.plan.programs import CpuSeconds, Knot, ReferenceTimes, reference_times
from mawl.plan.run_plan import SPEED_UNKNOWN, plan_of, reference_of
from mawl.plan.spec import JobSpec, SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.model.run import Reference
from mawl.records.spec.run_spec import RunSpec
from tests.fakes.derived import SHOP
from tests.plan.test_derived_program import shop

VERSION = reference_times().version


def plan(*jobs: str | JobSpec, scale: float = 0.005) -> Plan:
    """One session that runs the jobs one after another."""
    spec = WorkloadSpec(name="w", sessions=[SessionSpec(name="s", stages=[[job] for job in jobs])])
    return make_plan(spec, where="w.toml", scale=scale)


def seconds(of: Plan, file: Path | None = None) -> tuple[Reference, list[tuple[str, float]]]:
    """The times by program, in the order of the jobs; jobs without one are left out."""
    reference, found = reference_of(of, file)
    return reference, [(job.program, found[job.job]) for job in of.jobs() if job.job in found]


def test_jobs_of_the_catalogue_have_the_time_of_the_table_at_their_scale() -> None:
    own = reference_times()
    reference, found = seconds(plan("wide_sort", JobSpec(program="census_load", size=2.0), scale=0.01))
    assert reference == Reference(version=VERSION)
    assert found == [
        ("wide_sort", own.seconds("wide_sort", 0.01)),
        ("census_load", own.seconds("census_load", 0.02)),
    ]


def test_options_do_not_change_a_reference_time() -> None:
    slow = JobSpec(program="wide_sort", options={"sortsize": "1M"})
    (_, usual), (_, other) = seconds(plan("wide_sort", slow))[1]
    assert usual == other


def test_programs_that_changed_since_they_were_measured_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = msgspec.structs.replace(reference_times(), provisional=["wide_sort", "forecasting"])
    monkeypatch.setattr(run_plan, "reference_times", lambda: changed)
    mine = JobSpec(program="forecasting_of_mine", command=["true"])
    assert seconds(plan("wide_sort", "census_load", mine))[0].provisional == ["wide_sort"]


def test_a_command_has_the_cpu_seconds_that_it_declares_times_the_speed_of_the_core() -> None:
    jobs = [
        JobSpec(program="silent", command=["true"]),
        JobSpec(program="usual", command=["true"], cpu_seconds=4.0),
        JobSpec(program="fast", command=["true"], cpu_seconds=4.0, core_speed=1.5),
    ]
    assert seconds(plan(*jobs)) == (Reference(version=VERSION), [("usual", 4.0), ("fast", 6.0)])
    assert seconds(plan(*jobs, scale=0.05))[1] == [("usual", 4.0), ("fast", 6.0)], (
        "no scale changes a command"
    )


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("key", ["cpu_seconds", "core_speed"])
def test_a_command_s_numbers_are_above_zero(key: str, value: float) -> None:
    job = JobSpec(program="mine", command=["true"], **{key: value})  # type: ignore[arg-type]
    with pytest.raises(InvalidFileError, match=f"{key}: expected a number above 0, found {value:g}"):
        plan(job)


@pytest.mark.parametrize("key", ["cpu_seconds", "core_speed"])
def test_a_program_of_mawl_declares_no_cpu_seconds(key: str) -> None:
    job = JobSpec(program="wide_sort", **{key: 2.0})  # type: ignore[arg-type]
    with pytest.raises(InvalidFileError, match=f"{key}: expected it together with a command only"):
        plan(job)


def test_what_a_command_declares_is_in_the_plan_of_a_run(tmp_path: Path) -> None:
    made = plan(JobSpec(program="mine", command=["true"], cpu_seconds=4.0, core_speed=1.5))
    write_plan(tmp_path / "plan.toml", made)
    spec, where = load_workload(str(tmp_path / "plan.toml"))
    again = make_plan(spec, where=where, scale=made.scale)
    assert seconds(again)[1] == [("mine", 6.0)]


@pytest.mark.parametrize(("speed", "factor"), [(None, 1.0), (0.5, 0.5), (2.0, 2.0)])
def test_a_derived_job_has_the_cpu_seconds_of_its_logs(
    tmp_path: Path, speed: float | None, factor: float
) -> None:
    jobs = tuple(msgspec.structs.replace(job, core_speed=speed) for job in SHOP.jobs)
    workload = shop(tmp_path, msgspec.structs.replace(SHOP, jobs=jobs))
    reference, found = seconds(plan_of(RunSpec(workload=workload, scale="0.5")))
    logged = {job.name: sum(step.cpu_seconds for step in job.steps) for job in jobs}
    assert found and dict(found) == pytest.approx(
        {name: 0.5 * factor * cpu for name, cpu in logged.items() if cpu}
    )
    assert reference.remarks == ([SPEED_UNKNOWN] if speed is None else [])


def own(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_a_file_goes_before_everything_and_leaves_out_what_it_does_not_name(tmp_path: Path) -> None:
    text = "core_speed = 0.5\n[cpu_seconds]\nwide_sort = 8.0\nmine = 3\nelse = 1.0\n"
    jobs = plan("wide_sort", "census_load", JobSpec(program="mine", command=["true"], cpu_seconds=9.0))
    reference, found = seconds(jobs, own(tmp_path, text))
    assert found == [("wide_sort", 4.0), ("mine", 1.5)]
    assert reference.version is None and re.fullmatch(r"own\.toml@[0-9a-f]{12}", reference.file or "")


def test_a_file_without_a_speed_is_of_cores_of_speed_1(tmp_path: Path) -> None:
    assert seconds(plan("wide_sort"), own(tmp_path, "cpu_seconds.wide_sort = 8.0"))[1] == [("wide_sort", 8.0)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cpu_seconds.forecasting = 8.0", "own.toml: names no program of the workload"),
        ("", "own.toml: key cpu_seconds: required, but missing"),
        ("[cpu_seconds", "own.toml: is not valid TOML"),
        ("cpu_seconds.wide_sort = 'x'", r"own.toml: key cpu_seconds.*: expected a number"),
        ("speed = 2.0\ncpu_seconds.wide_sort = 8.0", "key speed: unknown, expected one of cpu_seconds"),
        ("cpu_seconds.wide_sort = 0", "own.toml: cpu_seconds.wide_sort: expected a number above 0"),
        ("cpu_seconds.wide_sort = nan", "cpu_seconds.wide_sort: expected a number above 0"),
        ("cpu_seconds.wide_sort = inf", "cpu_seconds.wide_sort: expected a number above 0"),
        ("core_speed = 0\ncpu_seconds.wide_sort = 8.0", "own.toml: core_speed: expected a number above 0"),
        ("core_speed = nan\ncpu_seconds.wide_sort = 8.0", "core_speed: expected a number above 0"),
    ],
)
def test_a_wrong_file_is_refused_by_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidFileError, match=said) as caught:
        reference_of(plan("wide_sort"), own(tmp_path, text))
    assert "\n" not in str(caught.value)


def table(*knots: tuple[float, dict[str, float]]) -> ReferenceTimes:
    """A table of medians by program at some scales."""
    return msgspec.structs.replace(
        reference_times(),
        knots=[
            Knot(
                scale=scale,
                measured_at="2026-11-29T20:21:16Z",
                seeds=5,
                programs={
                    name: CpuSeconds(median=median, low=0.9 * median, high=1.1 * median)
                    for name, median in medians.items()
                },
            )
            for scale, medians in knots
        ],
    )


LINES = table((0.001, {"a": 2.0, "b": 1.0}), (0.01, {"a": 5.0, "b": 1.0}), (0.02, {"a": 11.0}))


@pytest.mark.parametrize(
    ("scale", "seconds"),
    [
        (0.001, 2.0),
        (0.0055, 3.5),
        (0.01, 5.0),
        (0.015, 8.0),
        (0.02, 11.0),
        (0.03, 17.0),
    ],
)
def test_times_lie_on_lines_between_the_knots_and_beyond_the_last(scale: float, seconds: float) -> None:
    assert LINES.seconds("a", scale) == pytest.approx(seconds)


def test_below_the_first_knot_times_are_at_least_in_proportion_to_the_scale() -> None:
    """The line falls by 1/3 s for each 0.001 there: to 1.83 s at half the scale, where proportion gives 1."""
    assert LINES.seconds("a", 0.0005) == pytest.approx(2.0 - 0.5 / 3)
    steep = table((0.001, {"a": 2.0}), (0.002, {"a": 6.0}))
    assert steep.seconds("a", 0.0005) == pytest.approx(1.0)
    assert steep.seconds("a", 0.0001) == pytest.approx(0.2)


def test_a_program_that_is_not_at_every_knot_has_no_time() -> None:
    assert LINES.seconds("b", 0.001) is None and LINES.seconds("c", 0.001) is None


def test_the_table_has_every_program_at_every_knot_and_larger_scales_take_longer() -> None:
    own = reference_times()
    assert len(own.knots) >= 2
    assert [set(knot.programs) for knot in own.knots] == [set(CATALOGUE)] * len(own.knots)
    for below, above in pairwise(own.knots):
        assert below.scale < above.scale
        assert all(below.programs[name].median < above.programs[name].median for name in CATALOGUE)
    for knot in own.knots:
        assert all(0.0 < one.low <= one.median <= one.high for one in knot.programs.values())
        for name, one in knot.programs.items():
            assert CATALOGUE[name].cpu_seconds(knot.scale) == pytest.approx(one.median)
    assert set(own.provisional) <= set(CATALOGUE)


def test_a_program_without_a_time_says_what_makes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "reference_times", lambda: LINES)
    with pytest.raises(KeyError, match="wide_sort has no reference time: make reference-times"):
        CATALOGUE["wide_sort"].cpu_seconds(0.01)


def test_other_reference_times_do_not_change_who_runs_when(monkeypatch: pytest.MonkeyPatch) -> None:
    own = reference_times()
    sizes = (1, 4, 5, 20, 30, 57)
    before = [mixed(sessions) for sessions in sizes], once_each(4)
    factors = dict(zip(CATALOGUE, range(40, 1, -2), strict=False))
    doubled = table(
        *(
            (knot.scale, {name: factors[name] * one.median for name, one in knot.programs.items()})
            for knot in own.knots
        )
    )
    monkeypatch.setattr(programs, "reference_times", lambda: doubled)
    assert CATALOGUE["wide_sort"].cpu_seconds(0.02) == pytest.approx(34 * 26.581)
    assert ([mixed(sessions) for sessions in sizes], once_each(4)) == before

"""What a plan says of derived jobs: the bytes, requests, space and memory of their records."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.plan.derived_jobs import digest_of, encoded
from mawl.plan.derived_program import derived_program, input_of, planned
from mawl.plan.needs import needs
from mawl.plan.output import write_plan
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.programs.datagen.text import filled_bytes
from mawl.records.model.derived import DerivedJob, DerivedStep, DerivedTable, DerivedWorkload, RoleLoad
from mawl.records.spec.program_options import ROLES
from mawl.records.spec.run_spec import RunSpec
from tests.fakes.derived import MIXED, SHOP, TABLE
from tests.programs.datagen.test_text import measured_saving

GB = 10**9


def shop(place: Path, derived: DerivedWorkload = SHOP, more: str = "") -> str:
    """A workload file of derived jobs, as ``mawl derive`` writes it."""
    (place / "derived.json").write_bytes(encoded(derived))
    path = place / "workload.toml"
    path.write_text(f'name = "shop"\nderived = "derived.json"\n{more}')
    return str(path)


def night(*jobs: DerivedJob) -> DerivedWorkload:
    return DerivedWorkload(jobs=jobs)


def job(
    name: str, session: str = "one", after: tuple[str, ...] = (), start: float = 0.0, gb: int = 1
) -> DerivedJob:
    step = DerivedStep(
        name="s1",
        procedure="DATA",
        kernel="write",
        memory_bytes=gb * GB,
        work=RoleLoad(written_bytes=gb * GB),
    )
    return DerivedJob(name=name, session=session, after=after, start_seconds=start, steps=(step,))


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_the_declaration_has_the_bytes_of_the_record(scale: float) -> None:
    program = derived_program(planned(MIXED, {TABLE.name: TABLE}))
    declared = program.bytes_by_role(scale)
    for role in ROLES:
        load = [step.load(role) for step in MIXED.steps]
        read = sum(one.read_bytes for one in load) * scale
        written = sum(one.written_bytes for one in load) * scale
        assert declared[role]["read"] == pytest.approx(read, rel=0.001, abs=200)
        assert declared[role]["written"] == pytest.approx(written, rel=0.001, abs=200)
    assert program.cpu_seconds(scale) == pytest.approx(0.15 * scale, rel=0.001)
    requests = program.requests_by_role(scale, 262144)
    assert requests["data"]["read"].random == pytest.approx(100 * scale, abs=2)
    assert program.space(scale)["util"] == pytest.approx(3_000_000 * scale, rel=0.001)


def test_steps_are_called_as_in_sas() -> None:
    program = derived_program(planned(MIXED, {TABLE.name: TABLE}))
    assert [(step.kind, step.procedure) for step in program.steps] == [
        ("data", None),
        ("procedure", "SORT"),
        ("procedure", "SQL"),
    ]


def test_jobs_by_the_clock_wait_for_it_and_for_nobody_else(tmp_path: Path) -> None:
    plan = plan_of(RunSpec(workload=shop(tmp_path, NIGHT)))
    found = {one.job: (one.session, one.stage, one.after, one.start_delay_seconds) for one in plan.jobs()}
    assert found == {
        "a": ("one", 1, (), 0.0),
        "b": ("one", 1, ("a",), 0.0),
        "c": ("one", 1, (), 3600.0),
        "d": ("two", 1, ("a",), 60.0),
    }
    assert plan.scale == 1.0


def test_closed_jobs_follow_each_other_whatever_the_clock(tmp_path: Path) -> None:
    plan = plan_of(RunSpec(workload=shop(tmp_path, NIGHT), arrivals="closed"))
    found = {one.job: (one.session, one.stage, one.after, one.start_delay_seconds) for one in plan.jobs()}
    assert found == {
        "a": ("one", 1, (), 0.0),
        "b": ("one", 2, ("a",), 0.0),
        "c": ("one", 3, (), 0.0),
        "d": ("two", 1, ("a",), 0.0),
    }


NIGHT = night(
    job("a", gb=3),
    job("b", after=("a",)),
    job("c", start=3600),
    job("d", session="two", after=("a",), start=60),
)


@pytest.mark.parametrize("arrivals", ["clock", "closed"])
def test_memory_and_space_are_those_of_the_jobs_that_were_side_by_side(arrivals: str, tmp_path: Path) -> None:
    spec = RunSpec(workload=shop(tmp_path, NIGHT), arrivals=arrivals)  # type: ignore[arg-type]
    needed = needs(plan_of(spec))
    assert needed.space_bytes["work"] == pytest.approx(1.05 * 4 * GB, rel=0.001)
    assert 4 * GB < needed.memory_bytes < 4 * GB + 400 * 10**6
    assert needed.moved["work"]["written"] == 6 * GB


def test_closed_arrivals_need_a_file_that_says_how_jobs_arrived(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--arrivals closed does not go with workload nano"):
        plan_of(RunSpec(workload="nano", arrivals="closed"))
    sessions = '[[sessions]]\nname = "s"\nstages = [["a"]]\n'
    with pytest.raises(UsageError, match="--arrivals closed does not go with"):
        plan_of(RunSpec(workload=shop(tmp_path, NIGHT, sessions), arrivals="closed"))


def test_sessions_of_the_workload_file_may_mix_derived_jobs_and_programs(tmp_path: Path) -> None:
    more = '[[sessions]]\nname = "s"\nstages = [["mixed", "wide_sort"], [{program = "mixed", size = 0.5}]]\n'
    plan = plan_of(RunSpec(workload=shop(tmp_path, more=more), scale=0.001))
    assert [one.program for one in plan.jobs()] == ["mixed", "wide_sort", "mixed"]
    assert [one.derived is not None for one in plan.jobs()] == [True, False, True]


def test_threads_and_memory_of_a_job_are_those_of_its_steps(tmp_path: Path) -> None:
    (first, _) = plan_of(RunSpec(workload=shop(tmp_path))).jobs()
    assert (first.options.cpucount, first.options.memsize_bytes) == (2, 24_000_000)


def test_a_written_plan_is_the_same_plan(tmp_path: Path) -> None:
    plan = plan_of(RunSpec(workload=shop(tmp_path, NIGHT), scale=0.5))
    other = tmp_path / "other"
    other.mkdir()
    write_plan(other / "again.toml", plan)
    assert expanded(other / "again.toml") == plan
    assert (other / "again.derived.json").exists()


def expanded(path: Path) -> Plan:
    return plan_of(RunSpec(workload=str(path)))


def test_a_name_of_a_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="that no program and no command has, found 'wide_sort'"):
        plan_of(RunSpec(workload=shop(tmp_path, night(job("wide_sort")))))


def test_a_digest_tells_loads_apart(tmp_path: Path) -> None:
    path = shop(tmp_path, NIGHT)
    digests = [
        digest_of(plan_of(spec))
        for spec in (
            RunSpec(workload=path),
            RunSpec(workload=path, arrivals="closed"),
            RunSpec(workload=path, scale=0.5),
            RunSpec(workload="nano"),
        )
    ]
    assert len(set(digests)) == 4 and digests[3] is None
    assert digests[0] == digest_of(plan_of(RunSpec(workload=path, cache="none", seed=9)))
    larger = night(job("a", gb=4), *NIGHT.jobs[1:])
    assert digest_of(plan_of(RunSpec(workload=shop(tmp_path, larger)))) not in digests


def test_a_circle_and_an_unknown_job_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="jobs wait for each other"):
        plan_of(RunSpec(workload=shop(tmp_path, night(job("a", after=("b",)), job("b", after=("a",))))))
    with pytest.raises(InvalidFileError, match="expected the name of a job, found 'z'"):
        plan_of(RunSpec(workload=shop(tmp_path, night(job("a", after=("z",))))))


def test_a_workload_whose_file_is_gone_says_so(tmp_path: Path) -> None:
    path = shop(tmp_path)
    (tmp_path / "derived.json").unlink()
    with pytest.raises(InvalidFileError, match=r"derived\.json: cannot be read: no such file"):
        plan_of(RunSpec(workload=path))


@pytest.mark.parametrize("saving", [0.5, 0.7, 0.9])
def test_tables_that_stand_for_those_of_a_shop_save_what_the_dial_says(saving: float, tmp_path: Path) -> None:
    table = input_of(DerivedTable(name="t", size_bytes=8_000_000))
    request = TableRequest(table=table.name, scale=1.0, seed=5, saving=saving)
    (made,) = generate([request], tmp_path, processes=1, bufsize_bytes=262144, tables={table.name: table})
    assert measured_saving(made.directory) == pytest.approx(saving, abs=0.03)
    assert filled_bytes(table, 0.95) == 0


def test_a_workload_without_sessions_and_derived_jobs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text('name = "empty"\n')
    spec, where = load_workload(str(path))
    with pytest.raises(InvalidFileError, match="key sessions: expected at least one session"):
        make_plan(spec, where=where, scale=1.0)

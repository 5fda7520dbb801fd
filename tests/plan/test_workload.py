"""Workload files: the shipped ones, expansion, and what a user's own file is told.

The most jobs side by side, against trying every set.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from itertools import combinations
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.base.errors import InvalidFileError, UsageError
from mawl.plan import workload
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.spec import SCALES, JobSpec, SessionSpec, WorkloadSpec, parse_scale, scaled_options
from mawl.plan.workload import Plan, load_workload, make_plan, widest


def plan(text: str, tmp_path: Path) -> Plan:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    spec, where = load_workload(str(path))
    return make_plan(spec, where=where, scale=0.0005)


def shipped(name: str) -> Plan:
    spec, where = load_workload(name)
    return make_plan(spec, where=where, scale=0.0005)


@pytest.mark.parametrize(
    ("name", "sessions", "jobs", "together"), [("starter", 8, 20, 14), ("nano", 4, 8, 6), ("bed", 4, 12, 4)]
)
def test_shipped_workloads_have_their_published_counts(
    name: str, sessions: int, jobs: int, together: int
) -> None:
    made = shipped(name)
    assert len(made.sessions) == sessions
    assert sum(1 for _ in made.jobs()) == jobs
    assert made.gate_jobs == together == made.peak_concurrent


def test_jobs_of_different_sessions_read_different_replicas() -> None:
    made = shipped("starter")
    readers: dict[tuple[str, int], set[str]] = {}
    for job in made.jobs():
        readers.setdefault((job.program, job.replica), set()).add(job.session)
    assert all(len(sessions) == 1 for sessions in readers.values())


def test_one_session_reuses_its_replica_and_side_by_side_jobs_do_not_share(tmp_path: Path) -> None:
    made = plan(
        'name = "x"\n[[sessions]]\nname = "a"\nstages = [["wide_sort", "wide_sort"], ["wide_sort"]]\n',
        tmp_path,
    )
    assert [job.replica for job in made.jobs()] == [1, 2, 1]
    assert [job.job for job in made.jobs()] == ["a.1.wide_sort", "a.1.wide_sort-2", "a.2.wide_sort"]


def test_a_job_overrides_size_options_and_replica(tmp_path: Path) -> None:
    made = plan(
        'name = "x"\noptions = { memsize = "1GiB" }\n[[sessions]]\nname = "a"\n'
        'stages = [[{ program = "wide_sort", replica = 7, size = 0.5, '
        'options = { sortsize = "1MiB", cpucount = 2 } }]]\n',
        tmp_path,
    )
    (job,) = made.jobs()
    assert (job.replica, job.scale) == (7, 0.00025)
    assert job.options.cpucount == 2
    assert job.options.sortsize_bytes == 2**20
    assert made.options.memsize_bytes == 2**30


def test_delays_and_dependencies_keep_a_job_from_the_gate(tmp_path: Path) -> None:
    made = plan(
        'name = "x"\n[[sessions]]\nname = "a"\nstages = [["wide_sort"]]\n'
        '[[sessions]]\nname = "b"\nstart_delay_seconds = 1\nstages = [["segmentation"]]\n'
        '[[sessions]]\nname = "c"\ntrail_out = true\n'
        'stages = [[{ program = "segmentation", after = ["a.1.wide_sort"] }, '
        '{ program = "census_load", start_delay_seconds = 2.5 }]]\n',
        tmp_path,
    )
    assert {job.job: job.gate for job in made.jobs()} == {
        "a.1.wide_sort": "start",
        "b.1.segmentation": None,
        "c.1.segmentation": None,
        "c.1.census_load": None,
    }
    assert [job.trail_out for job in made.jobs()] == [False, False, True, True]


SESSION = '[[sessions]]\nname = "a"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('nme = "x"\n', "key nme: unknown"),
        ('name = "x"\n', "key sessions: expected at least one session, found none"),
        ('name = "x"\nsessions = 3\n', "key sessions: expected a list, found a whole number"),
        ('name = "x"\nsessions = []\n', "key sessions: expected at least one session, found none"),
        (f'name = "x"\n{SESSION}stages = []\n', "key sessions[0].stages: expected stages of at least one"),
        (f'name = "x"\n{SESSION}stages = [["wide_srt"]]\n', "expected one of census_load"),
        (f'name = "x"\n{SESSION}stages = [[7]]\n', "sessions[0].stages[0][0]"),
        (
            f'name = "x"\n{SESSION}stages = [[{{ program = "wide_sort", size = 0 }}]]\n',
            "stages[0][0].size: expected a factor above 0 and at most 1000, found 0",
        ),
        (
            f'name = "x"\n{SESSION}stages = [[{{ program = "wide_sort", options = {{ sortsiz = 1 }} }}]]\n',
            "unknown option 'sortsiz'",
        ),
        (
            f'name = "x"\n{SESSION}stages = [[{{ program = "wide_sort", options = {{ bufsize = "" }} }}]]\n',
            "expected a size",
        ),
        (
            f'name = "x"\n{SESSION}stages = [[{{ program = "wide_sort", after = ["nobody"] }}]]\n',
            "key after: expected the name of a job, found 'nobody'",
        ),
        (
            f'name = "x"\n{SESSION}stages = [[{{ program = "wide_sort", after = ["a.2.wide_sort"] }}], '
            '["wide_sort"]]\n',
            "jobs wait for each other",
        ),
        (f'name = "x"\n{SESSION}stages = [["wide_sort"]]\n{SESSION}stages = [["wide_sort"]]\n', "called 'a'"),
        (
            f'name = "x"\n{SESSION}stages = [[{{ program = "wide_sort", name = "../up" }}]]\n',
            "name: expected letters, digits",
        ),
        (
            f'name = "x"\n{SESSION}start_delay_seconds = -1\nstages = [["wide_sort"]]\n',
            "seconds from 0, found -1",
        ),
        (
            f'name = "x"\n{SESSION}stages = [[{{ program = "wide_sort", timeout_seconds = 0 }}]]\n',
            "expected a number above 0",
        ),
        ("name = \n", "is not valid TOML"),
    ],
)
def test_a_users_file_is_told_file_key_expected_and_found(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError) as caught:
        plan(text, tmp_path)
    assert said in str(caught.value)
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_workload_lists_the_known_ones() -> None:
    with pytest.raises(
        UsageError,
        match=r"'mixd20'; did you mean 'mixed20'\? choose.*mixed30, mixed30-19, nano, starter",
    ):
        load_workload("mixd20")


def test_a_file_that_is_a_directory_or_no_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="not a regular file"):
        load_workload(str(tmp_path))
    binary = tmp_path / "b.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFileError, match="is not UTF-8 text"):
        load_workload(str(binary))


def test_a_fixed_scale_in_the_file_wins() -> None:
    spec, where = load_workload("nano")
    assert isinstance(spec, WorkloadSpec)
    assert make_plan(spec, where=where, scale=1.0).scale == spec.scale


@pytest.mark.parametrize("bad", ["0", "-1", "big", "nan", "inf", "101", ""])
def test_a_bad_scale_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="expected a scale"):
        parse_scale(bad)


def test_sort_memory_shrinks_with_the_scale_but_never_grows() -> None:
    made = shipped("starter")
    sizes = [scaled_options(made.options, scale).sortsize_bytes for scale in SCALES.values()]
    assert sizes == sorted(sizes)
    assert sizes[-1] == made.options.sortsize_bytes
    table = CATALOGUE["wide_sort"].inputs[0]
    for scale, size in zip(SCALES.values(), sizes, strict=True):
        assert table.bytes(scale) / size > 10


def test_a_mistyped_program_is_told_the_one_that_is_like_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=r"found 'wide_srot'; did you mean 'wide_sort'\?$"):
        plan('name = "a"\n[[sessions]]\nname = "s"\nstages = [["wide_srot"]]\n', tmp_path)


def test_many_jobs_of_one_stage_are_named_in_little_time_and_more_than_any_run_has_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = '"wide_sort",' * 20_000
    text = f'name = "w"\n[[sessions]]\nname = "one"\nstages = [[{stage}]]\n'
    began = time.process_time()
    many = plan(text, tmp_path)
    assert time.process_time() - began < 30
    assert [job.job for job in many.jobs()][::19_999] == ["one.1.wide_sort", "one.1.wide_sort-20000"]
    monkeypatch.setattr("mawl.plan.workload.MOST_JOBS", 19_999)
    with pytest.raises(InvalidFileError, match=r"expected at most 19,999 jobs, found more"):
        plan(text, tmp_path)


@st.composite
def orders(draw: st.DrawFn) -> dict[str, set[str]]:
    """Orders of up to eight jobs, each waiting for some of those before it."""
    names = "abcdefgh"[: draw(st.integers(0, 8))]
    return {
        name: set(draw(st.lists(st.sampled_from(names[:number]), max_size=3))) if number else set()
        for number, name in enumerate(names)
    }


@given(orders())
def test_it_is_the_largest_set_without_order(before: dict[str, set[str]]) -> None:
    earlier: dict[str, set[str]] = {}
    for name, direct in before.items():
        earlier[name] = direct.union(*(earlier[one] for one in direct))
    free = [
        len(chosen)
        for size in range(len(before) + 1)
        for chosen in combinations(before, size)
        if not any(one in earlier[other] for one in chosen for other in chosen)
    ]
    assert widest(before) == max(free)


def test_a_crowd_and_a_chain() -> None:
    assert widest({f"job{number}": set() for number in range(404)}) == 404
    assert widest({f"job{number}": {f"job{number - 1}"} if number else set() for number in range(404)}) == 1


@given(orders(), st.integers(0, 7))
def test_a_barrier_is_no_job_and_keeps_the_order(before: dict[str, set[str]], split: int) -> None:
    """All jobs from one on wait for all before it, with one key between them instead of every pair."""
    names = list(before)
    first, second = names[:split], names[split:]
    pairs = {name: before[name] | set(first) if name in second else before[name] for name in names}
    barred = {name: before[name] | {"end of stage"} if name in second else before[name] for name in names}
    assert widest({**barred, "end of stage": set(first)}, ["end of stage"]) == widest(pairs)


def lines_run(stages: list[list[JobSpec | str]]) -> int:
    """How many lines of the module run until the plan is made and its width is known."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename != workload.__file__:
            return None
        count += event == "line"
        return trace

    spec = WorkloadSpec(name="many", sessions=[SessionSpec(name="s", stages=stages)])
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plan = make_plan(spec, where="here", scale=0.001)
        assert plan.peak_concurrent == len(stages[0])
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shape", ["stages", "jobs", "chain"])
def test_a_plan_of_twice_as_many_jobs_takes_twice_as_many_steps(shape: str) -> None:
    """So that 150,000 of them are planned in seconds."""

    def of(jobs: int) -> list[list[JobSpec | str]]:
        if shape == "chain":
            names = [f"job{number}" for number in range(jobs)]
            after = [[], *([name] for name in names)]
            return [
                [JobSpec(program="wide_sort", name=name, after=list(one))]
                for name, one in zip(names, after, strict=False)
            ]
        return [["wide_sort"]] * jobs if shape == "stages" else [["wide_sort"] * jobs]

    few, many = lines_run(of(200)), lines_run(of(400))
    assert many < 2.2 * few


def test_the_order_of_many_jobs_takes_little_memory() -> None:
    """A set of all earlier jobs for each of them takes 300 MB."""
    before = {str(number): [str(number - 1)] if number else [] for number in range(4000)}
    tracemalloc.start()
    try:
        assert widest(before) == 1
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()

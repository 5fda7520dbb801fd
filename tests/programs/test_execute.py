"""A job from its assignment to its last message, with programs made up for the test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import msgspec
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_info

from mawl.base.errors import DamagedTableError, WrongAnswerError
from mawl.plan.catalogue import CATALOGUE
from mawl.programs.context import JobContext, check_equal
from mawl.programs.execute import execute
from mawl.records.model.messages import Answered, Failed, FromLauncher, StepEnded
from mawl.records.model.records import Answer
from mawl.records.spec.program_options import Options
from tests.contract.jobs import assign

Run = Callable[[JobContext], Answer]
Execute = Callable[..., tuple[int, list[FromLauncher], list[Path]]]


@pytest.fixture
def run_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Execute:
    def run(program: Run, cpucount: int = 1) -> tuple[int, list[FromLauncher], list[Path]]:
        monkeypatch.setitem(sys.modules, "made_up", cast(ModuleType, SimpleNamespace(run=program)))
        declared = msgspec.structs.replace(CATALOGUE["wide_sort"], modules=("made_up",))
        monkeypatch.setitem(CATALOGUE, "made_up", declared)
        assignment = assign("made_up", 0.0001, Options(cpucount=cpucount), {}, tmp_path, volumes=2)
        messages: list[FromLauncher] = []
        status = execute(assignment, messages.append)
        return status, messages, [Path(place) for place in (*assignment.work, *assignment.util)]

    return run


def test_steps_then_the_answer_are_reported(run_program: Execute) -> None:
    def program(context: JobContext) -> Answer:
        with context.steps.step("one"):
            context.work("table").write_bytes(b"x")
            context.util("spill").write_bytes(b"y")
        with context.steps.step("verify", "verify"):
            pass
        return {"rows": 1}

    status, messages, places = run_program(program)
    assert status == 0
    assert [type(message) for message in messages] == [StepEnded, StepEnded, Answered]
    last = messages[-1]
    assert isinstance(last, Answered) and last.answer == {"rows": 1}
    assert last.shared_bytes is not None and last.shared_bytes > 2**20
    assert not [place for place in places if place.exists()]


def test_a_failure_is_one_sentence_after_the_step_it_was_in(
    run_program: Execute, capsys: pytest.CaptureFixture[str]
) -> None:
    def program(context: JobContext) -> Answer:
        with context.steps.step("broken"):
            context.util("spill").write_bytes(b"y")
            raise ZeroDivisionError("nothing to divide by")

    status, messages, places = run_program(program)
    assert status == 1
    assert [type(message) for message in messages] == [StepEnded, Failed]
    assert messages[-1] == Failed(
        job="job",
        sentence="ZeroDivisionError in step broken: nothing to divide by; the job's log has the traceback",
    )
    assert "Traceback" in capsys.readouterr().err
    assert not [place for place in places if place.exists()]


@pytest.mark.parametrize("fails", [False, True])
def test_results_stay_unless_the_job_failed(run_program: Execute, tmp_path: Path, fails: bool) -> None:
    def program(context: JobContext) -> Answer:
        results = Path(context.assignment.results)
        results.mkdir()
        (results / "table").write_bytes(b"x")
        check_equal("the count", 1, 2 if fails else 1)
        return {"rows": 1}

    run_program(program)
    assert (tmp_path / "results").exists() is not fails


def test_a_wrong_answer_is_told_apart(run_program: Execute) -> None:
    def program(_: JobContext) -> Answer:
        check_equal("the count", 1, 2)
        return {}

    _, messages, _ = run_program(program)
    assert messages == [
        Failed(job="job", sentence="the count is wrong: found 1, expected 2", wrong_answer=True)
    ]


def test_an_unknown_program_is_a_failed_job(tmp_path: Path) -> None:
    messages: list[FromLauncher] = []
    assert execute(assign("nonesuch", 1.0, Options(), {}, tmp_path), messages.append) == 1
    assert isinstance(messages[0], Failed)
    assert "nonesuch" in messages[0].sentence


@pytest.mark.parametrize("cpucount", [2, 1])
def test_threads_are_limited_to_cpucount(run_program: Execute, cpucount: int) -> None:
    seen: list[int] = []

    def program(_: JobContext) -> Answer:
        seen.extend((pa.cpu_count(), pa.io_thread_count()))
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return {}

    run_program(program, cpucount)
    assert len(seen) > 2
    assert set(seen[:2]) == {cpucount}
    assert max(seen) <= cpucount


def test_tables_take_turns_on_the_volumes_of_their_role(tmp_path: Path) -> None:
    from mawl.measure.step import StepRecorder

    assignment = assign("made_up", 1.0, Options(), {}, tmp_path, volumes=2)
    context = JobContext(assignment, StepRecorder("job", lambda _: None))
    assert [context.work(name).parent for name in "abc"] == [
        Path(assignment.work[turn]) for turn in (0, 1, 0)
    ]
    assert context.util("a").parent == Path(assignment.util[0])


def test_a_table_that_was_not_assigned_is_a_damaged_table(tmp_path: Path) -> None:
    from mawl.measure.step import StepRecorder

    context = JobContext(assign("x", 1.0, Options(), {}, tmp_path), StepRecorder("job", lambda _: None))
    with pytest.raises(DamagedTableError, match="no table 'census'"):
        context.table("census")


def test_a_failed_check_says_what_was_found_and_expected() -> None:
    with pytest.raises(WrongAnswerError, match="the total is wrong: found 3, expected 4"):
        check_equal("the total", 3, 4)
    check_equal("the total", 4, 4)

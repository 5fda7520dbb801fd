"""The evidence of a qualification, from run folders."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.advice.qualification.gather import answer_of, command_again, evidence_of, more_time, needed_load
from mawl.base.errors import MawlError
from mawl.records.model.qualification import AnswerNodes, Fits, Qualification, QualifyRun
from mawl.records.model.run import NodeFacts
from mawl.records.store import open_run
from mawl.records.store.facts import write_facts
from mawl.simulation.activity import Calibration
from mawl.simulation.scenario import run_scenario
from mawl.whatif.folder import Label, write_folder
from tests.fakes.qualifications import qualification
from tests.fakes.qualified import cluster
from tests.fakes.stored_run import facts
from tests.simulation.scenes import demands, device, flow, plan, scenario, step, system

SESSIONS = 6


def write(folder: Path, cpu_seconds: float, reference_seconds: float) -> None:
    """A run of one job a session that computes on two cores, with its reference time."""
    names = [f"s{number}-1" for number in range(1, SESSIONS + 1)]
    own = system(device(), cores=2)
    jobs = {name: [step(cpu_seconds, flow(20, direction="read"), blocked=0.1)] for name in names}
    of = scenario(own, plan([[[name]] for name in names]), demands(jobs))
    outcome = run_scenario(of, Calibration(own, 1.0))
    source = facts(nodes=[NodeFacts(name="node1", cores=2, core_basis="vCPU")], planned_jobs=[])
    write_folder(folder, of, outcome, Label(run_id=folder.name, source=source))
    stored = open_run(folder).facts
    jobs_planned = [
        msgspec.structs.replace(one, reference_seconds=reference_seconds) for one in stored.planned_jobs
    ]
    write_facts(folder, msgspec.structs.replace(stored, planned_jobs=jobs_planned))


def record(count: int, forecast: Fits | None = None) -> Qualification:
    runs = [
        QualifyRun(
            folder=f"runs/{number}", purpose="measured", position=number, sessions=SESSIONS, state="finished"
        )
        for number in range(1, count + 1)
    ]
    return qualification(runs=runs, search_forecast=forecast)


def test_runs_far_above_their_reference_time_are_a_no_with_its_cost_and_changes(tmp_path: Path) -> None:
    for number, seconds in enumerate((1.5, 1.52, 1.48), 1):
        write(tmp_path / "runs" / str(number), seconds, 1.6)
    asked = record(3, Fits(sessions=9, low=8, high=10))
    answer = answer_of(asked, tmp_path, AnswerBounds())
    assert answer.carried.answer == "not carried" and answer.sentence.startswith("NO")
    limit = answer.limit
    assert limit is not None and (limit.verdict, limit.named, limit.costs[0].resource) == ("cpu", True, "cpu")
    assert answer.figures.slowdown is not None and 2.5 < answer.figures.slowdown < 3.5
    assert (answer.fits.sessions, answer.fits.high) == (None, SESSIONS - 1), "the runs refute the forecast"
    assert {change.text for change in answer.changes} <= {"Twice the processors", "Processors twice as fast"}
    assert all("mawl probe" in (change.reason or "") for change in answer.changes), "no range without a probe"
    assert answer.figures.jobs_per_hour is not None and answer.figures.jobs_per_hour > 0


@pytest.mark.parametrize("others", [None, 0.01, 0.3])
def test_a_run_of_the_search_that_is_slow_beside_other_work_shows_nothing(
    tmp_path: Path, others: float | None
) -> None:
    """The run of the search has one session more, so beside an idle machine it proves the number."""
    write(tmp_path / "runs" / "1", 0.5, 1.6)
    write(tmp_path / "runs" / "search-1", 1.5, 1.6)
    plain = record(1, Fits(sessions=9, low=8, high=10))
    search = msgspec.structs.replace(
        plain.runs[0],
        folder="runs/search-1",
        purpose="search",
        sessions=SESSIONS + 1,
        others_cpu_ratio=others,
        disturbance="other programs used 30 % of the processors" if others == 0.3 else None,
    )
    asked = msgspec.structs.replace(plain, runs=[*plain.runs, search])
    answer = answer_of(asked, tmp_path, AnswerBounds())
    said = [caution for caution in answer.cautions if "does not count for the number that fits" in caution]
    if others == 0.3:
        assert (answer.fits.sessions, answer.fits.basis) == (9, "forecast")
        assert said == [
            "1 run with 7 sessions does not count for the number that fits: other programs used 30 % of the "
            "processors."
        ]
    else:
        assert (answer.fits.sessions, answer.fits.basis) == (SESSIONS, "measured")
        assert not said


def test_of_several_nodes_one_that_is_as_slow_as_all_is_the_limit(tmp_path: Path) -> None:
    """Every run is of a saturated node, so all nodes together take no longer than one."""
    runs = []
    for purpose in ("one-node", "measured"):
        for number, seconds in enumerate((1.5, 1.52, 1.48), 1):
            name = f"{purpose}-{number}"
            write(tmp_path / "runs" / name, seconds, 1.6)
            runs.append(
                QualifyRun(
                    folder=f"runs/{name}",
                    purpose=purpose,
                    position=number,
                    sessions=SESSIONS,
                    state="finished",
                )
            )
    plain = qualification(runs=runs, search_forecast=None, nodes=cluster(2).nodes)
    answer = answer_of(plain, tmp_path, AnswerBounds())
    assert isinstance(answer.nodes, AnswerNodes)
    assert answer.sentence.startswith("NO") and "6 sessions on each of 2 nodes took" in answer.sentence
    assert (answer.nodes.limit, answer.nodes.node, answer.nodes.runs) == ("nodes", "node1", 3)
    assert answer.nodes.ratio == pytest.approx(1.0, abs=0.02)
    assert answer.nodes.scaling_ratio == pytest.approx(0.5, abs=0.02), "all have the jobs of one"
    assert answer.changes == [] and "not simulated" in answer.missing["changes"]
    assert answer.fits.sessions is None and "does not search" in (answer.fits.reason or "")
    assert any("cannot probe from a node" in caution for caution in answer.cautions)


def test_one_run_is_preliminary_and_its_interval_is_wider(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        write(tmp_path / "runs" / str(number), 1.5, 1.6)
    three, one = (evidence_of(record(count), tmp_path, AnswerBounds()).slowdown for count in (3, 1))
    assert three is not None and one is not None
    assert one.high - one.low > three.high - three.low
    assert answer_of(record(1), tmp_path, AnswerBounds()).preliminary


def test_without_a_run_there_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(MawlError, match="no run was measured"):
        answer_of(record(0), tmp_path, AnswerBounds())


@pytest.mark.parametrize(("repeat", "kept"), [(1, False), (3, True)])
def test_with_more_time_no_fewer_runs_are_asked_for_than_an_answer_needs(repeat: int, kept: bool) -> None:
    asked = msgspec.structs.replace(qualification().asked, repeat=repeat)
    same, more = (command_again(qualification(asked=asked), times) for times in (1.0, 4.0))
    assert f"--repeat {repeat} " in same and (f"--repeat {repeat} " in more) == kept


def test_the_command_asks_for_what_qualify_takes_and_for_the_same_order_of_volumes() -> None:
    asked = msgspec.structs.replace(qualification().asked, minutes=1440.0, volume_order="free-space")
    words = command_again(qualification(asked=asked), 4.0)
    assert words.endswith("--volume-order free-space --minutes 2880")


@pytest.mark.parametrize(
    ("active_seconds", "needed_seconds", "is_open", "times"),
    [
        (284.0, 1200.0, False, 1200 / 284),
        (800.0, 1200.0, False, 1.5),
        (800.0, 1200.0, True, 4.0),
        (2000.0, 1200.0, False, 4.0),
        (0.0, 1200.0, False, 4.0),
        (13.5, 60.0, True, 60 / 13.5),
    ],
)
def test_the_next_step_asks_for_the_time_of_the_load_that_is_needed(
    active_seconds: float, needed_seconds: float, is_open: bool, times: float
) -> None:
    assert more_time(active_seconds, needed_seconds, is_open=is_open) == pytest.approx(times)
    too_short, cached = needed_load(("5 s long", "duration")), needed_load(("read from memory", "reach"))
    assert (too_short, cached, needed_load(None)) == (60.0, 1200.0, 1200.0)
    assert command_again(record(1), 4.1).endswith(
        f"--minutes {5 * math.ceil(record(1).asked.minutes * 4.1 / 5)}"
    )

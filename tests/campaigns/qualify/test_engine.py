"""The whole of qualify over a fake machine: phases, time, search, and a kill at every moment."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from mawl.base.errors import BusyMachineError, MawlError, UnsuitableMachineError, UsageError
from mawl.campaigns.qualify.choice import SMOKE, load_streams
from mawl.campaigns.qualify.engine import MOST_MEASURED, first_look
from mawl.campaigns.qualify.interface import WritableSpace
from mawl.records.model.qualification import PHASES, Qualification
from mawl.records.store.campaign import read_qualification
from tests.fakes.qualifications import qualification
from tests.fakes.qualified import (
    Clock,
    FakeWork,
    begun,
    cluster,
    continued,
    ended,
    engine_over,
    killed_after_each_change,
    machine,
    qualified,
    to_the_end,
)


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record is written some hundred times here, and no test takes the power away."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class Case(NamedTuple):
    """A qualification over a fake machine; ``disturbed`` as ``FakeWork`` has it."""

    minutes: float
    changes: Mapping[str, Any]
    disturbed: Mapping[str, int]

    def work(self, clock: Clock, **changes: object) -> FakeWork:
        return FakeWork(clock, disturbed=self.disturbed, **self.changes, **changes)  # type: ignore[arg-type]


def test_every_phase_is_done_and_said_with_its_time(tmp_path: Path) -> None:
    work = FakeWork(Clock())
    engine, said = engine_over(tmp_path, begun(tmp_path), work)
    engine.until_choice()
    record = engine.to_the_end()
    assert [phase.state for phase in record.phases] == ["done"] * len(PHASES)
    for name in PHASES:
        assert any((line.startswith(f"{name}: ") and " s; " in line) or " min " in line for line in said)
    assert read_qualification(tmp_path).choice == record.choice


@pytest.mark.parametrize("sessions", [None, 12])
def test_the_probe_asks_with_the_requests_of_the_sessions_that_will_run(
    tmp_path: Path, sessions: int | None
) -> None:
    work = FakeWork(Clock())
    engine, _ = engine_over(tmp_path, begun(tmp_path, sessions=sessions), work)
    choice = engine.until_choice()
    assert choice.sessions == (8 if sessions is None else sessions)
    assert work.streams == load_streams(choice.sessions) > choice.sessions


def test_the_time_that_was_asked_for_is_kept_and_mostly_filled(tmp_path: Path) -> None:
    record = qualified(tmp_path, FakeWork(Clock()), minutes=60.0)
    spent = sum(phase.seconds for phase in record.phases)
    assert 0.7 * 3600 <= spent <= 3600
    assert 3 <= len(record.runs_for("measured")) <= MOST_MEASURED


def test_a_machine_slower_than_forecast_still_makes_the_runs_an_answer_needs(tmp_path: Path) -> None:
    record = qualified(tmp_path, FakeWork(Clock(), slower=3.0), minutes=30.0)
    assert record.choice is not None
    assert len(record.runs_for("measured")) == record.choice.repeats
    assert len(record.runs_for("search")) == 0


@pytest.mark.parametrize("repeat", [1, 4])
def test_as_many_runs_are_measured_as_were_asked_for(tmp_path: Path, repeat: int) -> None:
    record = begun(tmp_path)
    record = msgspec.structs.replace(record, asked=msgspec.structs.replace(record.asked, repeat=repeat))
    # A machine twice as fast as forecast leaves time for more.
    engine, _ = engine_over(tmp_path, record, FakeWork(Clock(), slower=0.5))
    engine.until_choice()
    assert len(engine.to_the_end().runs_for("measured")) == repeat


def test_the_search_proves_the_two_numbers_around_the_bound(tmp_path: Path) -> None:
    # 0.19 a session: 10 sessions are carried (1.9), 11 are not (2.09); the forecast is two too high.
    record = qualified(tmp_path, FakeWork(Clock(), per_session=0.19, forecast=12), minutes=240.0)
    order = [run.sessions for run in record.runs if run.purpose in ("measured", "search")]
    assert order[:6] == [8, 12, 10, 11, 8, 8], "both sides of the bound go before repeats"
    detail = record.phase("runs").detail
    assert detail.startswith("slowdown of 8 sessions: 1.52, 1.52, 1.52; 10 sessions: 1.90; 11 sessions: 2.09")
    assert "; forecast: about 12 sessions fit (11 to 13); no time is left" in detail


def test_a_number_that_the_machine_refuses_is_too_many(tmp_path: Path) -> None:
    work = FakeWork(Clock(), per_session=0.05, forecast=20, refuse_above=12)
    record = qualified(tmp_path, work, minutes=240.0)
    refused = [run.sessions for run in record.runs if run.state == "refused"]
    assert min(refused) == 13
    assert max(run.sessions for run in record.runs_for("search")) == 12


def test_a_number_that_no_search_can_undercut_ends_it(tmp_path: Path) -> None:
    record = to_the_end(tmp_path, begun(tmp_path, sessions=5), FakeWork(Clock(), per_session=1.0))
    assert record.runs_for("search") == []
    assert record.phase("runs").detail.endswith("; nothing is left to prove")


def test_where_not_even_the_smallest_mix_fits_the_time_of_the_search_goes_to_further_runs(
    tmp_path: Path,
) -> None:
    work = FakeWork(Clock(), per_session=0.5, seen=machine(cores=4))
    record = qualified(tmp_path, work)
    assert record.choice is not None and record.choice.proofs and record.choice.sessions == 5
    assert len(record.runs_for("measured")) > record.choice.repeats == 3
    assert record.runs_for("search") == []
    assert 0.8 * 3600 <= sum(phase.seconds for phase in record.phases) <= 3600


def test_a_number_that_was_slow_beside_other_work_is_run_again(tmp_path: Path) -> None:
    work = FakeWork(Clock(), per_session=0.19, forecast=12, disturbed={"search-1": 1})
    record = qualified(tmp_path, work, minutes=240.0)
    idle = qualified(tmp_path / "idle", FakeWork(Clock(), per_session=0.19, forecast=12), minutes=240.0)
    assert [run.sessions for run in record.runs if run.state == "disturbed"] == [12]
    tried, wanted = ([run.sessions for run in one.runs_for("search")] for one in (record, idle))
    assert tried == wanted[: len(tried)] and len(tried) > 1, "and then as on an idle machine"


def test_a_number_that_stays_slow_beside_other_work_ends_the_search(tmp_path: Path) -> None:
    work = FakeWork(Clock(), per_session=0.19, forecast=12, disturbed={"search-1": 2})
    record = qualified(tmp_path, work, minutes=2400.0)
    runs = [(run.sessions, run.state) for run in record.runs if run.purpose == "search"]
    assert runs == [(12, "disturbed"), (12, "finished")]
    assert record.phase("runs").detail.endswith("; other work slowed the run of 12 sessions")
    assert len(record.runs_for("measured")) > 3, "the time goes to further measured runs"


def test_a_disturbed_run_is_made_again_once_and_counts_in_nothing(tmp_path: Path) -> None:
    work = FakeWork(Clock(), disturbed={"measured-1": 1, "measured-2": 2})
    engine, said = engine_over(tmp_path, begun(tmp_path, minutes=90.0), work)
    engine.until_choice()
    record = engine.to_the_end()
    states = {run.folder.removeprefix("runs/"): run.state for run in record.runs}
    assert states["measured-1"] == states["measured-2"] == "disturbed"
    assert states["measured-1-2"] == "finished"
    assert states["measured-2-2"] == "finished" and "measured-2-3" not in states, "one more, and no further"
    assert not {"runs/measured-1", "runs/measured-2"} & {run.folder for run in record.runs_for("measured")}
    assert sum("30 % of the processors" in line for line in said) == 2
    assert sum(phase.seconds for phase in record.phases) <= 90 * 60


def test_a_disturbed_run_stays_where_there_is_no_time_to_make_it_again(tmp_path: Path) -> None:
    work = FakeWork(Clock(), slower=6.0, disturbed={"measured-1": 1})
    record = qualified(tmp_path, work, minutes=30.0)
    assert not [run for run in record.runs if run.state == "disturbed"]
    assert max(run.others_cpu_ratio or 0.0 for run in record.runs_for("measured")) == 0.3


def test_a_further_run_that_stays_beside_other_work_is_left_out(tmp_path: Path) -> None:
    idle = qualified(tmp_path / "idle", FakeWork(Clock(), slower=0.4), minutes=3.0)
    assert idle.choice is not None
    planned = idle.choice.repeats
    name = f"measured-{planned + 1}"
    record = qualified(tmp_path / "busy", FakeWork(Clock(), slower=0.4, disturbed={name: 2}), minutes=3.0)
    states = [run.state for run in record.runs if (run.purpose, run.position) == ("measured", planned + 1)]
    assert states[-1] == "left out" and states[:-1] in ([], ["disturbed"])
    assert max(run.others_cpu_ratio or 0.0 for run in record.runs if run.state == "finished") < 0.1
    assert sum(phase.seconds for phase in record.phases) <= 3 * 60


def test_a_further_run_with_a_failed_job_counts_also_beside_other_work(tmp_path: Path) -> None:
    work = FakeWork(Clock(), slower=0.4, disturbed={"measured-3": 2}, failing=("measured-3", "measured-3-2"))
    record = qualified(tmp_path, work, minutes=3.0)
    run = record.runs_for("measured")[2]
    assert (run.position, run.outcome, run.others_cpu_ratio) == (3, "failed", 0.3)


@pytest.mark.parametrize("minutes", [1.6, 2.0, 2.6])
def test_time_that_is_left_makes_the_measured_runs_three(tmp_path: Path, minutes: float) -> None:
    """Student's interval needs three."""
    record = qualified(tmp_path, FakeWork(Clock(), slower=0.2), minutes=minutes)
    assert record.choice is not None and record.choice.repeats < 3
    assert len(record.runs_for("measured")) >= 3


def test_without_fio_the_probe_is_left_out_and_the_rest_is_done(tmp_path: Path) -> None:
    record = qualified(tmp_path, FakeWork(Clock(), seen=machine(has_fio=False)))
    assert record.phase("probe").state == "skipped"
    assert "fio is not installed" in record.phase("probe").detail
    assert record.runs_for("measured")


def test_a_calibration_whose_jobs_fail_names_its_folder(tmp_path: Path) -> None:
    engine, _ = engine_over(tmp_path, begun(tmp_path), FakeWork(Clock(), bad_jobs_alone=2))
    with pytest.raises(
        MawlError, match=r"2 jobs did not finish well; mawl report .*/runs/calibration-1 names"
    ):
        engine.until_choice()


@pytest.mark.parametrize(
    ("name", "slower", "minutes", "states"),
    [
        ("calibration-1", 1.0, 60.0, ["disturbed", "finished"]),
        ("calibration-mix-1", 1.0, 60.0, ["disturbed", "finished"]),
        ("calibration-1", 2.0, 4.3, ["finished"]),
    ],
)
def test_a_disturbed_calibration_is_made_again_once_where_time_is_left(
    tmp_path: Path, name: str, slower: float, minutes: float, states: list[str]
) -> None:
    work = FakeWork(Clock(), slower=slower, disturbed={name: 1})
    record = qualified(tmp_path, work, minutes, anyway=True)
    assert [run.state for run in record.runs if run.folder.startswith(f"runs/{name}")] == states


@pytest.mark.parametrize(("name", "attempts"), [("calibration-1", 2), ("calibration-mix-1", 3)])
def test_a_busy_machine_stops_it_after_the_calibration_and_names_who_is_busy(
    tmp_path: Path, name: str, attempts: int
) -> None:
    engine, _ = engine_over(tmp_path, begun(tmp_path), FakeWork(Clock(), disturbed={name: 9}))
    said = r"busy: during the calibration other programs used 30 % .* burn \(pid 4711\); stop them"
    with pytest.raises(BusyMachineError, match=said) as stop:
        engine.until_choice()
    record = read_qualification(tmp_path)
    assert (stop.value.exit_code, record.outcome, record.choice) == (4, "busy", None)
    assert [run.state for run in record.runs] == ["interrupted"] * attempts, "it is made again"
    assert engine_over(tmp_path, record, FakeWork(Clock()))[0].until_choice().expected.reason is None
    assert len(read_qualification(tmp_path).runs) == attempts + 2


def test_anyway_goes_on_beside_other_programs(tmp_path: Path) -> None:
    always = {f"{name}-{number}": 9 for name in ("calibration", "measured") for number in range(1, 10)}
    record = qualified(tmp_path, FakeWork(Clock(), per_session=0.5, disturbed=always), anyway=True)
    assert len(record.runs_for("measured")) >= 3
    assert record.phase("runs").detail.endswith("; no run shows whether its sessions fit")


def test_the_doctor_says_what_directories_lie_on_and_which_were_made(tmp_path: Path) -> None:
    seen = machine(places=["data /mnt/a on ext4"], made=["/mnt/a on ext4"])
    engine, said = engine_over(tmp_path, begun(tmp_path), FakeWork(Clock(), seen=seen))
    engine.until_choice()
    assert "  data /mnt/a on ext4" in said
    assert "notice: made /mnt/a on ext4; stop now if another disk was to be mounted there" in said


def test_a_directory_that_was_made_is_named_where_its_disk_is_too_small(tmp_path: Path) -> None:
    said: list[str] = []
    small = [WritableSpace(roles=["data", "work", "util"], directories=["/mnt/a"], free_bytes=0)]
    seen = machine(made=["/mnt/a on ext4"], systems=small)
    with pytest.raises(UnsuitableMachineError):
        first_look(FakeWork(Clock(), seen=seen), qualification().asked, SMOKE, said.append)
    assert len(said) == 1 and said[0].startswith("notice: made /mnt/a on ext4")


def test_too_little_time_is_refused_after_the_calibration_with_the_minutes_it_takes(tmp_path: Path) -> None:
    engine, _ = engine_over(tmp_path, begun(tmp_path, minutes=1.0), FakeWork(Clock()))
    with pytest.raises(UsageError, match=r"1 minutes are too short .*--minutes 3 or more"):
        engine.until_choice()
    record = read_qualification(tmp_path)
    assert (record.outcome, record.phase("choice").state) == ("interrupted", "failed") or (
        record.outcome == "failed"
    )
    assert record.runs_for("measured") == []


@pytest.mark.parametrize("free_bytes", [0, 300_000_000])
def test_a_full_disk_is_refused_before_anything_is_run(tmp_path: Path, free_bytes: int) -> None:
    system = msgspec.structs.replace(machine().systems[0], free_bytes=free_bytes)
    work = FakeWork(Clock(), seen=machine(systems=[system]))
    engine, _ = engine_over(tmp_path, begun(tmp_path), work)
    with pytest.raises(
        UnsuitableMachineError, match=r"/mnt/a: data and work and util need .* free space, or"
    ):
        engine.until_choice()
    assert work.made == []


SEARCHED = Case(
    minutes=60.0, changes={"per_session": 0.19, "forecast": 12}, disturbed={"measured-1": 1, "measured-3": 1}
)
UNEVEN = Case(
    minutes=60.0,
    changes={
        "per_session": 0.19,
        "forecast": 12,
        "uneven": {"measured-1": 1.5, "measured-3": 0.6, "search-1": 0.6, "search-2": 1.5},
    },
    disturbed={"measured-3": 1, "search-1": 1},
)
SMALLEST = Case(
    minutes=60.0,
    changes={"per_session": 0.5, "seen": machine(cores=4), "uneven": {"measured-1": 1.4, "measured-5": 0.7}},
    disturbed={"measured-5": 1},
)
JUST_IN_TIME = Case(
    minutes=2.88,
    changes={
        "slower": 0.5,
        "uneven": {"measured-1": 2.0, "measured-2": 1.5},
        "per_session": 0.5,
        "seen": machine(cores=4),
    },
    disturbed={"measured-4": 1},
)
"""There is time for measured-4 once more, and would be none for a run that takes as long as the others."""
LEFT_OUT = Case(minutes=3.0, changes={"slower": 0.4}, disturbed={"measured-3": 2})


NODES = Case(
    minutes=60.0,
    changes={"seen": cluster(), "all_ratio": 1.6},
    disturbed={"one-node-2": 1, "measured-3": 1, "measured-5": 2},
)
UNEVEN_NODES = {"one-node-1": 0.6, "one-node-2": 1.5, "measured-1": 1.3, "measured-2": 0.7, "measured-4": 1.4}
LONG_NODES, SHORT_NODES = (
    NODES._replace(minutes=minutes, changes={**NODES.changes, "slower": slower, "uneven": UNEVEN_NODES})
    for minutes, slower in ((20.0, 1.0), (4.0, 0.5))
)


def _killed_and_continued(
    folder: Path, case: Case, after: int, late: bool
) -> tuple[Qualification, list[str]]:
    """A qualification that is killed in its n-th piece of work and continued; all that was finished."""
    work = case.work(Clock(), die_after=after, die_late=late)
    try:
        return qualified(folder, work, case.minutes), work.made
    except KeyboardInterrupt:
        assert read_qualification(folder).outcome == "interrupted"
    again = case.work(work.clock)
    return continued(folder, again), work.made + again.made


@pytest.mark.parametrize("killed_in", [1, 2, 3])
def test_a_probe_that_was_stopped_keeps_the_time_of_the_targets_that_were_finished(
    tmp_path: Path, killed_in: int
) -> None:
    whole = qualified(tmp_path / "whole", FakeWork(Clock(), targets=3))
    work = FakeWork(Clock(), targets=3, die_after=killed_in)
    engine, _ = engine_over(tmp_path / "stopped", begun(tmp_path / "stopped"), work)
    with pytest.raises(KeyboardInterrupt):
        engine.until_choice()
    again = FakeWork(work.clock, targets=3)
    record = continued(tmp_path / "stopped", again)
    assert Counter(work.made + again.made)["probe"] == 3
    assert record.phase("probe").seconds == pytest.approx(whole.phase("probe").seconds)
    assert record.choice == whole.choice


CASES = [
    *((case, {"disturbed"}) for case in (SEARCHED, UNEVEN, SMALLEST, JUST_IN_TIME)),
    (LEFT_OUT, {"left out"}),
    (NODES, {"disturbed", "left out"}),
]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("case", "states"), CASES)
def test_killed_in_any_piece_of_work_and_continued_it_is_the_same(
    tmp_path: Path, case: Case, states: set[str], late: bool
) -> None:
    whole = qualified(tmp_path / "whole", case.work(Clock()), case.minutes)
    assert states <= {run.state for run in whole.runs}
    for after in range(1, 3 + len(ended(whole))):
        record, made = _killed_and_continued(tmp_path / f"{after}-{late}", case, after, late)
        assert ended(record) == ended(whole)
        assert record.choice == whole.choice
        mixes = Counter(name for name in made if name not in ("probe", "generate"))
        assert sum(mixes.values()) == len(ended(whole)), f"something was measured twice: {made}"


@pytest.mark.parametrize(
    "case",
    [
        UNEVEN,
        SHORT_NODES,
        *(
            pytest.param(case, marks=pytest.mark.long(minutes=0.1))
            for case in (JUST_IN_TIME, LEFT_OUT, LONG_NODES)
        ),
    ],
)
def test_killed_after_any_change_of_the_record_and_continued_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    whole = qualified(tmp_path / "whole", case.work(Clock()), case.minutes)
    clock = Clock()

    def begin(after: int) -> Qualification:
        return qualified(tmp_path / str(after), case.work(clock), case.minutes)

    def go_on(after: int) -> Qualification:
        return continued(tmp_path / str(after), case.work(clock))

    for after, record in killed_after_each_change(monkeypatch, begin, go_on):
        assert ended(record) == ended(whole), f"killed after change {after}"

"""The search for sessions conducted: what is refused, what is killed, what goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.campaigns.series import Series, begin, conduct, following, held, resume
from mawl.figures.knee import RunVerdict, SessionRun, knee_of
from mawl.records.model.campaign import Arm, Campaign, SessionSearch, Slot
from mawl.records.store.campaign import CAMPAIGN, read_campaign
from tests.fakes.campaign_runs import FakeRuns, Killed, campaign

SEARCH = SessionSearch(first=1, most=500, runs_each=2)


def arm_of(sessions: int) -> Arm:
    return Arm(name=f"sessions-{sessions}", workload="tiny", size=sessions)


class Machine(FakeRuns):
    """Carries ``knee`` sessions, and refuses more than ``memory``."""

    def __init__(self, knee: int, memory: int = 1000, cut: tuple[int, ...] = ()) -> None:
        super().__init__(cut)
        self.knee, self.memory = knee, memory

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        if (arm.size or 0) > self.memory:
            raise UnsuitableMachineError("the jobs side by side may need more than the machine's memory")
        super().__call__(arm, folder, lock)

    def read(self, series: Series, slot: Slot) -> SessionRun:
        sessions = series.record.arm(slot.arm).size or 0
        verdict: RunVerdict = "carried" if sessions <= self.knee else "too many"
        return SessionRun(
            sessions=sessions, verdict=verdict, answer_slowdown=sessions / self.knee, answer_bound=1.0
        )


def searched(folder: Path, machine: Machine) -> Campaign:
    folder.mkdir(exist_ok=True)
    new = campaign(kind="find-sessions", arms=[], slots=[], search=SEARCH)
    with held(folder, patience=0.0) as lock:
        there = (folder / CAMPAIGN).exists()
        series = resume(folder, machine, lock) if there else begin(folder, new, machine, lock)
        return conduct(series, following(SEARCH, arm_of, machine.read))


def sizes(record: Campaign) -> list[int]:
    return [record.arm(slot.arm).size or 0 for slot in record.slots]


def test_a_killed_search_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = searched(tmp_path / "whole", Machine(knee=5))
    assert sizes(whole) == [1, 2, 4, 8, 6, 5, 6, 5]
    machine = Machine(knee=5, cut=(1, 3, 6))
    for _ in machine.cut:
        with pytest.raises(Killed):
            searched(tmp_path / "cut", machine)
        assert read_campaign(tmp_path / "cut").outcome == "interrupted"
    assert sizes(searched(tmp_path / "cut", machine)) == sizes(whole)
    assert len(machine.made) == len(whole.slots) + len(machine.cut)


def test_numbers_that_the_machine_refuses_are_answers(tmp_path: Path) -> None:
    machine = Machine(knee=100, memory=3)
    record = searched(tmp_path / "c", machine)
    assert record.outcome == "completed"
    assert sizes(record) == [1, 2, 4, 3, 3]
    assert [slot.state for slot in record.slots] == [
        "finished",
        "finished",
        "refused",
        "finished",
        "finished",
    ]
    assert record.slots[2].reason is not None and "the machine's memory" in record.slots[2].reason
    assert machine.made == ["001-sessions-1", "002-sessions-2", "004-sessions-3", "005-sessions-3"]


def test_a_machine_that_starts_not_even_the_first_number_says_why(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableMachineError, match=r"not even 1 session.*the machine's memory"):
        searched(tmp_path / "c", Machine(knee=100, memory=0))
    assert read_campaign(tmp_path / "c").outcome == "failed"


def test_of_one_number_that_is_carried_the_knee_is_that_or_more() -> None:
    runs = [SessionRun(sessions=1, verdict="carried", answer_slowdown=1.0, answer_bound=2.0)]
    found = knee_of(runs, SEARCH)
    assert found is not None and (found.sessions, found.beyond) == (1, "at least")

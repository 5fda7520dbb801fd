"""The engine on several nodes: runs with one and with all, the time, a lost node."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.base.errors import BusyMachineError, MawlError, UsageError
from mawl.campaigns.qualify.interface import RunWish
from mawl.records.store.campaign import read_qualification
from tests.fakes.qualified import Clock, FakeWork, begun, cluster, continued, engine_over, qualified


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record is written some hundred times here, and no test takes the power away."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


class LosesANode(FakeWork):
    """Loses a node in the first run with all nodes: as in the world it raises, and leaves no result."""

    def run(self, wish: RunWish, folder: Path, log: Path) -> None:
        if wish.all_nodes:
            folder.mkdir()
            raise MawlError("node node2 was lost during the run", why="its worker is gone")
        super().run(wish, folder, log)


def fake(**changes: object) -> FakeWork:
    return FakeWork(Clock(), seen=cluster(), **changes)  # type: ignore[arg-type]


def test_one_node_and_all_nodes_run_in_turn_and_nothing_is_probed_or_searched(tmp_path: Path) -> None:
    record = qualified(tmp_path, fake(all_ratio=1.3))
    ones, every = record.runs_for("one-node"), record.runs_for("measured")
    assert len(ones) == 3 and len(every) >= 3
    order = [run.purpose for run in record.runs if run.purpose in ("one-node", "measured")]
    assert order[:6] == ["one-node", "measured"] * 3
    for name, why in (("probe", "cannot probe from a node"), ("inputs", "the nodes make")):
        phase = record.phase(name)  # type: ignore[arg-type]
        assert phase.state == "skipped" and why in phase.detail
    assert record.phase("runs").detail.startswith("one node: 3 runs, slowdown 2.00, ")
    assert record.phase("doctor").detail == "4 nodes, each with 6 cores"
    assert record.choice is not None and record.choice.nodes == 4 and record.choice.sessions == 8


def test_the_time_is_kept_although_all_nodes_take_eight_times_as_long(tmp_path: Path) -> None:
    record = qualified(tmp_path, fake(all_ratio=8.0), minutes=30.0)
    assert len(record.runs_for("one-node")) >= 1
    assert record.choice is not None and record.choice.repeats == 3
    assert len(record.runs_for("measured")) < 3, "each takes more than a third of the time"
    assert sum(phase.seconds for phase in record.phases) <= 30 * 60


def test_what_is_left_when_all_nodes_are_slow_goes_to_them_first(tmp_path: Path) -> None:
    record = qualified(tmp_path, fake(all_ratio=2.5), minutes=30.0)
    assert len(record.runs_for("measured")) >= len(record.runs_for("one-node")) >= 1
    assert sum(phase.seconds for phase in record.phases) <= 30 * 60


@pytest.mark.parametrize("repeat", [1, 2, 4])
def test_as_many_runs_with_all_nodes_are_made_as_were_asked_for(tmp_path: Path, repeat: int) -> None:
    record = qualified(tmp_path, fake(slower=0.5), repeat=repeat)
    assert len(record.runs_for("measured")) == repeat
    assert 1 <= len(record.runs_for("one-node")) <= 3


def test_a_run_that_loses_a_node_stops_it_and_is_made_anew_when_it_goes_on(tmp_path: Path) -> None:
    work = LosesANode(Clock(), seen=cluster())
    with pytest.raises(MawlError, match="node node2 was lost"):
        qualified(tmp_path, work)
    record = read_qualification(tmp_path)
    assert record.outcome == "failed" and record.runs_for("measured") == []
    again = FakeWork(work.clock, seen=cluster())
    record = continued(tmp_path, again)
    assert [run.state for run in record.runs if run.position == 1 and run.purpose == "measured"] == [
        "interrupted",
        "finished",
    ]
    assert len(record.runs_for("one-node")) == 3 and again.made.count("alone") == 0


def test_other_nodes_than_those_it_began_on_are_refused(tmp_path: Path) -> None:
    for seen in (cluster(3), cluster(cores=8)):
        record = begun(tmp_path, nodes=cluster().nodes)
        engine, _ = engine_over(tmp_path, record, FakeWork(Clock(), seen=seen))
        with pytest.raises(UsageError, match=r"not those that it was begun on: then node1 \(6 cores\)"):
            engine.until_choice()


def test_a_further_run_with_one_node_that_stays_beside_other_work_is_left_out_once(tmp_path: Path) -> None:
    work = fake(all_ratio=1.2, slower=0.1, disturbed={"one-node-2": 2})
    record = qualified(tmp_path, work, minutes=4.0)
    assert record.choice is not None and record.choice.one_node_runs == 1
    ones = [(run.position, run.state) for run in record.runs if run.purpose == "one-node"]
    assert ones == [(1, "finished"), (2, "disturbed"), (2, "left out"), (3, "finished")]


def test_a_busy_node_stops_it_after_the_calibration(tmp_path: Path) -> None:
    record = begun(tmp_path, nodes=cluster().nodes)
    engine, _ = engine_over(tmp_path, record, fake(disturbed={"calibration-1": 2}))
    with pytest.raises(BusyMachineError, match="burn"):
        engine.until_choice()
    assert (engine.record.outcome, engine.record.choice) == ("busy", None)

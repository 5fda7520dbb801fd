"""What is chosen for several nodes: runs with one and with all in the time, and what can be forecast."""

from __future__ import annotations

import msgspec
import pytest

from mawl.campaigns.qualify.nodes_choice import NodesChooser
from mawl.commands.qualify_shown import choice_text
from mawl.errors import UsageError
from mawl.model.qualification import QualificationChoice
from tests.fakes.qualifications import qualification
from tests.fakes.qualified import FakeModel, cluster

ASKED = qualification().asked


def chosen(minutes: float, per_session: float = 0.15, repeat: int | None = None) -> QualificationChoice:
    asked = msgspec.structs.replace(ASKED, minutes=minutes, repeat=repeat)
    return NodesChooser(asked, cluster(), FakeModel(per_session), 60 * minutes).choose({})


def test_short_time_gives_up_runs_with_one_node_then_runs_alone_then_runs_with_all() -> None:
    given = [
        (choice.repeats, choice.runs_alone, choice.one_node_runs)
        for choice in (chosen(minutes) for minutes in (60, 14, 11, 9, 7, 4))
    ]
    assert given[0] == (3, 3, 3)
    assert given == sorted(given, reverse=True) and given[-1] < (3, 3, 1)
    assert min(one for _, _, one in given) == 1


def test_runs_with_all_nodes_are_planned_as_long_as_a_load_takes_that_is_just_carried() -> None:
    choice = chosen(60, per_session=0.15)  # eight sessions: 1.2 times as long as alone
    one = FakeModel(0.15).mix(8, choice.scale).elapsed_seconds
    assert choice.run_seconds == pytest.approx(one * 2.0 / 1.2 + FakeModel.overhead_seconds)
    assert choice.total_seconds <= 60 * 60


def test_one_node_that_carries_forecasts_nothing_of_all_and_one_that_does_not_a_no() -> None:
    carries, slow = chosen(60, per_session=0.15).expected, chosen(60, per_session=0.5).expected
    assert carries.answer == "not known" and "1.20 times as long as alone" in (carries.reason or "")
    assert slow.answer == "not carried" and slow.reason is None


def test_the_plan_shows_one_node_and_all_with_bytes_and_time() -> None:
    text = choice_text(chosen(60), ASKED)
    assert "nodes          4 " in text and "node1, node2, node3, node4" in text
    assert "8 a node" in text and "3 with all nodes, 3 with node1 alone" in text
    assert "\n  one node  35 jobs, " in text and "\n  4 nodes   140 jobs, " in text
    assert "name another number with --sessions" in text


def test_too_little_time_says_what_it_takes() -> None:
    with pytest.raises(UsageError, match=r"a run with one node and 1 run with all nodes .*--minutes"):
        chosen(0.5)
    assert chosen(60, repeat=1).repeats == 1

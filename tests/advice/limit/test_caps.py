"""A cap of a control group as evidence: only of the named role, near the cap, and while jobs waited."""

from __future__ import annotations

import pytest

from mawl.model.summary.summary import Judged
from mawl.reporters.run_tables.caps import cap_sentence
from tests.fakes.capped_run import CAP, capped_run


def lines(summary: Judged) -> list[str]:
    assert summary.limit is not None
    return [one.sentence for one in summary.limit.evidence if one.sentence.startswith("cap:")]


@pytest.mark.parametrize("moved", [0.96 * CAP, 1.0 * CAP, 1.08 * CAP])
def test_a_role_that_waits_at_its_cap_names_it(moved: float) -> None:
    summary = capped_run(moved)
    assert summary.limit is not None
    assert (summary.limit.verdict, summary.limit.role) == ("storage", "work")
    (reached,) = summary.limit.caps_reached
    assert (reached.direction, reached.bytes_per_second, reached.devices) == ("write", CAP, ["sdb"])
    assert reached.near_windows == reached.waited_windows > 1
    (line,) = lines(summary)
    assert (
        f"in {reached.near_windows} of them work wrote at least 95 % of what its control group allows" in line
    )
    assert line.endswith("at sdb, 40.0 MB/s")
    assert {one.name for one in summary.thresholds} >= {"limit.cap.near_ratio", "limit.cap.above_ratio"}


@pytest.mark.parametrize("moved", [0.94 * CAP, 0.0, 1.2 * CAP])
def test_a_cap_that_is_not_near_or_does_not_hold_is_not_named(moved: float) -> None:
    summary = capped_run(moved)
    assert lines(summary) == []
    assert summary.limit is not None and summary.limit.caps_reached == []
    assert not any(one.name.startswith("limit.cap") for one in summary.thresholds)


def test_the_windows_near_the_cap_are_counted() -> None:
    summary = capped_run(lambda second: CAP if second < 20 else 0.5 * CAP)
    assert summary.limit is not None
    (reached,) = summary.limit.caps_reached
    assert 0 < reached.near_windows < reached.waited_windows


def test_the_other_direction_and_the_other_role_are_not_named() -> None:
    assert lines(capped_run(CAP, figure="read")) == []
    assert lines(capped_run(CAP, "read", "read")) != []
    elsewhere = capped_run(CAP, waits={"jobs.on_cpu_seconds": 1.0, "role.data.waited_seconds": 2.5})
    assert elsewhere.limit is not None and elsewhere.limit.role == "data"
    assert lines(elsewhere) == []


def test_a_role_without_waits_is_not_held_by_its_cap() -> None:
    assert lines(capped_run(CAP, waits={})) == []


def test_reports_list_the_cap_of_the_role() -> None:
    assert cap_sentence(capped_run(CAP)) == "work writes at most 40.0 MB/s at sdb"

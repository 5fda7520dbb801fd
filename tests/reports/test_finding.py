"""The line that a report begins with: what was carried, how far a run came, and what limited it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.qualification.machine import limit_by
from mawl.records.model.node import Direction
from mawl.records.model.summary.judgement import Answer, Cause, Limit, ReachedCap
from mawl.records.model.summary.summary import Judged
from mawl.reports.run_lines import finding, limited_by
from tests.fakes.answered import QUEUE, WORK
from tests.fakes.views import partly

MEMORY = Cause(resource="memory", share_ratio=0.5)
MUCH = msgspec.structs.replace(WORK, share_ratio=0.7)


def summary(word: str = "carried", limit: dict[str, Any] | None = None, **more: Any) -> Judged:
    """A run of 20 sessions and 71 jobs that all finished."""
    whole = {
        "kind": "measured",
        "outcome": "completed",
        "workload": {"sessions": 20, "jobs": 71},
        "jobs": {"total": 71, "finished": 71},
        "answer": {"answer": word, "preliminary": False},
        "limit": limit,
    }
    return partly(whole | more)


def limit(*costs: Cause, named: bool | None = True) -> dict[str, Any]:
    found = msgspec.structs.asdict(limit_by(list(costs), named))
    role = next((cost.roles[0] for cost in costs if cost.roles), None)
    return found | {"role": role, "caps_reached": []}


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (summary(limit=limit()), "20 sessions carried, limited by no shared resource"),
        (summary("not carried", limit(QUEUE)), "20 sessions not carried, limited by processors (too few)"),
        (
            summary("not known", limit(MUCH, QUEUE)),
            "20 sessions ran, limited by work writes (bandwidth) and processors (too few); "
            "whether they are carried is not known",
        ),
        (
            summary("not known", workload={"sessions": 1, "jobs": 1}),
            "1 session ran; whether it is carried is not known",
        ),
        (summary(limit=None), "20 sessions carried"),
        (
            summary(limit=limit(WORK, named=False)),
            "20 sessions carried, largest cost: work writes (bandwidth)",
        ),
        (summary(workload={"sessions": 1, "jobs": 1}), "1 session carried"),
        (summary(answer={"answer": "carried", "preliminary": True}), "20 sessions carried (preliminary)"),
        (summary(kind="simulated"), "Simulated: 20 sessions carried"),
        (
            summary(outcome="running", jobs={"total": 3, "finished": 3}),
            "Running: 3 of 71 jobs finished so far",
        ),
        (
            summary(
                outcome="interrupted",
                jobs={"total": 71, "finished": 24},
                limit=limit(Cause(resource="memory", share_ratio=0.5)),
            ),
            "Interrupted: 24 of 71 jobs finished, limited by memory",
        ),
        (summary(outcome="failed", jobs={"total": 71, "finished": 70}), "Failed: 70 of 71 jobs finished"),
        (
            summary(kind="imported", limit=limit(QUEUE, named=None)),
            "71 imported jobs, largest cost: processors (too few)",
        ),
        (summary(kind="imported", jobs={"total": 0}), "Imported recording of the host"),
    ],
)
def test_the_finding(made: Judged, line: str) -> None:
    assert finding(made) == line


@pytest.mark.parametrize(
    ("direction", "near", "line"),
    [
        ("write", 6, "limited by work writes (bandwidth) at their cap of 40.0 MB/s"),
        ("write", 5, "limited by work writes (bandwidth)"),
        ("read", 10, "limited by work writes (bandwidth)"),
    ],
    ids=["most windows", "half of them", "the other direction"],
)
def test_a_cap_is_named_where_most_windows_of_waiting_were_near_it(
    direction: Direction, near: int, line: str
) -> None:
    made = summary(limit=limit(MUCH))
    assert made.limit is not None
    made.limit.caps_reached = [
        ReachedCap(
            direction=direction,
            bytes_per_second=40_000_000,
            devices=["sdb"],
            near_windows=near,
            waited_windows=10,
        )
    ]
    assert limited_by(made) == line


def test_what_is_named_is_a_field() -> None:
    for record, names in (
        (Limit, {"verdict", "second", "named", "costs"}),
        (Answer, {"answer", "preliminary"}),
    ):
        assert names <= {field.name for field in msgspec.structs.fields(record)}

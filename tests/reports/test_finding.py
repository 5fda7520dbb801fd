"""The line that a report begins with: what was carried, how far a run came, and what limited it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.records.model.node import Direction
from mawl.records.model.summary.io import RoleFigures
from mawl.records.model.summary.judgement import Answer, Limit, ReachedCap
from mawl.records.model.summary.summary import Judged
from mawl.reports.run_lines import finding, limited_by
from tests.fakes.views import partly


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


STORAGE = {"verdict": "storage", "role": "work"}


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (summary(limit={"verdict": "none"}), "20 sessions carried, limited by no shared resource"),
        (summary("not carried", {"verdict": "cpu"}), "20 sessions not carried, limited by the processors"),
        (
            summary("not known", {"verdict": "mixed"}),
            "20 sessions ran, limited by several resources in turn; whether they are carried is not known",
        ),
        (
            summary("not known", workload={"sessions": 1, "jobs": 1}),
            "1 session ran; whether it is carried is not known",
        ),
        (summary(limit=None), "20 sessions carried"),
        (summary(limit={"verdict": "storage"}), "20 sessions carried, limited by storage"),
        (summary(limit=STORAGE), "20 sessions carried, limited by work I/O"),
        (summary(workload={"sessions": 1, "jobs": 1}), "1 session carried"),
        (summary(answer={"answer": "carried", "preliminary": True}), "20 sessions carried (preliminary)"),
        (summary(kind="simulated"), "Simulated: 20 sessions carried"),
        (
            summary(outcome="running", jobs={"total": 3, "finished": 3}),
            "Running: 3 of 71 jobs finished so far",
        ),
        (
            summary(outcome="interrupted", jobs={"total": 71, "finished": 24}, limit={"verdict": "memory"}),
            "Interrupted: 24 of 71 jobs finished, limited by memory",
        ),
        (summary(outcome="failed", jobs={"total": 71, "finished": 70}), "Failed: 70 of 71 jobs finished"),
        (summary(kind="imported", limit={"verdict": "network"}), "71 imported jobs, limited by the network"),
        (summary(kind="imported", jobs={"total": 0}), "Imported recording of the host"),
    ],
)
def test_the_finding(made: Judged, line: str) -> None:
    assert finding(made) == line


@pytest.mark.parametrize(
    ("reads", "read_mean", "writes", "write_mean", "word"),
    [
        (100, 1e-3, 10, 1e-3, "reads"),
        (10, 1e-3, 100, 1e-3, "writes"),
        (100, 1e-3, 1, 0.3, "writes"),
        (50, 1e-3, 50, 1e-3, "I/O"),
        (2, 1.0, 1, 1.0, "I/O"),
        (0, None, 0, None, "I/O"),
        (5, 1e-3, 0, None, "reads"),
    ],
)
def test_a_direction_is_named_where_most_of_the_time_in_calls_went_into_it(
    reads: int, read_mean: float | None, writes: int, write_mean: float | None, word: str
) -> None:
    role = {
        "reads": reads,
        "writes": writes,
        "read_latency_seconds": {"mean": read_mean},
        "write_latency_seconds": {"mean": write_mean},
    }
    assert limited_by(summary(limit=STORAGE, io={"by_role": {"work": role}})) == f"limited by work {word}"


@pytest.mark.parametrize(
    ("direction", "near", "line"),
    [
        ("write", 6, "limited by work writes at their cap of 40.0 MB/s"),
        ("write", 5, "limited by work writes"),
        ("read", 10, "limited by work writes"),
    ],
    ids=["most windows", "half of them", "the other direction"],
)
def test_a_cap_is_named_where_most_windows_of_waiting_were_near_it(
    direction: Direction, near: int, line: str
) -> None:
    role = {
        "reads": 1,
        "writes": 100,
        "read_latency_seconds": {"mean": 1e-3},
        "write_latency_seconds": {"mean": 1e-3},
    }
    made = summary(limit=STORAGE, io={"by_role": {"work": role}})
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
        (RoleFigures, {"reads", "writes", "read_latency_seconds", "write_latency_seconds"}),
        (Limit, {"verdict", "role"}),
        (Answer, {"answer", "preliminary"}),
    ):
        assert names <= {field.name for field in msgspec.structs.fields(record)}

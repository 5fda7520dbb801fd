"""What a paper says in words beside two arms, and why it is otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.analysis.comparison.sides import ComparedRun, Side
from mawl.lab.experiment.findings import finding_found
from mawl.lab.experiment.series_records import Direction, FindingSpec
from tests.fakes.stored_run import facts
from tests.fakes.views import partly


def arm(name: str, seconds: float, device_bytes: float, cpu: float = 4.0) -> Side:
    summary: dict[str, Any] = {
        "time": {
            "elapsed_seconds": 10.0,
            "real_time_seconds": seconds,
            "user_cpu_seconds": cpu,
            "system_cpu_seconds": 0.0,
        },
        "volumes": [{"role": "work", "devices": ["loop0"]}, {"role": "util", "devices": ["loop0"]}],
        "host": {"device": {"loop0": {"read_bytes": 0.0, "written_bytes": device_bytes}}},
        "io": {
            "application": {"read_bytes": 1e9, "written_bytes": 1e9},
        },
    }
    return Side(label=name, runs=(ComparedRun(facts=facts(), summary=partly(summary), jobs={}),))


def spec(direction: Direction) -> FindingSpec:
    return FindingSpec(
        source="paper",
        text="words",
        figure="time.real_time_seconds",
        reference="none",
        candidate="software",
        direction=direction,
    )


@pytest.mark.parametrize(
    ("seconds", "found"), [(91.0, "alike"), (109.0, "alike"), (89.0, "lower"), (111.0, "higher")]
)
def test_less_than_a_tenth_is_alike(seconds: float, found: str) -> None:
    arms = {"none": arm("none", 100.0, 1e9), "software": arm("software", seconds, 1e9)}
    judged = finding_found(spec("alike"), arms, "A Paper")
    assert judged.found == found
    assert judged.agrees is (found == "alike")


def test_where_it_is_otherwise_the_report_says_why() -> None:
    arms = {"none": arm("none", 100.0, 1e9), "software": arm("software", 50.0, 2e8, cpu=6.0)}
    judged = finding_found(spec("higher"), arms, "A Paper")
    assert judged.agrees is False
    assert "1.00 GB -> 200 MB for the same application bytes, fewer" in judged.reasons[0]
    assert judged.reasons[-1].endswith("CPU time of the jobs 4.00 s -> 6.00 s")


def test_an_arm_that_did_not_run_is_not_judged() -> None:
    judged = finding_found(spec("lower"), {"none": arm("none", 100.0, 1e9)}, "A Paper")
    assert judged.agrees is None
    assert judged.reasons == ["the figure is not known of both arms"]

"""Conditions of --fail-on over judged summaries, probes and comparisons."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.conditions import (
    Condition,
    State,
    check_of_comparison,
    checks_of_answer,
    checks_of_levels,
    checks_of_probe,
    checks_of_run,
    parse_level,
)
from mawl.advice.guideline import TargetGuideline
from mawl.advice.qualification.answer import answer_from
from mawl.base.errors import UsageError
from mawl.figures.comparison.compare import Comparison, SideFacts
from mawl.figures.comparison.programs import Statement, Verdict
from tests.fakes.answered import COMPUTE_NO, NOT_KNOWN, YES
from tests.fakes.views import partly


def summary(carried: bool | None, met: bool | None, outcome: str = "completed") -> dict[str, Any]:
    """What a condition reads of a judged summary."""
    known = met is not None
    return {
        "run_id": "a-run",
        "outcome": outcome,
        "jobs": {"finished": 8, "total": 9},
        "answer": {
            "answer": {True: "carried", False: "not carried", None: "not known"}[carried],
            "carried": carried,
            "reasons": ["its reason"],
        },
        "guideline": {
            "met": met,
            "bytes_per_second_per_core": 50e6 if known else None,
            "warn_bytes_per_second_per_core": 100e6,
        },
        "missing": {} if known else {"guideline.met": "it was not probed"},
    }


@pytest.mark.parametrize(("kept", "state"), [(True, "not met"), (False, "met"), (None, "not known")])
def test_a_run_meets_a_condition_or_not_or_it_is_not_known(kept: bool | None, state: State) -> None:
    found = {
        one.name: one
        for one in checks_of_run(partly(summary(kept, kept)), ["not-carried", "below-guideline"])
    }
    assert found["not-carried"].state == found["below-guideline"].state == state
    assert "its reason" in found["not-carried"].sentence
    assert ("100 MB/s" if kept is not None else "not probed") in found["below-guideline"].sentence


def test_a_run_that_failed_says_so_whatever_is_asked() -> None:
    (only,) = checks_of_run(partly(summary(True, True, "failed")), ["slower"])
    assert (only.name, only.state) == ("completed", "failed")


def test_a_probe_is_asked_target_by_target() -> None:
    util = TargetGuideline(
        core_basis="vCPU",
        warn_bytes_per_second_per_core=100e6,
        good_bytes_per_second_per_core=150e6,
        reason="it has no test",
    )
    work = msgspec.structs.replace(
        util,
        met=False,
        reason=None,
        read_bytes_per_second_per_core=90e6,
        write_bytes_per_second_per_core=200e6,
    )
    found = checks_of_probe({"work": work, "util": util})
    assert [(one.subject, one.state) for one in found] == [("work", "met"), ("util", "not known")]
    assert "90.0 MB/s" in found[0].sentence and found[1].sentence == "it has no test"


def test_a_qualification_is_asked_for_its_answer_and_its_rate_per_core() -> None:
    conditions: list[Condition] = ["not-carried", "below-guideline"]
    for evidence, states in ((YES, ["not met", "not met"]), (COMPUTE_NO, ["met", "not known"])):
        found = checks_of_answer("q", answer_from(evidence), conditions)
        assert [one.state for one in found] == states and all(one.sentence for one in found)
    assert [one.state for one in checks_of_answer("q", answer_from(NOT_KNOWN), ["not-carried"])] == [
        "not known"
    ]


def test_without_a_comparison_it_is_not_known_whether_a_side_is_slower() -> None:
    found = check_of_comparison("b", None, "they run other jobs")
    assert (found.state, found.sentence) == ("not known", "they run other jobs")


@pytest.mark.parametrize(
    ("verdict", "alike", "state"),
    [
        ("slower", False, "met"),
        ("slower", True, "not met"),
        ("faster", False, "not met"),
        ("not told apart", False, "not met"),
        ("not judged", None, "not known"),
    ],
)
def test_slower_is_what_a_comparison_establishes_beyond_its_margin(
    verdict: Verdict, alike: bool | None, state: State
) -> None:
    side = SideFacts(
        label="a", kind="run", title="", run_ids=[], answers=[], limits=[], validity=[], courses=[]
    )
    statement = Statement(
        verdict=verdict,
        alike=alike,
        jobs=8,
        jobs_left_out=0,
        reference_runs=5,
        candidate_runs=5,
        more_runs_needed=0,
        change_ratio=0.1,
    )
    compared = Comparison(
        basis="runs",
        reference=side,
        candidate=side,
        obstacles=[],
        differences=[],
        answer=[],
        statement=statement,
        figures=[],
        programs=None,
        places=[],
        roles=[],
        named=None,
        links=None,
        shape=[],
    )
    assert check_of_comparison("b", compared, None).state == state


def test_a_level_is_of_each_way_of_a_role_and_not_known_without_calls() -> None:
    def role(read: float | None, write: float | None) -> dict[str, Any]:
        return {"read_latency_seconds": {"p99": read}, "write_latency_seconds": {"p99": write}}

    held = {"data": role(0.005, None), "work": role(0.001, 0.0051), "util": role(None, None)}
    run = partly({"run_id": "a-run", "io": {"by_role": held, "coverage_ratio": 0.99}})
    found = list(checks_of_levels(run, [parse_level("p99=5ms")]))
    assert [(one.name, one.state) for one in found] == [
        ("p99 of data", "not met"),
        ("p99 of work", "met"),
        ("p99 of util", "not known"),
    ]
    assert found[1].sentence == (
        "work: p99 is 1.00 ms of read calls and 5.10 ms of write calls, page-cache hits included; "
        "5.00 ms are allowed"
    )
    (only,) = checks_of_levels(partly({"run_id": "a-run"}), [parse_level("work:p50=800us")])
    assert (only.state, "not measured" in only.sentence) == ("not known", True)


@pytest.mark.parametrize("level", ["data:p99=1s", "data:p99=1ms"])
def test_a_level_is_not_known_where_calls_were_not_seen(level: str) -> None:
    held = {"data": {"read_latency_seconds": {"p99": 0.005}}}
    run = partly({"run_id": "a-run", "io": {"by_role": held, "coverage_ratio": 0.6}})
    (only,) = checks_of_levels(run, [parse_level(level)])
    assert (only.state, "covers 60 % of the bytes" in only.sentence) == ("not known", True)


@pytest.mark.parametrize(
    "text", ["5ms", "p99=5", "p98=5ms", "disk:p99=5ms", "p99=0ms", "p99=-1ms", "p99=1e3ms"]
)
def test_a_level_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        parse_level(text)

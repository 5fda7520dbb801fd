"""The answer, on runs whose real time, reference time, waits, reach and length are known."""

from __future__ import annotations

from math import exp, log
from typing import Any

import msgspec
import pytest

from mawl.advice.answer import (
    AnswerEvidence,
    Decision,
    Disturbance,
    answer_of,
    decide,
    took_words,
)
from mawl.advice.bounds import AnswerBounds
from mawl.advice.limit.verdict import cost_words, costs_words, limit_of, limit_sentence, limit_words
from mawl.advice.qualification.machine import limit_by
from mawl.figures.statistics import Interval, interval_of
from mawl.figures.view import RunView
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import Waits
from mawl.records.model.run import PlannedJob, Reference
from mawl.records.model.summary.io import Foreign
from mawl.records.model.summary.judgement import Cause
from tests.fakes.altered_runs import node_run
from tests.fakes.measured_run import AT_REFERENCE, IDLE, WORKLOAD, four_jobs, reading_of, samples
from tests.fakes.stored_run import facts, job, planned
from tests.fakes.views import judge, plain

PLACES = "--data /mnt/data --work /mnt/work --util /mnt/util"

SECONDS = 59.5
"""Real time of each of the four jobs of the fake."""

BELOW = Interval(middle=1.5, low=1.4, high=1.6)
ABOVE = Interval(middle=3.0, low=2.8, high=3.2)
ACROSS = Interval(middle=2.0, low=1.9, high=2.1)
BY_CPU = Disturbance(kind="processors", reason="others computed", lack="others", most=0.5)
CACHED = ("only 24 % of the bytes read reached a device", "reach")


@pytest.mark.parametrize(
    ("slowdown", "changes", "answer", "lack"),
    [
        (BELOW, {}, "carried", ""),
        (ABOVE, {}, "not carried", ""),
        (ACROSS, {}, "not known", "spread"),
        (None, {"unknown": ("no job has one", "reference")}, "not known", "reference"),
        (BELOW, {"lowered": CACHED}, "not known", "reach"),
        (ABOVE, {"lowered": CACHED}, "not carried", ""),
        (BELOW, {"raised": [BY_CPU]}, "carried", ""),
        (ABOVE, {"raised": [BY_CPU]}, "not carried", ""),
        (ABOVE, {"raised": [msgspec.structs.replace(BY_CPU, most=0.8)]}, "not known", "others"),
        (ABOVE, {"raised": [msgspec.structs.replace(BY_CPU, most=None)]}, "not known", "others"),
        (
            ABOVE,
            {"raised": [BY_CPU, Disturbance(kind="devices", reason="x", lack="others", most=0.31)]},
            "not known",
            "others",
        ),
        (ACROSS, {"raised": [BY_CPU]}, "not known", "others"),
        (BELOW, {"failed": "1 of 4 jobs failed"}, "not carried", ""),
        (BELOW, {"stopped": "the run goes on"}, "not known", "stopped"),
        (ABOVE, {"stopped": "the run goes on"}, "not known", "stopped"),
        (None, {"failed": "1 of 4 jobs failed", "stopped": "it was killed"}, "not carried", ""),
    ],
)
def test_what_spoils_one_side_only_leaves_the_other(
    slowdown: Interval | None, changes: dict[str, Any], answer: str, lack: str
) -> None:
    found = decide(AnswerEvidence(slowdown=slowdown, bound=2.0, **changes))
    assert (found.answer, found.lack) == (answer, lack)
    assert (found.reason is None) == (answer != "not known" and "failed" not in changes)


def test_the_bound_itself_is_carried() -> None:
    at = Interval(middle=1.9, low=1.8, high=2.0)
    assert decide(AnswerEvidence(slowdown=at, bound=2.0)) == Decision(answer="carried")


def test_fewer_than_three_runs_have_an_assumed_range() -> None:
    one, two = interval_of([2.0]), interval_of([1.0, 4.0])
    assert one is not None and two is not None and interval_of([]) is None
    assert (one.low, one.middle, one.high) == pytest.approx((2.0 / 1.1, 2.0, 2.2))
    assert (two.low, two.middle, two.high) == pytest.approx((2.0 / 1.1, 2.0, 2.2))
    assert one.assumed and one.words() == "1.82 to 2.20, assumed"


def test_three_runs_have_the_interval_of_student() -> None:
    """4.3027 is the 97.5 % quantile of Student's distribution with two degrees of freedom."""
    values = [1.0, exp(0.1), exp(0.2)]
    found = interval_of(values)
    half = 4.3027 * 0.1 / 3**0.5
    assert found is not None and not found.assumed
    assert (log(found.low), log(found.middle), log(found.high)) == pytest.approx(
        (0.1 - half, 0.1, 0.1 + half), abs=1e-4
    )


def waits(cpu: float, queue: float, data: float, other: float = 0.0) -> Waits:
    return Waits(
        on_cpu_seconds=cpu,
        run_queue_seconds=queue,
        blocked_data_seconds=data,
        blocked_work_seconds=0.0,
        blocked_util_seconds=0.0,
        blocked_other_seconds=other,
    )


def four(of: Waits) -> list[JobRecord]:
    return [msgspec.structs.replace(one, waits=of) for one in four_jobs(60.0)]


def jobs_planned(reference: float | None) -> list[PlannedJob]:
    return [
        msgspec.structs.replace(planned(f"s{number}-1"), reference_seconds=reference)
        for number in range(1, 5)
    ]


def run_of(
    reference: float | None,
    /,
    *,
    of: Waits | None = None,
    reach: tuple[float | None, float | None] = (0.95, 0.9),
    active: float = 1500.0,
    others: float = 0.0,
    **changes: Any,
) -> RunView:
    """Four jobs of 59.5 s: 30 s on CPU, 10 s in the queue, 19.5 s in data."""
    given = {"outcome": "completed", "workload": WORKLOAD, "planned_jobs": jobs_planned(reference)}
    jobs = four(of or waits(30.0, 10.0, 19.5))
    reading = reading_of(of=facts(**{**given, **changes}), jobs=jobs)
    io = reading.summary.io
    io.reach.read_ratio, io.reach.write_ratio = reach
    io.application.read_bytes, io.application.written_bytes = 8e9, 2e9
    if others:
        io.foreign = Foreign(read_bytes=15e9, written_bytes=0.0, total_bytes_per_second=250e6, ratio=others)
    reading.summary.time.active_seconds = active
    return reading


def block(reading: RunView, bound: float = 2.0) -> tuple[dict[str, Any], dict[str, str]]:
    missing: dict[str, str] = {}
    return plain(answer_of(reading, bound, missing)), missing


def test_a_run_within_the_bound_is_carried() -> None:
    answer, missing = block(run_of(40.0))
    assert (answer["answer"], answer["carried"], answer["preliminary"]) == ("carried", True, False)
    assert answer["slowdown"] == pytest.approx(59.5 / 40.0)
    assert (answer["low"], answer["high"]) == pytest.approx((59.5 / 44.0, 59.5 / 40.0 * 1.1))
    parts = answer["parts"]
    assert {name: parts[name] for name in ("on_cpu", "run_queue", "data")} == pytest.approx(
        {"on_cpu": 0.75, "run_queue": 0.25, "data": 0.4875}
    )
    assert sum(parts.values()) == pytest.approx(answer["slowdown"])
    limit = limit_of(run_of(40.0), {}, 2.0)
    assert limit is not None and limit.costs[0].roles == ["data"]
    assert limit.costs[0].slowdown == pytest.approx(0.4875)
    assert answer["reference"]["seconds"] == pytest.approx(160.0)
    assert answer["reasons"][0] == (
        "4 sessions took 1.49 times mawl's reference time (1.35 to 1.64, assumed; bound 2.00)"
    )
    assert answer["next_step"] is None and missing["answer.next_step"]


def test_a_run_above_the_bound_is_not_and_another_bound_changes_that() -> None:
    reading = run_of(20.0)
    assert block(reading)[0]["answer"] == "not carried"
    assert block(reading, 4.0)[0]["answer"] == "carried"


def test_slower_storage_never_helps() -> None:
    """The same jobs that wait longer in data, whatever they would take alone on that system."""
    found = [
        block(run_of(40.0, of=waits(30.0, 10.0, wait, 19.5 - wait)))[0]["parts"]["data"]
        for wait in (5.0, 10.0, 19.5)
    ]
    assert found == sorted(found)


def test_the_page_cache_may_have_made_a_yes_and_not_a_no() -> None:
    fast, _ = block(run_of(40.0, reach=(0.24, 0.47), command=["/x/mawl", "run", "bed"]))
    slow, _ = block(run_of(20.0, reach=(0.24, 0.47)))
    assert (fast["answer"], fast["carried"], fast["preliminary"]) == ("not known", None, None)
    assert fast["reason"] == "only 24 % of the bytes read reached a device (80 % required)"
    assert fast["next_step"] == f"run without the page cache: mawl run bed {PLACES} --cache none"
    assert slow["answer"] == "not carried"


@pytest.mark.parametrize(
    ("changes", "reason", "step"),
    [
        (
            {"reach": (0.95, 0.5)},
            "only 50 % of the bytes written reached a device",
            f"run without the page cache: mawl run x --scale quick {PLACES} --cache none",
        ),
        (
            {"reach": (None, 0.9)},
            "how many of the bytes read reached a device is not known",
            f"run without the page cache: mawl run x --scale quick {PLACES} --cache none",
        ),
        (
            {"active": 59.0},
            "the active phase is only 59.0 s long (60.0 s required)",
            f"use a larger scale: mawl run x {PLACES} --scale full",
        ),
    ],
)
def test_a_yes_needs_a_storage_that_was_tested(changes: dict[str, Any], reason: str, step: str) -> None:
    answer, _ = block(run_of(40.0, **changes, command=["mawl", "run", "x", "--scale", "quick"]))
    assert answer["answer"] == "not known" and reason in answer["reason"]
    assert answer["next_step"] == step


def test_a_direction_that_hardly_moved_is_not_asked_for_its_reach() -> None:
    reading = run_of(40.0, reach=(0.95, 0.0))
    application = reading.summary.io.application
    application.read_bytes, application.written_bytes = 9.6e9, 0.4e9
    assert block(reading)[0]["answer"] == "carried"


def test_bytes_of_others_may_have_made_a_no_and_not_a_yes() -> None:
    """At a reference of 20 s W is 2.98, of which 0.98 is data; at 10 s W is 5.95, of which 1.95 is."""
    assert block(run_of(40.0, others=0.7))[0]["answer"] == "carried"
    doubtful, _ = block(run_of(20.0, others=0.7))
    assert doubtful["answer"] == "not known"
    assert "other programs moved 15.0 GB at the devices of the roles" in doubtful["reason"]
    assert doubtful["next_step"].startswith("end other programs, then run again: mawl run")
    assert block(run_of(10.0, others=0.7))[0]["answer"] == "not carried"


def test_a_run_of_some_minutes_or_a_small_scale_is_preliminary() -> None:
    small = msgspec.structs.replace(WORKLOAD, scale=0.0005)
    assert block(run_of(40.0, active=600.0))[0]["preliminary"] is True
    answer, _ = block(run_of(40.0, workload=small))
    assert answer["preliminary"] is True
    assert "scale 0.0005 is below quick (0.005)" in answer["reasons"][-1]
    provisional = Reference(version=1, provisional=["wide_sort"])
    assert (
        "provisional reference times of wide_sort"
        in block(run_of(40.0, reference=provisional))[0]["reasons"][-1]
    )


def test_an_interval_across_the_bound_is_not_known() -> None:
    answer, _ = block(run_of(30.0, command=["mawl", "run", "four", "--output", "x"]))
    assert answer["reason"] == "the bound lies in the range 1.80 to 2.18, assumed"
    assert answer["next_step"] == f"repeat the run: mawl run four {PLACES} --repeat 5"


def test_a_run_of_an_older_format_has_no_new_answer() -> None:
    reading = run_of(None, reference=None, format_version="2.6")
    answer, missing = block(reading)
    assert answer["slowdown"] is None and answer["answer"] == "not known"
    assert missing["answer.slowdown"] == answer["reason"]
    assert answer["reason"] == (
        "the run is of format 2.6, before reference times: its answer was of the old definition"
    )
    assert answer["next_step"].startswith("run it with this mawl: mawl run")


def test_jobs_without_a_reference_time_leave_the_answer_open() -> None:
    some = jobs_planned(40.0)
    some[0] = msgspec.structs.replace(some[0], reference_seconds=None)
    answer, _ = block(run_of(None, planned_jobs=some))
    assert answer["slowdown"] is None
    assert answer["reason"] == (
        "reference times are known for 75 % of the real time of the jobs (95 % required)"
    )
    assert "cpu_seconds of a command" in answer["next_step"]


def test_unknown_waits_leave_the_slowdown_and_take_the_parts() -> None:
    answer, missing = block(run_of(40.0, of=Waits()))
    assert answer["slowdown"] == pytest.approx(59.5 / 40.0)
    assert set(answer["parts"].values()) == {None} and "waits" in missing["answer.parts.data"]
    limit = limit_of(run_of(40.0, of=Waits()), {}, 2.0)
    assert limit is not None and limit.costs[0].resource == "cpu", "by the samples"


def test_a_failed_job_is_not_carried_whatever_else_is_unknown() -> None:
    some = four_jobs(60.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome="failed")
    answer, _ = block(reading_of(of=facts(workload=WORKLOAD), jobs=some))
    assert (answer["carried"], answer["next_step"]) == (False, None)
    assert "1 of 4 jobs failed: s1-1 (failed)" in answer["reason"]


@pytest.mark.parametrize("outcome", ["interrupted", "running"])
@pytest.mark.parametrize("end", ["lost", "stopped", "not_started"])
def test_a_run_that_did_not_go_through_is_answered_by_a_job_that_failed_only(outcome: str, end: str) -> None:
    some = four(waits(30.0, 10.0, 19.5))
    some[0] = job("s1-1", 0.0, 60.0, outcome=end)
    cut = facts(outcome=outcome, workload=WORKLOAD, planned_jobs=jobs_planned(10.0))
    answer, missing = block(reading_of(of=cut, jobs=some))
    assert answer["slowdown"] == pytest.approx(5.95)
    assert answer["carried"] is None
    assert "3 of 4 jobs finished" in missing["answer.carried"]
    some[1] = job("s2-1", 0.0, 60.0, outcome="failed")
    answer, _ = block(reading_of(of=cut, jobs=some))
    assert answer["carried"] is False
    assert "1 of 4 jobs failed: s2-1 (failed)" in answer["reason"]


def test_a_run_that_went_through_is_not_carried_where_a_job_was_lost() -> None:
    some = four_jobs(60.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome="lost")
    assert block(reading_of(of=facts(outcome="failed", workload=WORKLOAD), jobs=some))[0]["carried"] is False


def test_the_command_again_leaves_out_the_folder_and_the_nodes() -> None:
    command = ["mawl", "run", "four", "--cluster", "tcp://10.0.0.1:8786", "--link=10Gbit", "--output", "x"]
    nodes = [node_run("n1", 0.0), node_run("n2", 0.1)]
    answer, _ = block(run_of(30.0, command=command, node_runs=nodes))
    assert answer["next_step"] == "repeat the run: mawl run four --repeat 5"


def test_the_judged_summary_has_every_block_and_a_reason_for_every_null() -> None:
    of = facts(outcome="completed", workload=WORKLOAD, planned_jobs=AT_REFERENCE)
    reading = reading_of(of=of)
    whole = judge(of, reading.jobs, plain(reading.summary), samples(60, IDLE))
    assert whole["limit"]["verdict"] == "none"
    assert whole["validity"]["status"] == "preliminary"
    assert "limit" not in whole["missing"] and whole["missing"]["limit.second"]
    decided = {one["name"]: one["bound"] for one in whole["thresholds"]}
    assert decided["answer.bound"] == 2.0 and decided["validity.repeats.fewest_runs"] == 5
    strict = judge(
        of, reading.jobs, plain(reading.summary), samples(60, IDLE), AnswerBounds(answer_bound=1.5)
    )
    (own,) = [one for one in strict["thresholds"] if one["name"] == "answer.bound"]
    assert (own["bound"], own["source"]) == (1.5, "set by the user (mawl.toml)")


def test_words_of_a_cost_and_of_a_slowdown() -> None:
    cost = Cause(resource="storage", roles=["work"], direction="write", place="/mnt/b", share_ratio=0.2)
    assert cost_words(cost) == "work writes on /mnt/b, 20 % of the jobs' time"
    assert cost_words(msgspec.structs.replace(cost, slowdown=0.4, kind="latency")) == (
        "work writes on /mnt/b (latency), 20 % of the jobs' time"
    )
    over = Cause(resource="network", roles=["data"], share_ratio=0.5)
    queue = Cause(resource="cpu", kind="queue", share_ratio=0.3, slowdown=1.7)
    waits = Cause(resource="other", share_ratio=0.6)
    both = limit_by([waits, over, queue], is_named=True)
    assert limit_words(both) == "data over the network and processors (too few)"
    assert limit_sentence(both) == (
        "limit: data over the network, 50 % of the jobs' time, and processors (too few), "
        "30 % of the jobs' time"
    )
    assert costs_words(both).endswith("; then other waits, 60 % of the jobs' time")
    one = msgspec.structs.replace(both, second=None)
    assert limit_words(one) == "data over the network", "as the verdict says, whatever the second costs"
    below = limit_by([queue], is_named=False)
    assert limit_words(below) == "largest cost: processors (too few)"
    assert limit_sentence(below) == "largest cost: processors (too few), 30 % of the jobs' time"
    assert costs_words(limit_by([], is_named=False)) == "no cause cost the jobs 2 % of their time"
    assert took_words(1, 1.999, 2.0) == "1 session took 1.999 times mawl's reference time"
    assert took_words(2, 1.5, 2.0, "mine.toml@ab") == (
        "2 sessions took 1.50 times the reference time of mine.toml@ab"
    )

"""How jobs that do not count ended: wrong data, a crash and a run that stopped are different words."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.analysis.endings import bad_jobs, bad_sentence, what_happened
from mawl.model.records import JobRecord
from tests.fakes.stored_run import job


def ended(name: str, **changes: Any) -> JobRecord:
    return job(name, 0.0, 10.0, **({"outcome": "failed", "exit_code": None} | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verified": False, "exit_code": 1}, "wrong answer"),
        ({"exit_code": 3}, "exit status 3"),
        ({"signal": 9}, "killed by signal 9"),
        ({}, "failed"),
        ({"outcome": "timed_out", "signal": 15}, "ran into its time limit"),
        ({"outcome": "stopped", "signal": 15}, "stopped with the run"),
        ({"outcome": "lost"}, "its end was not recorded"),
        ({"outcome": "not_started"}, "never started"),
    ],
)
def test_what_happened_to_a_job(changes: dict[str, Any], words: str) -> None:
    assert what_happened(ended("s1-1", **changes)) == words


def test_a_sentence_names_three_jobs_and_counts_the_others() -> None:
    wrong, killed = ended("s1-1", verified=False), ended("s2-1", signal=9)
    assert bad_sentence([wrong, job("s3-1", 0.0, 9.0)], 6, 1) == "1 of 6 jobs failed: s1-1 (wrong answer)"
    five = [wrong, killed, *(ended(name, exit_code=1) for name in ("s1-2", "s3-1", "s4-1"))]
    assert bad_sentence(five, 6, 5) == (
        "5 of 6 jobs failed: s1-1 (wrong answer), s2-1 (killed by signal 9), s1-2 (exit status 1) and 2 more"
    )


def test_jobs_that_failed_by_themselves_come_before_those_that_stopped_with_the_run() -> None:
    stopped, failed = ended("s1-1", outcome="stopped"), ended("s2-1", exit_code=1)
    assert bad_jobs([stopped, failed, job("s3-1", 0.0, 9.0)]) == [failed, stopped]
    said = bad_sentence([stopped, failed], 6, 4)
    assert said == "4 of 6 jobs did not finish: s2-1 (exit status 1), s1-1 (stopped with the run) and 2 more"
    assert bad_sentence([], 6, 6) == "6 of 6 jobs did not finish: 6 never started"

"""Other work on the processors takes YES and NO from an answer."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from mawl.advice.answer import Disturbance
from mawl.advice.qualification.answer import answer_from
from mawl.advice.qualification.evidence import Evidence, Others, left_out, others_of, shows_nothing, uncounted
from mawl.figures.knee import RunVerdict, SessionRun
from tests.fakes.answered import NO, NOT_KNOWN, YES
from tests.fakes.drawn_evidence import EVIDENCE
from tests.fakes.measured_run import reading_of
from tests.fakes.qualifications import finished_run

BUSY = Others(ratio=0.4, names=("fio", "make"))
IDLE = Others(ratio=0.02)


def disturbed(evidence: Evidence, most: float | None) -> Evidence:
    raised = Disturbance(kind="processors", reason="other programs used 40 %", lack="others", most=most)
    return msgspec.structs.replace(evidence, others_measured=BUSY, raised=[raised])


@pytest.mark.parametrize(
    ("evidence", "most", "word"),
    [
        (YES, 0.1, "carried"),
        (NO, 0.1, "not carried"),
        (NO, 0.8, "not known"),
        (NO, None, "not known"),
        (NOT_KNOWN, 0.1, "not known"),
    ],
)
def test_busy_processors_only_spoil_a_no_that_they_may_have_made(
    evidence: Evidence, most: float | None, word: str
) -> None:
    """The range of the no begins at 2.70."""
    answer = answer_from(disturbed(evidence, most))
    assert answer.carried.answer == word
    assert {rule.name: rule.met for rule in answer.rules}["no other load"] is False
    if word == "not known":
        assert "fio; make" in answer.next_step and answer.next_step.endswith(evidence.again)


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ({"foreign_bytes_known": False}, "bytes of others at the devices are not known"),
        ({"others_measured": Others()}, "calibration, not known during the measured runs"),
    ],
)
def test_other_load_that_no_run_shows_is_not_known(lacking: dict[str, Any], said: str) -> None:
    rules = {rule.name: rule for rule in answer_from(msgspec.structs.replace(YES, **lacking)).rules}
    assert rules["no other load"].met is None and rules["no other load"].value.endswith(said)


@pytest.mark.parametrize("evidence", [YES, NO], ids=["yes", "no"])
def test_idle_processors_change_no_word(evidence: Evidence) -> None:
    both = ("others_calibration", "others_measured")
    unknown = answer_from(msgspec.structs.replace(evidence, **dict.fromkeys(both, Others())))
    idle = answer_from(msgspec.structs.replace(evidence, **dict.fromkeys(both, IDLE)))
    assert (idle.sentence, idle.next_step) == (unknown.sentence, unknown.next_step)
    assert idle.figures.calibration_others_cpu_ratio == 0.02
    assert unknown.missing["figures.calibration_others_cpu_ratio"]


@given(EVIDENCE)
@settings(max_examples=60)
def test_the_sentence_stays_short_beside_other_work(evidence: Evidence) -> None:
    assert len(answer_from(disturbed(evidence, None)).sentence.split()) <= 60


def test_the_busiest_run_counts_and_runs_without_samples_give_a_reason() -> None:
    calm = reading_of()
    loaded = reading_of({"host.cpu_user_seconds": 8.0, "host.cpu_idle_seconds": 0.0})
    assert not others_of([calm]).busy
    assert others_of([calm, loaded]).busy and others_of([loaded, calm]).busy
    unknown = others_of([reading_of(without="host.cpu")])
    assert unknown.ratio is None and unknown.reason


BURNING = "other programs used 30 % of the processors"


@pytest.mark.parametrize(
    ("verdict", "bad_jobs", "disturbance", "nothing"),
    [
        ("too many", 0, BURNING, True),
        ("too many", 0, None, False),
        ("too many", 1, BURNING, False),
        ("carried", 0, BURNING, False),
    ],
)
def test_a_slow_run_beside_other_work_shows_nothing_and_a_fast_one_that_its_sessions_fit(
    verdict: RunVerdict, bad_jobs: int, disturbance: str | None, nothing: bool
) -> None:
    run = finished_run("search", 1, 7, disturbance=disturbance)
    assert shows_nothing(run, SessionRun(sessions=7, verdict=verdict), bad_jobs) == nothing


def test_runs_that_do_not_count_are_one_caution() -> None:
    run = finished_run("measured", 4, 7, state="left out", others_cpu_ratio=0.3, disturbance=BURNING)
    more = msgspec.structs.replace(run, position=5, sessions=8, others_cpu_ratio=0.2, disturbance="others")
    disturbed = msgspec.structs.replace(run, state="disturbed")
    assert left_out([disturbed]) == uncounted([]) == []
    assert left_out([run, disturbed]) == [f"1 run beyond the planned ones does not count: {BURNING}."]
    assert left_out([run, more]) == [f"2 runs beyond the planned ones do not count: {BURNING}."]
    assert uncounted([run, more, run]) == [
        f"3 runs with 7 sessions and 8 sessions do not count for the number that fits: {BURNING}."
    ]

"""Sessions, scale, cache mode and repeats: what is given up where time, space or memory is short.

Which number of sessions is run next.
"""

from __future__ import annotations

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.campaigns.qualify.choice import (
    AIMED_ACTIVE_SECONDS,
    RUNS_EACH,
    SMOKE,
    Chooser,
    check_fits,
    expected,
    needs_at,
    next_number,
    probe_seconds,
    sessions_for,
)
from mawl.campaigns.qualify.interface import ObservedMachine
from mawl.figures.knee import SessionRun
from mawl.records.model.qualification import Fits, QualificationChoice
from tests.fakes.qualifications import qualification
from tests.fakes.qualified import FakeModel, machine


def ran(sessions: int, slowdown: float) -> SessionRun:
    verdict = "carried" if slowdown <= 2.0 else "too many"
    return SessionRun(sessions=sessions, verdict=verdict, answer_slowdown=slowdown, answer_bound=2.0)  # type: ignore[arg-type]


FORECAST = Fits(sessions=12)


@pytest.mark.parametrize(
    ("runs", "forecast", "wanted"),
    [
        ([ran(8, 1.5)], 12, 12),  # the forecast first
        ([ran(8, 1.5)], 7, 10),  # overtaken by the runs: in proportion
        ([ran(8, 3.0)], 6, 6),
        ([ran(8, 3.0)], 12, 5),  # nothing above a number that is too many
        ([ran(8, 1.5), ran(12, 1.9)], 12, 13),  # its neighbour
        ([ran(8, 1.5), ran(12, 3.0)], 12, 9),  # the line through both crosses 2.0 at 9.8
        ([ran(10, 1.9), ran(11, 2.1)], 12, 11),  # two neighbours, each three times
        ([ran(10, 1.9), *3 * [ran(11, 2.1)]], 12, 10),
        (3 * [ran(10, 1.9), ran(11, 2.1)], 12, None),
        (3 * [ran(5, 2.5)], 12, None),  # the fewest of its mix
        ([ran(3, 1.4)], 12, 4),  # and the most
        ([ran(3, 1.4), *3 * [ran(4, 1.9)]], 12, None),
        ([ran(4, 2.2)], 12, 3),
        (3 * [ran(500, 1.5)], 500, None),
    ],
)
def test_the_next_number(runs: list[SessionRun], forecast: int, wanted: int | None) -> None:
    assert next_number(runs, Fits(sessions=forecast)) == wanted


def test_without_a_forecast_and_without_both_sides_there_is_nothing_to_try() -> None:
    refused = SessionRun(sessions=8, verdict="refused")
    assert next_number([refused], Fits(sessions=None, reason="not known")) is None


@pytest.mark.parametrize("knee", [1, 2, 3, *range(5, 40)])
def test_the_search_ends_at_both_neighbours_of_the_bound(knee: int) -> None:
    def slowdown(sessions: int) -> float:
        return 2.0 * sessions / (knee + 0.5)

    first = 8 if knee > 4 else 3
    runs = [ran(first, slowdown(first))]
    while (wanted := next_number(runs, FORECAST)) is not None:
        assert [run.sessions for run in runs].count(wanted) < RUNS_EACH
        runs.append(ran(wanted, slowdown(wanted)))
        assert len(runs) < 20
    tried = {run.sessions for run in runs}
    assert {knee, knee + 1} <= tried


ASKED = qualification().asked


def chosen(
    minutes: float, seen: ObservedMachine | None = None, per_session: float = 0.25
) -> QualificationChoice:
    asked = msgspec.structs.replace(ASKED, minutes=minutes)
    return Chooser(asked, seen or machine(), FakeModel(per_session), 60 * minutes).choose({})


@pytest.mark.parametrize(
    ("cores", "sessions"), [(1, 2), (2, 3), (3, 4), (4, 5), (6, 8), (16, 20), (24, 30), (999, 500)]
)
def test_the_sessions_are_the_published_ones_for_the_cores(cores: int, sessions: int) -> None:
    assert sessions_for(cores) == sessions


def test_more_time_buys_a_larger_scale_and_never_more_than_the_time() -> None:
    choices = [chosen(minutes) for minutes in (5, 10, 30, 120)]
    scales = [choice.scale for choice in choices]
    assert scales == sorted(scales)
    assert scales[-1] > scales[1]
    for choice, minutes in zip(choices, (5, 10, 30, 120), strict=True):
        assert choice.total_seconds <= 60 * minutes
        assert choice.scale >= SMOKE


def test_proofs_are_given_up_first_then_measured_runs() -> None:
    given = [
        (choice.proofs, choice.repeats) for choice in (chosen(minutes) for minutes in (60, 7, 5, 2.4, 1.6))
    ]
    assert given[0] == (4, 3)
    assert given == sorted(given, reverse=True)
    assert given[-1] < (0, 3)


def test_the_active_phase_is_long_enough_for_storage_wherever_that_fits() -> None:
    assert chosen(7).active_seconds >= AIMED_ACTIVE_SECONDS
    # Without a page cache all measured runs together load the storage.
    three = chosen(3)
    assert (three.cache, three.repeats) == ("none", 3)
    assert AIMED_ACTIVE_SECONDS / 3 <= three.active_seconds < AIMED_ACTIVE_SECONDS
    short = chosen(1.0)
    assert short.repeats * short.active_seconds < AIMED_ACTIVE_SECONDS
    why = {decision.what: decision.why for decision in short.decisions}["scale"]
    assert "use more minutes" in why


def test_with_a_page_cache_one_run_must_load_the_storage_long_enough() -> None:
    """The kernel writes back later, so the minute counts in each run, and fewer runs fit."""
    three = chosen(3, machine(uncached=False, uncached_reason="9p keeps its files"))
    assert three.repeats < 3 and three.active_seconds >= AIMED_ACTIVE_SECONDS


def test_the_minutes_that_an_answer_to_publish_takes_are_enough_for_its_load() -> None:
    """Without a page cache the load of all runs counts, with one that of the longest."""
    cached = machine(uncached=False, uncached_reason="9p keeps its files")
    for seen in (machine(), cached):
        short = chosen(15, seen)
        assert short.minutes_to_publish is not None and short.load_seconds is not None
        enough = chosen(short.minutes_to_publish, seen)
        assert enough.minutes_to_publish is None and (enough.load_seconds or 0.0) >= 1200.0
        runs = short.load_seconds / short.active_seconds
        assert runs == 1 if seen is cached else runs >= short.repeats + short.proofs


def test_a_disk_with_little_room_bounds_the_scale() -> None:
    smoke = sum(needs_at(8, SMOKE).space_bytes.values())
    seen = machine()
    little = msgspec.structs.replace(
        seen, systems=[msgspec.structs.replace(seen.systems[0], free_bytes=2 * smoke)]
    )
    choice = chosen(240, little)
    assert choice.scale < chosen(240).scale
    assert choice.space_bytes <= 2 * smoke


def test_memory_that_the_fewest_sessions_exceed_is_refused() -> None:
    with pytest.raises(UnsuitableMachineError, match=r"sessions need .* of memory, and the machine has"):
        check_fits(machine(memory_bytes=2**28), 8)
    with pytest.raises(UnsuitableMachineError, match=r"at scale quick 8 .*, or a smaller --scale"):
        check_fits(machine(memory_bytes=2**28), 8, 0.005)


def test_where_the_cache_cannot_be_left_out_the_reason_is_a_decision() -> None:
    choice = chosen(30, machine(uncached=False, uncached_reason="9p keeps its files"))
    assert choice.cache == "cold"
    whys = {decision.what: decision.why for decision in choice.decisions}
    assert whys["cache"] == "--cache none is not possible: 9p keeps its files"


def asked_runs(repeat: int | None, minutes: float) -> QualificationChoice:
    asked = msgspec.structs.replace(ASKED, minutes=minutes, repeat=repeat)
    return Chooser(asked, machine(), FakeModel(0.25), 60 * minutes).choose({})


def test_one_run_that_was_asked_for_gets_the_time_of_all() -> None:
    one, two, usual = (asked_runs(repeat, 60) for repeat in (1, 2, None))
    assert (one.repeats, one.proofs) == (1, 0) and two.repeats == 2
    assert one.active_seconds > two.active_seconds > 2 * usual.active_seconds
    assert one.total_seconds <= 3600
    whys = {decision.what: decision.why for decision in one.decisions}
    assert "as asked; fewer than 3 make the answer preliminary" in whys["measured runs"]
    assert "the time goes to the measured runs" in whys["search"]


def test_three_runs_that_were_asked_for_give_up_the_rest_first() -> None:
    usual, six, short = asked_runs(None, 60), asked_runs(6, 60), asked_runs(6, 8)
    assert (six.repeats, six.proofs) == (6, 4) and six.scale < usual.scale
    assert (short.repeats, short.proofs) == (6, 0) and short.total_seconds <= 480
    whys = {decision.what: decision.why for decision in six.decisions}
    assert whys["measured runs"] == "as asked"


def test_runs_that_were_asked_for_and_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="10 minutes are too short") as refusal:
        asked_runs(50, 10)
    assert "and 50 runs of 8 sessions take" in str(refusal.value.why)


def test_the_minutes_that_are_named_have_room_for_their_longer_probe() -> None:
    """Three targets are probed for 18 s each of 2 minutes, and for longer when there are more."""
    others = 47.0
    asked = msgspec.structs.replace(ASKED, minutes=2.0)

    def chooser(minutes: float) -> Chooser:
        left = 60 * minutes - others - 3 * probe_seconds(minutes)
        return Chooser(msgspec.structs.replace(asked, minutes=minutes), machine(), FakeModel(0.25), left)

    with pytest.raises(UsageError, match="2 minutes are too short") as refusal:
        chooser(2.0).choose({"probe": 54.0, "calibration": others})
    named = int((refusal.value.cure or "").split()[4])
    assert chooser(named).choose({}).repeats == 1
    with pytest.raises(UsageError, match="too short"):
        chooser(named - 1).choose({"probe": 3 * probe_seconds(named - 1), "calibration": others})


@pytest.mark.parametrize("minutes", [3, 120])
def test_a_scale_that_was_asked_for_is_taken_with_the_runs_that_fit(minutes: float) -> None:
    asked = msgspec.structs.replace(ASKED, minutes=minutes, scale=0.005)
    made = Chooser(asked, machine(), FakeModel(0.25), 60 * minutes).choose({})
    (scale,) = (decision for decision in made.decisions if decision.what == "scale")
    assert made.scale == 0.005 and scale.value == "quick" and scale.why.startswith("as asked")
    fits = made.total_seconds <= 60 * minutes
    assert fits == (minutes == 120)
    assert made.repeats == (3 if fits else 1)


def test_a_scale_that_was_asked_for_without_the_room_is_refused() -> None:
    asked = msgspec.structs.replace(ASKED, scale=1.0)
    small = machine(memory_bytes=2**31)
    with pytest.raises(UnsuitableMachineError, match=r"at scale full, .*smaller --scale"):
        Chooser(asked, small, FakeModel(0.25), 3600).choose({})


def test_every_decision_has_a_reason() -> None:
    for minutes in (2, 5, 30):
        assert all(decision.value and decision.why for decision in chosen(minutes).decisions)


@pytest.mark.parametrize(
    ("slowdown", "answer", "sure"),
    [
        (1.0, "carried", 0.99),
        (1.95, "carried", 0.54),
        (2.05, "not carried", 0.54),
        (4.0, "not carried", 0.99),
    ],
)
def test_the_expected_answer_is_as_sure_as_the_forecast_is_far_from_the_bound(
    slowdown: float, answer: str, sure: float
) -> None:
    found = expected(slowdown, 2.0)
    assert found.answer == answer
    assert found.probability == pytest.approx(sure, abs=0.01)
    assert found.slowdown_low < slowdown < found.slowdown_high


def test_nothing_is_expected_of_a_disturbed_calibration() -> None:
    found = expected(1.0, 2.0, 0.6)
    assert found.answer == "not known"
    assert found.reason == "other work used 60 % of the processors during the calibration; stop it first"
    assert expected(1.0, 2.0, 0.1).answer == expected(1.0, 2.0, None).answer == "carried"

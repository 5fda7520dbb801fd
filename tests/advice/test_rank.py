"""Systems side by side: order, ties within the noise, costs, and what must not be compared."""

from __future__ import annotations

import msgspec
import pytest

from mawl.advice.qualification.evidence import Evidence
from mawl.advice.rank import rank
from mawl.base.errors import UsageError
from mawl.figures.statistics import Interval
from mawl.records.model.qualification import Fits, Qualification
from mawl.records.model.run import Reference
from mawl.reports.document import rendered
from mawl.reports.rank import document
from tests.fakes.answered import CLUSTER_YES, NO, YES, answered, clustered
from tests.fakes.closed_system import Job, System, slowdown
from tests.fakes.qualifications import choice


def system(
    sessions: int | None,
    low: int | None = None,
    high: int | None = None,
    cores: float = 11.2,
    evidence: Evidence = YES,
    ran: int = 5,
) -> Qualification:
    """A system on which so many sessions fit; measured with ``ran`` sessions, +-5 % delivered cores."""
    return answered(
        msgspec.structs.replace(
            evidence,
            sessions=ran,
            fits=Fits(sessions=sessions, low=low, high=high, reason="few runs"),
            delivered_cores=Interval(middle=cores, low=cores / 1.05, high=cores * 1.05),
        )
    )


def places(records: dict[str, Qualification]) -> list[tuple[str, int | None]]:
    return [(one.name, one.place) for one in rank(records, {}).systems]


def test_more_sessions_come_first_and_ranges_that_overlap_in_both_figures_are_a_tie() -> None:
    records = {
        "a": system(20, 18, 22),
        "b": system(26, 24, 28),
        "c": system(25, 23, 27),
        "d": system(12, 11, 13),
    }
    assert places(records) == [("b", 1), ("c", 1), ("a", 3), ("d", 4)]
    records["c"] = system(25, 23, 27, cores=14.0)
    assert places(records) == [("c", 1), ("b", 2), ("a", 3), ("d", 4)]
    shown = " ".join(rendered(document(rank(records, {})), "text").split())
    assert "b: place 2: as many sessions fit and surely more cores are delivered on c" in shown
    assert "d: place 4: surely more sessions fit on a, b, c" in shown


def test_delivered_cores_with_other_numbers_of_sessions_decide_nothing() -> None:
    records = {"a": system(26, 24, 28), "b": system(26, 24, 28, cores=20.0, ran=9)}
    assert places(records) == [("a", 1), ("b", 1)]


def test_places_are_well_ordered_where_overlaps_form_a_ring() -> None:
    """Pair by pair, z fits surely more than x, while x delivers more than y, and y more than z."""
    records = {
        "z": system(30, 21, 40, cores=8.0),
        "y": system(22, 15, 30, cores=10.0),
        "x": system(15, 10, 20, cores=14.0),
    }
    assert places(records) == [("y", 1), ("z", 2), ("x", 3)]


@pytest.mark.parametrize(("asked", "order"), [(20, ["b", "a"]), (40, ["a", "b"])])
def test_a_no_is_not_before_a_yes_to_as_many_sessions(asked: int, order: list[str]) -> None:
    """The forecast of a NO may reach over what was asked; with more asked, the sessions that fit decide."""
    records = {
        "a": system(36, 34, 39, evidence=NO, ran=asked),
        "b": system(21, 20, 22, ran=20),
    }
    found = rank(records, {})
    assert [(one.name, one.place) for one in found.systems] == list(zip(order, (1, 2), strict=True))
    said = "a answers NO for 40 sessions and b YES for 20; the place of a is by the sessions that fit"
    assert (said in found.remarks) == (asked == 40)


AMPLE = System(cores=8.0, speed=1.0, rates=(900.0,) * 3, streams=(200.0,) * 3, delays=(0.001,) * 3)
WORSE = {
    "ample": AMPLE,
    "slower storage": AMPLE._replace(rates=(450.0,) * 3),
    "fewer cores": AMPLE._replace(cores=4.0),
    "slower cores": AMPLE._replace(speed=0.8),
}


def test_systems_that_differ_in_one_thing_are_ranked_by_the_jobs_an_hour_of_equal_sessions() -> None:
    """Sessions alike end together, so n of them deliver n / W cores, and an hour has as many more jobs."""
    session = [Job(cpu=1.0, bytes=(20.0, 40.0, 20.0), requests=(2.0, 2.0, 2.0), cycles=5)] * 2

    def took(sessions: int, system: System) -> float:
        return slowdown([session] * sessions, system)

    records, jobs_an_hour = {}, {}
    for name, other in WORSE.items():
        fits = max(number for number in range(1, 40) if took(number, other) <= 2.0)
        delivered = jobs_an_hour[name] = 8 / took(8, other)
        answer = YES if fits >= 8 else NO
        records[name] = system(fits, fits, fits, cores=delivered, evidence=answer, ran=8)
    by_jobs = sorted(jobs_an_hour, key=lambda name: -jobs_an_hour[name])
    assert places(records) == list(zip(by_jobs, (1, 2, 3, 4), strict=True))
    assert by_jobs[0] == "ample"


def test_of_a_tie_the_cheaper_comes_first() -> None:
    found = rank({"a": answered(YES), "b": answered(YES)}, {"a": 2.0, "b": 1.0})
    assert [(one.name, one.place) for one in found.systems] == [("b", 1), ("a", 1)]


NEEDED = {
    "large": system(40, 36, 44),
    "fitting": system(13, 12, 14),
    "twin": system(14, 12, 15),
    "likely": system(13, 11, 15),
    "unlikely": system(11, 10, 13),
    "small": system(8, 7, 9),
    "unmeasured": system(None),
}
PRICES = dict(zip(NEEDED, (4.0, 1.5, 1.5, 1.0, 0.9, 0.5, 0.1), strict=True))


def test_the_cheapest_system_that_surely_carries_what_is_needed_comes_first() -> None:
    """12 sessions: of two at one price that on which more fit; sure before likely, and no at the end."""
    ranking = rank(NEEDED, PRICES, "EUR", 12)
    assert [(system.name, system.carries) for system in ranking.systems] == [
        ("twin", "yes"),
        ("fitting", "yes"),
        ("large", "yes"),
        ("likely", "probably"),
        ("unmeasured", "not known"),
        ("unlikely", "probably not"),
        ("small", "no"),
    ]
    assert ranking.pick == "twin" and ranking.needed_given
    shown = " ".join(rendered(document(ranking), "text").split())
    assert "Take twin: the cheapest of 3 that surely carries 12 sessions, for 1.50 EUR an hour." in shown
    assert (
        "likely costs 1.00 EUR an hour; whether it carries 12 sessions is open (13 (11 to 15) fit)" in shown
    )
    assert "large costs" not in shown and "small costs" not in shown


def test_the_price_of_a_session_is_that_of_a_month_over_the_sessions_that_fit() -> None:
    twin = rank(NEEDED, PRICES, "EUR", 12).systems[0]
    assert twin.price_per_session_month == pytest.approx(1.5 * 8760 / 12 / 14)
    assert twin.price_per_session_month_low == pytest.approx(1.5 * 730 / 15)
    assert twin.price_per_session_month_high == pytest.approx(1.5 * 730 / 12)


def test_where_no_system_surely_carries_the_likely_ones_are_named() -> None:
    records = {name: NEEDED[name] for name in ("likely", "small")}
    ranking = rank(records, {name: PRICES[name] for name in records}, sessions=12)
    assert ranking.pick is None
    assert "No system surely carries 12 sessions; likely probably would" in rendered(
        document(ranking), "text"
    )
    assert rank(records, {}, sessions=12).pick is None


def test_what_all_systems_were_asked_for_is_needed_unless_a_number_is_given() -> None:
    """A system that answers NO comes after one that answers YES, although more sessions fit on neither."""
    records = {"no": system(4, 3, 4, evidence=NO), "yes": system(6, 5, 7)}
    ranking = rank(records, {"no": 1.0, "yes": 2.0})
    assert (ranking.needed, ranking.needed_given, ranking.pick) == (5, False, "yes")
    assert [(one.name, one.carries) for one in ranking.systems] == [("yes", "yes"), ("no", "no")]
    other = rank({**records, "more": system(9, 8, 10, ran=8)}, {})
    assert other.needed is None and {one.carries for one in other.systems} == {None}
    assert all(one.missing["carries"] for one in other.systems)


def test_a_number_without_an_interval_is_not_told_apart_and_an_unknown_one_comes_last() -> None:
    found = rank({"a": system(40), "b": system(26, 24, 28), "c": system(None)}, {})
    assert [(one.name, one.place) for one in found.systems] == [("a", 1), ("b", 1), ("c", None)]
    last = found.systems[-1]
    assert last.missing["place"] and last.missing["fits"] == "few runs" and last.missing["cost"]
    assert all(getattr(last, name) is None for name in last.missing)


def test_a_system_on_which_surely_fewer_fit_has_a_place() -> None:
    fewer = system(None, high=1, evidence=NO, ran=2)
    found = rank({"a": fewer, "b": system(3, 3, 3, ran=2), "c": system(None, evidence=NO, ran=2)}, {})
    assert [(one.name, one.place, one.carries) for one in found.systems] == [
        ("b", 1, "yes"),
        ("a", 2, "no"),
        ("c", None, "no"),
    ]
    assert "fewer than 2" in rendered(document(found), "text")
    assert found.systems[1].behind == ["surely more sessions fit on b"]


def test_a_number_that_no_run_bounds_from_above_is_at_least_that() -> None:
    least = Fits(sessions=20, low=20, basis="measured")
    records = {
        "four": clustered(msgspec.structs.replace(CLUSTER_YES, fits=least)),
        "one": system(100, 98, 102),
    }
    found = rank(records, {})
    assert [(one.name, one.place) for one in found.systems] == [("one", 1), ("four", 1)]
    for page in (rendered(document(found), "text"), rendered(document(found), "markdown")):
        assert "at least 80" in page and "no run shows that more are too many" in " ".join(page.split())


def test_a_cost_below_one_keeps_three_digits() -> None:
    found = rank({"a": answered(YES), "b": answered(NO)}, {"a": 0.08, "b": 12000.0}, "EUR")
    assert "0.00939 (0.00886 to 0.00998)" in rendered(document(found), "text") and "0.00939 (" in rendered(
        document(found), "markdown"
    )
    assert "1,408.45 (" in rendered(document(found), "markdown")


def test_a_system_without_a_price_beside_one_with_a_price_is_named() -> None:
    found = rank({"a": answered(YES), "b": answered(NO)}, {"a": 1.0})
    assert "no price was given for b" in found.remarks
    assert not any("price" in one for one in rank({"a": answered(YES), "b": answered(NO)}, {}).remarks)


def test_sessions_and_jobs_of_a_cluster_are_those_of_all_its_nodes() -> None:
    found = rank({"one": system(26, 24, 28), "four": clustered(CLUSTER_YES)}, {"four": 10.0})
    first = found.systems[0]
    assert (first.name, first.nodes, first.sessions, first.fits, first.fits_low) == ("four", 4, 80, 80, 80)
    assert first.machine == "4 nodes, each with a CPU, 16 cores"
    assert first.cost == pytest.approx(10.0 / 30_672.0 * 1000)
    assert found.systems[1].nodes == 1
    assert found.systems[1].machine == "vm: a CPU, 6 vCPUs"


def test_a_thousand_jobs_cost_the_hours_that_they_take() -> None:
    slow = answered(msgspec.structs.replace(YES, jobs_per_hour=2000.0))
    found = {
        one.name: one for one in rank({"a": answered(YES), "b": slow}, {"a": 1.2, "b": 1.2}, "EUR").systems
    }
    assert found["b"].cost == pytest.approx(0.6) and found["a"].cost == pytest.approx(1.2 / 8.52)
    assert found["a"].cheapest is True and found["b"].cheapest is False
    assert found["b"].cost_low is not None and found["b"].cost_low < 0.6


def test_without_a_price_nothing_is_the_cheapest() -> None:
    found = rank({"a": answered(YES), "b": answered(NO)}, {"a": 1.2})
    assert {one.name: one.cheapest for one in found.systems} == {"a": True, "b": None}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (msgspec.structs.replace(answered(YES), choice=choice(scale=0.01)), "mawl qualify --scale"),
        (msgspec.structs.replace(answered(YES), choice=choice(cache="cold")), "cache mode"),
        (msgspec.structs.replace(answered(YES), load_version=7), "version of the load"),
        (msgspec.structs.replace(answered(YES), choice=choice(sessions=4)), "mix of a .*5 to 500.* 1 to 4 s"),
        (
            msgspec.structs.replace(
                answered(YES), asked=msgspec.structs.replace(answered(YES).asked, answer_bound=3.0)
            ),
            "bound",
        ),
        (
            msgspec.structs.replace(
                answered(YES), asked=msgspec.structs.replace(answered(YES).asked, workload="mixed30")
            ),
            "workload",
        ),
        (msgspec.structs.replace(answered(YES), answer=None), "no answer yet"),
    ],
)
def test_what_must_not_be_compared_is_refused_with_the_reason(other: Qualification, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rank({"a": answered(YES), "b": other}, {})


def test_a_price_for_a_system_that_is_not_ranked_is_refused() -> None:
    with pytest.raises(UsageError, match="not ranked"):
        rank({"a": answered(YES), "b": answered(NO)}, {"c": 1.0})


def test_energy_per_job_is_shown_with_its_scope_and_unlike_scopes_are_not_compared() -> None:
    records = {
        "a": answered(msgspec.structs.replace(YES, joules_per_job=1500.0, energy_scope="processors")),
        "b": answered(msgspec.structs.replace(YES, joules_per_job=4000.0, energy_scope="machine")),
        "c": answered(YES),
    }
    found = rank(records, {})
    by_name = {one.name: one for one in found.systems}
    assert by_name["a"].joules_per_job == 1500.0 and by_name["b"].energy_scope == "machine"
    assert by_name["c"].joules_per_job is None and by_name["c"].missing["joules_per_job"]
    said = " ".join(rendered(document(found), "text").split())
    assert "1.50 kJ per job (processors)" in said and "4.00 kJ per job (machine)" in rendered(
        document(found), "markdown"
    )
    assert "must not be compared: its scope differs (a: processors, b: machine)" in " ".join(found.remarks)
    del records["b"]
    assert not any("energy" in remark for remark in rank(records, {}).remarks)


def test_systems_of_other_reference_times_are_not_ranked() -> None:
    newer = msgspec.structs.replace(YES, reference=Reference(version=2))
    with pytest.raises(UsageError, match="the reference of a is version 1, that of b is version 2"):
        rank({"a": answered(YES), "b": answered(newer)}, {})
    for what in ("reference times of mine.toml@ab12", "seed 7", "memsize 3"):
        other = msgspec.structs.replace(YES, outside=[what])
        if "mine" in what:
            own = Reference(version=None, file="mine.toml@ab12")
            other = msgspec.structs.replace(YES, reference=own)
        with pytest.raises(UsageError, match=f"b: must not be ranked: it was measured with {what}"):
            rank({"a": answered(YES), "b": answered(other)}, {})


@pytest.mark.parametrize(
    ("reference", "system", "said"),
    [
        ("small", "large", "large carries 5.00 (4.00 to 6.29) times the sessions of small."),
        ("large", "small", "small carries 0.20 (0.16 to 0.25) times the sessions of large."),
        (
            "twin",
            "fitting",
            "fitting carries 0.93 (0.80 to 1.17) times the sessions of twin; "
            "which of them carries more is open.",
        ),
        (
            "small",
            "unmeasured",
            "How unmeasured compares with small is not known: "
            "how many sessions fit on unmeasured is not known.",
        ),
    ],
)
def test_two_systems_are_compared_by_the_sessions_that_fit(reference: str, system: str, said: str) -> None:
    """The ends are the extreme quotients: 36 / 9 and 44 / 7 of the first pair."""
    ranking = rank({name: NEEDED[name] for name in (reference, system)}, {})
    shown = rendered(document(ranking, compared=True), "text", 200)
    assert shown.startswith(said) and shown.count(said) == 1
    assert said in rendered(document(ranking), "text", 200)
    markdown = rendered(document(ranking, compared=True), "markdown")
    assert (
        markdown.startswith(f"# {said.removesuffix('.')}\n") and markdown.count(said.removesuffix(".")) == 1
    )

"""Systems side by side: order, ties within the noise, costs, and what must not be compared."""

from __future__ import annotations

import msgspec
import pytest

from mawl.advice.rank import rank
from mawl.base.errors import UsageError
from mawl.records.model.qualification import Fits, Qualification
from mawl.records.model.run import Reference
from mawl.reports.rank import markdown, text
from tests.fakes.answered import CLUSTER_YES, NO, YES, answered, clustered
from tests.fakes.qualifications import choice


def system(sessions: int | None, low: int | None = None, high: int | None = None) -> Qualification:
    return answered(
        msgspec.structs.replace(YES, fits=Fits(sessions=sessions, low=low, high=high, reason="few runs"))
    )


def test_more_sessions_come_first_and_overlapping_intervals_are_a_tie() -> None:
    records = {
        "a": system(20, 18, 22),
        "b": system(26, 24, 28),
        "c": system(25, 23, 27),
        "d": system(12, 11, 13),
    }
    found = rank(records, {})
    assert [(one.name, one.place) for one in found.systems] == [("b", 1), ("c", 1), ("a", 3), ("d", 4)]


def test_a_number_without_an_interval_is_not_told_apart_and_an_unknown_one_comes_last() -> None:
    found = rank({"a": system(40), "b": system(26, 24, 28), "c": system(None)}, {})
    assert [(one.name, one.place) for one in found.systems] == [("a", 1), ("b", 1), ("c", None)]
    last = found.systems[-1]
    assert last.missing["place"] and last.missing["fits"] == "few runs" and last.missing["cost"]
    assert all(getattr(last, name) is None for name in last.missing)


def test_a_number_that_no_run_bounds_from_above_is_at_least_that() -> None:
    least = Fits(sessions=20, low=20, basis="measured")
    records = {
        "four": clustered(msgspec.structs.replace(CLUSTER_YES, fits=least)),
        "one": system(100, 98, 102),
    }
    found = rank(records, {})
    assert [(one.name, one.place) for one in found.systems] == [("one", 1), ("four", 1)]
    for page in (text(found), markdown(found)):
        assert "at least 80" in page and "no run shows that more are too many" in page


def test_a_cost_below_one_keeps_three_digits() -> None:
    found = rank({"a": answered(YES), "b": answered(NO)}, {"a": 0.08, "b": 12000.0}, "EUR")
    assert "0.00939 (0.00886 to 0.00998)" in text(found) and "0.00939 (" in markdown(found)
    assert "1,408.45 (" in markdown(found)


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
    assert "1.50 kJ per job (processors)" in text(found) and "4.00 kJ per job (machine)" in markdown(found)
    assert "must not be compared: its scope differs (a: processors, b: machine)" in " ".join(found.remarks)
    del records["b"]
    assert not any("energy" in remark for remark in rank(records, {}).remarks)


def test_systems_of_other_reference_times_are_not_ranked() -> None:
    newer = msgspec.structs.replace(YES, reference=Reference(version=2))
    with pytest.raises(UsageError, match="the reference of a is version 1, that of b is version 2"):
        rank({"a": answered(YES), "b": answered(newer)}, {})
    own = msgspec.structs.replace(YES, reference=Reference(version=None, file="mine.toml@ab12"))
    with pytest.raises(UsageError, match="b: its reference times are of a file of the user's, mine"):
        rank({"a": answered(YES), "b": answered(own)}, {})

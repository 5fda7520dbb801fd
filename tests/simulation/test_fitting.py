"""How many sessions fit, by simulation that is brought to a measured slowdown."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest

from mawl.advice.qualification.changes import changes_of
from mawl.simulation.error_range import central_range, published_ratios
from mawl.simulation.forecast import Fitting, doubled_systems
from tests.fakes.fitted import SESSIONS, fitted
from tests.fakes.stored_run import planned


@pytest.fixture(scope="module")
def fitting(tmp_path_factory: pytest.TempPathFactory) -> Fitting:
    return fitted(tmp_path_factory.mktemp("fitting") / "run")


def test_the_run_itself_is_as_slow_as_it_was_measured(fitting: Fitting) -> None:
    assert fitting.slowdown(fitting.base.own, SESSIONS) == pytest.approx(3.0)
    assert fitting.slowdown(fitting.base.own, 2 * SESSIONS) > 4.5


def test_twice_the_cores_carry_about_twice_the_sessions(fitting: Fitting) -> None:
    twice = dict(doubled_systems(fitting.base.own))["cores"]
    own, more = (fitting.most_sessions(each, 3.0) for each in (fitting.base.own, twice))
    assert own == SESSIONS and more is not None and 10 <= more <= 14


def test_a_bound_that_not_even_the_fewest_keep_gives_no_number(fitting: Fitting) -> None:
    assert fitting.most_sessions(fitting.base.own, 1.1) is None


def test_changes_of_what_limits_have_the_range_in_which_papers_systems_were(fitting: Fitting) -> None:
    found = changes_of(fitting, 3.0)
    assert {change.text for change in found} == {"Twice the cores", "Cores twice as fast"}
    for change in found:
        assert change.gain_ratio is not None and change.gain_ratio > 0.3
        assert change.range_basis == "published systems" and change.reason is None
        assert change.sessions_low is not None and change.sessions_high is not None
        assert SESSIONS <= change.sessions_low < (change.sessions or 0) < change.sessions_high
    system = dict(doubled_systems(fitting.base.own))["cores"]
    cores = next(change for change in found if change.text == "Twice the cores")
    assert cores.sessions_high is not None
    low, _ = central_range(published_ratios())
    assert fitting.slowdown(system, cores.sessions_high) <= 3.0 / low
    assert fitting.slowdown(system, cores.sessions_high + 1) > 3.0 / low


def test_a_change_with_which_fewer_may_fit_than_the_mix_has_says_so(fitting: Fitting) -> None:
    cores = next(change for change in changes_of(fitting, 1.6) if change.text == "Twice the cores")
    assert cores.sessions is not None and cores.sessions_high is not None
    assert cores.sessions_low is None and "fewer than 5" in (cores.reason or "")


def test_a_run_that_the_model_misses_by_a_quarter_gives_no_range(fitting: Fitting) -> None:
    missed = replace(fitting.base.outcome, elapsed_seconds=1.25 * (fitting.base.elapsed_seconds or 0.0))
    found = changes_of(replace(fitting, base=replace(fitting.base, outcome=missed)), 3.0)
    assert found and all(change.range_basis is None for change in found)
    assert all("25 % too slow" in (change.reason or "") for change in found)


def test_the_slowdown_of_a_simulation_is_that_of_its_sums(fitting: Fitting) -> None:
    """A program without a reference time counts on neither side; without any the slowdown is 1."""
    taken = [("p", 1.0), ("p", 1.0), ("q", 4.0), ("r", 9.0)]
    outcome = SimpleNamespace(
        jobs=[
            SimpleNamespace(plan=SimpleNamespace(program=program), started=2.0, ended=2.0 + seconds)
            for program, seconds in taken
        ]
    )

    def of(**reference: float) -> float:
        jobs = [
            msgspec.structs.replace(planned("s1-1"), program=program, reference_seconds=seconds)
            for program, seconds in reference.items()
        ]
        facts = msgspec.structs.replace(fitting.base.facts, planned_jobs=jobs)
        own = replace(fitting, base=replace(fitting.base, facts=facts))
        return own.of(outcome)  # type: ignore[arg-type]

    assert of(p=0.5, q=2.0) == pytest.approx(6.0 / 3.0)
    assert of(q=0.5) == pytest.approx(8.0)
    assert of() == 1.0

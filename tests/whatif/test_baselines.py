"""Simple rules beside the model: by hand, with figures of the papers."""

from __future__ import annotations

import math

import msgspec
import pytest

from mawl.plan.mix import CPU_WEIGHTS
from mawl.records.model.published import published_result
from mawl.whatif.published_comparison import (
    FITTED_ON,
    RuleChanges,
    changes,
    pairs,
    roofline_of,
    rule_changes,
    scores,
)
from mawl.whatif.published_forecast import plan_of
from mawl.whatif.published_system import published_systems, system_of
from mawl.whatif.records import PublishedPair

SYSTEMS = {one.id: one for one in published_systems()}


def rules(reference: str, candidate: str, figure: str) -> RuleChanges:
    return rule_changes(SYSTEMS[reference], SYSTEMS[candidate], published_result(reference), figure)


def test_amdahl_shrinks_what_is_no_cpu_time_with_the_storage() -> None:
    """Redpaper 5288: 1175 min real, 784 user, 37 system; the hybrid's busiest array is the XIV with data."""
    before, after = (roofline_of(SYSTEMS[name]).storage_seconds for name in ("s822-xiv-20", "s822-hybrid-20"))
    cpu = (784 + 37) / 1175
    expected = cpu + (1 - cpu) * after / before
    found = rules("s822-xiv-20", "s822-hybrid-20", "time.real_time_seconds")
    assert found.amdahl == pytest.approx(expected - 1)
    rate = rules("s822-xiv-20", "s822-hybrid-20", "device.peak.total_bytes_per_second")
    assert rate.amdahl == pytest.approx(1 / expected - 1)


def test_a_roofline_is_declared_work_over_what_a_system_can_do() -> None:
    """One array serves all roles of s822-xiv-20, both directions within one bound; 8 ports of 800 MB/s lead
    there."""
    one = SYSTEMS["s822-xiv-20"]
    found = roofline_of(one)
    array = system_of(one).devices[0]
    assert len(system_of(one).devices) == 1 and array.shared_bytes_per_second is not None
    assert found.storage_seconds >= found.bytes / array.shared_bytes_per_second
    declared = sum(CPU_WEIGHTS[job.program] for job in plan_of(one).jobs())
    assert found.cpu_seconds == pytest.approx(declared / system_of(one).nodes[0].cores)
    assert found.seconds == max(found.storage_seconds, found.cpu_seconds)


@pytest.mark.parametrize("figure", ["time.user_cpu_seconds", "device.read_bytes", "time.memory_bytes"])
def test_what_follows_from_the_jobs_alone_changes_with_the_work_and_is_counted_only_then(figure: str) -> None:
    same = rules("s822-xiv-20", "s822-hybrid-20", figure)
    assert (same.roofline, same.counted) == (0.0, False)
    more = rules("s822-xiv-20", "s822-xiv-30", figure)
    work = roofline_of(SYSTEMS["s822-xiv-30"]).bytes / roofline_of(SYSTEMS["s822-xiv-20"]).bytes
    assert more.counted and more.roofline == pytest.approx(work - 1) and work > 1.2


def test_amdahl_says_nothing_where_the_paper_prints_no_times() -> None:
    assert rules("e880-ess-40gbe-4x30", "e880-ess-56gbe-4x30", "time.elapsed_seconds").amdahl is None


def test_changes_that_papers_print_are_nineteen_and_a_rate_over_the_cores_is_none() -> None:
    large = [pair for pair in pairs() if pair.large]
    assert len(large) == 19
    assert all(abs(pair.published_change_ratio) >= 0.05 and "per_core" not in pair.figure for pair in large)
    assert ("s822-hybrid-20", "time.real_time_seconds") not in {(one.candidate, one.figure) for one in large}


def test_a_change_is_right_in_its_direction_and_near_in_second_over_first() -> None:
    whole = pairs()
    known = next(pair for pair in whole if pair.large and pair.candidate == "dl980-flash-30")
    cases = (  # published, predicted, right, near
        (-0.63, -0.68, 1, 1),
        (-0.63, -0.70, 1, 0),
        (0.20, 0.04, 0, 1),
        (0.08, -0.06, 0, 1),
        (0.64, 0.0, 0, 0),
    )
    for published, predicted, right, near in cases:
        pair = msgspec.structs.replace(
            known,
            published_change_ratio=published,
            predicted_change_ratio=predicted,
            unseen_change_ratio=None,
        )
        model, unseen, no_change, *_ = changes([pair])
        assert (model.forecast, model.figures, model.right, model.near) == ("model", 1, right, near)
        assert (unseen.right, unseen.near) == (no_change.right, no_change.near)
    told = {one.forecast: one for one in changes(whole)}
    assert list(told) == ["model", "unseen", "no change", "Amdahl", "roofline"]
    assert told["no change"].right == 0 and {one.figures for one in told.values()} == {19}


def test_scores_are_mean_logarithms_of_counted_figures() -> None:
    found = pairs()
    counted = [pair for pair in found if pair.counted]
    every, outside, *by_paper = scores(found)
    assert (
        every.paper is None
        and every.fitted is None
        and every.figures == len(counted) == sum(one.figures for one in by_paper)
    )

    def off(name: str) -> float:
        def error(pair: PublishedPair) -> float:
            predicted = getattr(pair, name) or 0.0
            return abs(math.log(1 + predicted) - math.log(1 + pair.published_change_ratio))

        return sum(map(error, counted)) / len(counted)

    assert every.model_error == pytest.approx(off("predicted_change_ratio"))
    assert every.unseen_error == pytest.approx(off("unseen_change_ratio"))
    assert every.amdahl_error == pytest.approx(off("amdahl_change_ratio"))
    others = [pair for pair in counted if not {pair.reference, pair.candidate} & set(FITTED_ON)]
    assert (outside.paper, outside.fitted, outside.figures) == (None, False, len(others))
    assert {one.paper for one in by_paper if not one.fitted} == {pair.paper for pair in others}
    for one in (outside, *by_paper):
        assert one.best_rule[1] == min(one.no_change_error, one.amdahl_error, one.roofline_error)

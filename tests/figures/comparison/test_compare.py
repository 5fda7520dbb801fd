"""Two sides of runs: the statement, programs, figures, places, and when nothing is judged."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.compare import rates
from mawl.base.errors import UsageError
from mawl.figures.comparison.compare import Comparison, compare, compare_many
from mawl.figures.comparison.sides import Side, side_of
from tests.fakes.compared_runs import compared, jobs, pair, side, workload
from tests.fakes.stored_run import facts

QUIET = [0.98, 1.01, 1.0, 1.02, 0.99]

factors = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=6)


def test_five_slower_runs_are_slower() -> None:
    found = compare(*pair(QUIET, [1.2 * factor for factor in QUIET])).statement
    assert found is not None
    assert (found.verdict, found.jobs, found.jobs_left_out, found.more_runs_needed) == ("slower", 6, 0, 0)
    assert found.change_ratio == pytest.approx(0.2)
    assert found.low_ratio is not None and found.high_ratio is not None
    assert 0.17 < found.low_ratio < 0.2 < found.high_ratio < 0.23


def test_not_told_apart_comes_with_what_would_have_been_told() -> None:
    found = compare(*pair(QUIET, QUIET[::-1])).statement
    assert found is not None
    assert found.verdict == "not told apart"
    assert found.smallest_effect_ratio is not None and 0.02 < found.smallest_effect_ratio < 0.05
    assert found.runs_for_tenth == 5


def test_fewer_than_five_runs_are_shown_and_not_judged() -> None:
    comparison = compare(*pair(QUIET[:4], [2.0, 2.0]))
    found = comparison.statement
    assert found is not None
    assert (found.verdict, found.more_runs_needed, found.low_ratio) == ("not judged", 4, None)
    assert found.change_ratio == pytest.approx(1.0, abs=0.01)
    assert {row.verdict for row in comparison.figures} == {"not judged"}
    assert {row.verdict for row in comparison.places} == {"not judged"}
    assert comparison.programs is not None
    assert (comparison.programs.slower, comparison.programs.ran_longer) == (0, 2)


def test_programs_are_sorted_by_effect_and_counted() -> None:
    before = side("before", QUIET)
    runs = [
        compared(2 * place + 1, {"wide_sort": 0.8 * factor, "census_load": factor})
        for place, factor in enumerate(QUIET)
    ]
    found = compare(before, side_of("after", runs)).programs
    assert found is not None
    assert [change.program for change in found.changes] == ["census_load", "wide_sort"]
    assert [change.verdict for change in found.changes] == ["not told apart", "faster"]
    assert (found.faster, found.slower, found.no_difference) == (1, 0, 1)
    assert found.changes[1].change_ratio == pytest.approx(-0.2)
    assert found.changes[1].jobs == 4


def test_a_tiny_scale_is_a_plain_decimal_in_the_title_of_a_side() -> None:
    tiny = msgspec.structs.replace(facts().workload, scale=0.00005, scale_name="5e-05")
    before, after = (side(f"side {first}", QUIET, first=first, workload=tiny) for first in (0, 1))
    assert " at scale 0.00005 on " in compare(before, after).candidate.title


def test_jobs_are_matched_by_their_id_and_count_in_every_run_or_not_at_all() -> None:
    before, after = pair(QUIET, QUIET)
    failed = jobs({})
    failed[2] = msgspec.structs.replace(failed[2], outcome="failed")
    broken = compared(11, records=failed, outcome="failed")
    found = compare(before, side_of("after", [*after.runs[:4], broken]))
    assert found.statement is not None
    assert (found.statement.jobs, found.statement.jobs_left_out) == (5, 1)
    assert "run run-11 is failed: 5 of its 6 jobs count" in [one.sentence for one in found.obstacles]


def test_the_papers_table_holds_times_cpu_and_rates() -> None:
    rows = {row.name: row for row in compare(*pair(QUIET, [2 * factor for factor in QUIET])).figures}
    real = rows["time.real_time_seconds"]
    assert (real.verdict, real.unit) == ("higher", "seconds")
    assert real.change_ratio == pytest.approx(1.0)
    assert rows["time.user_cpu_seconds"].verdict == "not told apart"
    ratio = rows["cpu_real_ratio.of_sums"]
    assert ratio.change_ratio == pytest.approx(-0.5)
    assert rows["io.device.run_mean.total_bytes_per_second"].reference is not None
    assert "host.cpu_busy_ratio" not in rows, "neither side has it"


def test_what_differs_is_the_place_that_grew() -> None:
    comparison = compare(*pair(QUIET, QUIET, blocked_work_seconds=4.0))
    assert comparison.named is not None
    assert (comparison.named.place, comparison.named.role) == ("work", "work")
    assert comparison.named.sentence.startswith("time blocked in work ")
    verdicts = {row.place: row.verdict for row in comparison.places}
    assert verdicts["work"] == "more"
    assert verdicts["on processors"] == "not told apart"
    grown = next(row for row in comparison.places if row.verdict == "more")
    assert grown.change_seconds == pytest.approx(6 * 4.0)


def test_where_nothing_changed_nothing_is_named() -> None:
    assert compare(*pair(QUIET, QUIET)).named is None
    assert compare(*pair([1.0], [1.0])).named is None
    assert compare(*pair([1.0], [1.0], blocked_work_seconds=4.0)).named is None, "one run is not judged"


@settings(max_examples=20, deadline=None)
@given(factors, factors)
def test_sides_exchanged_give_the_inverse(before: list[float], after: list[float]) -> None:
    one, other = pair(before, after)
    there, back = compare(one, other), compare(other, one)
    assert there.statement is not None and back.statement is not None
    assert there.statement.change_ratio is not None and back.statement.change_ratio is not None
    product = (1 + there.statement.change_ratio) * (1 + back.statement.change_ratio)
    assert product == pytest.approx(1.0)
    opposite = {"slower": "faster", "faster": "slower"}
    verdict = there.statement.verdict
    assert back.statement.verdict == opposite.get(verdict, verdict)
    for row, mirrored in zip(there.figures, back.figures, strict=True):
        if row.change_ratio is not None and mirrored.change_ratio is not None and row.unit != "ratio":
            assert (1 + row.change_ratio) * (1 + mirrored.change_ratio) == pytest.approx(1.0)


def test_the_order_of_naming_runs_does_not_matter() -> None:
    before, after = pair(QUIET, [1.1 * factor for factor in QUIET])
    mixed = side_of("after", after.runs[::-1])
    assert compare(before, mixed) == compare(before, after)


def test_a_copy_is_no_repeat() -> None:
    run = compared(0)
    with pytest.raises(UsageError, match="run-0: is given twice on one side"):
        side_of("before", [run, run])
    with pytest.raises(UsageError, match="no run on this side"):
        side_of("before", [])


def test_many_sides_are_rows_and_pairs() -> None:
    sides = [side("a", QUIET), side("b", [1.3 * factor for factor in QUIET], first=1), _elsewhere()]
    found = compare_many(sides)
    assert [(row.label, row.runs, row.nodes, row.sessions, row.cores) for row in found.rows] == [
        ("a", 5, 1, 4, 2),
        ("b", 5, 1, 4, 2),
        ("c", 1, 1, 4, 2),
    ]
    assert [pair.candidate for pair in found.pairs] == ["b", "c"]
    first, second = found.pairs
    assert isinstance(first.comparison, Comparison) and first.comparison.statement is not None
    assert first.comparison.statement.verdict == "slower"
    assert second.comparison is None
    assert second.reason is not None and "differ in scale" in second.reason


def test_a_planted_tenth_in_the_noise_of_this_machine_is_rarely_seen_with_five_runs_and_says_so() -> None:
    generator = np.random.default_rng(1)
    before, after = np.exp(generator.normal(0.0, 0.15, (2, 5)))
    found = compare(*pair(before.tolist(), (1.1 * after).tolist())).statement
    assert found is not None and found.verdict == "not told apart"
    assert found.smallest_effect_ratio is not None and found.smallest_effect_ratio > 0.15
    assert found.runs_for_tenth is not None and 10 < found.runs_for_tenth < 100
    assert math.isfinite(found.high_ratio or math.inf)


def test_known_effects_are_named_at_the_stated_rates_and_none_of_sides_in_blocks() -> None:
    assert [row.met for row in rates()] == [True] * 3


def _elsewhere() -> Side:
    larger = workload(scale=1.0)
    return side_of("c", [compared(9, workload=larger)])

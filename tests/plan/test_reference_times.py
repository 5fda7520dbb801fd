"""The table of reference times: constants of program and scale, and no part of the load."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from mawl.plan import programs
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import mixed, once_each
from mawl.plan.programs import CpuSeconds, Knot, ReferenceTimes, reference_times


def table(*knots: tuple[float, dict[str, float]]) -> ReferenceTimes:
    """A table of medians by program at some scales."""
    return msgspec.structs.replace(
        reference_times(),
        knots=[
            Knot(
                scale=scale,
                measured_at="2026-11-29T20:21:16Z",
                seeds=5,
                programs={
                    name: CpuSeconds(median=median, low=0.9 * median, high=1.1 * median)
                    for name, median in medians.items()
                },
            )
            for scale, medians in knots
        ],
    )


LINES = table((0.001, {"a": 2.0, "b": 1.0}), (0.01, {"a": 5.0, "b": 1.0}), (0.02, {"a": 11.0}))


@pytest.mark.parametrize(
    ("scale", "seconds"),
    [
        (0.001, 2.0),
        (0.0055, 3.5),
        (0.01, 5.0),
        (0.015, 8.0),
        (0.02, 11.0),
        (0.03, 17.0),
    ],
)
def test_times_lie_on_lines_between_the_knots_and_beyond_the_last(scale: float, seconds: float) -> None:
    assert LINES.seconds("a", scale) == pytest.approx(seconds)


def test_below_the_first_knot_times_are_at_least_in_proportion_to_the_scale() -> None:
    """The line falls by 1/3 s for each 0.001 there: to 1.83 s at half the scale, where proportion gives 1."""
    assert LINES.seconds("a", 0.0005) == pytest.approx(2.0 - 0.5 / 3)
    steep = table((0.001, {"a": 2.0}), (0.002, {"a": 6.0}))
    assert steep.seconds("a", 0.0005) == pytest.approx(1.0)
    assert steep.seconds("a", 0.0001) == pytest.approx(0.2)


def test_a_program_that_is_not_at_every_knot_has_no_time() -> None:
    assert LINES.seconds("b", 0.001) is None and LINES.seconds("c", 0.001) is None


def test_the_table_has_every_program_at_every_knot_and_larger_scales_take_longer() -> None:
    own = reference_times()
    assert len(own.knots) >= 2
    assert [set(knot.programs) for knot in own.knots] == [set(CATALOGUE)] * len(own.knots)
    for below, above in pairwise(own.knots):
        assert below.scale < above.scale
        assert all(below.programs[name].median < above.programs[name].median for name in CATALOGUE)
    for knot in own.knots:
        assert all(0.0 < one.low <= one.median <= one.high for one in knot.programs.values())
        for name, one in knot.programs.items():
            assert CATALOGUE[name].cpu_seconds(knot.scale) == pytest.approx(one.median)
    assert set(own.provisional) <= set(CATALOGUE)


def test_a_program_without_a_time_says_what_makes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "reference_times", lambda: LINES)
    with pytest.raises(KeyError, match="wide_sort has no reference time: make reference-times"):
        CATALOGUE["wide_sort"].cpu_seconds(0.01)


def test_other_reference_times_do_not_change_who_runs_when(monkeypatch: pytest.MonkeyPatch) -> None:
    own = reference_times()
    sizes = (1, 4, 5, 20, 30, 57)
    before = [mixed(sessions) for sessions in sizes], once_each(4)
    factors = dict(zip(CATALOGUE, range(40, 1, -2), strict=False))
    doubled = table(
        *(
            (knot.scale, {name: factors[name] * one.median for name, one in knot.programs.items()})
            for knot in own.knots
        )
    )
    monkeypatch.setattr(programs, "reference_times", lambda: doubled)
    assert CATALOGUE["wide_sort"].cpu_seconds(0.02) == pytest.approx(34 * 26.581)
    assert ([mixed(sessions) for sessions in sizes], once_each(4)) == before

"""Sharing in equal turns: nothing too much, nothing left over, alike for alike, by hand where it is easy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mawl.simulation.resources import OWN, Floats, Whole, shares

AMOUNTS = st.one_of(st.just(0.0), st.floats(0.01, 100.0))


def shared(uses: Floats, fastest: Floats, capacity: Floats) -> tuple[Floats, Whole]:
    return shares(uses, uses, uses, fastest, capacity)


@st.composite
def loads(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    rows, columns = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    uses = draw(arrays(float, (rows, columns), elements=AMOUNTS))
    fastest = draw(arrays(float, rows, elements=st.floats(0.01, 100.0)))
    return uses, fastest, draw(arrays(float, columns, elements=st.floats(0.1, 100.0)))


@given(loads(), st.data())
def test_turns_of_several_sizes_neither_give_too_much_nor_leave_anything(
    load: tuple[Floats, Floats, Floats], data: st.DataObject
) -> None:
    uses, fastest, capacity = load
    sizes = data.draw(arrays(float, uses.shape, elements=st.floats(0.01, 100.0)))
    rates, bound = shares(uses, uses / sizes, uses, fastest, capacity)
    used = rates @ uses
    assert (used <= capacity * (1 + 1e-9)).all()
    assert (rates <= fastest * (1 + 1e-9)).all()
    for row in np.flatnonzero(bound != OWN):
        assert used[bound[row]] == pytest.approx(capacity[bound[row]], rel=1e-6)


@given(loads(), st.floats(1e-3, 1e3))
def test_the_unit_of_a_turn_does_not_matter(load: tuple[Floats, Floats, Floats], factor: float) -> None:
    uses, fastest, capacity = load
    turns = uses.copy()
    turns[:, 0] *= factor
    assert shares(uses, turns, uses, fastest, capacity)[0] == pytest.approx(
        shared(uses, fastest, capacity)[0], rel=1e-6
    )


@given(loads())
def test_no_resource_gives_more_than_it_has(load: tuple[Floats, Floats, Floats]) -> None:
    uses, fastest, capacity = load
    rates, _ = shared(uses, fastest, capacity)
    assert (rates @ uses <= capacity * (1 + 1e-9)).all()
    assert (rates <= fastest * (1 + 1e-9)).all()


@given(loads())
def test_who_is_held_back_is_held_back_by_a_resource_that_is_used_up(
    load: tuple[Floats, Floats, Floats],
) -> None:
    uses, fastest, capacity = load
    rates, bound = shared(uses, fastest, capacity)
    used = rates @ uses
    for row, column in enumerate(bound):
        if column == OWN:
            assert rates[row] == pytest.approx(fastest[row])
        else:
            assert uses[row, column] > 0
            assert used[column] == pytest.approx(capacity[column], rel=1e-6)


@example((np.array([[5.0, 0.0, 1.0], [1.0, 5.0, 5.0]]), np.ones(2), np.ones(3)))
@given(loads())
def test_alike_activities_get_alike_rates_in_any_order(load: tuple[Floats, Floats, Floats]) -> None:
    uses, fastest, capacity = load
    twice = np.vstack([uses, uses]), np.concatenate([fastest, fastest])
    rates, _ = shared(*twice, capacity)
    assert rates[: len(fastest)] == pytest.approx(rates[len(fastest) :], rel=1e-6)
    turned, _ = shared(uses[::-1], fastest[::-1], capacity)
    assert turned[::-1] == pytest.approx(shared(uses, fastest, capacity)[0], rel=1e-6)


@given(
    arrays(float, st.integers(1, 8), elements=st.floats(0.01, 100.0)),
    st.floats(0.1, 100.0),
    st.floats(1.0, 10.0),
)
def test_more_of_the_only_resource_slows_nobody(fastest: Floats, capacity: float, factor: float) -> None:
    uses = np.ones((len(fastest), 1))
    before, _ = shared(uses, fastest, np.array([capacity]))
    after, _ = shared(uses, fastest, np.array([capacity * factor]))
    assert (after >= before * (1 - 1e-9)).all()


def test_what_one_leaves_goes_to_the_others() -> None:
    rates, bound = shared(np.ones((3, 1)), np.array([1.0, 10.0, 10.0]), np.array([9.0]))
    assert rates.tolist() == [1.0, 4.0, 4.0]
    assert bound.tolist() == [OWN, 0, 0]


def test_a_flow_over_two_links_takes_the_share_of_the_narrower() -> None:
    uses = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    rates, bound = shared(uses, np.full(3, np.inf), np.array([10.0, 4.0]))
    assert rates.tolist() == [2.0, 8.0, 2.0]
    assert bound.tolist() == [1, 0, 1]


def test_a_row_that_stands_for_many_takes_their_share() -> None:
    """Ten alike nodes and one other on a shared device of 11 a second: one each."""
    uses = np.ones((2, 1))
    counts = np.array([[10.0], [1.0]])
    rates, _ = shares(uses, uses, uses * counts, np.full(2, np.inf), np.array([11.0]))
    assert rates.tolist() == [1.0, 1.0]


def test_alike_nodes_on_a_shared_device_get_alike_rates() -> None:
    """Two nodes with processors of their own, whose two jobs read from the device of both."""
    uses = np.array([[5.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 5.0, 1.0], [0.0, 1.0, 2.0]])
    rates, _ = shared(uses, np.full(4, 0.5), np.array([1.0, 1.0, 2.0]))
    assert rates.tolist() == pytest.approx([0.125, 0.375, 0.125, 0.375])


def test_who_wants_little_of_a_full_resource_gets_it() -> None:
    """Two compute on a core each and read a little beside one that would fill the device by itself."""
    uses = np.array([[0.04, 160.0], [1.5, 30.0], [1.5, 30.0]])
    rates, bound = shared(uses, np.array([0.8, 0.6, 0.6]), np.array([2.0, 120.0]))
    assert rates.tolist() == pytest.approx([(120.0 - 0.6 * 60.0) / 160.0, 0.6, 0.6])
    assert bound.tolist() == [1, OWN, OWN]


def test_what_one_cannot_take_of_cores_goes_to_those_who_compute() -> None:
    """One that waits for a device takes little of the cores, so the others share what it leaves of them."""
    uses = np.array([[0.1, 100.0], [1.0, 10.0], [1.0, 10.0]])
    rates, _ = shared(uses, np.array([1.0, 1.0, 1.0]), np.array([1.5, 60.0]))
    assert rates[1] == rates[2] == pytest.approx((1.5 - 0.1 * rates[0]) / 2, rel=0.05)
    assert rates[0] == pytest.approx((60.0 - 20.0 * rates[1]) / 100.0, rel=1e-6)

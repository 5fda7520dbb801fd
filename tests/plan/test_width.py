"""The most jobs side by side, against trying every set."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from mawl.plan.workload import widest


@st.composite
def orders(draw: st.DrawFn) -> dict[str, set[str]]:
    """Orders of up to eight jobs, each waiting for some of those before it."""
    names = "abcdefgh"[: draw(st.integers(0, 8))]
    return {
        name: set(draw(st.lists(st.sampled_from(names[:number]), max_size=3))) if number else set()
        for number, name in enumerate(names)
    }


@given(orders())
def test_it_is_the_largest_set_without_order(before: dict[str, set[str]]) -> None:
    earlier: dict[str, set[str]] = {}
    for name, direct in before.items():
        earlier[name] = direct.union(*(earlier[one] for one in direct))
    free = [
        len(chosen)
        for size in range(len(before) + 1)
        for chosen in combinations(before, size)
        if not any(one in earlier[other] for one in chosen for other in chosen)
    ]
    assert widest(before) == max(free)


def test_a_crowd_and_a_chain() -> None:
    assert widest({f"job{number}": set() for number in range(404)}) == 404
    assert widest({f"job{number}": {f"job{number - 1}"} if number else set() for number in range(404)}) == 1

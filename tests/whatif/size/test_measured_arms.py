"""Random catalogues over the arms of lab beds that were really run: is the pick the one that the runs pick?

The arms, their forecasts and their measured times are those of docs/reference/forecasts.md.  A catalogue has
the arms of one campaign with made-up prices; a bound of their time is drawn.  The right pick is the cheapest
arm with a measured time within the bound.  The errors that give the probability are those of the other beds.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from mawl.simulation.error_range import measured_ratios, probability_within
from tools.sizing import Outcome, outcome

PAGE = Path(__file__).parents[3] / "docs/reference/forecasts.md"
UNITS = {"h": 3600.0, "min": 60.0, "s": 1.0}
CATALOGUES = 2000


class Arm(NamedTuple):
    """Seconds, summed over the arm's jobs."""

    forecast: float
    measured: float
    calibrates: bool


def seconds_of(text: str) -> float:
    words = text.split()
    return sum(float(number) * UNITS[unit] for number, unit in zip(words[::2], words[1::2], strict=True))


@pytest.fixture(scope="module")
def campaigns() -> dict[str, dict[str, Arm]]:
    found: dict[str, dict[str, Arm]] = defaultdict(dict)
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[2] == "time.real_time_seconds":
            found[cells[0]][cells[1]] = Arm(
                seconds_of(cells[3]), seconds_of(cells[4]), "(calibrates)" in cells[1]
            )
    assert len(found) == 12 and sum(map(len, found.values())) == 32
    return found


def shares(campaigns: dict[str, dict[str, Arm]], probability: float) -> tuple[float, float, float]:
    """Shares of all catalogues: the right pick or within 5 % of its cost; too slow an arm; a dearer one."""
    draw = random.Random(29)
    found: Counter[Outcome] = Counter()
    for _ in range(CATALOGUES):
        name = draw.choice(list(campaigns))
        arms = campaigns[name]
        others = [
            arm.forecast / arm.measured - 1.0
            for other, of in campaigns.items()
            for arm in of.values()
            if other.split()[0] != name.split()[0] and not arm.calibrates
        ]
        pick = partial(cheapest, arms, measured_ratios(others), probability)
        found[outcome(draw, {name: arm.measured for name, arm in arms.items()}, pick)] += 1
    return found["right"] / CATALOGUES, found["too slow"] / CATALOGUES, found["dearer"] / CATALOGUES


def cheapest(
    arms: dict[str, Arm],
    ratios: Sequence[float],
    probability: float,
    prices: Mapping[str, float],
    bound: float,
) -> str | None:
    """The cheapest arm that keeps the bound with the probability."""
    likely = [arm for arm in arms if probability_within(arms[arm].forecast, bound, ratios) >= probability]
    return min(likely, key=prices.__getitem__, default=None)


def test_the_pick_is_that_of_the_measured_arms_in_nine_of_ten(
    campaigns: dict[str, dict[str, Arm]],
) -> None:
    right, slow, dear = shares(campaigns, 0.5)
    assert right >= 0.90
    assert slow <= 0.05 and dear <= 0.05


def test_a_safe_pick_is_seldom_too_slow(campaigns: dict[str, dict[str, Arm]]) -> None:
    right, slow, _ = shares(campaigns, 0.8)
    assert slow <= 0.01 and right >= 0.75

"""The measured errors of forecasts: as the printed pages have them, and the probability they give."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from mawl.simulation.error_range import BED_RANGES, PAPERS_HIGH_RATIO, PAPERS_LOW_RATIO
from mawl.simulation.measured_errors import (
    DRAWN_BEDS,
    LAB_BEDS,
    PUBLISHED_SYSTEMS,
    TimeFigure,
    bed_ratios,
    central_range,
    margin_for,
    measured_ratios,
    probability_within,
)
from tools.drawn_forecasts import DrawnForecast, stored

REFERENCE = Path(__file__).parents[2] / "docs/reference"


def printed(page: str) -> list[list[str]]:
    lines = (REFERENCE / page).read_text().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


@pytest.mark.parametrize("figure", LAB_BEDS)
def test_errors_of_beds_are_those_of_every_forecast_arm(figure: TimeFigure) -> None:
    rows = [row for row in printed("forecasts.md") if row[2] == figure and "calibrates" not in row[1]]
    assert [float(row[5].split()[0]) / 100.0 for row in rows] == pytest.approx(LAB_BEDS[figure])


def test_errors_of_papers_are_those_of_every_system_outside_the_fit() -> None:
    times = ("time.real_time_seconds", "time.elapsed_seconds", "time.active_seconds")
    rows = [row for row in printed("published-forecasts.md") if len(row) == 5 and row[1] in times]
    found: dict[str, float] = {}
    for figure in reversed(times):
        for system, of, _, _, error in rows:
            if of == figure and not system.endswith("*") and re.match(r"[-+]", error):
                found[system] = float(error.split()[0]) / 100.0
    assert found == pytest.approx(PUBLISHED_SYSTEMS)


def drawn() -> list[DrawnForecast]:
    return stored((REFERENCE / "drawn-forecasts.jsonl").read_bytes().splitlines())


def test_errors_of_drawn_beds_are_those_of_every_forecast() -> None:
    assert [round(one.error_ratio, 3) for one in drawn()] == list(DRAWN_BEDS["time.elapsed_seconds"])
    assert [round(one.real_time_error_ratio, 3) for one in drawn()] == list(
        DRAWN_BEDS["time.real_time_seconds"]
    )


def campaigns(figure: TimeFigure) -> list[list[float]]:
    """Errors by campaign: those of one are not independent."""
    found: dict[str, list[float]] = {}
    rows = [row for row in printed("forecasts.md") if row[2] == figure and "calibrates" not in row[1]]
    for row in rows:
        found.setdefault(row[0], []).append(float(row[5].split()[0]) / 100.0)
    for one, error in zip(drawn(), DRAWN_BEDS[figure], strict=True):
        found.setdefault(f"drawn {one.seed} {one.campaign}", []).append(error)
    return list(found.values())


def test_a_campaign_lies_in_the_range_that_the_others_give_in_nine_of_ten_forecasts() -> None:
    said = (REFERENCE.parent / "design/simulation.md").read_text()
    for figure, (low, high) in BED_RANGES.items():
        every = campaigns(figure)
        inside = 0
        for place, errors in enumerate(every):
            others = [error for number, of in enumerate(every) if number != place for error in of]
            least, most = central_range(measured_ratios(others))
            inside += sum(least <= ratio <= most for ratio in measured_ratios(errors))
        checked = len(bed_ratios(figure))
        assert checked == sum(map(len, every))
        assert 0.85 <= inside / checked <= 0.95
        assert f"{low:.2f} to {high:.2f}" in said
        assert f"{inside} of {checked}" in said


def test_a_central_range_leaves_out_as_many_on_each_side_as_its_probability_allows() -> None:
    ratios = [1.0 + number / 100.0 for number in range(99)]
    assert central_range(ratios) == (1.04, 1.94), "the fifth on each side: (100 - 2 * 5) / 100"
    assert central_range(ratios, 0.8) == (1.09, 1.89)
    assert central_range(ratios[:7]) == (1.00, 1.06), "too few: the smallest and the largest"


def test_the_design_pages_name_the_ranges() -> None:
    said = (REFERENCE.parent / "design/qualify-answer.md").read_text()
    low, high = BED_RANGES["time.real_time_seconds"]
    assert f"| {low:.2f} to {high:.2f} |" in said
    assert f"| {PAPERS_LOW_RATIO:.2f} to {PAPERS_HIGH_RATIO:.2f} |" in said
    said = (REFERENCE.parent / "design/size.md").read_text()
    checked = len(bed_ratios("time.real_time_seconds"))
    assert f"| {checked} | {100.0 * checked / (checked + 1):.1f} % |" in said


def test_the_probability_is_never_certain_and_falls_with_the_forecast() -> None:
    ratios = measured_ratios(LAB_BEDS["time.real_time_seconds"])
    found = [probability_within(forecast, 2.0, ratios) for forecast in (0.1, 1.5, 1.8, 2.0, 2.2, 5.0)]
    assert found[0] == len(ratios) / (len(ratios) + 1) < 1.0 and found[-1] == 0.0
    assert all(before >= after for before, after in pairwise(found))


def test_a_bound_divided_by_its_margin_has_the_probability() -> None:
    ratios = measured_ratios(LAB_BEDS["time.real_time_seconds"])
    for probability in (0.1, 0.5, 0.8, 0.95):
        margin = margin_for(probability, ratios)
        assert margin is not None
        assert probability_within(2.0 / margin * 0.999, 2.0, ratios) >= probability
        assert probability_within(2.0 / margin * 1.001, 2.0, ratios) < probability
    assert margin_for(0.99, ratios) is None and margin_for(0.5, ()) is None


@pytest.mark.parametrize("spread", [0.05, 0.3])
def test_the_truth_keeps_the_bound_at_least_as_often_as_said(spread: float) -> None:
    """Errors drawn from two shapes: of all bounds with a probability of 0.7, 70 % are kept."""
    draw = random.Random(7)
    shapes: tuple[Callable[[], float], ...] = (
        lambda: draw.lognormvariate(0.1, spread),
        lambda: 1.0 + draw.uniform(-spread, 2 * spread),
    )
    draws = 3000
    for error in shapes:
        kept = 0
        for _ in range(draws):
            ratios = [error() for _ in range(9)]
            # The bound is where seven of nine checked forecasts would have kept it: 0.7 by the definition.
            bound = sorted(ratios)[6]
            assert probability_within(1.0, bound, ratios) == pytest.approx(0.7)
            kept += error() <= bound
        assert kept / draws == pytest.approx(0.7, abs=0.03)

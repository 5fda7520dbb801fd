"""The measured errors of forecasts: as the printed pages have them, and the probability they give."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from mawl.simulation.error_range import (
    LAB_BEDS,
    MEMORY_BEDS,
    PUBLISHED_SYSTEMS,
    UNCACHED_BEDS,
    BedKind,
    TimeFigure,
    bed_ratios,
    central_range,
    margin_for,
    measured_ratios,
    probability_within,
    published_ratios,
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


def error_of(one: DrawnForecast, figure: TimeFigure) -> float:
    return round(one.error_ratio if figure == "time.elapsed_seconds" else one.real_time_error_ratio, 3)


@pytest.mark.parametrize("figure", LAB_BEDS)
def test_errors_of_drawn_beds_are_those_of_every_forecast(figure: TimeFigure) -> None:
    uncached = [error_of(one, figure) for one in drawn() if one.cache == "none"]
    memory = [error_of(one, figure) for one in drawn() if one.kind == "memory"]
    assert uncached == list(UNCACHED_BEDS[figure])
    assert memory == list(MEMORY_BEDS[figure])
    assert len(uncached) + len(memory) == len(drawn())


def campaigns(kind: BedKind, figure: TimeFigure) -> list[list[float]]:
    """Errors by campaign: those of one are not independent."""
    found: dict[str, list[float]] = {}
    if kind == "cached":
        for row in printed("forecasts.md"):
            if row[2] == figure and "calibrates" not in row[1]:
                found.setdefault(row[0], []).append(float(row[5].split()[0]) / 100.0)
        return list(found.values())
    for one in drawn():
        if (one.kind == "memory") == (kind == "memory"):
            found.setdefault(f"{one.seed} {one.campaign}", []).append(error_of(one, figure))
    return list(found.values())


@pytest.mark.parametrize("kind", ["uncached", "cached", "memory"])
def test_a_campaign_lies_in_the_range_that_the_others_of_its_kind_give_in_nine_of_ten(kind: BedKind) -> None:
    said = (REFERENCE.parent / "design/simulation.md").read_text()
    cells = []
    for figure in LAB_BEDS:
        every = campaigns(kind, figure)
        inside = 0
        for place, errors in enumerate(every):
            others = [error for number, of in enumerate(every) if number != place for error in of]
            least, most = central_range(measured_ratios(others))
            inside += sum(least <= ratio <= most for ratio in measured_ratios(errors))
        checked = bed_ratios(kind, figure)
        assert len(checked) == sum(map(len, every))
        assert 0.85 <= inside / len(checked) <= 0.95
        low, high = central_range(checked)
        cells += [f"{low:.2f} to {high:.2f}", f"{inside} of {len(checked)}"]
    assert f"| {' | '.join(cells)} |" in said


def test_a_central_range_leaves_out_as_many_on_each_side_as_its_probability_allows() -> None:
    ratios = [1.0 + number / 100.0 for number in range(99)]
    assert central_range(ratios) == (1.04, 1.94), "the fifth on each side: (100 - 2 * 5) / 100"
    assert central_range(ratios, 0.8) == (1.09, 1.89)
    assert central_range(ratios[:7]) == (1.00, 1.06), "too few: the smallest and the largest"


def test_the_design_pages_name_the_ranges() -> None:
    said = (REFERENCE.parent / "design/qualify-answer.md").read_text()
    kinds: tuple[BedKind, ...] = ("uncached", "cached", "memory")
    found = {kind: bed_ratios(kind, "time.real_time_seconds") for kind in kinds}
    for ratios in (found["uncached"], found["cached"], published_ratios()):
        low, high = central_range(ratios)
        assert f"| {low:.2f} to {high:.2f} |" in said
    said = (REFERENCE.parent / "design/size.md").read_text()
    for ratios in (found["uncached"], found["cached"], published_ratios()):
        checked = len(ratios)
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

"""Predicted beside published: every figure has a row, few fitted numbers, the page as printed."""

from __future__ import annotations

import dataclasses

import pytest

from mawl.records.papers import published, published_result
from mawl.simulation.error_range import central_range, published_ratios
from mawl.whatif import published_comparison
from mawl.whatif.published_comparison import FITTED_ON, direction, pairs, published_figures, rows
from mawl.whatif.published_forecast import FITTED, HELD_OUT, FittedNumbers
from mawl.whatif.text import render_published, standing
from tools import published_fit, published_table


def test_at_most_six_numbers_are_fitted_on_the_two_systems_only() -> None:
    assert len(dataclasses.fields(FittedNumbers)) <= 6
    assert FITTED_ON == ("s822-xiv-20", "dl980-spinning-30")
    assert [one.id for one in published_fit.systems()] == ["dl980-spinning-30", "s822-xiv-20"]
    assert {row.system for row in rows() if row.fitted} == set(FITTED_ON)


def test_no_last_step_of_the_fit_betters_the_constants() -> None:
    least = published_fit.cost(FITTED, published_fit.systems())
    step = published_fit.FIRST_STEP
    while step / 2 >= published_fit.LAST_STEP:
        step /= 2
    for name in vars(FITTED):
        for factor in (1 + step, 1 / (1 + step)):
            trial = published_fit.moved(FITTED, name, factor)
            assert published_fit.cost(trial, published_fit.systems()) >= least - 1e-9, name


def test_times_of_systems_that_the_fit_has_not_seen_lie_in_the_range_for_other_systems() -> None:
    """The range of a change that no lab bed checked is as wide as these forecasts were off, and no wider."""
    names = {f"time.{name}_seconds" for name in ("real_time", "elapsed", "active")}
    times = [row for row in rows() if row.figure in names and row.error_ratio is not None]
    found = [1 / (1 + (row.error_ratio or 0.0)) for row in times if not row.fitted]
    assert len(found) == 9
    low, high = central_range(published_ratios())
    assert low <= min(found) < low + 0.011
    assert high - 0.011 < max(found) <= high


@pytest.mark.long(minutes=2)
def test_the_fit_finds_the_constants_again() -> None:
    assert published_fit.fit(published_fit.systems()) == FITTED


@pytest.mark.long(minutes=15)
def test_the_fits_without_a_paper_find_their_constants_again() -> None:
    assert published_fit.main(["--held-out"]) == 0


def test_numbers_without_a_paper_exist_for_each_paper_with_a_pair_and_see_none_of_its_systems() -> None:
    assert set(HELD_OUT) == {pair.paper for pair in pairs()}
    for paper in HELD_OUT:
        seen = published_fit.others(paper)
        assert seen and all(published_result(one.result).source != paper for one in seen)


def test_every_figure_of_every_paper_has_a_row() -> None:
    held = {(row.system, row.figure) for row in rows()}
    for name, result in published().items():
        assert {(name, figure) for figure in published_figures(result)} <= held
    assert ("dl980-ioscale-2014", "workload.peak_bytes_per_second") in held
    assert len(held) == len(rows())


def test_a_figure_without_a_prediction_has_a_reason_and_one_with_has_none() -> None:
    for row in rows():
        assert (row.predicted is None) == (row.reason is not None), row
        assert row.error_ratio is None or row.predicted is not None
        assert row.reason != "not in the model", row


def test_errors_are_predicted_over_published_less_one_and_ranges_from_their_nearer_end() -> None:
    told = {(row.system, row.figure): row for row in rows()}
    row = told["s822-xiv-30", "device.peak.total_bytes_per_second"]
    assert isinstance(row.predicted, float)
    assert row.error_ratio == pytest.approx(row.predicted / 5.4e9 - 1)
    assert told["s822-hybrid-20", "device.work_util_ratio"].error_ratio == 0.0


def test_pairs_have_directions_and_twice_the_ports_give_no_more() -> None:
    found = {(pair.candidate, pair.figure): pair for pair in pairs()}
    assert found["e980-fs9150-4/twice-the-ports", "device.peak.total_bytes_per_second"].right
    assert found["dl980-flash-30", "time.real_time_seconds"].right
    assert [direction(change) for change in (-0.2, -0.04, 0.0, 0.04, 0.2)] == [-1, 0, 0, 0, 1]


def test_the_page_is_as_printed_and_the_screen_has_the_same_rows() -> None:
    assert published_table.PAGE.read_text() == published_table.page()
    forecasts = published_comparison.published_forecasts()
    shown = render_published(forecasts)
    below = shown.partition("\ns822-xiv-20*\n")[2].splitlines()
    own = [row.figure for row in forecasts.rows if row.system == "s822-xiv-20"]
    assert len(own) > 1
    assert [line.split()[0] for line in below[: len(own)]] == own
    assert not below[len(own)].startswith(" ")
    assert shown.rstrip().endswith(standing(forecasts)[-1])

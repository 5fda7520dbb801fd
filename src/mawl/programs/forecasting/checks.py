"""What forecasts of series of known kinds must be like: right models, errors near the least possible.

Whoever knows a series' hidden kind, weights and states can still not know its next innovations: these
errors are the least (:func:`mawl.datagen.series.true_forecasts`).  Limits widen as series are fewer.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.series import true_forecasts
from mawl.datagen.values import column_values
from mawl.programs.context import check, check_equal
from mawl.programs.forecasting.inputs import HELD_OUT, MONTHS, NUMERICS, SERIES, TABLE
from mawl.programs.forecasting.smoothing import MODELS
from mawl.tables.manifest import Manifest

Numbers = NDArray[np.float64]

SAMPLE_SERIES = 2_048
"""Series at the beginning of the table that are compared with the generator's truth, one by one."""

_KNOWN = MONTHS - HELD_OUT
_TRUE_PLACES = [[kind.name for kind in SERIES.kinds].index(model.name) for model in MODELS]
_RIGHT = 0.82
"""Share of series whose model must be their hidden kind (measured: 0.97 screened, 0.92 searched)."""
_SEASON_WRONG = 0.01
_EXCESS = 0.18
"""What squared errors of forecasts may have above the least ones, as a share (measured: 0.12)."""
_EXCESS_DEVIATION = 3.0
"""Over the root of the number of series: a few series whose level moves much decide a mean of few."""
_ERROR_SLACK = 0.08
_ERROR_DEVIATION = 4.5
"""Over the root of the number of series: seven standard deviations of a mean of squared errors."""
_SIGMAS = 6.0


def least_square() -> float:
    """The expected square of the least errors, over kinds and months ahead: from weights alone."""
    total = 0.0
    for kind in SERIES.kinds:
        level, slope, damping = (
            part / 256.0 for part in (kind.level_weight, kind.slope_weight, kind.damping)
        )
        squares = grown = 0.0
        step = slope
        mean = 0.0
        for _ in range(HELD_OUT):
            mean += (1.0 + squares) / HELD_OUT
            step *= damping
            grown += step
            squares += (level + grown) ** 2
        total += kind.share / 256.0 * mean
    # Sales are rounded to whole units.
    return SERIES.noise**2 * total + 1.0 / 12.0


def check_models(what: str, counts: NDArray[np.int64]) -> int:
    """Chosen models, (models, true kinds), are mostly the hidden kinds; returns how many are."""
    series = int(counts.sum())
    right = int(counts[np.arange(len(MODELS)), _TRUE_PLACES].sum())
    least = _RIGHT * series - 3.0 * np.sqrt(0.15 * series)
    check(right >= least, f"the number of {what} with their true model", found=right, expected=f"{least:.1f}")
    seasonal = [model.has_season for model in MODELS]
    truly = [SERIES.kinds[place].season_weight > 0 for place in range(len(SERIES.kinds))]
    wrong = int(counts[np.not_equal.outer(seasonal, truly)].sum())
    most = 1.0 + _SEASON_WRONG * series
    check(wrong <= most, f"the number of {what} wrong about the season", found=wrong, expected=f"{most:.1f}")
    return right


def check_error(what: str, squares: float, series: int) -> None:
    """``squares`` of so many series add up to what the least error and a usual excess make."""
    found = squares / series / least_square() / (1.0 + _EXCESS / 1.5)
    slack = _ERROR_SLACK + _ERROR_DEVIATION / np.sqrt(series)
    check(
        abs(found - 1.0) <= slack,
        f"the squared error of {what} beside the expected one",
        found=found,
        expected=f"1, give or take {slack:.3f}",
    )


def check_sample(manifest: Manifest, sample: Mapping[str, Numbers], is_top: NDArray[np.bool_]) -> None:
    """The first series: ``forecast``, ``naive`` and ``came``, (series, months) each, against the truth."""
    ahead, came = sample["forecast"], sample["came"]
    series = len(ahead)
    (column,) = [column for column in NUMERICS if column.values == SERIES]
    months = column_values(
        TABLE, column, seed=manifest.seed, replica=manifest.replica, start=0, count=series * MONTHS
    ).reshape(series, MONTHS)
    check_equal("the sales held out", bool((months[:, _KNOWN:] == came).all()), True)
    last_year = months[:, _KNOWN - HELD_OUT : _KNOWN]
    check_equal("the naive forecasts", bool((sample["naive"] == last_year).all()), True)
    best = true_forecasts(
        SERIES,
        table=TABLE.name,
        column=column.name,
        seed=manifest.seed,
        replica=manifest.replica,
        first=0,
        series=series,
        known=_KNOWN,
    )
    for what, chosen in (("screened", ~is_top[:series]), ("searched", is_top[:series])):
        if chosen.any():
            _check_excess(f"{what} forecasts", ahead[chosen], came[chosen], best[chosen])


def _check_excess(what: str, ahead: Numbers, came: Numbers, best: Numbers) -> None:
    """Forecasts stray little from the best ones, and not to where innovations then went."""
    least = float(np.square(came - best).mean())
    excess = float(np.square(ahead - best).mean()) / least
    most = _EXCESS + _EXCESS_DEVIATION / np.sqrt(len(ahead))
    check(excess <= most, f"the excess error of {what}", found=excess, expected=f"at most {most:.3f}")
    leaked = ((ahead - best) * (came - best)).mean(axis=1)
    sigmas = float(abs(leaked.sum()) / np.sqrt(max(np.square(leaked).sum(), 1e-300)))
    check(
        sigmas <= _SIGMAS and excess > 0.0,
        f"what {what} know of months to come",
        found=f"{sigmas:.1f} standard errors",
        expected=f"at most {_SIGMAS:g}, and not the truth itself",
    )

"""Forecast monthly sales of many products by store, and compare the forecasts with what came.

Checks know the least possible errors: even with a series' hidden kind, weights and states nobody can know
its next innovations (``true_forecasts``).  Limits widen as series are fewer.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from statsmodels.tsa.exponential_smoothing.ets import ETSModel

from mawl.programs.context import JobContext, check, check_equal, check_most, check_near
from mawl.programs.datagen.hashing import key
from mawl.programs.datagen.responses import true_forecasts, true_kinds
from mawl.programs.datagen.values import column_values
from mawl.programs.declarations.forecasting import (
    DERIVED,
    HELD_OUT,
    MONTHS,
    NUMERICS,
    SERIES,
    SERIES_OF_A_TOP_SELLER,
    TABLE,
)
from mawl.programs.tables.manifest import Manifest
from mawl.programs.toolkit.groups import PreparedJob, WorkTable, as_batch, as_rows, blocks, numeric_schema
from mawl.programs.toolkit.worker_processes import side_by_side
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]

SEASON = 12


@dataclass(frozen=True)
class SmoothingModel:
    """A model: its options in statsmodels, what it estimates, and the weights that a screen tries."""

    name: str
    options: dict[str, object]
    parameters: int
    """Weights, first states and the variance."""
    slopes: tuple[float, ...] = (0.0,)
    dampings: tuple[float, ...] = (1.0,)
    seasons: tuple[float, ...] = (0.0,)

    @property
    def has_slope(self) -> bool:
        return "trend" in self.options

    @property
    def has_season(self) -> bool:
        return "seasonal" in self.options


_LEVELS = (0.1, 0.3, 0.5)
_SLOPES = (0.005, 0.02, 0.08)
MODELS = (
    SmoothingModel("simple", {}, 3),
    SmoothingModel("trend", {"trend": "add"}, 5, slopes=_SLOPES),
    SmoothingModel(
        "damped", {"trend": "add", "damped_trend": True}, 6, slopes=_SLOPES, dampings=(0.8, 0.9, 0.97)
    ),
    SmoothingModel("seasonal", {"seasonal": "add", "seasonal_periods": SEASON}, 15, seasons=(0.0, 0.1, 0.3)),
)


def screen(history: Numbers, ahead: int) -> tuple[NDArray[np.intp], Numbers]:
    """The best model of each series, and its forecasts: (series,) and (series, ahead).

    ``history`` is (series, months); first states are read off the first months.
    """
    series = len(history)
    best = np.full(series, np.inf)
    models, forecasts = np.zeros(series, np.intp), np.zeros((series, ahead))
    for number, model in enumerate(MODELS):
        criterion, found = _smooth(np.ascontiguousarray(history.T), model, ahead)
        better = criterion < best
        best[better], models[better], forecasts[better] = criterion[better], number, found[better]
    return models, forecasts


def select(history: Numbers, ahead: int) -> tuple[int, Numbers, int] | None:
    """The best model of one series, its forecasts (ahead,), and how many fits did not converge.

    None where no fit converged.
    """
    best, failed = np.inf, 0
    found: tuple[int, Numbers] | None = None
    with warnings.catch_warnings():
        # A fit that does not converge is counted, and its model not chosen.
        warnings.simplefilter("ignore")
        for number, model in enumerate(MODELS):
            fitted = ETSModel(history, error="add", **model.options).fit(disp=False)
            if not fitted.mle_retvals["converged"] or not np.isfinite(fitted.aicc):
                failed += 1
            elif fitted.aicc < best:
                best, found = fitted.aicc, (number, np.asarray(fitted.forecast(ahead), np.float64))
    return None if found is None else (*found, failed)


def seasonal_naive(history: Numbers, ahead: int) -> Numbers:
    """The same months of the last year: (series, ahead), for at most a year ahead."""
    return history[:, history.shape[1] - SEASON :][:, :ahead]


def _smooth(months: Numbers, model: SmoothingModel, ahead: int) -> tuple[Numbers, Numbers]:
    """AICc and forecasts of each series at its best weights; ``months`` is (months, series)."""
    weights = _weights(model)
    level_weight, slope_weight, damping, season_weight = weights.T[:, :, None]
    count, series = months.shape
    level, slope, season = _first_states(months, model, len(weights))
    squares = np.zeros((len(weights), series))
    for month in range(count):
        expected = level
        if model.has_slope:
            slope = slope * damping
            expected = level = level + slope
        if model.has_season:
            expected = level + season[month % SEASON]
        error = months[month] - expected
        squares += error * error
        level = level + level_weight * error
        if model.has_slope:
            slope = slope + slope_weight * error
        if model.has_season:
            season[month % SEASON] += season_weight * error
    best = squares.argmin(axis=0)
    each = np.arange(series)
    forecasts = np.empty((series, ahead))
    level, slope, damped = level[best, each], slope[best, each], damping[best, 0]
    for step in range(ahead):
        slope = slope * damped
        level = level + slope
        forecasts[:, step] = level + season[(count + step) % SEASON, best, each]
    return _criterion(squares[best, each], count, model.parameters), forecasts


def _weights(model: SmoothingModel) -> Numbers:
    """Weights that a screen tries: (choices, 4), of level and slope, damping, of the season."""
    return np.array(list(itertools.product(_LEVELS, model.slopes, model.dampings, model.seasons)))


def _first_states(months: Numbers, model: SmoothingModel, weights: int) -> tuple[Numbers, Numbers, Numbers]:
    """Level, slope and season before the first month, for each choice of weights."""
    series = months.shape[1]
    slope = np.zeros((weights, series))
    season = np.zeros((SEASON, weights, series))
    level = months[: SEASON // 2].mean(axis=0)
    if model.has_slope:
        early = np.arange(SEASON) - (SEASON - 1) / 2
        rise = early @ months[:SEASON] / (early @ early)
        # A slope whose mean over the first year, damped from month to month, is what the months rose by.
        damped = _weights(model)[:, 2:3] ** np.arange(1, SEASON + 1)
        slope += rise / damped.mean(axis=1, keepdims=True)
        level = months[:SEASON].mean(axis=0) - slope * damped.cumsum(axis=1).mean(axis=1, keepdims=True)
    elif model.has_season:
        years = months[: 3 * SEASON].reshape(3, SEASON, series)
        level = years[0].mean(axis=0)
        season += (years - years.mean(axis=1, keepdims=True)).mean(axis=0)[:, None, :]
    return np.broadcast_to(level, (weights, series)), slope, season


def _criterion(squares: Numbers, count: int, parameters: int) -> Numbers:
    """Akaike's criterion with the correction for short series."""
    correction = 2.0 * parameters * (parameters + 1) / (count - parameters - 1)
    found: Numbers = count * np.log(squares / count) + 2.0 * parameters + correction
    return found


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
    check_near(f"the squared error of {what} beside the expected one", found, 1, slack, ".3f")


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
    column_key = key(manifest.seed, manifest.replica, manifest.table, column.name)
    best = true_forecasts(SERIES, column_key, 0, series, known=_KNOWN)
    for what, chosen in (("screened", ~is_top[:series]), ("searched", is_top[:series])):
        if chosen.any():
            _check_excess(f"{what} forecasts", ahead[chosen], came[chosen], best[chosen])


def _check_excess(what: str, ahead: Numbers, came: Numbers, best: Numbers) -> None:
    """Forecasts stray little from the best ones, and not to where innovations then went."""
    least = float(np.square(came - best).mean())
    excess = float(np.square(ahead - best).mean()) / least
    most = _EXCESS + _EXCESS_DEVIATION / np.sqrt(len(ahead))
    check_most(f"the excess error of {what}", excess, most, ".3f")
    leaked = ((ahead - best) * (came - best)).mean(axis=1)
    sigmas = float(abs(leaked.sum()) / np.sqrt(max(np.square(leaked).sum(), 1e-300)))
    check(
        sigmas <= _SIGMAS and excess > 0.0,
        f"what {what} know of months to come",
        found=f"{sigmas:.1f} standard errors",
        expected=f"at most {_SIGMAS:g}, and not the truth itself",
    )


Places = NDArray[np.intp]

_NAMES = tuple(column.name for column in NUMERICS)
_SCHEMA = numeric_schema("observation", *_NAMES, *DERIVED)
_FORECASTS = pa.schema(
    [(name, pa.float64()) for name in ("series", "model", *(f"ahead_{n:02d}" for n in range(HELD_OUT)))]
)
_BLOCK_SERIES = 512
"""Series that are screened together: their states fit the processor's cache."""
_GROUPS = ("screened", "searched")


def run(context: JobContext) -> Answer:
    """Do all steps; counts are of series, errors agree to a relative 1e-6."""
    return _Forecasting(context).run()


class _Forecasting(PreparedJob):
    def __init__(self, context: JobContext) -> None:
        super().__init__(context, TABLE, _SCHEMA, "the sales")
        self.forecasts = WorkTable(context, "forecasts", _FORECASTS)
        self.series = self.rows // MONTHS
        self.models = np.zeros((2, len(MODELS), len(SERIES.kinds)), np.int64)
        """Series by whether they are top sellers, by chosen model and by true kind."""
        self.squares = {name: np.zeros(HELD_OUT) for name in ("forecast", "naive")}
        self.sample: dict[str, list[Numbers]] = {"forecast": [], "naive": [], "came": []}
        self.revenue = np.zeros(self.series)
        """Of the months known, in cents: (series,)."""
        self.scored = 0
        self.answer |= {"series": self.series}

    def _work(self) -> None:
        self._prepare()
        self.is_top = _largest(self.revenue, max(self.series // SERIES_OF_A_TOP_SELLER, 1))
        self.answer["revenue_cents"] = int(self.revenue.sum())
        self._forecast()
        self._accuracy()

    def _prepare(self) -> None:
        done = 0
        for _, derived in self.prepared.preparing_groups(["observation", *_NAMES], MONTHS, _derive):
            months = derived[0].reshape(-1, MONTHS)[:, :_KNOWN]
            self.revenue[done : done + len(months)] = months.sum(axis=1)
            done += len(months)

    def _forecast(self) -> None:
        is_top = self.is_top
        done = searched = failed = 0
        with (
            self.context.steps.step("forecast") as step,
            self.forecasts.writing() as writer,
        ):
            histories = zip(self._histories(), _in_turn(is_top), strict=False)
            for numbers, models, ahead, missed in side_by_side(
                self.context, _forecast, histories, self.series // _BLOCK_SERIES
            ):
                top = is_top[done : done + len(models)]
                searched += int(top.sum())
                failed += missed
                self._count_models(models, top, done)
                done += len(models)
                writer.write(as_batch(np.column_stack([numbers, models, ahead]), _FORECASTS))
            step.rows_read, step.rows_written = done * MONTHS, writer.rows
        check_equal("the number of forecasts", writer.rows, self.series)
        self.answer |= {"searched": searched, "fits_not_converged": failed}

    def _count_models(self, models: Places, is_top: NDArray[np.bool_], first: int) -> None:
        kinds = true_kinds(SERIES, self.column_key("units"), first, len(models))
        np.add.at(self.models, (is_top.astype(np.intp), models, kinds), 1)

    def _accuracy(self) -> None:
        with self.context.steps.step("accuracy") as step:
            # Both tables come in the blocks that forecasts were made and written in.
            passes = zip(self._histories(), self.forecasts.batches(), strict=True)
            for (numbers, months), batch in passes:
                rows = as_rows(batch)
                check_equal("the series of forecasts", rows[:, 0].tolist(), numbers.tolist())
                self._score(rows[:, 2:], months)
            step.rows_read = self.scored * (MONTHS + 1)
        squares = {name: sums.sum() / (self.scored * HELD_OUT) for name, sums in self.squares.items()}
        self.answer |= {
            "forecast_error": float(np.sqrt(squares["forecast"])),
            "naive_error": float(np.sqrt(squares["naive"])),
            "last_month_error": float(np.sqrt(self.squares["forecast"][-1] / self.scored)),
        }

    def _score(self, ahead: Numbers, months: Numbers) -> None:
        came = months[:, _KNOWN:]
        naive = seasonal_naive(months[:, :_KNOWN], HELD_OUT)
        self.squares["forecast"] += np.square(ahead - came).sum(axis=0)
        self.squares["naive"] += np.square(naive - came).sum(axis=0)
        room = max(SAMPLE_SERIES - self.scored, 0)
        for name, rows in (("forecast", ahead), ("naive", naive), ("came", came)):
            self.sample[name].append(rows[:room].copy())
        self.scored += len(came)

    def _histories(self) -> Iterator[tuple[Numbers, Numbers]]:
        """A pass over the prepared table: numbers of series and their months, (series, months)."""
        for block in blocks(
            self.prepared.batches(), ["series", "units"], itertools.repeat(_BLOCK_SERIES * MONTHS)
        ):
            yield block["series"][::MONTHS], block["units"].reshape(-1, MONTHS)

    def _check(self) -> None:
        is_top = self.is_top
        check_equal("the number of scored series", self.scored, self.series)
        check(
            self.revenue[is_top].min() >= self.revenue[~is_top].max(),
            "the least revenue of a series searched",
            found=self.revenue[is_top].min(),
            expected=f"at least {self.revenue[~is_top].max():.0f}, the most of one screened",
        )
        check_equal("the number of series with a model", int(self.models.sum()), self.series)
        right = [
            check_models(f"{kind} series", counts) for kind, counts in zip(_GROUPS, self.models, strict=True)
        ]
        sample = {name: np.concatenate(rows) for name, rows in self.sample.items()}
        check_sample(self.manifest, sample, is_top)
        check_error("all forecasts", self.squares["forecast"].sum() / HELD_OUT, self.series)
        self.answer["right_model_ratio"] = sum(right) / self.series


def _in_turn(is_top: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    for start in range(0, len(is_top), _BLOCK_SERIES):
        yield is_top[start : start + _BLOCK_SERIES]


def _forecast(
    block: tuple[tuple[Numbers, Numbers], NDArray[np.bool_]],
) -> tuple[Numbers, Places, Numbers, int]:
    (numbers, months), is_top = block
    known = months[:, :_KNOWN]
    models, ahead = screen(known, HELD_OUT)
    failed = 0
    for place in np.flatnonzero(is_top):
        found = select(known[place], HELD_OUT)
        failed += len(MODELS) if found is None else found[2]
        # Where no search converges the screen's model stays.
        if found is not None:
            models[place], ahead[place] = found[0], found[1]
    return numbers, models, ahead, failed


def _largest(revenue: Numbers, count: int) -> NDArray[np.bool_]:
    """Which series have the most revenue; of equal ones the first: (series,)."""
    found = np.zeros(len(revenue), np.bool_)
    found[np.argsort(-revenue, kind="stable")[:count]] = True
    return found


def _derive(block: dict[str, Numbers]) -> tuple[Numbers, ...]:
    """Revenue, units less what came back, units a day, year from 0 and month of the year from 0."""
    units, month = block["units"], block["month"]
    return (
        units * block["price_cents"],
        units - block["returned"],
        units / block["open_days"],
        month // SEASON,
        month % SEASON,
    )

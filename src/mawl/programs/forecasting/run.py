"""Forecast monthly sales of many products by store, and hold the forecasts against what came.

Steps, bytes and limits are declared in :mod:`mawl.programs.forecasting.declare`; models are in
:mod:`mawl.programs.forecasting.smoothing`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.datagen.series import true_kinds
from mawl.model.records import Answer
from mawl.programs.context import JobContext, check, check_equal
from mawl.programs.forecasting.checks import SAMPLE_SERIES, check_error, check_models, check_sample
from mawl.programs.forecasting.declare import DERIVED, SERIES_OF_A_TOP_SELLER
from mawl.programs.forecasting.inputs import HELD_OUT, MONTHS, NUMERICS, SERIES, TABLE
from mawl.programs.forecasting.smoothing import MODELS, SEASON, screen, seasonal_naive, select
from mawl.programs.toolkit.groups import as_batch, rows_of
from mawl.programs.toolkit.panels import blocks
from mawl.programs.toolkit.prepared import PreparedTable, WorkTable
from mawl.programs.toolkit.side_by_side import side_by_side

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]

_NAMES = tuple(column.name for column in NUMERICS)
_SCHEMA = pa.schema([(name, pa.float64()) for name in ("observation", *_NAMES, *DERIVED)])
_FORECASTS = pa.schema(
    [(name, pa.float64()) for name in ("series", "model", *(f"ahead_{n:02d}" for n in range(HELD_OUT)))]
)
_KNOWN = MONTHS - HELD_OUT
_BLOCK_SERIES = 512
"""Series that are screened together: their states fit the processor's cache."""
_GROUPS = ("screened", "searched")


def run(context: JobContext) -> Answer:
    """Do all steps; counts are of series, errors agree to a relative 1e-6."""
    return _Forecasting(context).run()


class _Forecasting:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        self.prepared = PreparedTable(context, TABLE.name, _SCHEMA)
        self.forecasts = WorkTable(context, "forecasts", _FORECASTS)
        self.series = self.prepared.rows // MONTHS
        self.models = np.zeros((2, len(MODELS), len(SERIES.kinds)), np.int64)
        """Series by whether they are top sellers, by chosen model and by true kind."""
        self.squares = {name: np.zeros(HELD_OUT) for name in ("forecast", "naive")}
        self.sample: dict[str, list[Numbers]] = {"forecast": [], "naive": [], "came": []}
        self.revenue = np.zeros(self.series)
        """Of the months known, in cents: (series,)."""
        self.scored = 0
        self.answer: Answer = {"series": self.series}

    def run(self) -> Answer:
        self._prepare()
        is_top = _largest(self.revenue, max(self.series // SERIES_OF_A_TOP_SELLER, 1))
        self.answer["revenue_cents"] = int(self.revenue.sum())
        self._forecast(is_top)
        self._accuracy()
        self._verify(is_top)
        return self.answer

    def _prepare(self) -> None:
        """Write the prepared table, and add up the known revenue of each series."""
        done = 0
        for _, derived in self.prepared.preparing_groups(["observation", *_NAMES], MONTHS, _derive):
            months = derived[0].reshape(-1, MONTHS)[:, :_KNOWN]
            self.revenue[done : done + len(months)] = months.sum(axis=1)
            done += len(months)

    def _forecast(self, is_top: NDArray[np.bool_]) -> None:
        """The model of each series by AICc, and what it says of the months held out."""
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
        manifest = self.prepared.input.manifest
        kinds = true_kinds(
            SERIES,
            table=TABLE.name,
            column="units",
            seed=manifest.seed,
            replica=manifest.replica,
            first=first,
            series=len(models),
        )
        np.add.at(self.models, (is_top.astype(np.intp), models, kinds), 1)

    def _accuracy(self) -> None:
        """Squared errors by months ahead, over all series, and a sample of forecasts beside what came."""
        with self.context.steps.step("accuracy") as step:
            # Both tables come in the blocks that forecasts were made and written in.
            passes = zip(self._histories(), self.forecasts.batches(), strict=True)
            for (numbers, months), batch in passes:
                rows = rows_of(batch)
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

    def _verify(self, is_top: NDArray[np.bool_]) -> None:
        with self.context.steps.step("verify", "verify"):
            self.prepared.check_input("the sales")
            check_equal("the number of scored series", self.scored, self.series)
            check(
                self.revenue[is_top].min() >= self.revenue[~is_top].max(),
                "the least revenue of a series searched",
                found=self.revenue[is_top].min(),
                expected=f"at least {self.revenue[~is_top].max():.0f}, the most of one screened",
            )
            check_equal("the number of series with a model", int(self.models.sum()), self.series)
            right = [
                check_models(f"{kind} series", counts)
                for kind, counts in zip(_GROUPS, self.models, strict=True)
            ]
            sample = {name: np.concatenate(rows) for name, rows in self.sample.items()}
            check_sample(self.prepared.input.manifest, sample, is_top)
            check_error("all forecasts", self.squares["forecast"].sum() / HELD_OUT, self.series)
        self.answer["right_model_ratio"] = sum(right) / self.series


def _in_turn(is_top: NDArray[np.bool_]) -> Iterator[NDArray[np.bool_]]:
    """Which series are top sellers, in the blocks of a pass."""
    for start in range(0, len(is_top), _BLOCK_SERIES):
        yield is_top[start : start + _BLOCK_SERIES]


def _forecast(
    block: tuple[tuple[Numbers, Numbers], NDArray[np.bool_]],
) -> tuple[Numbers, Places, Numbers, int]:
    """Series' numbers, their models, forecasts, and how many fits of the searched ones did not converge."""
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

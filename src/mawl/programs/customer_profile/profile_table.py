"""The wide table that customer_profile makes: its rows from their numbers, and the true model behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.datagen.values import column_values
from mawl.programs.customer_profile.declare import (
    COLUMNS,
    DRAWN,
    HOUSEHOLD_ROWS,
    MODEL_MEANS,
    MODEL_PREDICTORS,
    NOISE,
    PREDICTORS,
    PROFILES,
    SEGMENTS,
)
from mawl.tables import arrow

Numbers = NDArray[np.float64]

SCHEMA = pa.schema([(name, pa.float64()) for name in COLUMNS])
NOISE_VARIANCE = 300.0**2
LARGEST_SPEND = 2**18
"""Spend is a whole number of cents below this: 100,000 less or more what predictors and noise add."""

INTERCEPTS: Numbers = 100_000.0 + 2_000.0 * np.arange(SEGMENTS, dtype=np.float64)
FIRST_SLOPES: Numbers = 10.0 - 3.0 * np.arange(SEGMENTS, dtype=np.float64)
"""The slope of the first predictor differs by segment."""
SLOPES: Numbers = np.array([(place * 17) % 41 - 20.0 for place in range(1, len(PREDICTORS))])
"""Slopes of the other predictors."""

_SCATTER = (1_000_003, 999_983)


def household(numbers: Numbers, rows: int) -> Numbers:
    """The household of each row number: each of rows / 8 has eight customers, far apart."""
    households = rows // HOUSEHOLD_ROWS
    # A prime that does not divide the number of households visits each of them.
    factor = next(prime for prime in _SCATTER if households % prime)
    return (numbers.astype(np.int64) * factor % households).astype(np.float64)


def members(number: int, rows: int) -> list[int]:
    """The row numbers of a household's customers: the other way round than :func:`household`."""
    households = rows // HOUSEHOLD_ROWS
    factor = next(prime for prime in _SCATTER if households % prime)
    first = number * pow(factor, -1, households) % households
    return [first + place * households for place in range(HOUSEHOLD_ROWS)]


def make_rows(*, seed: int, replica: int, rows: int, start: int, count: int) -> pa.RecordBatch:
    """Rows ``start`` to ``start + count`` of a table of ``rows``, every value a whole number."""
    drawn = {
        column.name: cast(
            Numbers, column_values(PROFILES, column, seed=seed, replica=replica, start=start, count=count)
        )
        for column in (*DRAWN, NOISE)
    }
    segment = drawn["segment"].astype(np.intp)
    spend = INTERCEPTS[segment] + FIRST_SLOPES[segment] * drawn["x01"] + drawn["noise"]
    for name, slope in zip(PREDICTORS[1:], SLOPES, strict=True):
        spend += slope * drawn[name]
    drawn |= {"spend_cents": spend, "household": household(drawn["row"], rows)}
    return pa.RecordBatch.from_arrays([arrow.array(drawn[name]) for name in COLUMNS], schema=SCHEMA)


def design(batch: pa.RecordBatch) -> Numbers:
    """The design matrix of the overall regression, (rows, terms); :func:`truth` has its coefficients."""
    classes = np.eye(SEGMENTS)[arrow.numbers(batch.column("segment")).astype(np.intp)]
    first, *others = (arrow.numbers(batch.column(name)) for name in PREDICTORS)
    return np.hstack([classes, classes * first[:, None], np.stack(others, axis=1)])


def truth() -> Numbers:
    """The true coefficients of the overall regression."""
    return np.concatenate([INTERCEPTS, FIRST_SLOPES, SLOPES])


def segment_design(batch: pa.RecordBatch) -> Numbers:
    """The design matrix of the regressions by segment: an intercept, some predictors, household means."""
    columns = [arrow.numbers(batch.column(name)) for name in (*MODEL_PREDICTORS, *MODEL_MEANS)]
    return np.stack([np.ones(batch.num_rows), *columns], axis=1)


def by_segment(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Numbers, Numbers]]:
    """A pass over the merged table, as (segment, design, response) of each batch and segment."""
    for batch in batches:
        segments = arrow.numbers(batch.column("segment")).astype(np.intp)
        order = np.argsort(segments, kind="stable")
        rows = segment_design(batch)[order]
        response = arrow.numbers(batch.column("spend_cents"))[order]
        ends = np.cumsum(np.bincount(segments, minlength=SEGMENTS))
        for segment in range(SEGMENTS):
            start = int(ends[segment - 1]) if segment else 0
            yield segment, rows[start : ends[segment]], response[start : ends[segment]]


def segment_truth(segment: int) -> Numbers:
    """The true coefficients of a segment's regression; its intercept holds what is left out, so NaN.

    A household's mean says nothing beyond the customer's own predictors.
    """
    slopes = SLOPES[: len(MODEL_PREDICTORS) - 1]
    return np.concatenate([[np.nan, FIRST_SLOPES[segment]], slopes, np.zeros(len(MODEL_MEANS))])

"""Weekly sales of a product line's stores, the input of mixed_model: 400 bytes a row, 10 GB at full.

Each 104 rows are the weeks of one store.  Sales are linear in five conditions and in time; every store has a
level and a trend of its own.
"""

from __future__ import annotations

from mawl.plan.columns import (
    Code,
    Column,
    GroupNumber,
    GroupPlace,
    MixedResponse,
    PerGroup,
    RowNumber,
    Term,
    Text,
    Uniform,
)
from mawl.plan.tables import GB, InputTable

WEEKS = 104
"""Weeks of each store."""

LINE_STORES = 32
"""Stores of each product line but the last, which has up to twice as many."""

VARYING = (
    Column("price", Uniform(10, 39)),
    Column("promotion", Uniform(0, 1, skew=2)),
    Column("display", Uniform(0, 1)),
    Column("rival_price", Uniform(10, 39)),
    Column("temperature", Uniform(-5, 29)),
)
"""What the fixed part of the model looks at beside time."""

RESPONSE = MixedResponse(
    group_rows=WEEKS,
    intercept=500,
    slope=20,
    terms=tuple(
        Term(coefficient, column) for coefficient, column in zip((-3, 40, 12, 1, 0), VARYING, strict=True)
    ),
    level=10.0,
    trend=12.0,
    shared=6,
    noise=34.0,
)

COEFFICIENTS = (RESPONSE.intercept, RESPONSE.slope, *(term.coefficient for term in RESPONSE.terms))
"""The true coefficients: the intercept, the slope over time, then one for each of ``VARYING``."""

NUMERICS = (
    Column("store", GroupNumber(WEEKS)),
    Column("week", GroupPlace(WEEKS)),
    Column("sales", RESPONSE),
    *VARYING,
    Column("floor_area", PerGroup(WEEKS, Uniform(100, 2_000, skew=2, step=50))),
    Column("staff", PerGroup(WEEKS, Uniform(2, 40, skew=2))),
    Column("opening_hours", PerGroup(WEEKS, Uniform(40, 90))),
    Column("income_index", PerGroup(WEEKS, Uniform(60, 140))),
    Column("stock", Uniform(0, 400, skew=3, step=10)),
    Column("returns", Uniform(0, 20, skew=4)),
    Column("footfall", Uniform(0, 4_000, skew=2, step=100)),
    Column("deliveries", Uniform(0, 7, skew=2)),
    Column("waste", Uniform(0, 30, skew=4)),
    Column("discount", Uniform(0, 30, skew=3)),
    Column("absent_staff", Uniform(0, 4, skew=4)),
)
"""The 19 numerics beside the row number."""

TABLE = InputTable(
    name="store_weeks",
    full_bytes=10 * GB,
    unfilled_bytes=18.5,
    minimum_rows=2 * LINE_STORES * WEEKS,
    group_rows=WEEKS,
    columns=(
        Column("row", RowNumber()),
        *NUMERICS,
        Column("channel", Code(("STREET", "MALL", "STATION"), skew=2), 8),
        Column("format", Code(("SMALL", "MEDIUM", "LARGE"), skew=2), 8),
        Column("manager", Text(), 40),
        Column("street", Text(), 48),
        Column("town", Text(), 40),
        Column("note", Text(), 96),
    ),
)

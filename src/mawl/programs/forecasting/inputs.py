"""Monthly sales of products by store, the input of forecasting: 240 bytes a row, 10 GB at full.

Each 72 rows in a row are one series: a product in a store over six years, of a hidden kind.
"""

from __future__ import annotations

from mawl.plan.columns import (
    Code,
    Column,
    GroupNumber,
    GroupPlace,
    RowNumber,
    Text,
    Uniform,
)
from mawl.plan.series import MonthlySeries, SeriesKind
from mawl.plan.tables import GB, InputTable

MONTHS = 72
HELD_OUT = 12
"""The last months of each series, that forecasts are compared with."""

SERIES = MonthlySeries(
    months=MONTHS,
    noise=12,
    kinds=(
        SeriesKind(name="simple", share=64, level_weight=77),
        SeriesKind(name="trend", share=64, level_weight=77, slope_weight=4, slopes=(4, 10)),
        SeriesKind(name="damped", share=48, level_weight=77, slope_weight=4, damping=230, slopes=(24, 44)),
        SeriesKind(name="seasonal", share=80, level_weight=77, season_weight=26, swing=40),
    ),
)

NUMERICS = (
    Column("series", GroupNumber(MONTHS)),
    Column("month", GroupPlace(MONTHS)),
    Column("units", SERIES),
    Column("price_cents", Uniform(500, 2_500, skew=4, step=500)),
    Column("returned", Uniform(0, 30, skew=6)),
    Column("stock", Uniform(0, 900, skew=4, step=100)),
    Column("orders", Uniform(0, 40, skew=6)),
    Column("promotion_days", Uniform(0, 20, skew=12)),
    Column("open_days", Uniform(24, 27)),
    Column("lead_days", Uniform(1, 28, skew=6)),
    Column("shelf_metres", Uniform(1, 6, skew=6)),
    Column("complaints", Uniform(0, 9, skew=16)),
)

TABLE = InputTable(
    name="sales",
    full_bytes=10 * GB,
    unfilled_bytes=11.1,
    minimum_rows=36 * MONTHS,
    group_rows=MONTHS,
    columns=(
        Column("observation", RowNumber()),
        *NUMERICS,
        Column("region", Code(("NORTH", "EAST", "SOUTH", "WEST"), skew=3), 8),
        Column("category", Code(("FOOD", "HOME", "GARDEN", "TOYS"), skew=3), 8),
        Column("product", Text(), 40),
        Column("store", Text(), 32),
        Column("note", Text(), 48),
    ),
)

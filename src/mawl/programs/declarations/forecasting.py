"""forecasting: exponential smoothing chosen per series, 12 months ahead, compared with what came.

Its input is monthly sales by store: 240 bytes a row, 10 GB at full scale.  Each 72 rows in a row are one
series: a product in a store over six years, of a hidden kind.
"""

from __future__ import annotations

from mawl.plan.columns import (
    GB,
    Code,
    Column,
    GroupNumber,
    GroupPlace,
    InputTable,
    MonthlySeries,
    RowNumber,
    SeriesKind,
    Text,
    Uniform,
)
from mawl.plan.programs import (
    Program,
    Temporary,
    modules_of,
    prepare_step,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

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


DERIVED = ("revenue_cents", "kept_units", "units_a_day", "year", "season")
"""Columns of a prepared row beside the observation's number and the numerics of the input."""

SERIES_OF_A_TOP_SELLER = 10
"""Of so many series the one with the most revenue is searched by maximum likelihood, the rest screened."""

PROGRAM = Program(
    name="forecasting",
    program_class="compute",
    title="Forecast many monthly series a year ahead, smoothing chosen for each, against what came",
    inputs=(TABLE,),
    temporaries=(
        Temporary("prepared", "work", 8 * (1 + len(NUMERICS) + len(DERIVED))),
        Temporary("forecasts", "work", 8 * (2 + HELD_OUT), 1.0 / MONTHS),
    ),
    steps=(
        prepare_step(TABLE, "revenue and units by month, revenue by series"),
        procedure_step(
            "forecast",
            "ESM",
            "screen four models for every series, search them for top sellers, 12 months ahead",
            reads=["prepared"],
            writes=["forecasts"],
        ),
        procedure_step(
            "accuracy",
            "MEANS",
            "errors in the months held out, compared with those of the seasonal naive forecast",
            reads=["prepared", "forecasts"],
        ),
        verify_step("models and errors against the generator's truth, word sums"),
    ),
    size_knob="rows of sales, 72 for each series",
    check="models mostly the hidden ones, forecasts near the best possible, word sums of all tables",
    modules=modules_of("forecasting", "statsmodels.tsa.exponential_smoothing.ets"),
    memory_floor_bytes=32 * MIB,
)

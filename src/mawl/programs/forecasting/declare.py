"""forecasting: exponential smoothing chosen per series, 12 months ahead, compared with what came."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.forecasting.inputs import HELD_OUT, MONTHS, NUMERICS, TABLE
from mawl.spec.program_options import MIB

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
        Temporary(name="prepared", role="work", row_bytes=8 * (1 + len(NUMERICS) + len(DERIVED))),
        Temporary(name="forecasts", role="work", row_bytes=8 * (2 + HELD_OUT), rows_ratio=1.0 / MONTHS),
    ),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="revenue and units by month, revenue by series",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="forecast",
            kind="procedure",
            procedure="ESM",
            title="screen four models for every series, search them for top sellers, 12 months ahead",
            reads=(Pass("prepared"),),
            writes=(Pass("forecasts"),),
        ),
        Step(
            name="accuracy",
            kind="procedure",
            procedure="MEANS",
            title="errors in the months held out, compared with those of the seasonal naive forecast",
            reads=(Pass("prepared"), Pass("forecasts")),
        ),
        Step(
            name="verify", kind="verify", title="models and errors against the generator's truth, word sums"
        ),
    ),
    size_knob="rows of sales, 72 for each series",
    check="models mostly the hidden ones, forecasts near the best possible, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "statsmodels.tsa.exponential_smoothing.ets",
        "threadpoolctl",
        "mawl.programs.forecasting.run",
    ),
    cpu_seconds_per_gb=435.2,
    memory_floor_bytes=32 * MIB,
)

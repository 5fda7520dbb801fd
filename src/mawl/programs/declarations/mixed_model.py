"""mixed_model: a linear mixed model by REML for every product line, random effects recovered.

Its input is weekly sales of a product line's stores: 400 bytes a row, 10 GB at full scale.  Each 104 rows
are the weeks of one store.  Sales are linear in five conditions and in time; every store has its own level
and trend.
"""

from __future__ import annotations

from mawl.plan.columns import (
    GB,
    Code,
    Column,
    GroupNumber,
    GroupPlace,
    InputTable,
    MixedResponse,
    PerGroup,
    RowNumber,
    Term,
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


DERIVED = 15
"""Columns of a prepared row that are made of others."""

PROGRAM = Program(
    name="mixed_model",
    program_class="compute",
    title="Model weekly sales with a random level and trend of every store by REML, for every product line",
    inputs=(TABLE,),
    temporaries=(Temporary("prepared", "work", 8 * (1 + len(NUMERICS) + DERIVED)),),
    steps=(
        prepare_step(TABLE, "time, what lies between and within stores, earlier weeks"),
        procedure_step(
            "fit", "MIXED", "REML for every product line, random effects of every store", reads=["prepared"]
        ),
        procedure_step(
            "score",
            "PLM",
            "expected sales of every week of every store, and what is left",
            reads=["prepared"],
        ),
        verify_step("coefficients, variances and effects against the hidden ones"),
    ),
    size_knob="rows of store weeks, 104 for each store, 32 stores for each product line",
    check="coefficients, variances and random effects near the hidden ones, word sums of all tables",
    modules=modules_of("mixed_model", "statsmodels.regression.mixed_linear_model"),
    memory_floor_bytes=40 * MIB,
)

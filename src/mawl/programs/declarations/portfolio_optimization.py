"""portfolio_optimization: mixed-integer selection for many mandates, Monte-Carlo value at risk.

Its input is securities that portfolios may hold: 320 bytes a row, 8 GB at full scale.  Each 512 rows in a
row are the candidates of one mandate, an instance of the selection problem.
"""

from __future__ import annotations

from mawl.plan.columns import GB, Bell, Code, Column, InputTable, RowNumber, Text, Uniform
from mawl.plan.programs import (
    Program,
    Temporary,
    modules_of,
    prepare_step,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

MANDATE_ROWS = 512
SECTORS = 6
FACTORS = tuple(f"loading_{index}" for index in range(6))
"""Sensitivities to the market's factors, in per cent."""

NUMERICS = (
    Column("price", Uniform(5, 99)),
    Column("expected_return", Uniform(1, 100)),
    Column("sector", Uniform(0, SECTORS - 1)),
    Column("own_risk", Uniform(4, 40, skew=2, step=4)),
    *(Column(name, Bell(mean=8.0, stddev=6.0, steps_per_unit=1)) for name in FACTORS),
    Column("maturity_years", Uniform(1, 30, skew=2)),
    Column("coupon_per_mille", Uniform(0, 80, skew=3, step=5)),
    Column("turnover", Uniform(0, 10_000, skew=4, step=500)),
    Column("rating", Uniform(1, 17, skew=2)),
    Column("spread", Uniform(0, 500, skew=4, step=10)),
    Column("holders", Uniform(0, 900, skew=4, step=50)),
    Column("age_years", Uniform(0, 20, skew=3)),
    Column("lot_size", Uniform(1, 100, skew=12, step=9)),
)
"""The 18 numerics; price in thousands, expected return and spread in basis points, risk in per cent."""

TABLE = InputTable(
    name="candidates",
    full_bytes=8 * GB,
    unfilled_bytes=23.0,
    minimum_rows=8 * MANDATE_ROWS,
    group_rows=MANDATE_ROWS,
    columns=(
        Column("candidate", RowNumber()),
        *NUMERICS,
        Column("currency", Code(("USD", "EUR", "GBP", "JPY"), skew=4), 8),
        Column("kind", Code(("SHARE", "BOND", "FUND"), skew=2), 8),
        Column("number", Text(), 16),
        Column("issuer", Text(), 56),
        Column("note", Text(), 80),
    ),
)


DERIVED = ("mandate", "gain", "yield_rank", "variance", "mean_loading", "coupon")
"""Columns of a prepared row beside the candidate's number and the numerics of the input."""

PROGRAM = Program(
    name="portfolio_optimization",
    program_class="compute",
    title="Select each mandate's securities by mixed-integer programming, simulate the value at risk",
    inputs=(TABLE,),
    temporaries=(Temporary("prepared", "work", 8 * (1 + len(NUMERICS) + len(DERIVED))),),
    steps=(
        prepare_step(TABLE, "gains, ranks by mandate and variances of the candidates"),
        procedure_step(
            "select",
            "OPTMODEL",
            "the best selection for every mandate, a mixed-integer program each",
            reads=["prepared"],
        ),
        procedure_step(
            "simulate", "IML", "value at risk of every mandate and of all, by Monte Carlo", reads=["prepared"]
        ),
        verify_step("feasibility, bounds by duality, risk against its formula"),
    ),
    size_knob="rows of candidates, 512 for each mandate",
    check="selections feasible and at their bounds, value at risk near its formula, word sums of all tables",
    modules=modules_of("portfolio_optimization", "scipy.optimize", "scipy.sparse"),
    memory_floor_bytes=24 * MIB,
)

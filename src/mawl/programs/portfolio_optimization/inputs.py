"""Securities that portfolios may hold, the input of portfolio_optimization: 320 bytes a row, 8 GB at full.

Each 512 rows in a row are the candidates of one mandate, an instance of the selection problem.
"""

from __future__ import annotations

from mawl.plan.columns import Bell, Code, Column, RowNumber, Text, Uniform
from mawl.plan.tables import GB, InputTable

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

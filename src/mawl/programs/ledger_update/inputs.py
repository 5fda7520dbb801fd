"""Entries of a general ledger, the input of ledger_update: 240 bytes a row, 18 GB at full scale."""

from __future__ import annotations

from mawl.plan.columns import Code, Column, RowNumber, Text, Uniform
from mawl.plan.tables import GB, InputTable

TABLE = InputTable(
    name="ledger",
    full_bytes=18 * GB,
    unfilled_bytes=19.6,
    fill_overhead_bytes=1.3,
    minimum_rows=125_000,
    columns=(
        Column("entry", RowNumber()),
        Column("account", Uniform(1, 50_000, skew=2)),
        Column("amount_cents", Uniform(100, 500_000, skew=3)),
        Column("posted", Uniform(20_000, 21_825, step=5)),
        Column("branch", Uniform(1, 40, skew=3)),
        Column("tax_cents", Uniform(0, 9_000, skew=3, step=50)),
        Column("status", Uniform(0, 3, skew=6)),
        Column("period", Uniform(1, 12)),
        Column("debit", Uniform(0, 1)),
        Column("cost_centre", Uniform(1, 90, skew=4)),
        Column("approvals", Uniform(0, 3, skew=8)),
        Column("days_open", Uniform(0, 60, skew=6)),
        Column("kind", Code(("INVOICE", "PAYMENT", "ACCRUAL", "TRANSFER"), skew=3), 8),
        Column("description", Text(), 64),
        Column("counterparty", Text(), 40),
        Column("reference", Text(), 32),
    ),
)

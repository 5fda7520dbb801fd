"""wide_sort: sort a table of 55 columns, however large, within sortsize.

Its input is card transactions: 640 bytes a row, 145 GB at full scale.  The papers' I/O programs sort wide
tables of many numerics and some long characters; the number of columns is the design of the workload, the
columns are ours.
"""

from __future__ import annotations

from mawl.plan.columns import GB, Code, Column, InputTable, RowNumber, Text, Uniform
from mawl.plan.programs import (
    Pass,
    Program,
    Temporary,
    data_step,
    modules_of,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

_KEYS = (
    Column("row", RowNumber()),
    Column("account", Uniform(1, 200_000, skew=3)),
    Column("posted", Uniform(20_000, 21_825)),
    Column("merchant", Uniform(1, 40_000, skew=2)),
    Column("amount_cents", Uniform(100, 500_000, skew=3)),
)

_AMOUNTS = (
    Column("fee_cents", Uniform(0, 900, skew=3, step=5)),
    Column("tax_cents", Uniform(0, 9_000, skew=3, step=5)),
    Column("tip_cents", Uniform(0, 2_000, skew=4, step=10)),
    Column("cash_back_cents", Uniform(0, 10_000, skew=12, step=1_000)),
    Column("interest_cents", Uniform(0, 5_000, skew=4)),
    Column("discount_cents", Uniform(0, 5_000, skew=4, step=5)),
    Column("points", Uniform(0, 500, skew=2)),
    Column("instalments", Uniform(0, 24, skew=10)),
    Column("credit_limit", Uniform(500, 50_000, skew=2, step=500)),
    Column("risk_score", Uniform(0, 999, skew=2)),
)

_TIMES = (
    Column("authorised_hour", Uniform(0, 23)),
    Column("authorised_minute", Uniform(0, 59)),
    Column("days_to_post", Uniform(0, 9, skew=5)),
    Column("days_since_last", Uniform(0, 60, skew=4)),
    Column("statement_month", Uniform(1, 12)),
    Column("account_age_years", Uniform(0, 30, skew=2)),
)

_COUNTS = tuple(
    Column(name, Uniform(0, high, skew=skew))
    for name, high, skew in (
        ("purchases_30_days", 40, 4),
        ("purchases_90_days", 90, 4),
        ("declines_30_days", 9, 12),
        ("declines_90_days", 9, 10),
        ("cash_advances", 9, 12),
        ("transfers", 15, 8),
        ("card_number_on_account", 5, 6),
        ("cards_on_account", 5, 6),
        ("terminal_type", 9, 4),
        ("entry_mode", 9, 4),
        ("verification_method", 6, 4),
        ("reason_code", 30, 12),
        ("channel_code", 7, 3),
        ("branch_group", 40, 3),
    )
)

_FLAGS = tuple(
    Column(name, Uniform(0, 1, skew=skew))
    for name, skew in (
        ("foreign", 8),
        ("recurring", 6),
        ("disputed", 40),
        ("refunded", 30),
        ("online", 2),
    )
)

_CHARACTERS = (
    Column("transaction_type", Code(("PURCHASE", "CASH", "REFUND", "FEE", "TRANSFER"), skew=4), 8),
    Column("currency", Code(("USD", "EUR", "GBP", "JPY", "CAD", "AUD"), skew=6), 8),
    Column("status", Code(("POSTED", "PENDING", "REVERSED", "HELD"), skew=6), 8),
    Column("segment", Code(("MASS", "AFFLUENT", "STUDENT", "PRIVATE"), skew=3), 8),
    Column("branch", Text(), 8),
    Column("narrative", Text(), 64),
    Column("merchant_name", Text(), 40),
    Column("merchant_street", Text(), 40),
    Column("merchant_town", Text(), 24),
    Column("cardholder_name", Text(), 24),
    Column("reference", Text(), 24),
    Column("authorisation", Text(), 16),
    Column("terminal", Text(), 16),
    Column("batch", Text(), 16),
    Column("device", Text(), 16),
)

TABLE = InputTable(
    name="transactions",
    full_bytes=145 * GB,
    unfilled_bytes=53.7,
    fill_overhead_bytes=1.0,
    columns=_KEYS + _AMOUNTS + _TIMES + _COUNTS + _FLAGS + _CHARACTERS,
)

_LEFT_OUT = (
    {column.name for column in _COUNTS}
    | {column.name for column in _FLAGS}
    | {"merchant_street", "terminal", "batch"}
)

NARROW_COLUMNS: tuple[str, ...] = tuple(
    column.name for column in TABLE.columns if column.name not in _LEFT_OUT
)
"""Columns of the narrower table that wide_sort sorts second: 416 of 640 bytes."""


CHECKED_EVERY = 16
"""Of the sorted table under data, one batch in so many is read back: all of it would be a fifth of what a
job reads under data, which the mix does not have."""

NARROW_BYTES = sum(column.stored_bytes for column in TABLE.columns if column.name in NARROW_COLUMNS)

PROGRAM = Program(
    name="wide_sort",
    program_class="io",
    title="Sort a table of 55 columns by two keys, pass over it, sort a narrower one by two others",
    inputs=(TABLE,),
    temporaries=(
        Temporary("wide", "work", TABLE.row_bytes, removed="step"),
        Temporary("narrow", "work", NARROW_BYTES),
        Temporary("wide parts", "util", TABLE.row_bytes, removed="parts"),
        Temporary("narrow parts", "util", NARROW_BYTES, removed="parts"),
        Temporary("sorted", "data", TABLE.row_bytes),
    ),
    steps=(
        data_step(
            "distribute",
            "distribute rows by key range (account, posted)",
            reads=[TABLE.name],
            writes=["wide parts"],
        ),
        procedure_step(
            "sort", "SORT", "sort each part in memory and append it", reads=["wide parts"], writes=["wide"]
        ),
        data_step("check_order", "first and last row of each account", reads=["wide"]),
        procedure_step(
            "summary",
            "MEANS",
            "moments and extremes of the numerics, frequencies of the codes",
            reads=["wide"],
        ),
        data_step(
            "distribute_narrow",
            "keep the sorted table under data, distribute the narrower one by (merchant, amount)",
            reads=["wide"],
            writes=["sorted", "narrow parts"],
        ),
        procedure_step(
            "sort_narrow",
            "SORT",
            "sort each part in memory and append it",
            reads=["narrow parts"],
            writes=["narrow"],
        ),
        procedure_step(
            "summary_narrow", "SUMMARY", "totals by merchant, moments of the numerics", reads=["narrow"]
        ),
        verify_step(
            "word sums, sampled rows, every sixteenth batch under data",
            reads=[Pass("sorted", share=1 / CHECKED_EVERY)],
        ),
    ),
    size_knob="rows of transactions",
    check="order of both sorts, word sums of every byte against the manifest, whole rows regenerated; of the "
    "table under data, the word sums of every sixteenth batch read back",
    modules=modules_of("wide_sort", "duckdb", "numpy.ma", "pyarrow.compute", "pyarrow.dataset"),
    memory_floor_bytes=56 * MIB,
    memory_per_sortsize=1.0,
)

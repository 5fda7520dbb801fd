"""ledger_update: copy a ledger, append to it, update it in place, sweep small files, publish.

Its input is entries of a general ledger: 240 bytes a row, 18 GB at full scale.
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


APPENDED = 20
"""One entry is appended for so many that were copied."""

VOUCHER_ROWS = 16
"""Entries of a voucher: updates and extracts are of whole vouchers."""

SETTLED = 16
"""One of so many vouchers is settled: its entries are updated in place."""

OPEN_VOUCHERS, VOUCHER_CLASSES = 4, 19
"""Vouchers whose number modulo the second is below the first are extracted."""

FILE_ROWS = 34
"""Entries of a small file: 8 KB."""

_SETTLED = (1 + 1 / APPENDED) / SETTLED
_OPEN = (1 + 1 / APPENDED) * OPEN_VOUCHERS / VOUCHER_CLASSES

PROGRAM = Program(
    name="ledger_update",
    program_class="io",
    title="Copy a ledger, append to it, update it in place, sweep small files, publish the result",
    inputs=(TABLE,),
    temporaries=(
        Temporary("copied", "work", TABLE.row_bytes, 1 + 1 / APPENDED),
        Temporary("journal", "work", TABLE.row_bytes, _SETTLED, removed="step"),
        Temporary("small files", "work", TABLE.row_bytes, _OPEN, removed="parts"),
        Temporary("published", "data", TABLE.row_bytes, _OPEN),
    ),
    steps=(
        data_step(
            "copy",
            "copy the ledger to a file of rows",
            reads=[TABLE.name],
            writes=[Pass("copied", APPENDED / (APPENDED + 1))],
        ),
        data_step("append", "append new entries", writes=[Pass("copied", 1 / (APPENDED + 1))]),
        data_step(
            "update",
            "settle vouchers: their new entries go to a journal",
            reads=["copied"],
            writes=["journal"],
        ),
        data_step(
            "checkpoint",
            "write the journal's entries in their places, and sync",
            reads=["journal"],
            writes=[Pass("copied", 1 / SETTLED)],
        ),
        procedure_step(
            "balances", "SUMMARY", "balances by account, moments by kind of entry", reads=["copied"]
        ),
        data_step(
            "extract",
            "write open vouchers to small files, one after the other",
            reads=["copied"],
            writes=["small files"],
        ),
        data_step(
            "publish",
            "sweep the small files in sequence into one table under data",
            reads=["small files"],
            writes=["published"],
        ),
        verify_step("word sums, totals, entries made again; reads what was published", reads=["published"]),
    ),
    size_knob="rows of ledger",
    check="word sums of all tables, totals after the updates, entries made again, the published table read",
    modules=modules_of("ledger_update", "duckdb", "numpy.ma", "pyarrow.dataset"),
    memory_floor_bytes=56 * MIB,
)

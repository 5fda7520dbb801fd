"""stress_projection: every policy through 21 shocks and 240 months, in blocks that fill its memsize.

Its input is life policies: 440 bytes a row, 10 GB at full scale.
"""

from __future__ import annotations

from mawl.plan.columns import GB, Code, Column, InputTable, Paired, RowNumber, Text, Uniform
from mawl.plan.programs import (
    Program,
    Temporary,
    modules_of,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

_CONTRACT = (
    Column("policy", RowNumber()),
    Column("age", Uniform(18, 79)),
    Column("duration_months", Uniform(0, 239)),
    Column("term_months", Uniform(120, 480)),
    Column("sum_assured", Uniform(10_000, 500_000, skew=2, step=100)),
    Column("annual_premium", Uniform(120, 4_800, skew=2)),
    Column("paying", Paired()),
    Column("product", Uniform(1, 8, skew=2)),
    Column("sex", Uniform(0, 1)),
    Column("smoker", Uniform(0, 1, skew=3)),
    Column("interest_class", Uniform(0, 4, skew=2)),
    Column("expense_class", Uniform(0, 3, skew=2)),
    Column("lapse_class", Uniform(0, 5, skew=2)),
    Column("mortality_class", Uniform(0, 7, skew=3)),
)

_STATE = (
    Column("premiums_per_year", Uniform(1, 12, skew=8, step=11)),
    Column("fund_units", Uniform(0, 20_000, skew=2)),
    Column("guarantee_per_mille", Uniform(0, 40, skew=2)),
    Column("rider_count", Uniform(0, 5, skew=2)),
    Column("rider_sum", Uniform(0, 100_000, skew=3, step=500)),
    Column("loan", Uniform(0, 50_000, skew=4, step=100)),
    Column("loading_per_mille", Uniform(0, 200, skew=3)),
    Column("reinsured_per_cent", Uniform(0, 95, skew=2)),
    Column("commission_per_mille", Uniform(0, 999)),
    Column("underwriting_score", Uniform(0, 999)),
    Column("claims", Uniform(0, 3, skew=20)),
    Column("arrears_months", Uniform(0, 6, skew=24)),
    Column("dividend_per_mille", Uniform(0, 999)),
    Column("joint_life", Uniform(0, 1, skew=8)),
    Column("indexed", Uniform(0, 1, skew=4)),
    Column("issue_quarter", Uniform(1, 4)),
)

_CHARACTERS = (
    Column("channel", Code(("AGENT", "BROKER", "BANK", "DIRECT"), skew=2), 8),
    Column("agent", Text(), 8),
    Column("holder_name", Text(), 48),
    Column("holder_street", Text(), 48),
    Column("holder_town", Text(), 32),
    Column("agent_note", Text(), 56),
)

TABLE = InputTable(
    name="policies",
    full_bytes=10 * GB,
    unfilled_bytes=40.4,
    fill_overhead_bytes=2.0,
    columns=_CONTRACT + _STATE + _CHARACTERS,
    group_rows=2,
)


SHOCKS = 21
MONTHS = 240

MEMORY_PER_MEMSIZE = 2.0
"""This program's memsize is twice the run's: 4 GiB at full scale, as the workload is designed."""

RESIDENT_SHARE = 0.8
"""Share of its memsize that the resident block fills; the rest is for tiles, batches and tables."""

_VALUE_BYTES = 8 * (1 + SHOCKS)

PROGRAM = Program(
    name="stress_projection",
    program_class="memory",
    title="Project life policies through 21 shocks and 240 months",
    inputs=(TABLE,),
    temporaries=(
        Temporary("paying", "work", _VALUE_BYTES, 0.5),
        Temporary("paid up", "work", _VALUE_BYTES, 0.5),
    ),
    steps=(
        procedure_step(
            "project",
            "IML",
            "cash flows by shock and month, present values by policy and shock",
            reads=[TABLE.name],
            writes=["paying", "paid up"],
        ),
        procedure_step("totals", "SUMMARY", "totals and extremes by shock", reads=["paying", "paid up"]),
        procedure_step("tail", "UNIVARIATE", "percentiles of the paying policies by shock", reads=["paying"]),
        verify_step("sampled policies by a scalar recursion, sums both ways"),
    ),
    size_knob="rows of policies",
    check="sampled policies recomputed one by one, sums by month and by policy, word sums of all tables",
    modules=modules_of("stress_projection", "numpy.ma"),
    memory_floor_bytes=24 * MIB,
    memory_per_memsize=MEMORY_PER_MEMSIZE,
)

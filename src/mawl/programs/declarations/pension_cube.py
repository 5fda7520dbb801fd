"""pension_cube: an eight-deep grid of pension plans, projected in blocks that fill its memsize."""

from __future__ import annotations

from mawl.plan.programs import (
    OwnRows,
    Program,
    Temporary,
    data_step,
    modules_of,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

MONTHS = 480

MEMORY_PER_MEMSIZE = 2.0
"""This program's memsize is twice the run's: 4 GiB at full scale, as the workload is designed."""

RESIDENT_SHARE = 0.8
"""Share of its memsize that the resident block fills; the rest is for tiles, batches and tables."""

FULL_ROWS = 56_000_000
"""Cells of the grid: 10 x 8 x 10 x 10 x 10 x 10 x 7 x 10."""

CUBE = (
    "row", "entry_age", "retirement_age", "contribution", "months", "salary", "fund_cents",
    "real_fund_cents", "paid_cents",
)  # fmt: skip
PENSIONS = ("row", "annuity", "pension_cents", "replacement_ratio")

PROGRAM = Program(
    name="pension_cube",
    program_class="memory",
    title="Project an eight-deep grid of pension plans, join annuities, tabulate",
    own_rows=OwnRows(full_rows=FULL_ROWS),
    temporaries=(
        Temporary("cube", "work", 8 * len(CUBE)),
        Temporary("pensions", "work", 8 * len(PENSIONS)),
    ),
    steps=(
        procedure_step(
            "project",
            "IML",
            "funds by month of as many cells as fit in memory, nominal and real",
            writes=["cube"],
        ),
        data_step(
            "annuitise", "join each cell to its annuity in a hash table", reads=["cube"], writes=["pensions"]
        ),
        procedure_step(
            "means", "MEANS", "moments of all figures by retirement age and by contribution", reads=["cube"]
        ),
        procedure_step(
            "tabulate",
            "TABULATE",
            "quantiles and frequencies of pensions, pension band by retirement age",
            reads=["pensions"],
        ),
        verify_step("sampled cells by a closed formula, counts of the grid"),
    ),
    size_knob="cells of the grid",
    check="sampled cells by closed formulas, counts by the grid's arithmetic, word sums of both tables",
    modules=modules_of("pension_cube", "duckdb", "numpy.ma", "pyarrow.acero", "pyarrow.dataset"),
    memory_floor_bytes=24 * MIB,
    memory_per_memsize=MEMORY_PER_MEMSIZE,
)

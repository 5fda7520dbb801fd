"""customer_profile: make a wide numeric table, sort it twice, merge, regress overall and by group."""

from __future__ import annotations

from mawl.plan.columns import GB, Bell, Column, InputTable, RowNumber, Uniform
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

SEGMENTS = 12
HOUSEHOLD_ROWS = 8
"""Customers of each household."""

PREDICTORS = tuple(f"x{number:02d}" for number in range(1, 31))
DRAWN = (
    Column("row", RowNumber()),
    Column("segment", Uniform(0, SEGMENTS - 1)),
    Column("region", Uniform(0, 49, skew=2)),
    *(Column(name, Uniform(0, 20 + 2 * place)) for place, name in enumerate(PREDICTORS)),
    Column("age", Uniform(18, 94)),
    Column("tenure_months", Uniform(0, 479, skew=2)),
    Column("contacts", Uniform(0, 30, skew=4)),
    Column("complaints", Uniform(0, 9, skew=10)),
    Column("products", Uniform(1, 12, skew=3)),
)
"""Columns of the made table that come straight from the seed; household and spend are derived."""

NOISE = Column("noise", Bell(mean=0.0, stddev=300.0, steps_per_unit=1))
COLUMNS = ("row", "household", "segment", "region", "spend_cents", *(c.name for c in DRAWN[3:]))
PROFILES = InputTable(name="profiles", full_bytes=25 * GB, columns=DRAWN, record_bytes=8 * len(COLUMNS))
"""The made table, declared as input tables are, though the job itself makes it."""

MEAN_COLUMNS = ("spend_cents", "x01", "x02", "x03", "age")
MODEL_PREDICTORS = PREDICTORS[:6]
MODEL_MEANS = ("mean_x02", "mean_x03")
MODEL_COLUMNS = ("row", "household", "segment", "spend_cents", *MODEL_PREDICTORS, *MODEL_MEANS)

PROGRAM = Program(
    name="customer_profile",
    program_class="io",
    title="Make a wide numeric table, sort it twice, merge household means, regress overall and by segment",
    own_rows=OwnRows(full_rows=PROFILES.rows(1.0), minimum_rows=4000, group_rows=HOUSEHOLD_ROWS),
    temporaries=(
        Temporary("profiles", "work", PROFILES.row_bytes, removed="step"),
        Temporary("by household", "work", PROFILES.row_bytes),
        Temporary("household means", "work", 8 * (1 + len(MEAN_COLUMNS)), 1 / HOUSEHOLD_ROWS),
        Temporary("model rows", "work", 8 * len(MODEL_COLUMNS)),
        Temporary("household parts", "util", PROFILES.row_bytes, removed="parts"),
        Temporary("region parts", "util", PROFILES.row_bytes, removed="parts"),
    ),
    steps=(
        data_step("make", "make the wide numeric table", writes=["profiles"]),
        procedure_step("means", "MEANS", "means, deviations and extremes by segment", reads=["profiles"]),
        data_step(
            "distribute", "distribute rows by household", reads=["profiles"], writes=["household parts"]
        ),
        procedure_step(
            "sort",
            "SORT",
            "sort each part in memory and append it",
            reads=["household parts"],
            writes=["by household"],
        ),
        procedure_step(
            "household_means",
            "SUMMARY",
            "means of each household, in order",
            reads=["by household"],
            writes=["household means"],
        ),
        data_step(
            "merge",
            "merge each customer with the means of its household",
            reads=["by household", "household means"],
            writes=["model rows"],
        ),
        procedure_step(
            "regress", "GLM", "regression on all predictors, segments as classes", reads=["by household"]
        ),
        procedure_step("residuals", "GLM", "residuals of that regression", reads=["by household"]),
        procedure_step("regress_groups", "REG", "a regression for each segment", reads=["model rows"]),
        procedure_step("residuals_groups", "REG", "residuals by segment", reads=["model rows"]),
        data_step(
            "distribute_region",
            "distribute rows by (region, spend)",
            reads=["by household"],
            writes=["region parts"],
        ),
        procedure_step(
            "sort_region",
            "SORT",
            "sort each part in memory, rank customers by spend within their region",
            reads=["region parts"],
        ),
        verify_step("word sums, made rows again, coefficients against the truth"),
    ),
    size_knob="rows of the table it makes",
    check="word sums of all tables, order of both sorts, rows made again, coefficients near the true ones",
    modules=modules_of("customer_profile", "duckdb", "numpy.ma", "pyarrow.dataset", "scipy.linalg"),
    memory_floor_bytes=56 * MIB,
    memory_per_sortsize=1.0,
)

"""customer_profile: make a wide numeric table, sort it twice, merge, regress overall and by group."""

from __future__ import annotations

from mawl.plan.columns import GB, Bell, Column, InputTable, RowNumber, Uniform
from mawl.plan.programs import OwnRows, Pass, Program, Step, Temporary
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
        Temporary(name="profiles", role="work", row_bytes=PROFILES.row_bytes, removed="step"),
        Temporary(name="by household", role="work", row_bytes=PROFILES.row_bytes),
        Temporary(
            name="household means",
            role="work",
            row_bytes=8 * (1 + len(MEAN_COLUMNS)),
            rows_ratio=1 / HOUSEHOLD_ROWS,
        ),
        Temporary(name="model rows", role="work", row_bytes=8 * len(MODEL_COLUMNS)),
        Temporary(name="household parts", role="util", row_bytes=PROFILES.row_bytes, removed="parts"),
        Temporary(name="region parts", role="util", row_bytes=PROFILES.row_bytes, removed="parts"),
    ),
    steps=(
        Step(name="make", kind="data", title="make the wide numeric table", writes=(Pass("profiles"),)),
        Step(
            name="means",
            kind="procedure",
            procedure="MEANS",
            title="means, deviations and extremes by segment",
            reads=(Pass("profiles"),),
        ),
        Step(
            name="distribute",
            kind="data",
            title="distribute rows by household",
            reads=(Pass("profiles"),),
            writes=(Pass("household parts"),),
        ),
        Step(
            name="sort",
            kind="procedure",
            procedure="SORT",
            title="sort each part in memory and append it",
            reads=(Pass("household parts"),),
            writes=(Pass("by household"),),
        ),
        Step(
            name="household_means",
            kind="procedure",
            procedure="SUMMARY",
            title="means of each household, in order",
            reads=(Pass("by household"),),
            writes=(Pass("household means"),),
        ),
        Step(
            name="merge",
            kind="data",
            title="merge each customer with the means of its household",
            reads=(Pass("by household"), Pass("household means")),
            writes=(Pass("model rows"),),
        ),
        Step(
            name="regress",
            kind="procedure",
            procedure="GLM",
            title="regression on all predictors, segments as classes",
            reads=(Pass("by household"),),
        ),
        Step(
            name="residuals",
            kind="procedure",
            procedure="GLM",
            title="residuals of that regression",
            reads=(Pass("by household"),),
        ),
        Step(
            name="regress_groups",
            kind="procedure",
            procedure="REG",
            title="a regression for each segment",
            reads=(Pass("model rows"),),
        ),
        Step(
            name="residuals_groups",
            kind="procedure",
            procedure="REG",
            title="residuals by segment",
            reads=(Pass("model rows"),),
        ),
        Step(
            name="distribute_region",
            kind="data",
            title="distribute rows by (region, spend)",
            reads=(Pass("by household"),),
            writes=(Pass("region parts"),),
        ),
        Step(
            name="sort_region",
            kind="procedure",
            procedure="SORT",
            title="sort each part in memory, rank customers by spend within their region",
            reads=(Pass("region parts"),),
        ),
        Step(
            name="verify", kind="verify", title="word sums, made rows again, coefficients against the truth"
        ),
    ),
    size_knob="rows of the table it makes",
    check="word sums of all tables, order of both sorts, rows made again, coefficients near the true ones",
    modules=(
        "duckdb",
        "numpy",
        "numpy.ma",
        "pyarrow",
        "pyarrow.dataset",
        "scipy.linalg",
        "threadpoolctl",
        "mawl.programs.customer_profile.run",
    ),
    memory_floor_bytes=56 * MIB,
    memory_per_sortsize=1.0,
)

"""wide_sort: sort a table of 55 columns, however large, within sortsize."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.wide_sort.inputs import NARROW_COLUMNS, TABLE
from mawl.spec.program_options import MIB

NARROW_BYTES = sum(column.stored_bytes for column in TABLE.columns if column.name in NARROW_COLUMNS)

PROGRAM = Program(
    name="wide_sort",
    program_class="io",
    title="Sort a table of 55 columns by two keys, pass over it, sort a narrower one by two others",
    inputs=(TABLE,),
    temporaries=(
        Temporary(name="wide", role="work", row_bytes=TABLE.row_bytes, removed="step"),
        Temporary(name="narrow", role="work", row_bytes=NARROW_BYTES),
        Temporary(name="wide parts", role="util", row_bytes=TABLE.row_bytes, removed="parts"),
        Temporary(name="narrow parts", role="util", row_bytes=NARROW_BYTES, removed="parts"),
    ),
    steps=(
        Step(
            name="distribute",
            kind="data",
            title="distribute rows by key range (account, posted)",
            reads=(Pass(TABLE.name),),
            writes=(Pass("wide parts"),),
        ),
        Step(
            name="sort",
            kind="procedure",
            procedure="SORT",
            title="sort each part in memory and append it",
            reads=(Pass("wide parts"),),
            writes=(Pass("wide"),),
        ),
        Step(
            name="check_order",
            kind="data",
            title="first and last row of each account",
            reads=(Pass("wide"),),
        ),
        Step(
            name="summary",
            kind="procedure",
            procedure="MEANS",
            title="moments and extremes of the numerics, frequencies of the codes",
            reads=(Pass("wide"),),
        ),
        Step(
            name="distribute_narrow",
            kind="data",
            title="keep the narrower columns, distribute by (merchant, amount)",
            reads=(Pass("wide"),),
            writes=(Pass("narrow parts"),),
        ),
        Step(
            name="sort_narrow",
            kind="procedure",
            procedure="SORT",
            title="sort each part in memory and append it",
            reads=(Pass("narrow parts"),),
            writes=(Pass("narrow"),),
        ),
        Step(
            name="summary_narrow",
            kind="procedure",
            procedure="SUMMARY",
            title="totals by merchant, moments of the numerics",
            reads=(Pass("narrow"),),
        ),
        Step(name="verify", kind="verify", title="word sums, sampled rows"),
    ),
    size_knob="rows of transactions",
    check="order of both sorts, word sums of every byte against the manifest, whole rows regenerated",
    modules=(
        "duckdb",
        "numpy",
        "numpy.ma",
        "pyarrow",
        "pyarrow.compute",
        "pyarrow.dataset",
        "threadpoolctl",
        "mawl.programs.wide_sort.run",
    ),
    cpu_seconds_per_gb=14.08,
    memory_floor_bytes=56 * MIB,
    memory_per_sortsize=1.0,
)

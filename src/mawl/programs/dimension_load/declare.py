"""dimension_load: parse customer records, look up their type, sort without duplicates, summarise."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.dimension_load.inputs import CUSTOMER, REPEATED_GROUP, TABLE
from mawl.spec.program_options import MIB

TYPE_BYTES = 16
"""Width of the customer type that is looked up; the risk weight beside it takes eight bytes."""

UNIQUE_RATIO = (REPEATED_GROUP - 1) / REPEATED_GROUP
"""Records that are left when each customer has one."""

_ROW_BYTES = CUSTOMER.row_bytes + TYPE_BYTES + 8

PROGRAM = Program(
    name="dimension_load",
    program_class="io",
    title="Load customer records, look up their type, sort without duplicates, summarise",
    inputs=(TABLE,),
    temporaries=(
        Temporary(name="loaded", role="work", row_bytes=_ROW_BYTES, removed="step"),
        Temporary(name="unique", role="work", row_bytes=_ROW_BYTES, rows_ratio=UNIQUE_RATIO),
        Temporary(name="loaded parts", role="util", row_bytes=_ROW_BYTES, removed="parts"),
    ),
    steps=(
        Step(
            name="load",
            kind="data",
            title="parse the records, look up type and risk weight in a hash table",
            reads=(Pass(TABLE.name),),
            writes=(Pass("loaded"),),
        ),
        Step(
            name="frequencies",
            kind="procedure",
            procedure="FREQ",
            title="customers by class code and type",
            reads=(Pass("loaded"),),
        ),
        Step(
            name="means",
            kind="procedure",
            procedure="MEANS",
            title="moments and extremes of all records by type and status",
            reads=(Pass("loaded"),),
        ),
        Step(
            name="distribute",
            kind="data",
            title="distribute rows by key range (customer, updated)",
            reads=(Pass("loaded"),),
            writes=(Pass("loaded parts"),),
        ),
        Step(
            name="sort",
            kind="procedure",
            procedure="SORT",
            title="sort each part in memory, keep the first record of each customer",
            reads=(Pass("loaded parts"),),
            writes=(Pass("unique"),),
        ),
        Step(
            name="summary",
            kind="procedure",
            procedure="SUMMARY",
            title="moments and extremes of the customers by type and segment",
            reads=(Pass("unique"),),
        ),
        Step(
            name="branches",
            kind="procedure",
            procedure="SQL",
            title="customers, balances and risk by branch",
            reads=(Pass("unique"),),
        ),
        Step(name="verify", kind="verify", title="word sums, whole rows, which records were kept"),
    ),
    size_knob="records of customer_records",
    check="word sums of every field and type, order, one record of each customer, rows regenerated",
    modules=(
        "duckdb",
        "numpy",
        "numpy.ma",
        "pyarrow",
        "pyarrow.compute",
        "pyarrow.dataset",
        "threadpoolctl",
        "mawl.programs.dimension_load.run",
    ),
    cpu_seconds_per_gb=15.11,
    memory_floor_bytes=64 * MIB,
    memory_per_sortsize=1.0,
)

"""dimension_load: parse customer records, look up their type, sort without duplicates, summarise.

Its input is fixed-width text of 400 bytes a record, 19 GB at full scale.  A record says what was known of a
customer on a day; one of each five is of a customer that another of them is of too.
"""

from __future__ import annotations

from mawl.plan.columns import GB, Code, Column, InputTable, Repeated, RowNumber, Uniform, lay_out
from mawl.plan.programs import (
    Program,
    Temporary,
    data_step,
    modules_of,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

RECORD_BYTES = 400
REPEATED_GROUP = 5
"""Of so many records one repeats another's customer."""

_CLASSES = 1000
_LISTED_OF_HUNDRED = 96
_SECTORS = (
    "RETAIL",
    "FARMING",
    "BUILDING",
    "TRANSPORT",
    "MANUFACTURE",
    "HOSPITALITY",
    "HEALTH",
    "EDUCATION",
    "PUBLIC SERVICE",
    "FINANCE",
)

UNLISTED = ("UNLISTED", 0)
"""Type and risk weight of a customer whose class code is in no list."""

CUSTOMER_TYPES: dict[int, tuple[str, int]] = {
    code: (_SECTORS[code // 100], 20 + code * 37 % 180)
    for code in range(_CLASSES)
    if code % 100 < _LISTED_OF_HUNDRED
}
"""Customer type and risk weight (percent) by class code; four codes of each hundred are not listed."""

CUSTOMER = lay_out(
    "C",
    REPEATED_GROUP,
    RECORD_BYTES,
    (
        (Column("record", RowNumber()), 10),
        (Column("customer", Repeated(REPEATED_GROUP)), 10),
        (Column("updated", Uniform(20_000, 21_825)), 5),
        (Column("class_code", Uniform(0, _CLASSES - 1, skew=3)), 4),
        (Column("branch", Uniform(1, 400, skew=3)), 3),
        (Column("birth_year", Uniform(1930, 2005, step=5)), 4),
        (Column("opened_year", Uniform(1990, 2020, skew=2, step=2)), 4),
        (Column("products", Uniform(1, 20, skew=6)), 2),
        (Column("cards", Uniform(0, 5, skew=6)), 1),
        (Column("income", Uniform(0, 200_000, skew=3, step=5_000)), 6),
        (Column("balance_cents", Uniform(0, 10_000_000, skew=4, step=50_000)), 8),
        (Column("credit_limit", Uniform(0, 50_000, skew=6, step=2_500)), 6),
        (Column("arrears_cents", Uniform(0, 500_000, skew=20, step=5_000)), 6),
        (Column("score", Uniform(300, 850, skew=2, step=10)), 3),
        (Column("dependants", Uniform(0, 6, skew=6)), 1),
        (Column("region", Uniform(1, 16, skew=4)), 2),
        (Column("risk_grade", Uniform(1, 9, skew=6)), 1),
        (Column("mailings", Uniform(0, 24, skew=12)), 2),
        (Column("calls", Uniform(0, 24, skew=16)), 2),
        (Column("visits", Uniform(0, 24, skew=16)), 2),
        (Column("complaints", Uniform(0, 5, skew=24)), 1),
        (Column("consent", Uniform(0, 1, skew=8)), 1),
        (Column("language", Uniform(1, 9, skew=16)), 1),
        (Column("household_size", Uniform(1, 12, skew=8)), 2),
        (Column("title", Code(("MS", "MR", "DR", "NONE"), skew=3), 8), 8),
        (Column("status", Code(("ACTIVE", "DORMANT", "CLOSED"), skew=6), 8), 8),
        (Column("segment", Code(("MASS", "AFFLUENT", "STUDENT", "PRIVATE"), skew=4), 8), 8),
        (Column("channel", Code(("BRANCH", "TELEPHONE", "INTERNET", "AGENT"), skew=4), 16), 16),
        (Column("country", Code(("HOME", "NEIGHBOUR", "OVERSEAS"), skew=12), 16), 16),
        (Column("city", Code(("CAPITAL", "PORT", "OLD TOWN", "NEW TOWN", "VILLAGE"), skew=4), 24), 24),
        (Column("occupation", Code(("EMPLOYEE", "RETIRED", "SELF-EMPLOYED", "STUDENT"), skew=4), 24), 24),
        (Column("advice", Code(("NONE", "SAVINGS", "PENSION", "MORTGAGE"), skew=10), 24), 24),
    ),
    "customer_filler",
)

TABLE = InputTable(
    name="customer_records",
    full_bytes=19 * GB,
    unfilled_bytes=35.2,
    fill_overhead_bytes=9.0,
    layout="text",
    group_rows=REPEATED_GROUP,
    record_bytes=RECORD_BYTES,
    records=(CUSTOMER,),
    minimum_rows=2000,
)


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
        Temporary("loaded", "work", _ROW_BYTES, removed="step"),
        Temporary("unique", "work", _ROW_BYTES, UNIQUE_RATIO),
        Temporary("loaded parts", "util", _ROW_BYTES, removed="parts"),
    ),
    steps=(
        data_step(
            "load",
            "parse the records, look up type and risk weight in a hash table",
            reads=[TABLE.name],
            writes=["loaded"],
        ),
        procedure_step("frequencies", "FREQ", "customers by class code and type", reads=["loaded"]),
        procedure_step(
            "means", "MEANS", "moments and extremes of all records by type and status", reads=["loaded"]
        ),
        data_step(
            "distribute",
            "distribute rows by key range (customer, updated)",
            reads=["loaded"],
            writes=["loaded parts"],
        ),
        procedure_step(
            "sort",
            "SORT",
            "sort each part in memory, keep the first record of each customer",
            reads=["loaded parts"],
            writes=["unique"],
        ),
        procedure_step(
            "summary",
            "SUMMARY",
            "moments and extremes of the customers by type and segment",
            reads=["unique"],
        ),
        procedure_step("branches", "SQL", "customers, balances and risk by branch", reads=["unique"]),
        verify_step("word sums, whole rows, which records were kept"),
    ),
    size_knob="records of customer_records",
    check="word sums of every field and type, order, one record of each customer, rows regenerated",
    modules=modules_of("dimension_load", "duckdb", "numpy.ma", "pyarrow.compute", "pyarrow.dataset"),
    memory_floor_bytes=64 * MIB,
    memory_per_sortsize=1.0,
)

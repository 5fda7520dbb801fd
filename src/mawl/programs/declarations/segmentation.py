"""segmentation: principal components and k-means for each market, segments common to all, profile.

Its input is customers in hidden overlapping clusters: 360 bytes a row, 18 GB at full scale.
"""

from __future__ import annotations

from mawl.plan.columns import GB, Code, Column, Feature, InputTable, RowNumber, Text, Uniform
from mawl.plan.programs import (
    Program,
    Temporary,
    modules_of,
    prepare_step,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

CLUSTER_SHARES = (42, 38, 35, 33, 30, 28, 26, 24)
"""Rows of each hidden cluster, in 256ths."""

FEATURES = tuple(f"feature_{index:02d}" for index in range(20))
"""Names of the columns that the clusters show in."""

_FEATURES = tuple(
    Column(name, Feature(index=index, shares=CLUSTER_SHARES, noise=2.5))
    for index, name in enumerate(FEATURES)
)

TABLE = InputTable(
    name="customers",
    full_bytes=18 * GB,
    unfilled_bytes=31.4,
    columns=(
        Column("customer", RowNumber()),
        *_FEATURES,
        Column("tenure_years", Uniform(0, 40, skew=2)),
        Column("balance", Uniform(0, 50_000, skew=3, step=500)),
        Column("complaints", Uniform(0, 5, skew=16)),
        Column("channel", Code(("BRANCH", "PHONE", "WEB", "MOBILE"), skew=2), 8),
        Column("name", Text(), 40),
        Column("street", Text(), 40),
        Column("town", Text(), 24),
        Column("note", Text(), 56),
    ),
)


NUMERICS = 34
"""Numerics of a prepared row, beside the customer's number."""

MARKET_ROWS = 8_192
"""Customers of a market, one behind the other, that are clustered by themselves."""

PROGRAM = Program(
    name="segmentation",
    program_class="compute",
    title="Segment each market's customers by components and k-means, match the clusters, profile",
    inputs=(TABLE,),
    temporaries=(Temporary("prepared", "work", 8 * (1 + NUMERICS)),),
    steps=(
        prepare_step(TABLE, "derive numerics of every customer"),
        procedure_step(
            "cluster",
            "FASTCLUS",
            "principal components and k-means for each market, clusters matched to common segments",
            reads=["prepared"],
        ),
        procedure_step(
            "profile",
            "MEANS",
            "the common segment of every customer, means of the numerics by segment",
            reads=["prepared"],
        ),
        verify_step("clusters against the generator's truth, word sums"),
    ),
    size_knob="rows of customers, 8,192 for each market",
    check="centres and membership near the generator's hidden clusters, word sums of all tables",
    modules=modules_of("segmentation", "scipy.optimize", "sklearn.cluster", "sklearn.decomposition"),
    memory_floor_bytes=32 * MIB,
)

"""Customers in hidden overlapping clusters, the input of segmentation: 360 bytes a row, 18 GB at full."""

from __future__ import annotations

from mawl.plan.columns import Code, Column, Feature, RowNumber, Text, Uniform
from mawl.plan.tables import GB, InputTable

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

"""segmentation: principal components and k-means for each market, segments common to all, profile."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.segmentation.inputs import TABLE
from mawl.spec.program_options import MIB

NUMERICS = 34
"""Numerics of a prepared row, beside the customer's number."""

MARKET_ROWS = 8_192
"""Customers of a market, one behind the other, that are clustered by themselves."""

PROGRAM = Program(
    name="segmentation",
    program_class="compute",
    title="Segment each market's customers by components and k-means, match the clusters, profile",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * (1 + NUMERICS)),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="derive numerics of every customer",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="cluster",
            kind="procedure",
            procedure="FASTCLUS",
            title="principal components and k-means for each market, clusters matched to common segments",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="profile",
            kind="procedure",
            procedure="MEANS",
            title="the common segment of every customer, means of the numerics by segment",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="clusters against the generator's truth, word sums"),
    ),
    size_knob="rows of customers, 8,192 for each market",
    check="centres and membership near the generator's hidden clusters, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "scipy.optimize",
        "sklearn.cluster",
        "sklearn.decomposition",
        "threadpoolctl",
        "mawl.programs.segmentation.run",
    ),
    cpu_seconds_per_gb=15.58,
    memory_floor_bytes=32 * MIB,
)

"""segmentation: standardise, principal components, k-means with several starts, score, profile."""

from __future__ import annotations

from mawl.model.options import MIB
from mawl.plan.inputs.customers import TABLE
from mawl.plan.programs import Pass, Program, Step, Temporary

NUMERICS = 34
"""Numerics of a prepared row, beside the customer's number."""

SAMPLE_SHARE = 0.125
"""Share of memsize that the rows to fit on fill; scikit-learn makes copies of them."""

PROGRAM = Program(
    name="segmentation",
    program_class="compute",
    title="Segment customers: standardise, principal components, k-means with several starts, profile",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * (1 + NUMERICS)),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="derive numerics, keep a sample to fit on",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(name="components", kind="procedure", title="principal components of the standardised sample"),
        Step(name="cluster", kind="procedure", title="k-means with several starts"),
        Step(
            name="score",
            kind="procedure",
            title="the cluster of every customer",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="profile",
            kind="procedure",
            title="means of the numerics by cluster",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="clusters against the generator's truth, word sums"),
    ),
    size_knob="rows of customers",
    check="centres and membership near the generator's hidden clusters, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "sklearn.cluster",
        "sklearn.decomposition",
        "threadpoolctl",
        "mawl.programs.segmentation",
    ),
    cpu_seconds_per_gb=17.0,
    memory_floor_bytes=32 * MIB,
    memory_per_memsize=0.75,
)

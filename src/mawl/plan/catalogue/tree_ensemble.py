"""tree_ensemble: gradient boosting and a forest on loan applications, scored on held-out rows."""

from __future__ import annotations

from mawl.model.options import MIB
from mawl.plan.inputs.applications import PREDICTORS, TABLE
from mawl.plan.programs import Pass, Program, Step, Temporary

DERIVED = 12
"""Predictors of a prepared row that are made of others."""

SAMPLE_SHARE = 0.125
"""Share of memsize that the rows to fit on fill; scikit-learn makes smaller copies of them."""

PROGRAM = Program(
    name="tree_ensemble",
    program_class="compute",
    title="Predict defaults with gradient boosting and a forest, scored on held-out applications",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * (2 + len(PREDICTORS) + DERIVED)),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="derive predictors, keep a sample of every other row to fit on",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(name="boost", kind="procedure", title="gradient boosting on the sample"),
        Step(name="forest", kind="procedure", title="a random forest on the sample"),
        Step(
            name="score",
            kind="procedure",
            title="both models on the held-out rows: area under the curve, accuracy",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="lift",
            kind="procedure",
            title="defaults by tenth of the boosted score",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="both models against the generator's true chances"),
    ),
    size_knob="rows of applications",
    check="area under the curve near that of the true chances, defaults by tenth, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "sklearn.ensemble",
        "threadpoolctl",
        "mawl.programs.tree_ensemble",
    ),
    cpu_seconds_per_gb=98.0,
    memory_floor_bytes=32 * MIB,
    memory_per_memsize=0.35,
)

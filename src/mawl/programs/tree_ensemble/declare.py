"""tree_ensemble: gradient boosting and a forest for each branch of a lender, scored on held-out rows."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.tree_ensemble.inputs import PREDICTORS, TABLE
from mawl.spec.program_options import MIB

DERIVED = 12
"""Predictors of a prepared row that are made of others."""

BRANCH_ROWS = 8_192
"""Applications of a branch, one behind the other, that have models of their own."""

PROGRAM = Program(
    name="tree_ensemble",
    program_class="compute",
    title="Predict each branch's defaults by boosting and a forest, scored on held-out applications",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * (2 + len(PREDICTORS) + DERIVED)),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="derive predictors of every application",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="boost",
            kind="procedure",
            procedure="GRADBOOST",
            title="gradient boosting for each branch on every other row, the others scored",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="forest",
            kind="procedure",
            procedure="FOREST",
            title="a random forest for each branch on every other row, the others scored",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="both kinds of model against the generator's true chances"),
    ),
    size_knob="rows of applications, 8,192 for each branch",
    check="area under the curve near that of the true chances, defaults by tenth, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "sklearn.ensemble",
        "threadpoolctl",
        "mawl.programs.tree_ensemble.run",
    ),
    cpu_seconds_per_gb=105.3,
    memory_floor_bytes=32 * MIB,
)

"""mixed_model: a linear mixed model by REML for every product line, random effects recovered."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.mixed_model.inputs import NUMERICS, TABLE
from mawl.spec.program_options import MIB

DERIVED = 15
"""Columns of a prepared row that are made of others."""

PROGRAM = Program(
    name="mixed_model",
    program_class="compute",
    title="Model weekly sales with a random level and trend of every store by REML, for every product line",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * (1 + len(NUMERICS) + DERIVED)),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="time, what lies between and within stores, earlier weeks",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="fit",
            kind="procedure",
            procedure="MIXED",
            title="REML for every product line, random effects of every store",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="score",
            kind="procedure",
            procedure="PLM",
            title="expected sales of every week of every store, and what is left",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="verify", kind="verify", title="coefficients, variances and effects against the hidden ones"
        ),
    ),
    size_knob="rows of store weeks, 104 for each store, 32 stores for each product line",
    check="coefficients, variances and random effects near the hidden ones, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "statsmodels.regression.mixed_linear_model",
        "threadpoolctl",
        "mawl.programs.mixed_model.run",
    ),
    cpu_seconds_per_gb=58.05,
    memory_floor_bytes=40 * MIB,
)

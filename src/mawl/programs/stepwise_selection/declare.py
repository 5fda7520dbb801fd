"""stepwise_selection: stepwise linear and logistic selection over 305 candidates."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.stepwise_selection.inputs import DEFECTS, MEASURES, TABLE
from mawl.spec.program_options import MIB

INDICATORS = 16
"""Columns that the classes become: one for each value but the first."""

COLUMNS = 3 + len(DEFECTS) + len(MEASURES) + INDICATORS
"""Columns of a prepared row: case, yield, number of defects, defects, measures, indicators."""

SAMPLE_SHARE = 1 / 64
"""Share of memsize that the rows fill on which a logistic selection begins."""

PROGRAM = Program(
    name="stepwise_selection",
    program_class="compute",
    title="Select terms of a linear and of three logistic models, stepwise over 305 candidates",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * COLUMNS),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="centre measures, indicators of classes, cross-products of all candidates, a sample",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="select_linear",
            kind="procedure",
            procedure="GLMSELECT",
            title="stepwise by the sweep operator on cross-products",
        ),
        Step(
            name="start_logistic",
            kind="procedure",
            procedure="LOGISTIC",
            title="forward by score tests on the sample",
        ),
        Step(
            name="select_logistic",
            kind="procedure",
            procedure="LOGISTIC",
            title="weighted cross-products of all candidates for each defect, stepwise by sweeping them",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="refit",
            kind="procedure",
            procedure="LOGISTIC",
            title="the chosen logistic models fitted in blocks, residuals of the linear one",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="selected terms and coefficients against the truth, sums"),
    ),
    size_knob="rows of measurements",
    check="every true term selected and no others, coefficients near the true ones, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "statsmodels.genmod.families",
        "statsmodels.genmod.generalized_linear_model",
        "threadpoolctl",
        "mawl.programs.stepwise_selection.run",
    ),
    cpu_seconds_per_gb=47.97,
    memory_floor_bytes=40 * MIB,
    memory_per_memsize=0.06,
)

"""survey_logistic: weighted logistic regression with strata and clusters, linearised variance."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.survey_logistic.inputs import AREAS, PERSONS, TABLE
from mawl.spec.program_options import MIB

INDICATORS = 14
"""Columns that the classes become: one for each value but the first."""

COLUMNS = 5 + len(AREAS) + len(PERSONS) + INDICATORS
"""Columns of a prepared row: person, stratum, cluster, weight, outcome, measures, indicators."""

BLOCK_ROWS = 4096
"""Rows of each fit."""

PROGRAM = Program(
    name="survey_logistic",
    program_class="compute",
    title="Weighted logistic regression of a survey with strata and clusters, linearised variance",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * COLUMNS),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="centre measures, indicators of classes, totals of the weights",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="fit",
            kind="procedure",
            procedure="SURVEYLOGISTIC",
            title="weighted fits in blocks of clusters, put together by information",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="linearise",
            kind="procedure",
            procedure="SURVEYLOGISTIC",
            title="a last Newton step, variance by totals of clusters within strata, design effects",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="coefficients and design effects against the truth, sums"),
    ),
    size_knob="rows of respondents",
    check="coefficients and design effects near the generator's, counts by stratum, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "statsmodels.genmod.families",
        "statsmodels.genmod.generalized_linear_model",
        "threadpoolctl",
        "mawl.programs.survey_logistic.run",
    ),
    cpu_seconds_per_gb=33.94,
    memory_floor_bytes=48 * MIB,
)

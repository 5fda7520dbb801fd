"""factorial_design: analysis of variance and multiple comparisons of studies, designs of the next runs."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.factorial_design.inputs import FACTORS, NUMERICS, RESPONSES, STUDY_ROWS, TABLE
from mawl.spec.program_options import MIB

DERIVED = (
    "cell",
    *(f"coded_{column.name}" for column in FACTORS),
    "run_cents",
    "yield_an_hour",
    "quality",
)
"""Columns of a prepared row beside the run's number and the numerics of the input."""

PARAMETERS = 33
"""Of one response: the mean, two of each of four factors, four of each of their six pairs."""

RESULTS = 3 + PARAMETERS
"""Numbers kept of one response: its parameters, error variance, found terms and found differences."""

PROGRAM = Program(
    name="factorial_design",
    program_class="compute",
    title="Analyse factorial experiments, compare levels, search D-optimal designs for the next runs",
    inputs=(TABLE,),
    temporaries=(
        Temporary(name="prepared", role="work", row_bytes=8 * (1 + len(NUMERICS) + len(DERIVED))),
        Temporary(
            name="effects",
            role="work",
            row_bytes=8 * (1 + RESULTS * len(RESPONSES)),
            rows_ratio=1.0 / STUDY_ROWS,
        ),
    ),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="cells, coded levels and costs of the runs",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="analyse",
            kind="procedure",
            procedure="GLM",
            title="analysis of variance and comparisons of levels, by study and response",
            reads=(Pass("prepared"),),
            writes=(Pass("effects"),),
        ),
        Step(
            name="design",
            kind="procedure",
            procedure="OPTEX",
            title="a D-optimal design of each study's next runs, by coordinate exchange from several starts",
            reads=(Pass("effects"),),
        ),
        Step(
            name="residuals",
            kind="procedure",
            procedure="GLM",
            title="what the fitted effects leave of every run",
            reads=(Pass("prepared"), Pass("effects")),
        ),
        Step(
            name="verify", kind="verify", title="effects against the generator's, designs against their bound"
        ),
    ),
    size_knob="rows of experiment runs, 625 for each study",
    check="effects found and near the truth, designs that no exchange improves near their bound, word sums",
    modules=(
        "numpy",
        "pyarrow",
        "scipy.stats",
        "statsmodels.regression.linear_model",
        "statsmodels.stats.libqsturng",
        "statsmodels.stats.moment_helpers",
        "statsmodels.stats.sandwich_covariance",
        "threadpoolctl",
        "mawl.programs.factorial_design.run",
    ),
    cpu_seconds_per_gb=90.28,
    memory_floor_bytes=32 * MIB,
)

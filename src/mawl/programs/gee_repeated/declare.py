"""gee_repeated: repeated-measures logistic regression by GEE with three correlation structures."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.gee_repeated.inputs import NUMERICS, TABLE
from mawl.spec.program_options import MIB

DERIVED = 28
"""Columns of a prepared row that are made of others."""

PROGRAM = Program(
    name="gee_repeated",
    program_class="compute",
    title="Model relapses over repeated visits by GEE, with three correlation structures, for every site",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * (1 + len(NUMERICS) + DERIVED)),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="what lies between and within patients, earlier visits, interactions",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="fit",
            kind="procedure",
            procedure="GENMOD",
            title="three correlation structures for every site, compared, with robust standard errors",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="score",
            kind="procedure",
            procedure="PLM",
            title="the chance of a relapse at every visit",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="coefficients, errors and correlations against the truth"),
    ),
    size_knob="rows of visits, 24 for each patient, 128 patients for each site",
    check="coefficients, errors, correlations and chances near the generator's, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "statsmodels.genmod.cov_struct",
        "statsmodels.genmod.families.family",
        "statsmodels.genmod.generalized_estimating_equations",
        "threadpoolctl",
        "mawl.programs.gee_repeated.run",
    ),
    cpu_seconds_per_gb=108.2,
    memory_floor_bytes=28 * MIB,
)

"""portfolio_optimization: mixed-integer selection for many mandates, Monte-Carlo value at risk."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.portfolio_optimization.inputs import NUMERICS, TABLE
from mawl.spec.program_options import MIB

DERIVED = ("mandate", "gain", "yield_rank", "variance", "mean_loading", "coupon")
"""Columns of a prepared row beside the candidate's number and the numerics of the input."""

PROGRAM = Program(
    name="portfolio_optimization",
    program_class="compute",
    title="Select each mandate's securities by mixed-integer programming, simulate the value at risk",
    inputs=(TABLE,),
    temporaries=(Temporary(name="prepared", role="work", row_bytes=8 * (1 + len(NUMERICS) + len(DERIVED))),),
    steps=(
        Step(
            name="prepare",
            kind="data",
            title="gains, ranks by mandate and variances of the candidates",
            reads=(Pass(TABLE.name),),
            writes=(Pass("prepared"),),
        ),
        Step(
            name="select",
            kind="procedure",
            procedure="OPTMODEL",
            title="the best selection for every mandate, a mixed-integer program each",
            reads=(Pass("prepared"),),
        ),
        Step(
            name="simulate",
            kind="procedure",
            procedure="IML",
            title="value at risk of every mandate and of all, by Monte Carlo",
            reads=(Pass("prepared"),),
        ),
        Step(name="verify", kind="verify", title="feasibility, bounds by duality, risk against its formula"),
    ),
    size_knob="rows of candidates, 512 for each mandate",
    check="selections feasible and at their bounds, value at risk near its formula, word sums of all tables",
    modules=(
        "numpy",
        "pyarrow",
        "scipy.optimize",
        "scipy.sparse",
        "threadpoolctl",
        "mawl.programs.portfolio_optimization.run",
    ),
    cpu_seconds_per_gb=405.6,
    memory_floor_bytes=24 * MIB,
)

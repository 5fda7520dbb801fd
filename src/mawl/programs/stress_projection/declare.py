"""stress_projection: every policy through 21 shocks and 240 months, in blocks that fill its memsize."""

from __future__ import annotations

from mawl.plan.programs import Pass, Program, Step, Temporary
from mawl.programs.stress_projection.inputs import TABLE
from mawl.spec.program_options import MIB

SHOCKS = 21
MONTHS = 240

MEMORY_PER_MEMSIZE = 2.0
"""This program's memsize is twice the run's: 4 GiB at full scale, as the workload is designed."""

RESIDENT_SHARE = 0.8
"""Share of its memsize that the resident block fills; the rest is for tiles, batches and tables."""

_VALUE_BYTES = 8 * (1 + SHOCKS)

PROGRAM = Program(
    name="stress_projection",
    program_class="memory",
    title="Project life policies through 21 shocks and 240 months",
    inputs=(TABLE,),
    temporaries=(
        Temporary(name="paying", role="work", row_bytes=_VALUE_BYTES, rows_ratio=0.5),
        Temporary(name="paid up", role="work", row_bytes=_VALUE_BYTES, rows_ratio=0.5),
    ),
    steps=(
        Step(
            name="project",
            kind="procedure",
            procedure="IML",
            title="cash flows by shock and month, present values by policy and shock",
            reads=(Pass(TABLE.name),),
            writes=(Pass("paying"), Pass("paid up")),
        ),
        Step(
            name="totals",
            kind="procedure",
            procedure="SUMMARY",
            title="totals and extremes by shock",
            reads=(Pass("paying"), Pass("paid up")),
        ),
        Step(
            name="tail",
            kind="procedure",
            procedure="UNIVARIATE",
            title="percentiles of the paying policies by shock",
            reads=(Pass("paying"),),
        ),
        Step(name="verify", kind="verify", title="sampled policies by a scalar recursion, sums both ways"),
    ),
    size_knob="rows of policies",
    check="sampled policies recomputed one by one, sums by month and by policy, word sums of all tables",
    modules=("numpy", "numpy.ma", "pyarrow", "threadpoolctl", "mawl.programs.stress_projection.run"),
    cpu_seconds_per_gb=114.5,
    memory_floor_bytes=24 * MIB,
    memory_per_memsize=MEMORY_PER_MEMSIZE,
)

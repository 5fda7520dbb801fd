"""factorial_design: analysis of variance and multiple comparisons of studies, designs of the next runs.

Its input is the record of experiment runs: 256 bytes a row, 4 GB at full scale.  Each 625 rows in a row
are one study of four factors at three levels, in random order, with three responses and hidden effects.
"""

from __future__ import annotations

from mawl.plan.columns import GB, Code, Column, GroupNumber, InputTable, Response, RowNumber, Text, Uniform
from mawl.plan.programs import (
    Program,
    Temporary,
    modules_of,
    prepare_step,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

STUDY_ROWS = 625

FACTORS = tuple(Column(name, Uniform(1, 3)) for name in ("temperature", "pressure", "catalyst", "stirring"))
"""Levels from 1 to 3."""

EFFECTS = ((-6, 1, 5), (5, 1, -6), (-5, 6, -1), (6, -1, -5))


def _response(name: str, mean: int, turn: int) -> Column:
    effects = EFFECTS[turn:] + EFFECTS[:turn]
    return Column(
        name,
        Response(group=STUDY_ROWS, factors=FACTORS, mean=mean, effects=effects, interaction=6, noise=8),
    )


RESPONSES = (_response("yield", 200, 0), _response("strength", 400, 1), _response("purity", 300, 2))

NUMERICS = (
    Column("study", GroupNumber(STUDY_ROWS)),
    *FACTORS,
    *RESPONSES,
    Column("operator", Uniform(1, 12, skew=2)),
    Column("machine", Uniform(1, 4, skew=2)),
    Column("minutes", Uniform(20, 60, skew=2, step=5)),
    Column("humidity", Uniform(30, 60, skew=2, step=5)),
    Column("material_cents", Uniform(500, 2_000, skew=2, step=50)),
    Column("energy_watt_hours", Uniform(100, 900, skew=2, step=25)),
    Column("attempts", Uniform(1, 3, skew=12)),
)

TABLE = InputTable(
    name="experiment_runs",
    full_bytes=4 * GB,
    unfilled_bytes=16.1,
    minimum_rows=4 * STUDY_ROWS,
    group_rows=STUDY_ROWS,
    columns=(
        Column("run", RowNumber()),
        *NUMERICS,
        Column("laboratory", Code(("MAIN", "PILOT", "FIELD"), skew=4), 8),
        Column("batch", Text(), 24),
        Column("protocol", Text(), 40),
        Column("remark", Text(), 56),
    ),
)


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
        Temporary("prepared", "work", 8 * (1 + len(NUMERICS) + len(DERIVED))),
        Temporary("effects", "work", 8 * (1 + RESULTS * len(RESPONSES)), 1.0 / STUDY_ROWS),
    ),
    steps=(
        prepare_step(TABLE, "cells, coded levels and costs of the runs"),
        procedure_step(
            "analyse",
            "GLM",
            "analysis of variance and comparisons of levels, by study and response",
            reads=["prepared"],
            writes=["effects"],
        ),
        procedure_step(
            "design",
            "OPTEX",
            "a D-optimal design of each study's next runs, by coordinate exchange from several starts",
            reads=["effects"],
        ),
        procedure_step(
            "residuals", "GLM", "what the fitted effects leave of every run", reads=["prepared", "effects"]
        ),
        verify_step("effects against the generator's, designs against their bound"),
    ),
    size_knob="rows of experiment runs, 625 for each study",
    check="effects found and near the truth, designs that no exchange improves near their bound, word sums",
    modules=modules_of(
        "factorial_design",
        "scipy.stats",
        "statsmodels.regression.linear_model",
        "statsmodels.stats.libqsturng",
        "statsmodels.stats.moment_helpers",
        "statsmodels.stats.sandwich_covariance",
    ),
    memory_floor_bytes=32 * MIB,
)

"""The record of experiment runs, the input of factorial_design: 256 bytes a row, 4 GB at full.

Each 625 rows in a row are one study of four factors at three levels, run in random order, each run
with three responses.  Which effects a study has is hidden.
"""

from __future__ import annotations

from mawl.plan.columns import Code, Column, GroupNumber, Response, RowNumber, Text, Uniform
from mawl.plan.tables import GB, InputTable

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

"""survey_logistic: weighted logistic regression with strata and clusters, linearised variance.

Its input is respondents of a survey: 456 bytes a row, 14 GB at full scale.  Whether one lacks insurance is
a known logistic model of the person and its area; neighbours are more alike than the model says.
"""

from __future__ import annotations

from mawl.plan.columns import (
    GB,
    Code,
    Column,
    Factor,
    GroupNumber,
    GroupPlace,
    InputTable,
    Logistic,
    PerGroup,
    Product,
    RowNumber,
    Text,
    Uniform,
)
from mawl.plan.programs import (
    Program,
    Temporary,
    modules_of,
    prepare_step,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

CLUSTER_ROWS = 32
STRATA = 16

AREAS = tuple(
    Factor(Column(f"area_{place}", PerGroup(CLUSTER_ROWS, Uniform(0, 8))), 4) for place in range(1, 8)
)
"""What an area's statistics say, in points less the middle: the same for all respondents of a cluster."""

PERSONS = tuple(Factor(Column(f"person_{place:02d}", Uniform(0, 6)), 3) for place in range(1, 15))
"""Answers on scales of seven points less the middle."""

_REGION = Column("region", PerGroup(CLUSTER_ROWS, Code(("N", "NE", "SE", "S", "SW", "NW"))), 8)
_SCHOOLING = Column("schooling", Code(("NONE", "PRIMARY", "SECOND", "TRADE", "DEGREE")), 8)
_WORK = Column("work", Code(("EMPLOYED", "SELF", "STUDENT", "RETIRED", "SEEKING", "HOME")), 8)
CLASSES = (_REGION, _SCHOOLING, _WORK)
"""The classes; the first value of each is the one that others are compared with."""

UNINSURED = Logistic(
    intercept=-6_500,
    terms=(
        Product(1_000, (AREAS[0],)),
        Product(-900, (AREAS[2],)),
        Product(1_300, (PERSONS[0],)),
        Product(-1_200, (PERSONS[3],)),
        Product(900, (PERSONS[8],)),
        Product(500, (AREAS[1], PERSONS[1])),
        Product(-450, (AREAS[3], PERSONS[4])),
        Product(5_000, (Factor(_SCHOOLING, value="TRADE"),)),
        Product(6_000, (Factor(_WORK, value="SEEKING"),)),
        Product(3_000, (Factor(_REGION, value="S"),)),
    ),
    shared=128,
    block_rows=CLUSTER_ROWS,
)

TABLE = InputTable(
    name="respondents",
    full_bytes=14 * GB,
    unfilled_bytes=22.0,
    group_rows=CLUSTER_ROWS,
    minimum_rows=24 * CLUSTER_ROWS * STRATA,
    columns=(
        Column("person", RowNumber()),
        Column("stratum", PerGroup(CLUSTER_ROWS, GroupPlace(STRATA))),
        Column("cluster", GroupNumber(CLUSTER_ROWS)),
        Column("weight", PerGroup(CLUSTER_ROWS, Uniform(10, 130, skew=3, step=4))),
        Column("uninsured", UNINSURED),
        *(factor.column for factor in (*AREAS, *PERSONS)),
        *CLASSES,
        Column("name", Text(), 48),
        Column("street", Text(), 56),
        Column("note", Text(), 120),
    ),
)


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
    temporaries=(Temporary("prepared", "work", 8 * COLUMNS),),
    steps=(
        prepare_step(TABLE, "centre measures, indicators of classes, totals of the weights"),
        procedure_step(
            "fit",
            "SURVEYLOGISTIC",
            "weighted fits in blocks of clusters, put together by information",
            reads=["prepared"],
        ),
        procedure_step(
            "linearise",
            "SURVEYLOGISTIC",
            "a last Newton step, variance by totals of clusters within strata, design effects",
            reads=["prepared"],
        ),
        verify_step("coefficients and design effects against the truth, sums"),
    ),
    size_knob="rows of respondents",
    check="coefficients and design effects near the generator's, counts by stratum, word sums of all tables",
    modules=modules_of(
        "survey_logistic", "statsmodels.genmod.families", "statsmodels.genmod.generalized_linear_model"
    ),
    memory_floor_bytes=48 * MIB,
)

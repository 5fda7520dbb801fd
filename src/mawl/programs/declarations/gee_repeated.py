"""gee_repeated: repeated-measures logistic regression by GEE with three correlation structures.

Its input is monthly visits of patients who may relapse: 480 bytes a row, 6 GB at full scale.  Each 24 rows
are the visits of one patient.  A logistic model of seven binary conditions holds for each visit by itself;
a patient's visits correlate, the closer the more.
"""

from __future__ import annotations

from mawl.plan.columns import (
    GB,
    LOGISTIC_CHANCES,
    Code,
    Column,
    Condition,
    GroupNumber,
    GroupPlace,
    HiddenRule,
    InputTable,
    Outcome,
    PerGroup,
    RepeatedOutcome,
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

VISITS = 24
"""Visits of each patient."""

SITE_PATIENTS = 128
"""Patients of each site but the last, which has up to twice as many."""

KEPT = 150
"""How often a visit takes over the draw of the one before, in 256ths."""

_MONTH = Column("month", GroupPlace(VISITS))
_TREATED = Column("treated", PerGroup(VISITS, Uniform(0, 1)))
_AGE = Column("age", PerGroup(VISITS, Uniform(20, 79)))
_SMOKER = Column("smoker", PerGroup(VISITS, Uniform(0, 1, skew=2)))
_SEX = Column("sex", PerGroup(VISITS, Uniform(0, 1)))
_SEVERITY = Column("severity", Uniform(0, 9))
_ADHERENCE = Column("adherence", Uniform(0, 99))

OUTCOME = Outcome(
    base=9,
    rules=(
        HiddenRule(-2, (Condition(_TREATED, 1),)),
        HiddenRule(1, (Condition(_AGE, 50),)),
        HiddenRule(1, (Condition(_SMOKER, 1),)),
        HiddenRule(0, (Condition(_SEX, 1),)),
        HiddenRule(-1, (Condition(_MONTH, 12),)),
        HiddenRule(2, (Condition(_SEVERITY, 5),)),
        HiddenRule(-1, (Condition(_ADHERENCE, 60),)),
    ),
    chances=LOGISTIC_CHANCES,
)
"""How likely a relapse is at a visit: one of three times."""

COEFFICIENTS = (0.5 * (OUTCOME.base - 10), *(0.5 * rule.points for rule in OUTCOME.rules))
"""The true coefficients: the intercept, then one for each rule."""

VARYING = (
    _SEVERITY,
    _ADHERENCE,
    Column("pulse", Uniform(50, 109, skew=2)),
    Column("systolic", Uniform(95, 174, skew=2)),
    Column("glucose", Uniform(70, 199, skew=3)),
    Column("sleep_hours", Uniform(3, 10)),
    Column("pain", Uniform(0, 9, skew=3)),
    Column("steps_thousands", Uniform(0, 15, skew=2)),
    Column("doses_missed", Uniform(0, 9, skew=4)),
    Column("contacts", Uniform(0, 5, skew=4)),
)
"""The ten measures that are taken anew at each visit."""

NUMERICS = (
    Column("patient", GroupNumber(VISITS)),
    _MONTH,
    Column("relapsed", RepeatedOutcome(rows=VISITS, kept=KEPT, outcome=OUTCOME)),
    _TREATED,
    _AGE,
    _SMOKER,
    _SEX,
    *VARYING,
    Column("weight", PerGroup(VISITS, Uniform(45, 124, skew=2))),
    Column("height", PerGroup(VISITS, Uniform(150, 199))),
    Column("baseline", PerGroup(VISITS, Uniform(0, 40))),
    Column("distance", PerGroup(VISITS, Uniform(0, 90, skew=3))),
)

TABLE = InputTable(
    name="visits",
    full_bytes=6 * GB,
    unfilled_bytes=17.9,
    minimum_rows=2 * SITE_PATIENTS * VISITS,
    group_rows=VISITS,
    columns=(
        Column("visit", RowNumber()),
        *NUMERICS,
        Column("ward", Code(("NORTH", "SOUTH", "EAST", "WEST"), skew=2), 8),
        Column("drug", Code(("A", "B", "C"), skew=2), 8),
        Column("physician", Text(), 40),
        Column("site_name", Text(), 40),
        Column("street", Text(), 48),
        Column("town", Text(), 40),
        Column("note", Text(), 120),
    ),
)


DERIVED = 28
"""Columns of a prepared row that are made of others."""

PROGRAM = Program(
    name="gee_repeated",
    program_class="compute",
    title="Model relapses over repeated visits by GEE, with three correlation structures, for every site",
    inputs=(TABLE,),
    temporaries=(Temporary("prepared", "work", 8 * (1 + len(NUMERICS) + DERIVED)),),
    steps=(
        prepare_step(TABLE, "what lies between and within patients, earlier visits, interactions"),
        procedure_step(
            "fit",
            "GENMOD",
            "three correlation structures for every site, compared, with robust standard errors",
            reads=["prepared"],
        ),
        procedure_step("score", "PLM", "the chance of a relapse at every visit", reads=["prepared"]),
        verify_step("coefficients, errors and correlations against the truth"),
    ),
    size_knob="rows of visits, 24 for each patient, 128 patients for each site",
    check="coefficients, errors, correlations and chances near the generator's, word sums of all tables",
    modules=modules_of(
        "gee_repeated",
        "statsmodels.genmod.cov_struct",
        "statsmodels.genmod.families.family",
        "statsmodels.genmod.generalized_estimating_equations",
    ),
    memory_floor_bytes=28 * MIB,
)

"""tree_ensemble: gradient boosting and a forest for each branch of a lender, scored on held-out rows.

Its input is loan applications and whether they defaulted: 360 bytes a row, 18 GB at full scale.  Hidden
rules decide how likely an application is to default; most columns say nothing about it.
"""

from __future__ import annotations

from mawl.plan.columns import (
    GB,
    LOGISTIC_CHANCES,
    Code,
    Column,
    Condition,
    HiddenRule,
    InputTable,
    Outcome,
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

_UTILISATION = Column("utilisation_per_cent", Uniform(0, 99))
_DELINQUENCIES = Column("delinquencies", Uniform(0, 5, skew=4))
_INCOME = Column("income", Uniform(12_000, 137_000, skew=2, step=1_000))
_AMOUNT = Column("amount", Uniform(1_000, 40_000, skew=2, step=500))
_EMPLOYED = Column("employed_years", Uniform(0, 30, skew=2))
_INQUIRIES = Column("inquiries", Uniform(0, 9, skew=3))
_AGE = Column("age", Uniform(18, 77))
_TERM = Column("term_months", Uniform(12, 84, step=12))

OUTCOME = Outcome(
    base=5,
    rules=(
        HiddenRule(2, (Condition(_UTILISATION, 50),)),
        HiddenRule(2, (Condition(_UTILISATION, 80),)),
        HiddenRule(4, (Condition(_DELINQUENCIES, 1),)),
        HiddenRule(-2, (Condition(_INCOME, 40_000),)),
        HiddenRule(2, (Condition(_INQUIRIES, 3),)),
        HiddenRule(-2, (Condition(_EMPLOYED, 6),)),
        HiddenRule(3, (Condition(_AMOUNT, 12_000), Condition(_TERM, 48))),
        HiddenRule(-2, (Condition(_AGE, 45), Condition(_EMPLOYED, 3))),
    ),
    chances=LOGISTIC_CHANCES,
)
"""How likely an application is to default: nearly one of four does."""

PREDICTORS = (
    _UTILISATION,
    _DELINQUENCIES,
    _INCOME,
    _AMOUNT,
    _EMPLOYED,
    _INQUIRIES,
    _AGE,
    _TERM,
    Column("accounts", Uniform(0, 24, skew=2)),
    Column("oldest_account_years", Uniform(0, 30, skew=2)),
    Column("balance", Uniform(0, 30_000, skew=3, step=250)),
    Column("monthly_payments", Uniform(0, 3_000, skew=3, step=50)),
    Column("savings", Uniform(0, 60_000, skew=4, step=1_000)),
    Column("dependants", Uniform(0, 5, skew=3)),
    Column("residence_years", Uniform(0, 30, skew=2)),
    Column("bankruptcies", Uniform(0, 1, skew=20)),
    Column("previous_loans", Uniform(0, 9, skew=3)),
    Column("rate_per_mille", Uniform(20, 179, skew=2)),
    Column("purpose", Uniform(1, 12, skew=2)),
    Column("region", Uniform(1, 40)),
    Column("channel", Uniform(1, 5, skew=2)),
)
"""The 21 numerics that models may look at."""

TABLE = InputTable(
    name="applications",
    full_bytes=18 * GB,
    unfilled_bytes=31.0,
    columns=(
        Column("application", RowNumber()),
        Column("defaulted", OUTCOME),
        *PREDICTORS,
        Column("product", Code(("CASH", "CAR", "HOME", "CARD"), skew=2), 8),
        Column("name", Text(), 48),
        Column("street", Text(), 48),
        Column("note", Text(), 72),
    ),
)


DERIVED = 12
"""Predictors of a prepared row that are made of others."""

BRANCH_ROWS = 8_192
"""Applications of a branch, one behind the other, that have models of their own."""

PROGRAM = Program(
    name="tree_ensemble",
    program_class="compute",
    title="Predict each branch's defaults by boosting and a forest, scored on held-out applications",
    inputs=(TABLE,),
    temporaries=(Temporary("prepared", "work", 8 * (2 + len(PREDICTORS) + DERIVED)),),
    steps=(
        prepare_step(TABLE, "derive predictors of every application"),
        procedure_step(
            "boost",
            "GRADBOOST",
            "gradient boosting for each branch on every other row, the others scored",
            reads=["prepared"],
        ),
        procedure_step(
            "forest",
            "FOREST",
            "a random forest for each branch on every other row, the others scored",
            reads=["prepared"],
        ),
        verify_step("both kinds of model against the generator's true chances"),
    ),
    size_knob="rows of applications, 8,192 for each branch",
    check="area under the curve near that of the true chances, defaults by tenth, word sums of all tables",
    modules=modules_of("tree_ensemble", "sklearn.ensemble"),
    memory_floor_bytes=32 * MIB,
)

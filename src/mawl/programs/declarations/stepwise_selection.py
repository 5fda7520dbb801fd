"""stepwise_selection: stepwise linear and logistic selection over 305 candidates.

Its input is measurements of a production process: 416 bytes a row, 10 GB at full scale.  Yield is a known
linear model of a few measures, squares, products and classes, each kind of defect a known logistic one.
"""

from __future__ import annotations

from mawl.plan.columns import (
    GB,
    Bell,
    Code,
    Column,
    Factor,
    InputTable,
    Linear,
    Logistic,
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

_BELLS = tuple(Column(f"m{place:02d}", Bell(mean=10.0, stddev=2.4, steps_per_unit=1)) for place in range(15))
_SKEWED = tuple(Column(f"m{place:02d}", Uniform(0, 4, skew=2)) for place in range(15, 19))

MEASURES = (
    *(Factor(column, 10) for column in _BELLS),
    *(Factor(column, 1) for column in _SKEWED),
)
"""The 19 measures, whole numbers, each less its nominal value."""

_MACHINE = Column("machine", Code(tuple(f"M{place}" for place in range(9))), 8)
_MATERIAL = Column("material", Code(tuple(f"ALLOY{place}" for place in range(9))), 8)
CLASSES = (_MACHINE, _MATERIAL)
"""The classes; the first value of each is the one that others are compared with."""


def _term(slope: int, *places: int) -> Product:
    return Product(slope, tuple(MEASURES[place] for place in places))


YIELD = Linear(
    intercept=800,
    terms=(
        _term(6, 1),
        _term(-6, 4),
        _term(5, 9),
        _term(11, 16),
        _term(2, 2, 2),
        _term(3, 3, 7),
        _term(4, 5, 17),
        Product(40, (Factor(_MACHINE, value="M3"),)),
    ),
    noise=40,
)

DEFECTS = (
    Logistic(
        intercept=-8_000,
        terms=(
            _term(1_500, 1),
            _term(-1_600, 6),
            _term(650, 2, 8),
            Product(11_000, (Factor(_MACHINE, value="M5"),)),
        ),
    ),
    Logistic(
        intercept=-4_000,
        terms=(
            _term(1_550, 10),
            _term(2_900, 16),
            _term(-480, 4, 4),
            Product(-12_000, (Factor(_MATERIAL, value="ALLOY2"),)),
        ),
    ),
    Logistic(
        intercept=-7_000, terms=(_term(-1_550, 12), _term(1_650, 5), _term(650, 0, 11), _term(2_900, 18))
    ),
)

DEFECT_NAMES = tuple(f"defect_{place + 1}" for place in range(len(DEFECTS)))

TABLE = InputTable(
    name="measurements",
    full_bytes=10 * GB,
    unfilled_bytes=18.0,
    minimum_rows=4000,
    columns=(
        Column("case", RowNumber()),
        Column("yield", YIELD),
        *(Column(name, defect) for name, defect in zip(DEFECT_NAMES, DEFECTS, strict=True)),
        *(measure.column for measure in MEASURES),
        *CLASSES,
        Column("operator", Text(), 40),
        Column("lot", Text(), 40),
        Column("remark", Text(), 128),
    ),
)


INDICATORS = 16
"""Columns that the classes become: one for each value but the first."""

COLUMNS = 3 + len(DEFECTS) + len(MEASURES) + INDICATORS
"""Columns of a prepared row: case, yield, number of defects, defects, measures, indicators."""

SAMPLE_SHARE = 1 / 64
"""Share of memsize that the rows fill on which a logistic selection begins."""

PROGRAM = Program(
    name="stepwise_selection",
    program_class="compute",
    title="Select terms of a linear and of three logistic models, stepwise over 305 candidates",
    inputs=(TABLE,),
    temporaries=(Temporary("prepared", "work", 8 * COLUMNS),),
    steps=(
        prepare_step(
            TABLE, "centre measures, indicators of classes, cross-products of all candidates, a sample"
        ),
        procedure_step("select_linear", "GLMSELECT", "stepwise by the sweep operator on cross-products"),
        procedure_step("start_logistic", "LOGISTIC", "forward by score tests on the sample"),
        procedure_step(
            "select_logistic",
            "LOGISTIC",
            "weighted cross-products of all candidates for each defect, stepwise by sweeping them",
            reads=["prepared"],
        ),
        procedure_step(
            "refit",
            "LOGISTIC",
            "the chosen logistic models fitted in blocks, residuals of the linear one",
            reads=["prepared"],
        ),
        verify_step("selected terms and coefficients against the truth, sums"),
    ),
    size_knob="rows of measurements",
    check="every true term selected and no others, coefficients near the true ones, word sums of all tables",
    modules=modules_of(
        "stepwise_selection", "statsmodels.genmod.families", "statsmodels.genmod.generalized_linear_model"
    ),
    memory_floor_bytes=40 * MIB,
    memory_per_memsize=0.06,
)

"""The one table of thresholds: rules read it, and hold no number of their own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mawl.records.model.thresholds import THRESHOLDS, count_of, thresholds_of, value_of

SOURCES = Path(__file__).resolve().parents[3] / "src" / "mawl"
RULES = sorted(path for path in (SOURCES / "advice").rglob("*.py"))
READERS = [*RULES, SOURCES / "figures" / "io.py", SOURCES / "figures" / "network.py"]
READERS += sorted((SOURCES / "figures" / "comparison").glob("*.py"))
ARITHMETIC = {
    "DRAWS",
    "FEW_DRAWS",
    "HOURS_A_MONTH",
    "MINUTES_OF_QUALIFY",
    "MANY_JOBS",
    "SEED",
    "jobs",
    "stride",
    "ROUNDING_RATIO",
    "MOST_RUNS",
    "TINY",
    "NORMAL",
    "THOUSAND",
    "LONGEST_PLACE",
    "MOST_OTHER_COSTS",
    "MOST_CHANGES",
    "MOST_KINDS",
    "MOST_TERMS",
    "MOST_WORDS",
    "PRECISION",
    "STEP_PRECISION",
    "LEAST_POINTS",
}
"""Numbers of a computation or of a layout, which decide nothing about a run."""


def own_numbers(source: str) -> list[str]:
    """Names that a module or a class body sets to a number."""
    tree = ast.parse(source)
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    found = []
    for node in (node for body in bodies for node in body):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and numeric(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [target.id for target in targets if isinstance(target, ast.Name)]
    return found


def numeric(value: ast.expr) -> bool:
    """Whether an expression is arithmetic over numbers alone; 0 is where a sum begins, and no threshold."""
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool) and number != 0
        case ast.UnaryOp(operand=operand):
            return numeric(operand)
        case ast.BinOp(left=left, right=right):
            return numeric(left) and numeric(right)
    return False


def compared_numbers(source: str) -> list[float]:
    """Fractions that code compares with or multiplies by in place: thresholds without a name."""
    return [
        side.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Constant) and isinstance(side.value, float) and side.value not in (0.0, 1.0)
    ]


@pytest.mark.parametrize("path", READERS, ids=lambda path: str(path.relative_to(SOURCES)))
def test_no_rule_holds_a_threshold_of_its_own(path: Path) -> None:
    source = path.read_text()
    assert [name for name in own_numbers(source) if name not in ARITHMETIC] == []
    assert compared_numbers(source) == []


def test_the_search_finds_a_number_at_home() -> None:
    assert own_numbers("A = 20 * 60.0\nclass B:\n    c: float = -2.0\nD = value_of('x')\n") == ["A", "c"]
    assert compared_numbers("x > 0.25 and y < 0.0") == [0.25]


def test_every_threshold_is_read_somewhere_and_has_its_source() -> None:
    code = "".join(path.read_text() for path in SOURCES.rglob("*.py"))
    for name, one in THRESHOLDS.items():
        assert f'"{name}"' in code, name
        assert one.group and one.meaning.endswith((".", ").")) and one.source


def test_values_and_groups() -> None:
    assert value_of("limit.both_ratio") == 0.5
    assert count_of("comparison.fewest_runs") == 5
    assert [one.name for one in thresholds_of(["validity.steal"])] == ["validity.steal.most_ratio"]
    with pytest.raises(KeyError):
        value_of("limit.unheard_of")

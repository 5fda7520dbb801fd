"""How large the tree is, and how large it may be.

``tests/project/budget.toml`` holds the budget.  ``python -m tools.budget`` lowers it to what is there.
A figure rises only by hand, in a commit that says what was bought.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "project" / "budget.toml"
SMALL_LINES = 60
INIT = "__init__.py"


def modules(*folders: str) -> Iterator[Path]:
    """The Python files of folders of the tree."""
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def lines(path: Path) -> int:
    """The lines of a file."""
    return path.read_text().count("\n")


def words() -> int:
    """Words of all documents that people write: without the pages that are printed from the code."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if "reference" not in page.parts]
    return sum(len(re.findall(r"\w+", page.read_text())) for page in [*pages, *ROOT.glob("*.md")])


def imported(path: Path, *, late: bool = True) -> set[str]:
    """Full names of modules, and of names in modules, that a file imports; ``late``: in functions, too."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if late else tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found


def module_name(path: Path) -> str:
    """The dotted name of a file of ``src``."""
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)


def small_with_one_importer() -> list[str]:
    """Modules with fewer than 60 lines that only one other module imports: they belong into it.

    One that is imported in a function is a file of its own so that it is loaded late.
    """
    importers = Counter(name for path in modules("src") for name in imported(path))
    early = set().union(*(imported(path, late=False) for path in modules("src")))
    names = [module_name(path) for path in modules("src") if path.name != INIT and lines(path) < SMALL_LINES]
    return [name for name in names if importers[name] == 1 and name in early]


def measured() -> dict[str, int]:
    """Each figure of the budget as the tree has it now."""
    source = list(modules("src"))
    return {
        "lines_of_src": sum(map(lines, source)),
        "files_of_src": sum(path.name != INIT for path in source),
        "packages_of_src": sum(path.name == INIT for path in source),
        "lines_of_tests": sum(map(lines, modules("tests"))),
        "words_of_documents": words(),
    }


def budget() -> dict[str, int]:
    """The most that each figure may be."""
    found: dict[str, int] = tomllib.loads(FILE.read_text())["at_most"]
    return found


def lower() -> None:
    """Write what is there into the budget, where that is less."""
    now = measured()
    text = FILE.read_text()
    for name, most in budget().items():
        text = re.sub(rf"^{name} = \d+$", f"{name} = {min(most, now[name])}", text, flags=re.M)
    FILE.write_text(text)


if __name__ == "__main__":
    lower()

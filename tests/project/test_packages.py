"""The order of the packages: the contracts of import-linter hold it, and ARCHITECTURE.md shows it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tests.project.test_files import ROOT

CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "importlinter"
]["contracts"]
ORDER: list[str] = CONTRACTS[0]["layers"]
MOST_PACKAGES = 18


def test_the_order_has_every_package_and_the_root_holds_nothing_else() -> None:
    folder = ROOT / "src" / "mawl"
    folders = {path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
    packages = folders - {"guides"}
    assert (folder / "guides").is_symlink(), "the texts of mawl help, which are docs/guides"
    assert packages == {name for name in ORDER if name != "version"} and len(packages) <= MOST_PACKAGES
    files = {path.name for path in folder.glob("*") if path.is_file()}
    assert files == {"__init__.py", "__main__.py", "py.typed", "version.py"}
    assert CONTRACTS[0]["ignore_imports"] == ["mawl.commands.lab -> mawl.lab.**"]


def test_packages_that_read_runs_lie_between_those_that_measure_and_those_that_do_both() -> None:
    between = ORDER[ORDER.index("campaigns") + 1 : ORDER.index("run")]
    sources = CONTRACTS[1]["source_modules"]
    assert {f"mawl.{name}" for name in between} <= set(sources)
    assert {"mawl.campaigns", "mawl.measure", "mawl.run"} <= set(CONTRACTS[1]["forbidden_modules"])


def test_every_library_that_has_a_home_is_named_once() -> None:
    homes = CONTRACTS[2]
    assert (
        sorted(pair.rpartition(" -> ")[2] for pair in homes["ignore_imports"]) == homes["forbidden_modules"]
    )


def test_architecture_shows_the_packages_in_their_order() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", page.partition("## How a run goes")[0], re.M)
    assert rows == ORDER

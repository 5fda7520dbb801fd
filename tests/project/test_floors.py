"""The floors: the contracts of import-linter name every one, and so does ARCHITECTURE.md."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tests.project.test_files import ROOT

CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "importlinter"
]["contracts"]
FLOORS = [floor for layer in CONTRACTS[0]["layers"] for floor in layer.split(" | ")]


def test_the_floors_are_all_of_the_package_and_nothing_passes_them() -> None:
    package = ROOT / "src" / "mawl"
    found = {path.parent.name for path in package.glob("*/__init__.py")}
    found |= {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    assert set(FLOORS) == found and len(set(FLOORS)) == len(FLOORS)
    assert [contract["name"] for contract in CONTRACTS if "ignore_imports" in contract] == []


def test_what_has_one_home_is_forbidden_everywhere_else() -> None:
    homes = [contract for contract in CONTRACTS if " one home: " in contract["name"]]
    assert len(homes) == 5
    for contract in homes:
        home = contract["name"].rpartition(": ")[2]
        assert contract["source_modules"] == [f"mawl.{floor}" for floor in FLOORS if floor != home]


def test_architecture_names_every_floor_in_their_order() -> None:
    rows = re.findall(
        r"^\| (`[^|]+) \|", (ROOT / "ARCHITECTURE.md").read_text().partition("## How a run goes")[0], re.M
    )
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert set(named) == set(FLOORS)
    layer = {floor: place for place, one in enumerate(CONTRACTS[0]["layers"]) for floor in one.split(" | ")}
    places = [layer[name] for name in named]
    assert places == sorted(places)

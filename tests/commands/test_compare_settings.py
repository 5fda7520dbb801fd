"""Settings that changed are among the facts that differ: of two collections, or as runs recorded them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.analysis.comparison.sides import Side
from mawl.commands.compare import changed_settings
from mawl.commands.main import main
from mawl.errors import MawlError
from mawl.model.inventory import Inventory
from tests.fakes import collected_hosts as hosts
from tests.fakes.compared_runs import compared


def side(label: str, node: str = "node1", **memory: object) -> Side:
    """A run whose node recorded these figures of its memory; without any it recorded no settings."""
    inventory = Inventory(families={"memory": {"machine": dict(memory)}})  # type: ignore[arg-type]
    return Side(label=label, runs=(compared(inventories={node: inventory} if memory else {}),))


def listed(*found: object) -> list[tuple[str, str, str]]:
    changes = changed_settings(*found)  # type: ignore[arg-type]
    return [(one.name, one.reference, one.candidate) for one in changes]


def test_what_the_runs_recorded_is_listed_where_it_changed() -> None:
    one = side("a", swappiness=60, dirty_ratio=20, overcommit_memory=0)
    other = side("b", swappiness=10, dirty_ratio=20)
    assert listed(one, other, None) == [("setting memory.swappiness", "60", "10")]


def test_runs_without_settings_or_of_other_nodes_have_no_list() -> None:
    known = side("a", swappiness=60)
    assert listed(known, side("b"), None) == []
    assert listed(known, Side(label="published"), None) == []


def test_two_collections_are_listed_instead(tmp_path: Path) -> None:
    folders = [
        hosts.write(tmp_path / name, "lpar1", "aix", [("vmo -a", f"  maxfree = {value}\n  minfree = 960")])
        for name, value in (("before", 1088), ("after", 73728))
    ]
    found = listed(side("a", swappiness=1), side("b", swappiness=2), [str(folder) for folder in folders])
    assert found == [("setting vmo.maxfree", "1088", "73728")]
    with pytest.raises(MawlError, match="gone is not there"):
        listed(side("a"), side("b"), [str(tmp_path / "before"), str(tmp_path / "gone")])


def test_it_goes_with_two_sides(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "dl980-spinning-30", "dl980-flash-30", "s822-xiv-20", "--settings", "a", "b"]
    assert main(words) == 2
    assert "--settings goes with two sides" in capsys.readouterr().err

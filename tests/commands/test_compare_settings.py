"""Settings that changed are among the facts that differ: of two collections, or as runs recorded them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import MawlError
from mawl.commands.compare import cited_settings
from mawl.commands.main import main
from mawl.figures.comparison.comparability import differences
from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.sides import Side
from mawl.records.model.node import Inventory
from mawl.reports.comparison.document import document, text_of
from mawl.reports.document import rendered
from tests.fakes import collected_hosts as hosts
from tests.fakes.compared_runs import compared
from tests.fakes.stored_run import facts


def side(label: str, node: str = "node1", **memory: object) -> Side:
    """A run whose node recorded these figures of its memory; without any it recorded no settings."""
    inventory = Inventory(families={"memory": {"machine": dict(memory)}})  # type: ignore[arg-type]
    return Side(label=label, runs=(compared(inventories={node: inventory} if memory else {}),))


def listed(*found: object) -> list[tuple[str, str, str]]:
    cited = cited_settings(*found)  # type: ignore[arg-type]
    return [(one.name, one.reference, one.candidate) for one in cited.changed] if cited else []


def test_what_the_runs_recorded_is_listed_where_it_changed_with_what_a_profile_says_of_it() -> None:
    one = side("a", swappiness=60, dirty_ratio=20, overcommit_memory=0)
    other = side("b", swappiness=10, dirty_ratio=20)
    found = cited_settings(one, other, None)
    assert found is not None and (found.before, found.after) == ("a", "b")
    (row,) = found.changed
    assert (row.name, row.reference, row.candidate) == ("swappiness", "60 %", "10 %")
    assert (row.default, row.recommended, row.state) == ("60 %", "at most 30 %", "as recommended")
    assert row.why and row.source and row.profile == "linux-sequential"
    assert (found.left, found.not_checked) == (1, 0)


def test_what_no_profile_names_has_no_recommendation() -> None:
    found = cited_settings(side("a", numa_balancing_scan=1), side("b", numa_balancing_scan=2), None)
    assert found is not None
    (row,) = found.changed
    assert (row.name, row.reference, row.candidate) == ("memory.numa_balancing_scan", "1", "2")
    assert (row.default, row.recommended, row.why, row.state, row.source) == (None,) * 5


def test_an_imported_host_is_compared_with_the_profiles_of_its_platform() -> None:
    def imported(label: str, maxfree: int) -> Side:
        outputs = {f"{facts().nodes[0].name}.BBBP.vmo -a": f"  maxfree = {maxfree}\n  minfree = 960\n"}
        return Side(label=label, runs=(compared(inventories={}, settings=outputs),))

    sides = (imported("a", 1088), imported("b", 73728))
    (fact,) = (one for one in differences(*sides) if "vmo" in one.name)
    assert (fact.reference, fact.candidate) == (
        "maxfree = 1088 ... (2 lines)",
        "maxfree = 73728 ... (2 lines)",
    )
    found = cited_settings(*sides, None)
    assert found is not None
    (row,) = found.changed
    assert (row.name, row.default, row.recommended) == ("maxfree", "1088 pages", "73728 pages")
    assert row.why and row.profile == "aix-power8"


def test_runs_without_settings_or_of_other_nodes_have_no_list() -> None:
    known = side("a", swappiness=60)
    assert cited_settings(known, side("b"), None) is None
    assert cited_settings(known, Side(label="published"), None) is None


def test_two_collections_are_listed_instead(tmp_path: Path) -> None:
    folders = [
        hosts.write(tmp_path / name, "lpar1", "aix", [("vmo -a", f"  maxfree = {value}\n  minfree = 960")])
        for name, value in (("before", 1088), ("after", 73728))
    ]
    found = listed(side("a", swappiness=1), side("b", swappiness=2), [str(folder) for folder in folders])
    assert found == [("maxfree", "1088", "73728")]
    with pytest.raises(MawlError, match="gone is not there"):
        listed(side("a"), side("b"), [str(tmp_path / "before"), str(tmp_path / "gone")])


def test_every_form_has_the_columns_of_the_papers(tmp_path: Path) -> None:
    sides = (side("a", swappiness=60), side("b", swappiness=10))
    plain = compare(*sides, anyway=True)
    found = msgspec.structs.replace(plain, settings=cited_settings(*sides, None))
    screen, whole = (" ".join(text_of(found, every=every).split()) for every in (False, True))
    head = "settings that changed reference candidate default recommended"
    assert f"{head} swappiness 60 % 10 % 60 % at most 30 %" in screen and head in whole
    assert "swappiness: " in whole and "now as recommended" in whole
    assert "0 more did not change, 0 are unknown on one side or both" in whole
    assert "| swappiness | 60 % | 10 % | 60 % | at most 30 % |" in rendered(document(found), "markdown")
    page = rendered(document(found), "html")
    assert (
        'id="settings"' in page
        and "swappiness" in page
        and 'id="settings"' not in rendered(document(plain), "html")
    )
    assert head not in text_of(plain, every=True)


def test_it_goes_with_two_sides(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "dl980-spinning-30", "dl980-flash-30", "s822-xiv-20", "--settings", "a", "b"]
    assert main(words) == 2
    assert "--settings goes with two sides" in capsys.readouterr().err

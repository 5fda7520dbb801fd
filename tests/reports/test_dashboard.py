"""The Grafana dashboard asks for nothing that the exporter does not write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mawl
from mawl.reports.openmetrics import families

DASHBOARD = Path(mawl.__file__).parent / "reports" / "dashboards" / "grafana.json"
SELECTOR = re.compile(r"^(mawl_\w+)(?:\{([^}]*)\})?$")


def targets() -> Iterator[tuple[str, dict[str, str], str]]:
    """Name, selectors and legend of every expression; each is one plain selector."""
    board: dict[str, Any] = json.loads(DASHBOARD.read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            match = SELECTOR.match(target["expr"])
            assert match is not None, target["expr"]
            selectors = dict(re.findall(r'(\w+)=~?"([^"]*)"', match[2] or ""))
            yield match[1], selectors, target["legendFormat"]


def exported() -> dict[str, set[tuple[str | None, str]]]:
    """Name of a family to the labels and statistics behind its unit."""
    found: dict[str, set[tuple[str | None, str]]] = {"mawl_run_info": {(None, "")}}
    for family in families():
        found.setdefault(family.name, set()).add((family.label, family.statistic))
    return found


def test_every_name_and_statistic_is_exported() -> None:
    known = exported()
    assert sum(1 for _ in targets()) > 20
    for name, selectors, _ in targets():
        assert name in known, name
        if "statistic" in selectors:
            assert ("statistic", selectors["statistic"]) in known[name], name
        assert set(selectors) <= {"run_id", "statistic"}


def test_panels_have_units_words_and_places_of_their_own() -> None:
    board = json.loads(DASHBOARD.read_text())
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        assert panel["description"] and panel["fieldConfig"]["defaults"]["unit"]
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken and place["x"] + place["w"] <= 24
        taken |= cells

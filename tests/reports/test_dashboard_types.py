"""The dashboard against Grafana's own types (the npm package @grafana/schema), by the TypeScript compiler.

Grafana itself is in no registry that tests use; its types say what it reads.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.reports.test_dashboard import DASHBOARD

pytestmark = [pytest.mark.lab, needs.marks(needs.program("npm", "node"))]

PACKAGES = ("@grafana/schema@13.2.3", "typescript@5.9.3")
PATIENCE_SECONDS = 180
COMPILER = (
    "--noEmit",
    "--strict",
    "--module",
    "nodenext",
    "--moduleResolution",
    "nodenext",
    "--skipLibCheck",
)
OPTIONS = {"bargauge": "BarGauge", "stat": "Stat", "table": "Table", "timeseries": "TimeSeries"}
"""Types of panels, and the beginning of the names of their modules."""

HEAD = """
import type { Dashboard, DataQuery, Panel } from '@grafana/schema';
type Wire<T> = T extends string ? `${T}` : T extends (infer I)[] ? Wire<I>[]
    : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;  // enumerations as JSON has them
type Query = DataQuery & { expr: string; legendFormat?: string; instant?: boolean; range?: boolean;
    format?: 'time_series' | 'table' | 'heatmap'; datasource?: { type?: string; uid?: string } };
"""
"""Queries of Prometheus have their types in a package of another license; these are from its manual."""

Board = dict[str, Any]


def typed(board: Board) -> str:
    """The dashboard as a program that compiles only where each part has its type, and no field too many."""
    kinds = sorted({panel["type"] for panel in board["panels"]})
    lines = [HEAD]
    for kind in kinds:
        module = (
            f"@grafana/schema/dist/esm/raw/composable/{kind}/panelcfg/x/{OPTIONS[kind]}PanelCfg_types.gen"
        )
        lines.append(f"import type {{ Options as {kind} }} from '{module}';")
    whole = {name: value for name, value in board.items() if name != "panels"}
    lines.append(f"const board: Wire<Omit<Dashboard, 'panels'>> = {json.dumps(whole)};")
    for panel in board["panels"]:
        rest = {name: value for name, value in panel.items() if name not in ("targets", "options")}
        number = panel["id"]
        for name, kind, value in (
            ("panel", "Wire<Omit<Panel, 'targets' | 'options'>>", rest),
            ("options", f"Wire<Partial<{panel['type']}>>", panel["options"]),
            ("targets", "Wire<Query>[]", panel["targets"]),
        ):
            lines.append(f"const {name}{number}: {kind} = {json.dumps(value)};")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Board], str]:
    """The compiler's complaints about a dashboard."""
    folder: Path = tmp_path_factory.mktemp("types")
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES]
    made = subprocess.run(install, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    if made.returncode != 0:
        needs.skip(f"npm installs no packages here: {(made.stderr or made.stdout).strip()[-200:]}")

    def complaints(board: Board) -> str:
        (folder / "board.ts").write_text(typed(board))
        command = [str(folder / "node_modules" / ".bin" / "tsc"), *COMPILER, "board.ts"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert (done.returncode == 0) == (done.stdout == "")
        return done.stdout

    return complaints


def test_grafanas_types_take_the_dashboard(compiled: Callable[[Board], str]) -> None:
    assert compiled(json.loads(DASHBOARD.read_text())) == ""


@pytest.mark.parametrize(
    ("path", "wrong", "said"),
    [
        (("panels", 1, "options", "colorMod"), "none", "colorMod"),
        (("panels", 1, "options", "colorMode"), "nothing", '"nothing"'),
        (("panels", 1, "fieldConfig", "defaults", "unit"), 7, "'number' is not assignable to type 'string'"),
        (("panels", 1, "targets", 0, "format"), "chart", '"chart"'),
        (("templating", "list", 0, "type"), "variable", '"variable"'),
        (("schemaVersion",), "new", "'string' is not assignable to type 'number'"),
    ],
)
def test_what_grafana_would_not_understand_is_a_complaint(
    compiled: Callable[[Board], str], path: tuple[str | int, ...], wrong: object, said: str
) -> None:
    board = copy.deepcopy(json.loads(DASHBOARD.read_text()))
    place = board
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = wrong
    (complaint,) = re.findall("error TS.*", compiled(board))
    assert said in complaint

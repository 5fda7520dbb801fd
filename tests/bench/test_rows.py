"""Every row of the bench runs whole at a small size and has its figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import ROWS
from tests import needs

ROOT = Path(__file__).parents[2]
MINUTES = {"cluster": 2.0}
MAY_BE_NOTHING = ("times", "CPU ms per s", "CPU s more", "CPU us per sample", "programs", "% of pairs")
"""Units of ticks in a few seconds, of differences and of counts."""


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            marks=[pytest.mark.long(minutes=MINUTES.get(row, 0.3)), needs.marks(needs.program(*programs))],
        )
        for row, programs in ROWS.items()
    ],
)
def test_a_row_runs_at_a_small_size_and_has_its_figures(row: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    command = [sys.executable, "-m", "bench", row, "--small", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(file.read_text())["rows"]
    assert rows
    for found in rows:
        assert found["met"] is None, found
        assert found["value"] > 0 or found["unit"] in MAY_BE_NOTHING, found

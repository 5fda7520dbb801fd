"""The notebook runs from its first cell to its last, and is stored without what it printed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import mawl
from tests.fakes.stored_run import facts, write_run

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "open-run.ipynb"


def load() -> Any:
    """The notebook, checked against its schema."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    return notebook


def test_no_output_is_stored() -> None:
    cells = [cell for cell in load().cells if cell.cell_type == "code"]
    assert cells
    assert [cell.id for cell in cells if cell.outputs or cell.execution_count is not None] == []


def printed(cell: Any) -> str:
    """What a cell printed."""
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def test_it_runs_on_a_run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "runs" / "one", runs=tmp_path / "runs").finish(facts())
    sources = str(Path(mawl.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([sources, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = load()
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert printed(cells[0]).startswith("20260101-080000-tiny failed\ntiny 4 sessions, 6 jobs, 6 samples")
    table = cells[1].outputs[0].data["text/html"]
    assert "<th>run</th><td>20260101-080000-tiny</td>" in table and "<th>answer</th>" in table
    assert printed(cells[2]) == "failed 74.5\n"
    (drawn,) = (output.data["text/html"] for output in cells[3].outputs if "data" in output)
    assert drawn.startswith("<iframe") and drawn.isascii()
    assert printed(cells[4]).split("\n")[0].split() == ["wide_sort", "3", "30.00", "s"]
    assert "'on_cpu_seconds': 71.26" in cells[5].outputs[0].data["text/plain"]
    assert printed(cells[6]) == "highest second: 0.0 MB/s\n"
    shown = [mime for output in cells[7].outputs for mime in output.get("data", {})]
    assert "application/vnd.bokehjs_exec.v0+json" in shown

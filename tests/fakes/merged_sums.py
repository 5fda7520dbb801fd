"""A merged run beside the folders of its nodes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import compute

from mawl.records.store import open_run


def check_sums(folder: Path) -> None:
    """Jobs and steps of the merged run are those of its nodes' folders, each once, and so are all sums."""
    run = open_run(folder)
    own = [open_run(folder / node.folder) for node in run.facts.node_runs if node.folder is not None]
    names = run.jobs.column("job").to_pylist()
    assert len(names) == len(set(names)), names
    for table in ("jobs", "steps"):
        whole, parts = getattr(run, table), [getattr(one, table) for one in own]
        if table == "jobs":
            known = pa.array([node.node for node in run.facts.node_runs if node.folder is not None])
            whole = whole.filter(compute.is_in(whole.column("node"), value_set=known))
        assert whole.num_rows == sum(part.num_rows for part in parts), table
        for field in whole.schema:
            if field.name.endswith("_at") or not (
                pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
            ):
                continue
            sums = [compute.sum(part.column(field.name)).as_py() or 0 for part in parts]
            found = compute.sum(whole.column(field.name)).as_py() or 0
            assert found == pytest.approx(sum(sums)), (table, field.name)

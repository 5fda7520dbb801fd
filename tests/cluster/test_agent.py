"""The agent as the worker's process has it."""

from __future__ import annotations

import subprocess
import sys

import msgspec

from mawl.cluster.agent import Own
from mawl.cluster.words import NodeTask


def test_it_imports_neither_arrow_nor_the_runner() -> None:
    code = "import sys, mawl.cluster.agent; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "mawl.cluster.agent" in modules
    assert not {name.partition(".")[0] for name in modules} & {"pyarrow", "numpy", "pandas", "dask"}
    assert not [
        name for name in modules if name.startswith(("mawl.runner", "mawl.plan", "mawl.cluster.words"))
    ]


def test_what_it_reads_of_a_task_is_there() -> None:
    fields = {field.name: field.type for field in msgspec.structs.fields(NodeTask)}
    own = msgspec.structs.fields(Own)
    assert {field.name: field.type for field in own} == {field.name: fields[field.name] for field in own}

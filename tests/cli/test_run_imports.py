"""What ``mawl run`` loads before it knows where it runs, and how."""

from __future__ import annotations

import gc
import subprocess
import sys

from mawl.base.imports import importing

CODE = """
import sys, mawl.commands.run
unwanted = ("mawl.run.runner", "mawl.programs.datagen", "distributed")
print(*sorted(name for name in sys.modules if name.startswith(unwanted)))
"""


def test_the_command_alone_loads_neither_the_runner_nor_dask() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_collection_runs_while_modules_are_imported() -> None:
    before = gc.get_freeze_count()
    with importing():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() > before
    gc.unfreeze()

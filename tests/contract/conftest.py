"""Input tables for the contract suite, made once and shared by the test processes of a run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mawl.programs.datagen.generate import TableRequest, generate

MakeTable = Callable[[str, float], Path]


@pytest.fixture(scope="session")
def shared_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of this test run: the same for each of its processes."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    directory = shared / "contract-inputs"
    directory.mkdir(exist_ok=True)
    return directory


@pytest.fixture(scope="session")
def make_table(shared_directory: Path) -> MakeTable:
    """Make an input table at a scale, or take the one that is there."""

    def make(table: str, scale: float) -> Path:
        with open(shared_directory / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = generate(
                [TableRequest(table=table, scale=scale, seed=20_261_120)],
                shared_directory,
                processes=1,
                bufsize_bytes=256 * 1024,
                verify=False,
            )
        return made[0].directory

    return make

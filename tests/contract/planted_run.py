"""Run a program with one thing wrong in it: its own checks must say so."""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mawl.plan.catalogue import CATALOGUE
from tests.contract.jobs import Job, assign, run_here
from tests.contract.test_programs import OPTIONS

SCALE = 0.00006


def run_with(
    program: str,
    make_table: Callable[[str, float], Path],
    place: Path,
    changes: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> Job:
    """Run a job with other things under some names of its modules (``module:name``).

    A name of a library (``np.diff``) changes for that module alone: the generator uses it too.
    """
    inputs = {table.name: make_table(table.name, SCALE) for table in CATALOGUE[program].inputs}
    for target, value in changes.items():
        module, name = target.split(":")
        owner: Any = importlib.import_module(f"mawl.programs.{module}")
        *path, last = name.split(".")
        for part in path:
            inner = getattr(owner, part)
            if isinstance(inner, types.ModuleType):
                inner = types.SimpleNamespace(**vars(inner))
                monkeypatch.setattr(owner, part, inner)
            owner = inner
        monkeypatch.setattr(owner, last, value(getattr(owner, last)))
    return run_here(assign(program, SCALE, OPTIONS, inputs, place))


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Change a piece of SQL."""

    def change(sql: str) -> str:
        assert old in sql
        return sql.replace(old, new)

    return change


def without_first_row(method: Callable[..., Any]) -> Callable[..., Any]:
    """A writer that loses one row of its first batch."""
    lost: list[bool] = []

    def write(self: Any, batch: Any) -> Any:
        if not lost and batch.num_rows:
            lost.append(True)
            batch = batch.slice(1)
        return method(self, batch)

    return write

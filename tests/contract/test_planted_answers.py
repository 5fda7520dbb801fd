"""Programs with one thing wrong in them: their own checks must say so."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
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
    """Run a job with other things under some names of its modules (``module:name``)."""
    for target, value in changes.items():
        module, name = target.split(":")
        owner: Any = importlib.import_module(f"mawl.programs.{module}")
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        monkeypatch.setattr(owner, last, value(getattr(owner, last)))
    inputs = {table.name: make_table(table.name, SCALE) for table in CATALOGUE[program].inputs}
    return run_here(assign(program, SCALE, OPTIONS, inputs, place))


def instead(value: object) -> Callable[[object], object]:
    """Put another value in the place of the old one."""
    return lambda _: value


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


CENSUS_QUERY: dict[str, dict[str, Any]] = {
    "owners are somebody else": {"census_query:OWNERS": instead("tenure = 2")},
    "renters are not all": {"census_query:RENTERS": instead("tenure > 2")},
    "owners and renters changed places": {
        "census_query:OWNERS": instead("tenure > 1"),
        "census_query:RENTERS": instead("tenure = 1"),
    },
    "the view holds others than householders": {
        "census_query:HOUSEHOLDERS": replaced("person = 1", "person = 2")
    },
    "the view is not filtered": {"census_query:HOUSEHOLDERS": replaced("person = 1", "person >= 1")},
    "an anti-join": {"census_query:SEMI_JOIN": replaced("serial IN", "serial NOT IN")},
    "a join on another column": {"census_query:SEMI_JOIN": replaced("serial IN", '"row" IN')},
    "wages of the wrong persons": {"census_query:SEMI_JOIN": replaced("sum(wages)", "sum(other_income)")},
    "other ages": {"census_query:INCOMES": replaced("BETWEEN 15", "BETWEEN 25")},
    "all persons counted as householders": {
        "census_query:POPULATION": replaced("count(*) FILTER (person = 1)", "count(*)")
    },
    "the extract of the other half": {
        "census_query:np.isin": lambda isin: lambda left, right: np.logical_not(isin(left, right))
    },
    "a row is lost": {"context:TableWriter.write": without_first_row},
}


@pytest.mark.parametrize("fault", CENSUS_QUERY)
def test_census_query_rejects(
    fault: str, make_table: Callable[[str, float], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_with("census_query", make_table, tmp_path, CENSUS_QUERY[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence


CENSUS_TABLES: dict[str, dict[str, Any]] = {
    "a row is lost": {"context:TableWriter.write": without_first_row},
    "households are joined by another column": {
        "census_tables:CensusJob._take": lambda take: (
            lambda self, name, path, space, columns: take(
                self, name, path, space, tuple("rooms" if c == "tenure" else c for c in columns)
            ).rename_columns(list(columns))
        )
    },
}


@pytest.mark.parametrize("fault", CENSUS_TABLES)
def test_census_load_single_rejects(
    fault: str, make_table: Callable[[str, float], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = run_with("census_load_single", make_table, tmp_path, CENSUS_TABLES[fault], monkeypatch)
    assert job.failed is not None
    assert job.failed.wrong_answer, job.failed.sentence

"""The one budget of a table: rows, memory and CPU time, by the size of its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.errors import UnreadableRunError
from mawl.store import open_run, rows
from mawl.store.budget import Budget, OverBudgetError, budget_of, in_time
from tests.fakes.stored_run import facts, write_run


def clock(step_seconds: float) -> Iterator[float]:
    """CPU time as a thread would have used it: so much more at each look."""
    used = 100.0
    while True:
        yield used
        used += step_seconds


def test_the_budget_grows_with_the_file() -> None:
    small, large = budget_of("jobs", 1000), budget_of("jobs", 100 * 2**20)
    assert (small.rows, small.memory_bytes, round(small.cpu_seconds)) == (10**6, 2**28, 30)
    assert (large.rows, large.memory_bytes, large.cpu_seconds) == (10**6, 8 * 2**30, 330.0)
    assert str(small) == (
        "mawl reads at most 1000000 rows, 256 MiB of memory and 30 s of CPU time from a file of this size"
    )


def test_reading_ends_when_its_time_is_used_up() -> None:
    budget = Budget(10, 2**20, 5.0)
    assert list(in_time("abcde", budget, clock(1.0).__next__)) == list("abcde")
    parts = in_time("abcdef", budget, clock(1.0).__next__)
    assert [next(parts) for _ in range(5)] == list("abcde")
    with pytest.raises(OverBudgetError, match=r"takes more than 5 s of CPU time; mawl reads at most 10 rows"):
        next(parts)


def test_a_table_that_takes_too_long_is_refused_by_the_whole_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs" / "one"
    folder.parent.mkdir()
    write_run(folder, runs=folder.parent).finish(facts())
    slow = clock(31.0)
    monkeypatch.setattr(rows, "in_time", lambda parts, budget: in_time(parts, budget, slow.__next__))
    with pytest.raises(UnreadableRunError) as raised:
        open_run(folder).job_records()
    assert str(raised.value) == (
        f"{folder}: holds too many jobs: reading it takes more than 30 s of CPU time; mawl reads at most "
        "1000000 rows, 256 MiB of memory and 30 s of CPU time from a file of this size; copy it again from "
        "where it was made"
    )

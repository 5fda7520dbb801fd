"""The file of derived jobs: written as it is read, and refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import InvalidFileError
from mawl.plan.derived_jobs import decoded, encoded, load_derived
from mawl.records.model.derived import DerivedJob, DerivedStep, DerivedTable, DerivedWorkload, RoleLoad

STEP = DerivedStep(
    name="s1",
    procedure="SORT",
    kernel="sort",
    rows=1000,
    cpu_seconds=1.5,
    tables=("t1",),
    data=RoleLoad(read_bytes=8000),
    work=RoleLoad(written_bytes=8000),
    util=RoleLoad(read_bytes=8000, written_bytes=8000),
)
SHOP = DerivedWorkload(
    tables=(DerivedTable(name="t1", size_bytes=8000),),
    jobs=(DerivedJob(name="a", session="one", steps=(STEP,)),),
)


def with_step(**changes: Any) -> DerivedWorkload:
    step = msgspec.structs.replace(STEP, **changes)
    return msgspec.structs.replace(SHOP, jobs=(msgspec.structs.replace(SHOP.jobs[0], steps=(step,)),))


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "derived.json"
    path.write_bytes(encoded(SHOP))
    assert load_derived(path) == SHOP


def test_a_later_step_may_read_what_an_earlier_one_wrote() -> None:
    first = msgspec.structs.replace(STEP, util=RoleLoad(written_bytes=5))
    second = DerivedStep(name="s2", procedure="SQL", kernel="join", util=RoleLoad(read_bytes=50))
    job = DerivedJob(name="a", session="one", steps=(first, second))
    shop = msgspec.structs.replace(SHOP, jobs=(job,))
    assert decoded(encoded(shop), where="f") == shop


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cpu_seconds": float("nan")}, "cpu_seconds: expected a number"),
        ({"cpu_seconds": float("inf")}, "cpu_seconds: expected a number"),
        ({"cpu_seconds": -1.0}, "cpu_seconds: expected a number >= 0"),
        ({"cpu_seconds": 1e9}, "cpu_seconds: expected a number <= 10000000"),
        ({"memory_bytes": 10**18}, "memory_bytes: expected a whole number <="),
        ({"rows": -1}, "rows: expected a whole number >= 0"),
        ({"threads": 0}, "threads: expected a whole number >= 1"),
        ({"threads": 10**6}, "threads: expected a whole number <= 4096"),
        ({"name": "proc sort"}, "name: expected text"),
        ({"name": "../../etc"}, "name: expected text"),
        ({"name": "s1\n"}, "name: expected text"),
        ({"kernel": "sorting"}, "kernel: expected one of dense, hold, join, look_up, scan"),
        ({"tables": ("t2",)}, "tables: expected names of tables of the file, found 't2'"),
        ({"tables": ()}, "tables: expected the tables that its data bytes are read from"),
        ({"util": RoleLoad(read_bytes=7)}, "util.read_bytes: expected 0, since the job has written"),
        ({"data": RoleLoad(read_bytes=-1)}, "data.read_bytes: expected a whole number >= 0"),
        ({"data": RoleLoad(read_bytes=5, random_reads=6)}, "data.random_reads: expected at most one request"),
        ({"work": RoleLoad(random_writes=1)}, "work.random_writes: expected at most one request a byte (0)"),
        ({"kernel": "look_up"}, "kernel: expected random_reads in some role"),
    ],
)
def test_a_wrong_step_is_refused_when_written_as_when_read(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidFileError) as caught:
        encoded(with_step(**changes))
    assert f"key jobs[0].steps[0].{words}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
        (b'{"jobs": [{"start_seconds": 1e999}]}', "key jobs[0].start_seconds: Number out of range"),
        (b"[]", "expected a table, found a list"),
        (b'{"jobs": []}', "key jobs: expected a list of length >= 1"),
        (b'{"format": 2, "jobs": []}', "key format: expected one of 1, found 2"),
        (b'{"jobs": [{"name": 1}]}', "key jobs[0].name: expected text, found a whole number"),
        (
            b'{"more": 1, "jobs": [{"name": "a", "session": "s", "steps": []}]}',
            "key more: unknown, expected one of format, tables, jobs",
        ),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(content: bytes, words: str) -> None:
    with pytest.raises(InvalidFileError) as caught:
        decoded(content, where="derived.json")
    assert str(caught.value).startswith("derived.json: ") and words in str(caught.value)


@pytest.mark.parametrize("key", ["tables", "jobs"])
def test_no_two_have_one_name(key: str) -> None:
    twice = msgspec.structs.replace(SHOP, **{key: getattr(SHOP, key) * 2})
    with pytest.raises(InvalidFileError, match=f"key {key}: expected each name once"):
        encoded(twice)


def test_a_missing_file_says_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="no such file or directory; keep the file of derived jobs"):
        load_derived(tmp_path / "derived.json")

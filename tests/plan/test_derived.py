"""The file of derived jobs: written as it is read, and refused in one sentence.

Which of its own files a derived job reads, and how long they stay.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import InvalidFileError
from mawl.plan.derived_jobs import decoded, encoded, load_derived
from mawl.plan.derived_program import at_core_speed, files_of, scaled
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


def steps(*loads: tuple[int, int]) -> list[DerivedStep]:
    """Steps that read and write so many bytes under work."""
    return [
        DerivedStep(
            name=f"s{number}",
            procedure="DATA",
            kernel="scan",
            work=RoleLoad(read_bytes=read, written_bytes=written),
        )
        for number, (read, written) in enumerate(loads)
    ]


def test_a_step_reads_the_newest_files_first_as_far_as_it_needs() -> None:
    files = files_of(steps((0, 100), (0, 50), (40, 0), (60, 0), (500, 0)), "work")
    assert files.sources == {2: (1,), 3: (1, 0), 4: (1, 0)}
    assert {step: set(gone) for step, gone in files.gone.items() if gone} == {4: {0, 1}}
    assert files.peak_bytes == 150


def test_a_file_goes_after_its_last_reader() -> None:
    files = files_of(steps((0, 100), (100, 100), (100, 100), (0, 10)), "work")
    assert files.sources == {1: (0,), 2: (1,)}
    assert files.gone == {0: (), 1: (0,), 2: (1, 2), 3: (3,)}
    assert files.peak_bytes == 200


def test_a_first_step_that_reads_takes_what_it_writes() -> None:
    files = files_of(steps((300, 100), (10, 0)), "work")
    assert files.sources == {0: (0,), 1: (0,)}
    assert files.peak_bytes == 100


def test_roles_do_not_mix() -> None:
    files = files_of(steps((0, 100)), "util")
    assert files.sources == {} and files.peak_bytes == 0


@pytest.mark.parametrize("scale", [1.0, 0.5, 2.0, 0.0001, 1e-9])
def test_a_scale_multiplies_bytes_requests_time_and_memory(scale: float) -> None:
    step = DerivedStep(
        name="s",
        procedure="SQL",
        kernel="join",
        rows=1000,
        cpu_seconds=10.0,
        memory_bytes=10**9,
        data=RoleLoad(read_bytes=8 * 10**9, random_reads=10**6),
        util=RoleLoad(written_bytes=10**6),
    )
    (small,) = scaled(DerivedJob(name="a", session="s", steps=(step,)), scale).steps
    assert small.cpu_seconds == 10.0 * scale
    assert small.memory_bytes == round(10**9 * scale)
    assert small.data.read_bytes == max(round(10**9 * scale), 1) * 8
    assert small.data.random_reads == max(round(10**6 * scale), 1)
    assert small.util.written_bytes == max(round(10**6 / 8 * scale), 1) * 8
    assert small.work == RoleLoad()


@pytest.mark.parametrize(
    ("own", "here", "seconds"), [(None, 2.0, 10.0), (1.5, None, 10.0), (1.5, 3.0, 5.0), (2.0, 0.5, 40.0)]
)
def test_a_faster_core_takes_fewer_cpu_seconds(own: float | None, here: float | None, seconds: float) -> None:
    step = DerivedStep(name="s", procedure="IML", kernel="dense", cpu_seconds=10.0)
    job = DerivedJob(name="a", session="s", steps=(step,), core_speed=own)
    assert at_core_speed(job, here).steps[0].cpu_seconds == seconds

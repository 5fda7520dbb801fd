"""Moments by class: what is asked, what is left out, and that what is found is printed.

Listings: columns that line up, short whatever the number of classes.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from mawl.measure.step import StepRecorder
from mawl.programs.context import JobContext
from mawl.programs.toolkit.statistics import (
    MOST_CLASSES,
    ClassProfile,
    class_rows,
    moments_by,
    print_frequencies,
    print_moments,
    print_table,
    session,
    total,
    total_rows,
)
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import assign


def test_a_table_has_a_title_and_columns_that_line_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("means", ("kind", "count", "mean"), [(b"CASH    ", 7, 1 / 3), (b"FEE     ", 1200, None)])
    assert capsys.readouterr().out == "\nmeans\nkind count    mean\nCASH     7 0.33333\nFEE   1200       .\n"


def test_moments_have_a_table_for_each_class(capsys: pytest.CaptureFixture[str]) -> None:
    age = {"count": 7, "avg": 41.5, "p50": 40.0}
    other = {"count": 7, "avg": None}
    print_moments("kind/sex", {(b"B", 1.0): {"age": age, "wages": other}, (b"A", 2.0): {"age": age}})
    assert capsys.readouterr().out.split("\n\n")[1].splitlines() == [
        "kind/sex B/1, 7 rows",
        "variable  avg p50",
        "age      41.5  40",
        "wages       .",
    ]


def test_many_classes_are_summed_up_by_their_extremes(capsys: pytest.CaptureFixture[str]) -> None:
    found = {branch: {"age": {"avg": float(branch), "skewness": None}} for branch in range(400)}
    print_moments("branch", found)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "400 values of branch",
        "variable avg from avg to skewness from skewness to",
        "age             0    399",
    ]
    print_moments("branch", {branch: found[branch] for branch in range(MOST_CLASSES)})
    assert capsys.readouterr().out.count("branch") == MOST_CLASSES


def test_frequencies_have_a_column_for_each_class(capsys: pytest.CaptureFixture[str]) -> None:
    print_frequencies("sex", {2.0: {"moved": {0.0: 5}}, 1.0: {"moved": {1.0: 12, 0.0: 3}}})
    assert capsys.readouterr().out.splitlines()[1:] == [
        "frequencies by sex",
        "code  value  1 2",
        "moved     0  3 5",
        "moved     1 12 0",
    ]


OPTIONS = Options(memsize_bytes=64 * MIB)
TABLE = pa.table(
    {
        "row": np.arange(6.0),
        "kind": pa.array([b"A", b"A", b"B", b"B", b"B", b"B"]),
        "month": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
        "cents": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
        "fee": [1.0, 3.0, 0.0, 0.0, 4.0, 4.0],
    }
)


def test_moments_are_of_all_numerics_but_keys_and_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = JobContext(assign("wide_sort", 0.0001, OPTIONS, {}, tmp_path), StepRecorder("job", print))
    batches = iter(TABLE.to_batches())
    found = moments_by(context, batches, TABLE.schema, by=("kind", "month"), against="cents", keys=("row",))
    assert set(found["kind"]) == {b"A", b"B"}
    assert set(found["kind"][b"A"]) == {"cents", "fee"}
    assert "corr" not in found["kind"][b"A"]["cents"]
    assert found["kind"][b"A"]["fee"]["corr"] == pytest.approx(1.0)
    assert (class_rows(found["kind"][b"B"]), total_rows(found["month"])) == (4, 6)
    assert total(found["month"], "cents") == 210
    assert capsys.readouterr().out.split("\n\n")[1].splitlines()[0] == "kind B, 4 rows"


def test_a_profile_lists_measures_and_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = ClassProfile(("cents", "fee"), "cents", codes=("month",), weight="fee", quartiles=("cents",))
    with session(OPTIONS, tmp_path / "duckdb") as connection:
        connection.register("source", TABLE)
        rows = connection.execute(f"SELECT kind, {profile.sql} FROM source GROUP BY kind").fetchall()
    profile.show("kind", {row[0]: row[1:] for row in rows})
    first, second, frequencies = capsys.readouterr().out.strip().split("\n\n")
    assert first.split("\n")[2].split()[:6] == ["cents", "15", "7.0711", "10", "20", "."]
    assert second.split("\n")[1].split()[-3:] == ["p50", "p75", "corr"]
    assert second.split("\n")[3].split()[-2:] == ["4", "0.89443"]
    assert frequencies.split("\n")[2:] == ["month     1 1 2", "month     2 1 2"]


def test_limits_are_the_jobs(tmp_path: Path) -> None:
    options = Options(memsize_bytes=200 * MIB, cpucount=2)
    with session(options, tmp_path / "spill") as connection:
        found = connection.execute(
            "SELECT current_setting('threads'), current_setting('async_threads'), "
            "current_setting('memory_limit'), current_setting('temp_directory'), "
            "current_setting('enable_progress_bar')"
        ).fetchone()
    assert found == (2, 0, "200.0 MiB", str(tmp_path / "spill"), False)


@pytest.mark.parametrize(("megabytes", "threads"), [(20, 1), (127, 1), (128, 2), (300, 4)])
def test_there_are_no_more_threads_than_memory_for_them(megabytes: int, threads: int, tmp_path: Path) -> None:
    options = Options(memsize_bytes=megabytes * MIB, cpucount=4)
    with session(options, tmp_path / "spill") as connection:
        assert connection.execute("SELECT current_setting('threads')").fetchone() == (threads,)


def test_one_thread_means_no_other_thread(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/task").iterdir()))
    with session(Options(), tmp_path / "spill") as connection:
        connection.execute("SELECT sum(i) FROM range(1000000) t(i)").fetchall()
        assert len(list(Path("/proc/self/task").iterdir())) == before


def test_too_little_memory_is_an_error_and_not_more_memory(tmp_path: Path) -> None:
    with (
        session(Options(memsize_bytes=8 * MIB), tmp_path / "spill") as connection,
        pytest.raises(duckdb.OutOfMemoryException),
    ):
        connection.execute("SELECT list(i) FROM range(10000000) t(i)").fetchall()


def test_the_connection_is_closed_also_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(duckdb.ParserException), session(Options(), tmp_path / "spill") as connection:
        connection.execute("SELEC")
    with pytest.raises(duckdb.ConnectionException):
        connection.execute("SELECT 1")

"""DuckDB opens with the job's limits, and spills only where it may."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from mawl.programs.toolkit.duckdb_session import session
from mawl.records.spec.program_options import MIB, Options


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

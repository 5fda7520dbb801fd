"""The %LOGPARSE table holds what the SAS-style log of the same run says."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from mawl.importers.formats.saslog import read_notes
from mawl.records.store import Run, open_run
from mawl.reports.exports import render_logparse, render_saslog
from tests.fakes.stored_run import facts, write_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The stored run."""
    write_run(tmp_path / "run").finish(facts())
    return open_run(tmp_path / "run")


def rows(run: Run) -> list[dict[str, str]]:
    """The table as a reader sees it."""
    return list(csv.DictReader(io.StringIO(render_logparse(run))))


def test_the_columns_are_the_macros_in_its_order(run: Run) -> None:
    assert render_logparse(run).splitlines()[0] == (
        "logfile,stepname,stepcnt,realtime,usertime,systime,cputime,memused,osmem,pageflt,pagercl,pageswp,"
        "osvconsw,osiconsw,blkinput,bkoutput,obsin,obsout,varsout,host,platform,scp,portdate,datetime"
    )


def test_a_row_says_what_the_log_of_the_same_step_says(run: Run) -> None:
    notes = [note for note in read_notes(render_saslog(run).splitlines()) if note.kind != "session"]
    found = rows(run)
    assert len(found) == len(notes) == 12
    for row, note in zip(found, notes, strict=True):
        usage = note.usage
        assert row["stepname"] == (note.name or "DATA")
        assert int(row["stepcnt"]) == note.step_count
        assert float(row["realtime"]) == usage.real_time_seconds
        assert float(row["usertime"]) == usage.user_cpu_seconds
        assert float(row["memused"]) * 1024 == usage.memory_bytes
        assert float(row["osmem"]) * 1024 == usage.os_memory_bytes
        assert int(row["pagercl"]) == usage.page_reclaims
        assert int(row["osvconsw"]) == usage.voluntary_context_switches
        assert int(row["bkoutput"]) == usage.block_output_operations
        assert row["obsin"] == "" if note.rows_read is None else int(row["obsin"]) == note.rows_read
    assert found[0]["logfile"].endswith(".saslog")
    assert (found[0]["host"], found[0]["platform"]) == ("bench1", "Linux 6.1.0")
    assert found[0]["datetime"] == "01JAN2026:08:00:01"


def test_what_is_not_known_is_empty(run: Run) -> None:
    for row in rows(run):
        assert (row["pageswp"], row["varsout"], row["scp"], row["portdate"]) == ("", "", "", "")
    assert {row["obsout"] for row in rows(run)} == {"1000", ""}

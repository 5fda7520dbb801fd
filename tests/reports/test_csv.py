"""CSV: tidy tables that a spreadsheet can open without running anything."""

from __future__ import annotations

import csv as standard
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.view import StoredView
from mawl.records.store import Run, open_run
from mawl.records.store.columns import VOLUME_COLUMNS
from mawl.reports.csv import FORMULA, TABLES, CsvTable, cell, render, series_unit, unit_of, written
from tests.fakes.stored_run import facts, write_run
from tests.fakes.views import as_summary, judged

EVIL = '=HYPERLINK("http://x","y")'


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The stored run, with a formula for its id."""
    write_run(tmp_path / "run").finish(facts(run_id=EVIL))
    return open_run(tmp_path / "run")


def rows(run: Run, table: str) -> list[dict[str, str]]:
    """A table as a reader sees it."""
    return list(
        standard.DictReader(io.StringIO(render(StoredView(run), as_summary(judged(StoredView(run))), table)))
    )


def test_jobs_are_the_table_of_the_run_folder_without_histograms(run: Run) -> None:
    found = rows(run, "jobs")
    assert [row["job"] for row in found] == run.jobs["job"].to_pylist()
    assert [float(row["real_time_seconds"]) for row in found] == run.jobs["real_time_seconds"].to_pylist()
    assert [row["started_at"] for row in found][:1] == ["2026-01-01T08:00:00.000000Z"]
    assert {row["page_swaps"] for row in found} == {""} and {row["trail_out"] for row in found} == {
        "true",
        "false",
    }
    left_out = set(run.jobs.column_names) - set(found[0])
    assert left_out and all(name.endswith("_histogram") or name in VOLUME_COLUMNS for name in left_out)


@pytest.mark.parametrize("table", ["steps", "events", "samples"])
def test_every_row_of_the_other_tables_is_there(run: Run, table: str) -> None:
    assert len(rows(run, table)) == getattr(run, table).num_rows > 0


def test_samples_name_the_unit_of_their_series(run: Run) -> None:
    units = {row["series"]: row["unit"] for row in rows(run, "samples")}
    assert units == {"jobs_running": "count", "application_read_bytes": "bytes"}
    assert series_unit("device.sda.read_bytes") == "bytes"
    assert series_unit("host.frequency_hertz") == "hertz"
    assert series_unit("nonsense") is None


def test_the_summary_is_a_row_per_figure_with_its_unit_or_the_reason_why_there_is_none(run: Run) -> None:
    summary: dict[str, Any] = judged(StoredView(run))
    found = {row["figure"]: row for row in rows(run, "summary")}
    assert float(found["time.real_time_seconds"]["value"]) == summary["time"]["real_time_seconds"]
    assert found["time.real_time_seconds"]["unit"] == "seconds"
    assert found["nodes.1.memory_bytes"]["unit"] == "bytes"
    assert found["io.by_role.data.read_latency_seconds.p99"]["unit"] == "seconds"
    missing = found["io.device.peak.total_bytes_per_second"]
    assert (missing["value"], missing["missing"]) == (
        "",
        "the run holds no samples of the devices of the roles",
    )
    assert found["answer.carried"]["value"] == "false"
    assert unit_of("no.such.figure") is None


def test_members_have_their_figures_in_columns(run: Run) -> None:
    (load, sort) = rows(run, "programs")
    assert (load["program"], sort["program"]) == ("census_load", "wide_sort")
    assert (load["jobs"], float(load["real_time_seconds_median"])) == ("2", 14.75)
    assert [row["role"] for row in rows(run, "roles")] == ["data", "work", "util", "other"]
    assert len(rows(run, "windows")) == len(judged(StoredView(run))["windows"])


@pytest.mark.parametrize("table", TABLES)
def test_text_of_a_run_is_no_formula_in_any_table(run: Run, table: str) -> None:
    for row in rows(run, table):
        assert row["run_id"] == f"'{EVIL}"


@given(st.text())
def test_no_text_begins_like_a_formula_and_printable_text_comes_back_as_it_was(text: str) -> None:
    held = cell(text)
    assert not held.lstrip().startswith(FORMULA) and held.isprintable()
    if text.isprintable():
        assert held in (text, f"'{text}")


@given(st.lists(st.lists(st.text() | st.integers() | st.floats() | st.none(), min_size=3, max_size=3)))
def test_any_cell_survives_a_reader(values: list[list[object]]) -> None:
    table = CsvTable("abc", [dict(zip("abc", row, strict=True)) for row in values])
    read = list(standard.reader(io.StringIO(written(table), newline="")))
    assert read == [["a", "b", "c"], *([cell(value) for value in row] for row in values)]


def test_numbers_stay_numbers() -> None:
    assert [cell(value) for value in (-1.5, 0, True, None, float("nan"))] == ["-1.5", "0", "true", "", ""]

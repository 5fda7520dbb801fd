"""Energy in every report: the sum with its scope, each counter, and the part of a program's job."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from mawl.advice import judge
from mawl.figures.series import RunSamples
from mawl.figures.view import RunView, StoredView
from mawl.records.model.summary.summary import Judged
from mawl.records.store import open_run
from mawl.records.store.columns import to_table
from mawl.reports import csv, markdown, openmetrics
from mawl.reports.html import report as html_report
from mawl.reports.run_tables.nodes import ENERGY
from mawl.reports.tables import table_lines
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import IDLE, Rate, four_jobs, sample_rows, samples
from tests.fakes.published_run import write_published

ZONES: dict[str, Rate] = {"energy.package-0.joules": 100.0, "energy.package-0/core.joules": 70.0}


def run(rates: dict[str, Rate]) -> tuple[RunView, Judged]:
    view = RunView(host_facts(), four_jobs(60), samples(60, IDLE | rates))
    return view, judge.judged(view, None)


def test_text_and_markdown_have_the_sum_with_its_scope_and_each_counter() -> None:
    view, summary = run(ZONES)
    said = "6.00 kJ (processors, other programs and idle power included), 100 W on average, 1.50 kJ per job"
    text = " ".join("\n".join(table_lines(ENERGY, view, summary)).split())
    assert said in text and "shared out to all jobs by their CPU time" in text
    assert "package-0/core 4.20 kJ 70.0 W 60.0 s no" in text
    written = markdown.render(view, summary)
    assert said in written and "| package-0 | 6.00 kJ | 100 W |" in written


def test_openmetrics_have_joules_and_watts_as_units() -> None:
    written = openmetrics.render(run(ZONES)[1])
    assert "# UNIT mawl_energy_joules joules" in written
    assert "# UNIT mawl_energy_domain_mean_watts watts" in written
    assert 'domain="package-0/core"' in written


def test_the_page_and_the_table_of_a_stored_run_have_each_counter(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_published(folder, seconds=60.0)
    before = parquet.read_table(folder / "samples.parquet")
    [node] = set(before["node"].to_pylist())
    times = sorted(set(before["sampled_at"].to_pylist()))
    rows = [
        {
            "node": node,
            "sampled_at": at,
            "series": "energy.package-0.joules",
            "value": 50.0 * (at - times[0]).seconds,
        }
        for at in times
    ]
    added = pa.Table.from_pylist(rows, schema=before.schema)
    parquet.write_table(pa.concat_tables([before, added]), folder / "samples.parquet")
    view = StoredView(open_run(folder))
    summary = judge.judged(view, None)
    assert summary.energy is not None and summary.energy.mean_watts == pytest.approx(50.0, rel=0.02)
    page = html_report.render(view, summary)
    assert "package-0" in page and "other programs and idle power included" in page
    head, line, *_ = csv.render(view, summary, "energy").splitlines()
    assert {"joules", "mean_watts", "known_seconds"} <= set(head.split(","))
    assert line.split(",")[1] == "package-0"


def test_energy_of_a_part_of_the_run_is_printed_with_the_reason_why_it_has_none_of_a_job() -> None:
    rows = sample_rows(60, IDLE | ZONES)
    begun = min(row.sampled_at for row in rows)
    rows = [row for row in rows if not row.series.startswith("energy.") or row.sampled_at <= begun + 40]
    view = RunView(host_facts(), four_jobs(60), RunSamples(to_table("samples", rows)))
    text = " ".join("\n".join(table_lines(ENERGY, view, judge.judged(view, None))).split())
    assert "100 W on average, not known of a job (energy was known for 41 s of the 60 s" in text
    assert "shared out" not in text and "per job" not in text


@pytest.mark.parametrize("rates", [{}, {"energy.psys.joules": 9.0}])
def test_without_a_sum_nothing_is_printed_as_one(rates: dict[str, Rate]) -> None:
    view, summary = run(rates)
    text = "\n".join(table_lines(ENERGY, view, summary))
    assert "per job" not in text
    assert ("energy: not known (psys: neither a whole processor" in " ".join(text.split())) == bool(rates)

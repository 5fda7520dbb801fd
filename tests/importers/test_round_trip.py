"""mawl's own SAS-style logs, imported, give the figures of the run that wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.figures.view import StoredView
from mawl.importers.import_files import ImportRequest, import_files
from mawl.records.store import open_run
from mawl.reports.exports import render_saslog
from tests.fakes.stored_run import facts, write_run
from tests.fakes.views import plain

HUNDREDTHS = 0.006
KILOBYTE_HUNDREDTHS = 6.0


def at(summary: object, path: str) -> object:
    for name in path.split("."):
        summary = summary[name]  # type: ignore[index]
    return summary


@pytest.mark.parametrize("one_file", [True, False])
def test_the_run_of_our_own_logs_is_the_run(tmp_path: Path, one_file: bool) -> None:
    write_run(tmp_path / "run").finish(facts())
    run = open_run(tmp_path / "run")
    logs = tmp_path / "logs"
    logs.mkdir()
    if one_file:
        (logs / "all.saslog").write_text(render_saslog(run))
    else:
        for job in run.job_records():
            (logs / f"{job.job}.saslog").write_text(render_saslog(run, [job.job]))
    made = import_files(ImportRequest(paths=[str(logs)], folder=tmp_path / "again", run_id="again"))
    again = open_run(tmp_path / "again")
    assert (made.jobs, made.steps, made.blocks) == (6, 12, 18)
    assert made.skipped == []
    before, after = plain(StoredView(run).summary), plain(StoredView(again).summary)
    for path in (*("elapsed", "active", "tail", "real_time", "user_cpu", "system_cpu", "cpu"),):
        one, other = at(before, f"time.{path}_seconds"), at(after, f"time.{path}_seconds")
        assert other == pytest.approx(one, abs=5 * HUNDREDTHS), path
    for path in ("memory_bytes", "os_memory_bytes"):
        assert at(after, f"time.{path}") == pytest.approx(
            at(before, f"time.{path}"), abs=6 * KILOBYTE_HUNDREDTHS
        )
    for name in ("total", "finished", "failed", "counted", "peak_concurrent", "mean_concurrent", "left_out"):
        assert at(after, f"jobs.{name}") == pytest.approx(at(before, f"jobs.{name}")), name
    for name in ("of_sums", "mean", "stddev", "range"):
        assert at(after, f"cpu_real_ratio.{name}") == pytest.approx(
            at(before, f"cpu_real_ratio.{name}"), abs=0.001
        )
    assert set(after["programs"]) == set(before["programs"])
    old = {job.job: job for job in run.job_records()}
    for job in again.job_records():
        was = old[job.job]
        assert (job.session, job.stage, job.node, job.outcome) == (
            was.session,
            was.stage,
            was.node,
            was.outcome,
        )
        assert (job.started_at, job.ended_at, job.verified) == (was.started_at, was.ended_at, was.verified)
        assert job.usage.page_reclaims == was.usage.page_reclaims
    assert sorted((step.job, step.number, step.rows_read) for step in again.step_records()) == sorted(
        (step.job, step.number, step.rows_read) for step in run.step_records()
    )

"""The report of a night, of run folders made up for the test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from mawl.base.errors import InvalidFileError
from mawl.plan.derived_jobs import encoded
from mawl.records.model.derived import FILE, DerivedWorkload
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from mawl.reports.night import render
from tests.fakes.stored_run import PLAN, facts
from tests.figures.test_night import HOUR, JOBS, ran, step_record

FACTS = replace(facts(), workload=replace(facts().workload, scale=1.0))
MISSED = ran(a=(1, 5), b=(5, 9), c=(9, 11.5), d=(5, 10.5))


def report(place: Path, jobs: Sequence[JobRecord], some: RunFacts = FACTS, *, derived: bool = True) -> str:
    made = encoded(DerivedWorkload(jobs=tuple(JOBS.values()))) if derived else b""
    writer = RunWriter(place / "run", some, plan=PLAN, derived=made)
    for record in jobs:
        writer.job(record)
    for name, seconds in (("a", HOUR), ("b", 60.0)):
        writer.step(step_record(name, seconds))
    writer.finish(some)
    writer.close()
    return render(open_run(place / "run"))


def test_a_missed_night_with_its_chain_and_steps(tmp_path: Path) -> None:
    text = report(tmp_path, MISSED)
    assert "night     missed by 1 h 30 min: due 10:00:00 after the night began" in text
    assert "late      2 of 4 jobs ended after they were due" in text
    assert "logs      in the logs the night was held with 30 min 00 s to spare" in text
    rows = [" ".join(line.split()) for line in text.splitlines()]
    start = rows.index("chain that decided started because of ran in the logs")
    assert rows[start + 1 : start + 4] == [
        "a 1:00:00 the clock 4 h 00 min 30 min 00 s",
        "b 5:00:00 the job before 4 h 00 min 30 min 00 s",
        "c 9:00:00 the job before 2 h 30 min 30 min 00 s",
    ]
    assert rows[-3:] == [
        "step ran in the logs times",
        "a s 1 h 00 min 30 min 00 s 2.00",
        "b s 60.0 s 30 min 00 s 0.03",
    ]


def test_a_held_night(tmp_path: Path) -> None:
    text = report(tmp_path, ran(a=(1, 3), b=(3, 5), c=(5, 8), d=(3, 4)))
    assert "night     held with 2 h 00 min to spare: due 10:00:00 after the night began" in text
    assert "late" not in text


def test_a_job_that_failed_misses_the_night(tmp_path: Path) -> None:
    jobs = [*MISSED[:3], replace(MISSED[3], outcome="failed", reason="planted")]
    assert "night     missed: 1 job of 4 did not finish" in report(tmp_path, jobs)


def test_a_killed_run_misses_the_night(tmp_path: Path) -> None:
    assert "night     missed: 2 jobs of 4 did not finish" in report(tmp_path, ran(a=(1, 3), b=(3, 5)))


def test_another_scale_or_other_arrivals_have_no_clock_of_the_night(tmp_path: Path) -> None:
    small = replace(FACTS, workload=replace(FACTS.workload, scale=0.1))
    (tmp_path / "one").mkdir()
    assert "not known: --scale 0.1 changed the size of the jobs" in report(tmp_path / "one", MISSED, small)
    (tmp_path / "two").mkdir()
    closed = replace(FACTS, spec=RunSpec(arrivals="closed"))
    text = report(tmp_path / "two", MISSED, closed)
    assert "not known: jobs started in turn (--arrivals closed)" in text
    assert "step" in text


def test_a_run_without_derived_jobs_says_so(tmp_path: Path) -> None:
    assert "not known: the run has no derived jobs; mawl derive makes them of logs" in report(
        tmp_path, MISSED, derived=False
    )


@pytest.mark.parametrize("how", ["link", "pipe", "damaged"])
def test_a_file_that_leads_out_of_the_folder_or_is_none_is_refused(how: str, tmp_path: Path) -> None:
    report(tmp_path, MISSED)
    path = tmp_path / "run" / FILE
    secret = tmp_path / "secret.json"
    path.replace(secret)
    if how == "link":
        path.symlink_to(secret)
    elif how == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(secret.read_bytes()[:-40])
    with pytest.raises(InvalidFileError, match=r"derived\.json: (cannot be read|is not valid JSON)"):
        render(open_run(tmp_path / "run"))

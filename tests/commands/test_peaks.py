"""The memory that the jobs of runs really used."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mawl.commands import peaks
from mawl.commands.peaks import Peaks, peaks_of
from mawl.model.usage import Usage
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.solo import kind_of
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, make_plan
from mawl.spec.program_options import MIB


def planned(program: str = "wide_sort") -> Plan:
    spec = WorkloadSpec(name="peaks", sessions=[SessionSpec(name="s", stages=[[program]])])
    return make_plan(spec, where="test", catalogue=CATALOGUE, scale=0.01)


def job(plan: Plan, private: int | None, **other: Any) -> Any:
    """A finished job with ``private`` MiB, whose process had 90 MiB when it was ready."""
    return SimpleNamespace(
        job=next(plan.jobs()).job,
        outcome=other.get("outcome", "finished"),
        verified=True,
        private_memory_bytes=None if private is None else private * MIB,
        usage=Usage(os_memory_bytes=100 * MIB, memory_bytes=other.get("beyond", 10 * MIB)),
    )


def test_the_largest_peak_of_a_kind_counts() -> None:
    plan = planned()
    kind = kind_of(next(plan.jobs()))
    found = peaks_of(plan, [job(plan, 20), job(plan, 30)], "r")[kind]
    assert (found.private_bytes, found.ready_bytes, found.jobs) == (30 * MIB, 90 * MIB, 2)


def test_jobs_without_a_peak_or_an_answer_leave_none() -> None:
    plan = planned()
    jobs = [job(plan, None), job(plan, 5, beyond=None), job(plan, 9, outcome="failed")]
    assert peaks_of(plan, jobs, "r") == {}


def test_runs_add_up_and_the_largest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned()
    store = Peaks(plan, tmp_path, "zygote")
    # Within the margin of a plan a later peak changes nothing: a limit that was enough stays enough.
    for number, most in enumerate((100, 130, 110, 133)):
        stored = SimpleNamespace(
            job_records=lambda most=most: [job(plan, most)], facts=SimpleNamespace(run_id=f"r{number}")
        )
        monkeypatch.setattr(peaks, "open_run", lambda _, stored=stored: stored)
        store.keep(plan, tmp_path)
    (found,) = store.known().values()
    assert (found.private_bytes, found.jobs, found.run_id) == (130 * MIB, 4, "r1")
    assert Peaks(plan, tmp_path, "spawn").known() == {}
    assert Peaks(planned("forecasting"), tmp_path, "zygote").known() == {}

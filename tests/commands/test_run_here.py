"""What ``mawl run`` says before a run in which nothing happens at first."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from mawl.commands.local_run import wait_notice
from mawl.plan.derived_jobs import encoded
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import Plan
from mawl.records.spec.program_options import Arrivals
from mawl.records.spec.run_spec import RunSpec
from tests.fakes.derived import SHOP


def night(tmp_path: Path, wait_seconds: float, arrivals: Arrivals = "clock") -> Plan:
    """The jobs of a shop, the first of which starts so long after the start of the night."""
    first = min(job.start_seconds for job in SHOP.jobs)
    jobs = [replace(job, start_seconds=job.start_seconds - first + wait_seconds) for job in SHOP.jobs]
    (tmp_path / "derived.json").write_bytes(encoded(replace(SHOP, jobs=type(SHOP.jobs)(jobs))))
    (tmp_path / "night.toml").write_text('name = "night"\nderived = "derived.json"\n')
    return plan_of(RunSpec(workload=str(tmp_path / "night.toml"), arrivals=arrivals))


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (2700.0, "notice: the first job of night starts 45 min 00 s into the run"),
        (10.0, None),
    ],
)
def test_a_run_says_how_long_its_first_job_waits(tmp_path: Path, wait: float, said: str | None) -> None:
    notice = wait_notice(night(tmp_path, wait))
    assert notice == (said and f"{said}; --arrivals closed ignores the clock")


def test_jobs_that_ignore_the_clock_start_at_once(tmp_path: Path) -> None:
    plan = night(tmp_path, 2700.0, "closed")
    assert (plan.first_start_seconds, wait_notice(plan)) == (0.0, None)


def test_a_job_that_follows_another_is_not_the_first(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(
        'name = "chain"\n[[sessions]]\nname = "a"\nstages = [['
        '{ program = "segmentation", name = "one", start_delay_seconds = 20 }, '
        '{ program = "segmentation", name = "two", after = ["one"] }]]\n'
    )
    plan = plan_of(RunSpec(workload=str(tmp_path / "chain.toml"), scale="0.00005"))
    assert wait_notice(plan) == "notice: the first job of chain starts 20.0 s into the run"


def test_delays_of_sessions_and_jobs_add_up(tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(
        'name = "late"\n[[sessions]]\nname = "a"\nstart_delay_seconds = 20\n'
        'stages = [[{ program = "segmentation", start_delay_seconds = 5 }], ["segmentation"]]\n'
    )
    plan = plan_of(RunSpec(workload=str(tmp_path / "late.toml"), scale="0.00005"))
    assert wait_notice(plan) == "notice: the first job of late starts 25.0 s into the run"

"""How long a plan takes: which calibration is taken, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mawl.base.errors import MawlError
from mawl.campaigns.qualify import model, plan_duration
from mawl.campaigns.qualify.plan_duration import NO_CALIBRATION, Duration, duration_of
from mawl.measure.machine import read_machine
from mawl.plan.run_plan import plan_of
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.campaign import write_qualification
from tests.fakes.qualifications import finished_run, qualification
from tests.fakes.qualified import cluster

PLAN = plan_of(RunSpec(workload="nano"))


MINUTE_A_SESSION = SimpleNamespace(elapsed_seconds=lambda plan: 60.0 * len(plan.sessions))
"""A model of 60 s a session."""


def run_here(**changes: object) -> Any:
    """A run of this machine, or of one that differs."""
    here = read_machine()
    node = {
        "cpu_model": here.cpu_model,
        "cores": here.cores,
        "cpus_used": here.confined_cpus,
        "cpu_quota": here.binding_cpu_quota,
        "memory_bytes": here.memory_bytes,
        "memory_limit_bytes": here.binding_memory_limit,
        **changes,
    }
    cache = SimpleNamespace(mode="none")
    return SimpleNamespace(facts=SimpleNamespace(nodes=[SimpleNamespace(**node)], cache=cache))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two qualifications, of this machine and of a larger one; the model says 60 s a session."""
    of = {"first": run_here(), "larger": run_here(cores=4096)}
    for name in of:
        (tmp_path / name).mkdir()
        (tmp_path / name / "qualify.json").write_text("{}")
    monkeypatch.setattr(plan_duration, "_calibration", lambda folder: of[folder.name])
    monkeypatch.setattr(model, "CalibratedModel", lambda run, probe: MINUTE_A_SESSION)
    return tmp_path


def test_a_plan_is_simulated_from_the_calibration_of_this_machine(runs: Path) -> None:
    expected = Duration(
        60.0 * len(PLAN.sessions), "simulated from the calibration of first, with --cache none"
    )
    assert duration_of(PLAN, runs) == expected


@pytest.mark.parametrize("held", [{"cpu_quota": 0.25}, {"memory_limit_bytes": 2**20}, {"cpus_used": [4095]}])
def test_a_calibration_under_other_limits_is_no_basis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: dict[str, object]
) -> None:
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "qualify.json").write_text("{}")
    monkeypatch.setattr(plan_duration, "_calibration", lambda folder: run_here(**held))
    assert duration_of(PLAN, tmp_path) == Duration(None, NO_CALIBRATION)


def test_without_a_calibration_it_says_who_makes_one(tmp_path: Path) -> None:
    assert duration_of(PLAN, tmp_path) == Duration(None, NO_CALIBRATION)


def test_a_record_that_cannot_be_read_is_no_calibration(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "qualify.json").write_text("{")
    assert duration_of(PLAN, tmp_path) == Duration(None, NO_CALIBRATION)


def test_a_program_that_was_not_calibrated_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(plan: Any) -> float:
        raise MawlError("the calibration has no time of mine")

    monkeypatch.setattr(model, "CalibratedModel", lambda run, probe: SimpleNamespace(elapsed_seconds=refuse))
    assert duration_of(PLAN, runs) == Duration(None, "the calibration has no time of mine")


@pytest.mark.parametrize(
    ("others_cpu_ratio", "nodes", "known"),
    [(0.05, 0, True), (None, 0, True), (0.3, 0, False), (0.05, 2, False)],
)
def test_a_disturbed_calibration_and_that_of_a_cluster_are_no_basis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others_cpu_ratio: float | None, nodes: int, known: bool
) -> None:
    calibration = finished_run("calibration", 1, 1, others_cpu_ratio=others_cpu_ratio)
    (tmp_path / "one").mkdir()
    record = qualification(runs=[calibration], nodes=cluster(nodes).nodes)
    write_qualification(tmp_path / "one", record)
    monkeypatch.setattr(plan_duration, "open_run", lambda folder: run_here())
    monkeypatch.setattr(model, "CalibratedModel", lambda run, probe: MINUTE_A_SESSION)
    assert (duration_of(PLAN, tmp_path).seconds is not None) == known

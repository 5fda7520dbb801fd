"""How long a plan takes: which calibration is taken, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mawl.campaigns.qualify import model, planned
from mawl.campaigns.qualify.planned import NO_CALIBRATION, Duration, duration_of
from mawl.errors import MawlError
from mawl.measure.machine import read_machine
from mawl.plan.asked import plan_of
from mawl.spec.record import RunSpec

PLAN = plan_of(RunSpec(workload="nano"))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two qualifications, of this machine and of a larger one; the model says 60 s a session."""
    here = read_machine()
    facts = {"cpu_model": here.cpu_model, "cores": here.cores, "memory_bytes": here.memory_bytes}
    nodes = {"first": facts, "larger": {**facts, "cores": 4096}}
    for name in nodes:
        (tmp_path / name).mkdir()
        (tmp_path / name / "qualify.json").write_text("{}")

    def calibration(folder: Path) -> Any:
        return SimpleNamespace(facts=SimpleNamespace(nodes=[SimpleNamespace(**nodes[folder.name])]))

    monkeypatch.setattr(planned, "_calibration", calibration)
    said = SimpleNamespace(elapsed_seconds=lambda plan: 60.0 * len(plan.sessions))
    monkeypatch.setattr(model, "CalibratedModel", lambda run, probe: said)
    return tmp_path


def test_a_plan_is_simulated_from_the_calibration_of_this_machine(runs: Path) -> None:
    expected = Duration(60.0 * len(PLAN.sessions), "simulated from the calibration of first")
    assert duration_of(PLAN, runs) == expected


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

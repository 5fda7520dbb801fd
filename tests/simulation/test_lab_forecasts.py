"""Forecasts of lab campaigns: from an arm of their own, or from another bed's run of the same workload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.lab.experiment.records import ArmRun, LabRecord, VolumeCalibration
from mawl.records.model.run import NodeFacts
from mawl.simulation import activity
from mawl.simulation.scenario import run_scenario
from mawl.whatif.folder import Label, write_folder
from tests.fakes.stored_run import facts
from tests.simulation.scenes import MB, demands, device, flow, plan, scenario, step, system
from tools.forecasts import forecasts, page

ARMS = {"slow": 20.0, "fast": 60.0}


def campaign(
    folder: Path, bed: str, rates: dict[str, float], jobs: tuple[str, ...] = ("a", "b", "c")
) -> Path:
    """A lab campaign whose arms were made by the model itself, on a volume of so many MB/s each."""
    node = NodeFacts(name="node1", cores=2, core_basis="vCPU", memory_bytes=2**34)
    made = []
    for arm, rate in rates.items():
        of = scenario(
            system(device(arm, rate=rate), cores=2),
            plan([[[name]] for name in jobs]),
            demands({name: [step(0.4, flow(80)), step(0.2, flow(40, "util"))] for name in jobs}),
        )
        outcome = run_scenario(of, activity.Calibration(of.system, 0.0))
        label = Label(run_id=f"{bed}-{arm}", source=facts(nodes=[node], planned_jobs=[]))
        write_folder(folder / arm, of, outcome, label)
        made.append(
            ArmRun(
                arm=arm,
                run_id=label.run_id,
                folder=arm,
                outcome="completed",
                speed_factor=1.0,
                cpu_busy_ratio=0.5,
                own_cpu_ratio=0.5,
            )
        )
    record = LabRecord(
        campaign_id=f"20260101-080000-{bed}",
        bed=bed,
        title="t",
        question="q",
        created_at=0.0,
        outcome="completed",
        workload="scene",
        scale=0.0005,
        description={
            "arms": [{"name": arm, "data": [arm], "work": [arm], "util": [arm]} for arm in rates],
            "volumes": [{"name": arm} for arm in rates],
        },
        claims=[],
        verdicts=[],
        arms=made,
        calibration=[
            VolumeCalibration(
                volume=arm,
                what=what,
                unit="bytes per second",
                expected=rate * MB,
                measured=rate * MB,
                tries=1,
            )
            for arm, rate in rates.items()
            for what in ("direct read", "direct write")
        ],
    )
    (folder / "lab.json").write_bytes(msgspec.json.encode(record))
    return folder


def elapsed(rows: list[dict[str, Any]]) -> dict[str, float]:
    figures = {row["arm"]: {one.figure: one for one in row["figures"]} for row in rows}
    return {arm: of["time.elapsed_seconds"].error_ratio for arm, of in figures.items()}


def test_arms_of_one_bed_are_forecast_from_anothers_run(tmp_path: Path) -> None:
    asked = campaign(tmp_path / "asked", "here", ARMS)
    other = campaign(tmp_path / "other", "there", {"disk": 35.0})
    own, from_there = forecasts(asked, tmp_path / "keep"), forecasts(asked, tmp_path / "keep", other)
    assert [row["calibrated"] for row in own] == [True, False]
    assert [row["calibrated"] for row in from_there] == [False, False]
    for rows in (own, from_there):
        assert elapsed(rows) == pytest.approx({"slow": 0.0, "fast": 0.0}, abs=0.05)
    lines = page(own + from_there).splitlines()
    assert any(line.startswith("| here | slow (calibrates) | time.elapsed_seconds |") for line in lines)
    assert any(line.startswith("| here from there | fast | time.elapsed_seconds |") for line in lines)


def test_a_run_of_another_workload_calibrates_nothing(tmp_path: Path) -> None:
    asked = campaign(tmp_path / "asked", "here", ARMS)
    other = campaign(tmp_path / "other", "there", {"disk": 35.0}, jobs=("a", "b"))
    with pytest.raises(UsageError, match="ran another workload than 20260101-080000-there"):
        forecasts(asked, tmp_path / "keep", other)

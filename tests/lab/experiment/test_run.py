"""An experiment over a bed without devices: what repeats it, what only remarks, what its record keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import RunFailedError
from mawl.commands import lab
from mawl.commands.main import main
from mawl.lab.bed import ArmSpec, BedSpec, VolumeSpec
from mawl.lab.build import Bed
from mawl.lab.experiment.run import (
    MOST_BUSY_RATIO,
    MOST_LOWERINGS,
    SLOWER,
    Busy,
    Choices,
    Experiment,
    spec_of,
    workload_of,
)
from mawl.lab.state import BedState, VolumeState, boot_id
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import load_workload
from mawl.records.spec.sources import as_command
from mawl.records.spec.task import Task
from mawl.records.store.facts import write_facts
from tests.fakes.stored_run import facts

ARMS = [ArmSpec(name=name, data=["v"], work=["v"], util=["v"]) for name in ("slow", "fast")]
SPEC = BedSpec(
    name="still",
    title="t",
    question="q",
    workload="nano",
    scale=0.0005,
    volumes=[VolumeSpec(name="v", size="64MiB")],
    arms=ARMS,
)
IDLE = Busy(busy_ratio=0.5, own_ratio=0.45)
OWN_DOING = Busy(busy_ratio=0.9, own_ratio=0.6)
OTHERS_DOING = Busy(busy_ratio=0.9, own_ratio=0.3)
NOT_KNOWN = Busy(busy_ratio=None, own_ratio=None)


class StillBed(Bed):
    """Its one volume is a directory, and has no speed."""

    def __init__(self, directory: Path) -> None:
        state = BedState(
            bed="still",
            boot_id=boot_id(),
            owner_pid=os.getpid(),
            owner_started_ticks=0,
            directory=str(directory),
            images=str(directory),
            volumes=[VolumeState(name="v", place=str(directory / "v"))],
            description=msgspec.to_builtins(SPEC),
        )
        super().__init__(directory, state)
        self.factors: list[float] = []

    def device(self, name: str) -> str:
        return f"no-{name}"

    def slow(self, name: str) -> None:
        assert name == "v"

    def hasten(self, name: str) -> None:
        assert name == "v"

    def at_speed(self, factor: float) -> None:
        self.factors.append(factor)
        super().at_speed(factor)


class Ran(Experiment):
    """Writes what a run would, and keeps its tasks; ``error`` is raised by the first run."""

    error: BaseException | None = None

    def _mawl(self, task: Task, inside: Sequence[str] = ()) -> None:
        self.tasks: list[Task] = [*getattr(self, "tasks", []), task]
        if task.verb == "run":
            if self.error is not None:
                raise self.error
            folder = Path(task.spec.output or "")
            folder.mkdir()
            write_facts(folder, facts(run_id=folder.name, outcome="completed"))


def experiment(directory: Path, *found: Busy, repeats: int = 1) -> tuple[Ran, StillBed, list[str]]:
    """An experiment whose rounds find the processors so; two arms a round."""
    said: list[str] = []
    readings: Iterator[Busy] = (one for busy in found for one in (IDLE, busy))
    bed = StillBed(directory)
    bed.spec = msgspec.structs.replace(bed.spec, repeats=repeats)
    return Ran(bed, ARMS, Choices(), directory / "runs", lambda _: next(readings), said.append), bed, said


def test_the_error_of_the_process_is_why_it_failed_over_a_bed(tmp_path: Path) -> None:
    bed = StillBed(tmp_path)
    made = Experiment(bed, ARMS, Choices(), tmp_path / "runs", lambda _: IDLE, lambda _: None)
    with pytest.raises(RunFailedError, match="failed over the bed: workload nano fixes its scale"):
        made.carry_out()


def on_disk(made: Ran) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((made.folder / "lab.json").read_text())
    return record


def test_arms_run_once_where_the_processors_were_free(tmp_path: Path) -> None:
    made, bed, _ = experiment(tmp_path, IDLE)
    record = made.carry_out()
    assert (record.outcome, record.remarks) == ("completed", [])
    assert [(arm.arm, arm.speed_factor, arm.repeated) for arm in record.arms] == [
        ("slow", 1.0, False),
        ("fast", 1.0, False),
    ]
    assert bed.factors == [1.0]
    assert [task.verb for task in made.tasks] == ["generate", "generate", "run", "run"]
    assert made.tasks[0].spec.data == (str(tmp_path / "v" / "data"),)
    assert bed.state.run_folders == [str((made.folder / arm.folder).resolve()) for arm in record.arms]
    assert on_disk(made) == json.loads(msgspec.json.encode(record))


def test_arms_run_there_and_back_where_the_bed_repeats_them(tmp_path: Path) -> None:
    made, _, _ = experiment(tmp_path, IDLE, IDLE, IDLE, repeats=3)
    record = made.carry_out()
    assert [arm.arm for arm in record.arms] == ["slow", "fast", "fast", "slow", "slow", "fast"]
    assert len({arm.folder for arm in record.arms}) == 6
    assert not any(arm.repeated for arm in record.arms), "each of them counts"


def test_all_arms_run_again_slower_where_the_run_itself_was_too_much(tmp_path: Path) -> None:
    made, bed, said = experiment(tmp_path, OWN_DOING, IDLE)
    record = made.carry_out()
    assert bed.factors == [1.0, SLOWER]
    assert [arm.repeated for arm in record.arms] == [True, True, False, False]
    counted = record.run_of("slow")
    assert counted is not None and counted.speed_factor == SLOWER
    assert len({arm.run_id for arm in record.arms}) == 4
    assert record.remarks[0].startswith("processors were busy for 90 % of a run, more than 70 %: all volumes")
    assert record.remarks[0] in said


def test_speeds_are_lowered_so_often_and_then_the_arms_stand_with_a_remark(tmp_path: Path) -> None:
    made, bed, _ = experiment(tmp_path, OWN_DOING, OWN_DOING, OWN_DOING)
    record = made.carry_out()
    assert bed.factors == pytest.approx([SLOWER**power for power in range(MOST_LOWERINGS + 1)])
    assert [arm.repeated for arm in record.arms] == [True] * 4 + [False] * 2
    assert record.remarks[-1].endswith("also after 2 lower speeds: processors may explain the result")
    assert record.outcome == "completed"


def test_what_others_did_is_said_and_nothing_is_repeated(tmp_path: Path) -> None:
    made, bed, _ = experiment(tmp_path, OTHERS_DOING)
    record = made.carry_out()
    assert bed.factors == [1.0]
    assert [arm.repeated for arm in record.arms] == [False, False]
    assert record.remarks == [
        "processors were busy for 90 % of a run, more than 70 %, of which it used 30 %: "
        "others had the rest; run again"
    ]


def test_processors_that_were_not_measured_repeat_nothing(tmp_path: Path) -> None:
    made, bed, _ = experiment(tmp_path, NOT_KNOWN)
    assert made.carry_out().remarks == []
    assert bed.factors == [1.0]


def test_a_run_too_busy_by_itself_is_worse_than_one_that_others_disturbed() -> None:
    by_severity = sorted([OWN_DOING, OTHERS_DOING, IDLE, NOT_KNOWN], key=Busy.severity)
    assert by_severity == [NOT_KNOWN, IDLE, OTHERS_DOING, OWN_DOING]


@pytest.mark.parametrize(
    ("busy", "own", "by_others"),
    [
        (MOST_BUSY_RATIO, 0.0, False),
        (0.71, 0.51, False),
        (0.71, 0.49, True),
        (0.99, 0.5, True),
        (0.71, None, True),
        (None, None, False),
    ],
)
def test_others_had_the_rest_where_run_and_bed_alone_stay_below(
    busy: float | None, own: float | None, by_others: bool
) -> None:
    assert Busy(busy_ratio=busy, own_ratio=own).by_others is by_others


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(RunFailedError("mawl run failed"), "failed"), (KeyboardInterrupt(), "interrupted")],
)
def test_the_record_on_disk_says_how_it_ended(tmp_path: Path, error: BaseException, outcome: str) -> None:
    made, bed, _ = experiment(tmp_path, IDLE)
    made.error = error
    with pytest.raises(type(error)):
        made.carry_out()
    assert on_disk(made)["outcome"] == outcome
    assert len(bed.state.run_folders) == 1, "down knows of the run that was cut short"


def test_the_command_of_an_arm_has_what_the_bed_says(tmp_path: Path) -> None:
    bed = msgspec.structs.replace(SPEC, cache="warm", memory_limit="64MiB", options={"sortsize": "2MiB"})
    arm = msgspec.structs.replace(ARMS[0], options={"sortsize": "1MiB"})
    words = as_command(spec_of(bed, arm, workload_of(bed, tmp_path)))
    assert words[:2] == ["run", "nano"] and not list(tmp_path.iterdir())
    assert words[words.index("--scale") + 1] == "0.0005" and words[words.index("--cache") + 1] == "warm"
    assert words[words.index("--option") + 1] == f"sortsize={1 << 20}"
    other = msgspec.structs.replace(arm, workload="bed")
    assert as_command(spec_of(bed, other, workload_of(bed, tmp_path)))[:2] == ["run", "bed"]


def test_a_workload_that_is_the_beds_own_becomes_a_file(tmp_path: Path) -> None:
    own = WorkloadSpec(name="own", sessions=[SessionSpec(name="one", stages=[["wide_sort"]])])
    file = workload_of(msgspec.structs.replace(SPEC, workload=own), tmp_path)
    assert Path(file).parent == tmp_path and load_workload(file)[0].name == "own"


def test_up_prints_the_workload_of_the_bed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    standing = StillBed(tmp_path)
    for name, value in {
        "load_bed": lambda _: SPEC,
        "require": lambda *_: None,
        "offered": lambda bed, arms, _: (arms, []),
        "build": lambda *_: standing,
        "calibrate_all": lambda *_: (),
    }.items():
        monkeypatch.setattr(lab, name, value)
    monkeypatch.setenv("MAWL_LAB_STATE", str(tmp_path / "state"))
    assert main(["lab", "up", "still"]) == 0
    shown = capsys.readouterr().out
    place = tmp_path / "v"
    roles = " ".join(f"--{role} {place / role}" for role in ("data", "work", "util"))
    for arm in ("slow", "fast"):
        line = next(line for line in shown.splitlines() if line.startswith(f"arm {arm}: mawl run nano "))
        assert "--scale 0.0005" in line and roles in line

"""Small folders that mutation begins from: one of each kind that mawl reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from mawl.plan.workload import SHIPPED
from mawl.store.campaign import write_campaign
from mawl.store.probe import write_probe
from tests.fakes.campaign_runs import FakeRuns, campaign
from tests.fakes.hostile_run import write_hostile_run
from tests.fakes.probes import disk, probe
from tests.fakes.stored_run import write_run
from tests.fakes.synthetic_run import write_synthetic_run
from tests.importers.recordings import RECORDED
from tests.importers.test_import import EIGHT, log

RUNS = ("synthetic", "killed", "hostile")
KINDS = (*RUNS, "campaign", "imports", "workload")


def write_bases(folder: Path) -> Path:
    """All bases below the folder, by the names of KINDS."""
    folder.mkdir(parents=True, exist_ok=True)
    synthetic = write_synthetic_run(folder / "synthetic", jobs=12, nodes=1, seconds=30)
    write_probe(synthetic / "probe.json", probe(disk()))
    shutil.copy(SHIPPED / "nano.toml", synthetic / "plan.toml")
    write_run(folder / "killed").close()
    write_hostile_run(folder / "hostile")
    _write_campaign(folder / "campaign")
    _write_imports(folder / "imports")
    (folder / "workload").mkdir()
    for name in ("nano", "starter"):
        shutil.copy(SHIPPED / f"{name}.toml", folder / "workload" / f"{name}.toml")
    return folder


def _write_campaign(folder: Path) -> None:
    folder.mkdir()
    execute = FakeRuns()
    slots = []
    record = campaign(repeats=2)
    for slot in record.slots:
        name = f"{slot.position:03}-{slot.arm}"
        execute(next(arm for arm in record.arms if arm.name == slot.arm), folder / name, -1)
        slots.append(msgspec.structs.replace(slot, state="finished", folder=name, outcome="completed"))
    write_campaign(folder, msgspec.structs.replace(record, slots=slots, outcome="completed"))


def _write_imports(folder: Path) -> None:
    folder.mkdir()
    for path in RECORDED.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)
    (folder / "job.log").write_text(log(EIGHT, 10))
    (folder / "late.log").write_text(log(EIGHT, 30, error="it failed", host="bench1"))

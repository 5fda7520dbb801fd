"""The gate stays shut until what the roles still have to write is written, and no longer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mawl.measure.page_cache import Sync, dirty_of, machine_dirty_bytes
from mawl.records.spec.program_options import ROLES
from mawl.records.volumes import Volumes
from mawl.run.runner.preparation import CleanStart
from mawl.run.runner.request import AtOnce
from mawl.run.runner.restrict import Restriction
from tests import needs


class Slow(Sync):
    """A sync that ends when it is told to."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self.seconds, self.reason = None, None
        self.directories = directories
        self.over = self.left = False

    def ended(self) -> bool:
        self.seconds = 1.5 if self.over else None
        return self.over

    def leave(self) -> None:
        self.left = True


class Told(AtOnce):
    """An opening that remembers that the jobs are ready."""

    def __init__(self) -> None:
        self.jobs: int | None = None

    def ready(self, jobs: int) -> None:
        self.jobs = jobs


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    made = Volumes({role: [tmp_path / role] for role in ROLES})
    made.ensure()
    made.claim("r1")
    return made


def test_the_gate_waits_for_the_sync_and_then_for_whoever_else_holds_it(volumes: Volumes) -> None:
    told = Told()
    syncs: list[Slow] = []

    def begin(directories: Sequence[Path]) -> Sync:
        syncs.append(Slow(directories))
        return syncs[0]

    clean = CleanStart(volumes, told, begin)
    clean.ready(3)
    assert (clean.pause_seconds(), told.jobs) == (None, None)
    syncs[0].over = True
    assert clean.pause_seconds() == 0.0
    assert [told.jobs] == [3]
    assert clean.facts is not None and clean.facts.sync_seconds == 1.5
    assert clean.facts.machine_at_gate_bytes is not None
    assert len(syncs[0].directories) == len(ROLES)


def test_a_run_that_was_interrupted_at_the_gate_leaves_the_sync(volumes: Volumes) -> None:
    slow = Slow([])
    clean = CleanStart(volumes, AtOnce(), lambda places: slow)
    clean.ready(1)
    found = clean.at_end(None)
    assert slow.left
    assert found.sync_reason == "the run ended before its gate opened" and found.removed_bytes is None


def test_the_files_of_the_run_that_are_dirty_at_its_end_are_its_own(volumes: Volumes) -> None:
    clean = CleanStart(volumes, AtOnce())
    clean.ready(1)
    while clean.pause_seconds() != 0.0:
        time.sleep(0.01)
    assert clean.facts is not None and clean.facts.sync_reason is None
    assert clean.facts.sync_seconds is not None
    (volumes.run_directories("data")[0] / "results").write_bytes(bytes(10**6))
    found = clean.at_end(None)
    if found.own_at_end_bytes is None:
        needs.skip(f"this kernel does not tell dirty pages by file: {found.own_source}")
    assert found.own_at_end_bytes == pytest.approx(10**6, abs=5000)


def test_a_sync_that_takes_too_long_is_left_with_a_reason(tmp_path: Path) -> None:
    sync = Sync([tmp_path], longest_seconds=-1.0)
    while not sync.ended():
        time.sleep(0.01)
    assert sync.seconds is not None or "not written within" in (sync.reason or "")


def test_a_directory_that_is_gone_is_no_error(tmp_path: Path) -> None:
    sync = Sync([tmp_path / "gone"])
    sync.wait()
    assert sync.seconds is not None and sync.reason is None


def test_dirty_pages_of_files_that_were_changed_since(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(bytes(10**6))
    found, source = dirty_of([tmp_path], since=time.time() + 60.0)
    assert found in (0, None) and source


def test_the_machines_dirty_pages(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text(
        "MemTotal: 5 kB\nDirty:   10 kB\nWriteback:  2 kB\nWritebackTmp: 7 kB\n"
    )
    assert machine_dirty_bytes(tmp_path) == 12 * 1024
    assert machine_dirty_bytes(tmp_path / "none") is None


def test_a_control_group_with_io_and_memory_tells_what_it_wrote(tmp_path: Path) -> None:
    group, sys = tmp_path / "group", tmp_path / "sys"
    for name, number in (("sda", "8:0"), ("sdb", "8:16")):
        (sys / "class/block" / name).mkdir(parents=True)
        (sys / "class/block" / name / "dev").write_text(f"{number}\n")
    group.mkdir()
    (group / "cgroup.controllers").write_text("cpu io memory\n")
    (group / "io.stat").write_text("8:0 rbytes=1 wbytes=4096 rios=1\n8:32 rbytes=5 wbytes=7\n")
    restriction = Restriction("r1", None, root=tmp_path / "nothing")
    restriction.groups.append(group)
    assert restriction.written_bytes({"sda", "sdb"}, sys) == 4096
    (group / "cgroup.controllers").write_text("cpu io\n")
    assert restriction.written_bytes({"sda"}, sys) is None
    restriction.groups.clear()

"""One probe at a time on a disk: who waits, for whom, until when, and what happens without a lock."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from mawl.measure.probe import process
from mawl.measure.probe.process import alone_on
from mawl.records.model.run import VolumeFacts

WHO = f"process {os.getpid()} (user {pwd.getpwuid(os.geteuid()).pw_name})"


def on(place: Path, disks: Sequence[str]) -> VolumeFacts:
    return VolumeFacts(role="work", node="here", directory=str(place), disks=list(disks))


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VolumeFacts:
    """A directory on two disks, as a sysfs says them."""
    for disk, number in (("sda", "8:0"), ("sdb", "8:16")):
        (tmp_path / disk).mkdir()
        (tmp_path / disk / "dev").write_text(f"{number}\n")
    monkeypatch.setattr(process, "BLOCKS", tmp_path)
    return on(tmp_path, ["sdb", "sda"])


@pytest.mark.parametrize("disks", [("sdb", "sda"), ()])
def test_a_second_probe_waits_for_the_first_and_says_who_that_is(
    disks: Sequence[str], facts: VolumeFacts, tmp_path: Path
) -> None:
    said: list[str] = []
    waits, done = threading.Event(), threading.Event()

    def hear(text: str) -> None:
        said.append(text)
        waits.set()

    def second() -> None:
        with alone_on(on(tmp_path, disks), hear):
            done.set()

    other = threading.Thread(target=second)
    with alone_on(on(tmp_path, disks), said.append):
        other.start()
        assert waits.wait(60) and not done.is_set()
    other.join(60)
    assert done.is_set()
    assert said == [f"waiting for {WHO}, which probes {'sda' if disks else tmp_path}, too"]


def test_probes_of_different_disks_do_not_wait(facts: VolumeFacts, tmp_path: Path) -> None:
    said: list[str] = []
    with alone_on(on(tmp_path, ["sda"]), said.append), alone_on(on(tmp_path, ["sdb"]), said.append):
        assert said == []


def test_a_killed_probe_leaves_no_lock(facts: VolumeFacts, tmp_path: Path) -> None:
    code = (
        "import os, sys, time; from mawl.measure.probe import process; "
        "process._lock(os.open(sys.argv[1], os.O_RDONLY), '', print); print('held', flush=True); "
        "time.sleep(600)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "sda" / "dev")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None and first.stdout.readline() == "held\n"
        first.kill()
    said: list[str] = []
    with alone_on(facts, said.append):
        assert said == []


def test_an_interrupt_ends_the_wait(facts: VolumeFacts) -> None:
    pid, said = os.getpid(), list[str]()

    def hear(text: str) -> None:
        said.append(text)
        threading.Timer(0.1, os.kill, (pid, signal.SIGINT)).start()

    with alone_on(facts, print), pytest.raises(KeyboardInterrupt), alone_on(facts, hear):
        raise AssertionError("there is another one")
    assert said == [f"waiting for {WHO}, which probes sda, too"]
    with alone_on(facts, said.append):
        assert len(said) == 1, "nobody holds a lock any more"


@pytest.mark.parametrize("garbage", ["no sysfs", "no permission"])
def test_what_prevents_a_lock_costs_one_sentence(
    garbage: str, facts: VolumeFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: int) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    if garbage == "no permission":
        monkeypatch.setattr(os, "open", refuse)
    else:
        monkeypatch.setattr(process, "BLOCKS", tmp_path / "none")
    said: list[str] = []
    with alone_on(facts, said.append):
        why = "permission denied" if garbage == "no permission" else "no such file or directory"
        assert said == [f"not known whether another probe is on sda: {process.BLOCKS}/sda/dev: {why}"]


def test_who_is_not_seen_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "garbage").write_text("1: FLOCK\n\n2: -> FLOCK ADVISORY WRITE 1 00:1b:7 0 EOF\n")
    with (tmp_path / "garbage").open() as file:
        for listed in (tmp_path / "garbage", tmp_path / "none"):
            monkeypatch.setattr(process, "LOCKS", listed)
            assert process._holder(file.fileno()) == "a process that is not seen from here"

"""One probe at a time on a device: who waits, for whom, until when, and what happens without a lock."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mawl.measure.probe import lock as locks
from mawl.measure.probe.lock import alone_on
from mawl.records.model.run import VolumeFacts

WHO = f"process {os.getpid()} (user {pwd.getpwuid(os.geteuid()).pw_name})"


@pytest.fixture
def facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VolumeFacts:
    """A directory on two disks, and a place for their locks."""
    for disk, number in (("sda", "8:0"), ("sdb", "8:16")):
        (tmp_path / disk).mkdir()
        (tmp_path / disk / "dev").write_text(f"{number}\n")
    monkeypatch.setattr(locks, "BLOCKS", tmp_path)
    monkeypatch.setattr(locks, "PLACE", tmp_path / "locks")
    (tmp_path / "locks").mkdir()
    return VolumeFacts(role="work", node="here", directory=str(tmp_path), disks=["sdb", "sda"])


def names(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "locks").iterdir())


def test_a_second_probe_waits_for_the_first_and_says_who_that_is(facts: VolumeFacts, tmp_path: Path) -> None:
    said: list[str] = []
    waits, done = threading.Event(), threading.Event()

    def hear(text: str) -> None:
        said.append(text)
        waits.set()

    def second() -> None:
        with alone_on(facts, hear):
            done.set()

    other = threading.Thread(target=second)
    with alone_on(facts, said.append):
        assert names(tmp_path) == ["mawl-probe-8:0", "mawl-probe-8:16"]
        other.start()
        assert waits.wait(60) and not done.is_set()
    other.join(60)
    assert done.is_set()
    assert said == [f"waiting for {WHO}, which probes sdb, sda, too"]
    assert names(tmp_path) == []


def test_probes_of_different_disks_do_not_wait(facts: VolumeFacts) -> None:
    said: list[str] = []
    with (
        alone_on(VolumeFacts(role="work", node="here", directory="/", disks=["sda"]), said.append),
        alone_on(VolumeFacts(role="work", node="here", directory="/", disks=["sdb"]), said.append),
    ):
        assert said == []


def test_without_a_disk_the_file_system_counts(facts: VolumeFacts, tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    for disks in ([], ["gone"]):
        with alone_on(VolumeFacts(role="work", node="here", directory=str(tmp_path), disks=disks), print):
            assert names(tmp_path) == [f"mawl-probe-{os.major(device)}:{os.minor(device)}"]


def test_a_killed_probe_leaves_no_lock(facts: VolumeFacts, tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time; from mawl.measure.probe import lock; "
        "lock._locked(pathlib.Path(sys.argv[1]), '', print); print('held', flush=True); time.sleep(600)"
    )
    file = tmp_path / "locks" / "mawl-probe-8:0"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None and first.stdout.readline() == "held\n"
        first.kill()
    said: list[str] = []
    with alone_on(facts, said.append):
        assert said == []


def test_an_interrupt_ends_the_wait(facts: VolumeFacts, tmp_path: Path) -> None:
    pid = os.getpid()

    def hear(text: str) -> None:
        assert text.startswith("waiting for ")
        threading.Timer(0.1, os.kill, (pid, signal.SIGINT)).start()

    with alone_on(facts, print):
        with pytest.raises(KeyboardInterrupt), alone_on(facts, hear):
            raise AssertionError("there is another one")
        assert names(tmp_path) == ["mawl-probe-8:0", "mawl-probe-8:16"], "its lock stays"


@pytest.mark.parametrize("garbage", ["no place", "a file", "a link", "nobody's"])
def test_what_prevents_a_lock_costs_one_sentence(
    garbage: str, facts: VolumeFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "locks"
    if garbage == "a link":
        (place / "mawl-probe-8:0").symlink_to(tmp_path / "nothing")
    elif garbage == "nobody's":

        def refuse(path: Path, *_: int) -> int:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "open", refuse)
    else:
        place.rmdir()
        if garbage == "a file":
            place.touch()
    said: list[str] = []
    with alone_on(facts, said.append):
        (sentence,) = said
    assert sentence.startswith(f"not known whether another probe is on sdb, sda: {place}/mawl-probe-8:0: ")


def test_who_is_not_seen_is_said_so(
    facts: VolumeFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "garbage").write_text("1: FLOCK\n\n2: -> FLOCK ADVISORY WRITE 1 00:1b:7 0 EOF\n")
    with (tmp_path / "garbage").open() as file:
        for listed in (tmp_path / "garbage", tmp_path / "none"):
            monkeypatch.setattr(locks, "LOCKS", listed)
            assert locks._holder(file.fileno()) == "a process that is not seen from here"

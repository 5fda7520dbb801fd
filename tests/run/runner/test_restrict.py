"""Restricting a run: processors from text, and control groups where they may be made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.run.runner.restrict import Restriction, leftover_groups
from tests import needs
from tests.fakes.tree import plant


def test_a_memory_limit_that_cannot_be_held_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableMachineError, match=r"cannot hold the run to --memory-limit 1\.00 GiB"):
        Restriction("r", 2**30, root=tmp_path)


def test_without_control_groups_a_run_has_no_outside_account_and_says_why(tmp_path: Path) -> None:
    restriction = Restriction("r", None, root=tmp_path)
    assert restriction.groups == []
    assert restriction.account() is None
    assert "no control group could be made" in (restriction.reason or "")
    restriction.close()


SCOPE = "user.slice/user-0.slice/session-1.scope"


@pytest.fixture
def unified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Version 2 under systemd: a session in its scope; the slice above gives its groups memory and pids.

    A group that is made there has the files that the kernel gives it: those of the controllers that the group
    above passes on.
    """
    plant(
        tmp_path,
        {
            "proc/self/cgroup": f"0::/{SCOPE}\n",
            "groups/cgroup.controllers": "cpuset cpu io memory pids\n",
            "groups/user.slice/user-0.slice/cgroup.subtree_control": "memory pids\n",
            f"groups/{SCOPE}/cgroup.subtree_control": "\n",
            f"groups/{SCOPE}/memory.max": "max\n",
            f"groups/{SCOPE}/cpu.max": "max 100000\n",
            f"groups/{SCOPE}/cpu.stat": "usage_usec 5\n",
        },
    )
    mkdir = Path.mkdir

    def made(group: Path, *words: Any, **options: Any) -> None:
        mkdir(group, *words, **options)
        if group.name.startswith("mawl-") and not any(group.iterdir()):
            given = (group.parent / "cgroup.subtree_control").read_text()
            files = {"cgroup.controllers": given, "cpu.stat": "usage_usec 7\nuser_usec 4\nsystem_usec 3\n"}
            for name, text in (files | ({"memory.max": "max\n"} if "memory" in given else {})).items():
                (group / name).write_text(text)

    monkeypatch.setattr(Path, "mkdir", made)
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    return tmp_path / "groups"


def restricted(unified: Path, limit: int | None) -> Restriction:
    return Restriction("r", limit, root=unified, proc=unified.parent / "proc")


def test_in_version_2_one_group_holds_the_memory_and_counts(unified: Path) -> None:
    """A process is in one group: that of the account would take it out of that of the limit."""
    restriction = restricted(unified, 2**30)
    (group,) = restriction.groups
    assert group == unified / "user.slice/user-0.slice/mawl-r"
    assert (group / "memory.max").read_text() == str(2**30)
    account = restriction.account()
    assert account is not None and account.cpu_seconds == pytest.approx(7e-6)
    restriction.close()
    assert not list(unified.rglob("mawl-r"))


def test_in_version_2_an_account_alone_stays_below_the_own_group(unified: Path) -> None:
    restriction = restricted(unified, None)
    assert restriction.groups == [unified / SCOPE / "mawl-r"]
    restriction.close()


@pytest.mark.parametrize(
    ("file", "text", "leaves"),
    [
        ("cpu.max", "150000 100000", True),
        ("io.max", "8:0 rbps=1000", True),
        ("cpuset.cpus", "0-1", True),
        ("memory.max", str(2**29), True),
        ("memory.high", str(2**29), True),
        ("memory.max", str(2**31), False),
        ("memory.high", "max", False),
        ("io.max", "", False),
    ],
)
def test_in_version_2_a_limit_of_the_own_group_is_not_left(
    unified: Path, file: str, text: str, leaves: bool
) -> None:
    (unified / SCOPE / file).write_text(f"{text}\n")
    if leaves:
        with pytest.raises(
            UnsuitableMachineError, match=r"session-1\.scope would leave its limits; limit that"
        ):
            restricted(unified, 2**30)
        assert not list(unified.rglob("mawl-r"))
    else:
        assert [group.parent.name for group in restricted(unified, 2**30).groups] == ["user-0.slice"]


@pytest.mark.parametrize("path", ["/", "/../../elsewhere", "/gone"])
def test_in_version_2_groups_are_made_nowhere_but_below_the_own_one(unified: Path, path: str) -> None:
    (unified.parent / "proc/self/cgroup").write_text(f"0::{path}\n")
    (unified / "cgroup.subtree_control").write_text("memory\n")
    restriction = restricted(unified, None)
    assert restriction.groups == ([unified / "mawl-r"] if path == "/" else [])


def test_a_container_that_shows_the_groups_of_its_host_makes_none_there(unified: Path) -> None:
    """A pod with the host's /sys: jobs in a group at the machine's root would leave the limits of the pod."""
    (unified.parent / "proc/self/cgroup").write_text("0::/\n")
    (unified / "cgroup.subtree_control").write_text("memory\n")
    point = f"/{unified.relative_to(unified.parents[2])}"
    (unified.parent / "proc/self/mountinfo").write_text(
        f"31 30 0:27 /../../.. {point} rw,nosuid - cgroup2 cgroup rw\n"
    )
    restriction = restricted(unified, None)
    assert restriction.groups == [] and "no control group" in (restriction.reason or "")
    with pytest.raises(UnsuitableMachineError, match="may not make memory control groups"):
        restricted(unified, 2**30)
    assert not list(unified.rglob("mawl-r"))


@pytest.mark.lab
def test_a_group_counts_cpu_holds_memory_and_goes() -> None:
    try:
        restriction = Restriction("test-restrict", 64 * 2**20)
    except UnsuitableMachineError as error:
        needs.skip(f"lab: {error}")
    code = "import time\nwhile time.process_time() < 0.3: pass"
    greedy = "x = bytearray(256 * 2**20)\nx[:] = b'1' * len(x)"
    groups = list(restriction.groups)
    assert groups
    assert set(groups) == set(leftover_groups({"test-restrict"})), "no process is in it yet"
    assert leftover_groups({"another"}) == []

    def join() -> None:
        for group in groups:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    assert subprocess.run([sys.executable, "-c", code], preexec_fn=join, check=False).returncode == 0
    account = restriction.account()
    assert account is not None
    assert account.cpu_seconds is not None
    assert 0.28 <= account.cpu_seconds <= 0.6
    assert subprocess.run([sys.executable, "-c", greedy], preexec_fn=join, check=False).returncode != 0
    restriction.close()
    assert not any(group.exists() for group in groups)

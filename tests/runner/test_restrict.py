"""Restricting a run: processors from text, and control groups where they may be made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mawl.errors import UnsuitableMachineError
from mawl.runner.restrict import Restriction, leftover_groups
from tests import needs


def test_a_memory_limit_that_cannot_be_held_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableMachineError, match=r"cannot hold the run to --memory-limit 1\.00 GiB"):
        Restriction("r", 2**30, root=tmp_path)


def test_without_control_groups_a_run_has_no_outside_account_and_says_why(tmp_path: Path) -> None:
    restriction = Restriction("r", None, root=tmp_path)
    assert restriction.groups == []
    assert restriction.account() is None
    assert "no control group could be made" in (restriction.reason or "")
    restriction.close()


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

"""Commands of settings that print without end, that do not end, and that cannot start."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mawl.campaigns.arm_setting import change
from mawl.campaigns.arm_setting.change import LARGEST_OUTPUT_BYTES, run_command

BLOCK_BYTES = 512
"""Of ``st_blocks``."""


def test_output_without_end_takes_little_room_while_it_is_printed(tmp_path: Path) -> None:
    output, size = tmp_path / "output", tmp_path / "size"
    loud = f"yes & loud=$!; sleep 0.5; kill $loud; sleep 0.5; stat -c %b {output} > {size}"
    ended = run_command(loud, output, 20.0, "mark", str(tmp_path), os.environ)
    assert ended.exit_status == 0
    assert int(size.read_text()) * BLOCK_BYTES <= 2 * LARGEST_OUTPUT_BYTES
    assert output.stat().st_size == LARGEST_OUTPUT_BYTES


def test_nobody_waits_for_a_command_that_cannot_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of one that runs as another user, or that waits for a file system which does not answer."""
    monkeypatch.setattr(change, "signal_all", lambda *_: 0)
    monkeypatch.setattr(change, "kill_marked", lambda *_: 0)
    monkeypatch.setattr(change, "GRACE_SECONDS", 0.1)
    began = time.monotonic()
    ended = run_command("exec sleep 10", tmp_path / "output", 0.1, "mark", str(tmp_path), os.environ)
    assert time.monotonic() - began < 5.0
    assert ended.exit_status is None and ended.reason is not None
    assert ended.reason.startswith("it was stopped after 0.1 s, and its process")


def test_a_command_that_cannot_start_says_why(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    ended = run_command("true", tmp_path / "output", 1.0, "mark", gone, os.environ)
    assert (ended.exit_status, ended.reason) == (
        None,
        f"it could not start in {gone}: no such file or directory",
    )

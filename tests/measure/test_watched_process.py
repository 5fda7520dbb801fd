"""What belongs to one process in /proc."""

from __future__ import annotations

import os
import subprocess

from mawl.measure.processes import children


def test_children_of_a_process_and_of_none() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        assert process.pid in children(os.getpid())
        process.kill()
    assert children(2**22 + 1) == []

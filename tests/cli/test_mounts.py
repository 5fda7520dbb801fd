"""A job that leaves a mount in its directory: the files behind it stay, and the run and `clean` say so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests import needs

pytestmark = needs.marks(needs.MOUNTS)

WORKLOAD = """name = "bound"
scale = 0.00005
[commands.job]
command = ["sh", "-c", "mkdir $1/m; mount --bind {victim} $1/m", "sh", "{{work}}"]
[[sessions]]
name = "s"
stages = [["job"]]
"""
STEPS = """
"$@" run w.toml; echo "run $?"
"$@" clean; echo "clean $?"
umount mawl-work/*/*/m
"$@" clean; echo "clean $?"
"""


def test_the_files_behind_a_mount_of_a_job_stay(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious").write_text("mine")
    (tmp_path / "w.toml").write_text(WORKLOAD.format(victim=victim))
    done = subprocess.run(
        [*needs.PRIVATE_MOUNTS, "sh", "-c", STEPS, "sh", sys.executable, "-m", "mawl"],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "400"},
        capture_output=True,
        text=True,
    )
    assert (victim / "precious").read_text() == "mine"
    (remark,) = (line for line in done.stdout.splitlines() if line.startswith("remark: "))
    assert "/m stays: it is a separate mount (" in remark
    said = re.findall(r"^(?:run \d|clean \d|could not remove all)", done.stdout, re.MULTILINE)
    assert said == ["run 0", "could not remove all", "clean 1", "clean 0"]
    assert list((tmp_path / "mawl-work").iterdir()) == []

"""Two runs in the same places at once: the second one names the first, on the screen and in its reports."""

from __future__ import annotations

import json
import re
import signal

import pytest

from mawl.records.store import open_run
from mawl.run.launch.setup import live_runs
from tests.cli.conftest import Command
from tests.cli.test_stopped import running

pytestmark = pytest.mark.lab


def test_the_second_run_names_the_first(mawl: Command) -> None:
    first, run_id, _ = running(mawl, 300)
    try:
        pids = live_runs()[run_id]
        (mawl.directory / "two.toml").write_text(
            'name = "two"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["true"] }]]\n'
        )
        second = mawl("run", "two.toml", "--output", "two")
    finally:
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
    assert second.returncode == 0, second.stderr
    (warning,) = [
        line for line in second.stderr.splitlines() if line.startswith("warning: other runs of mawl")
    ]
    (pid,) = re.findall(rf"{run_id} \(process (\d+), user ", warning)
    assert int(pid) in pids
    for role in ("work", "util"):
        assert f"also in {mawl.directory / role}" in warning
    remark = warning.removeprefix("warning: ")
    assert remark in open_run(mawl.directory / "two").facts.remarks
    assert remark in json.loads(mawl("report", "two", "--format", "json").stdout)["remarks"]
    assert mawl("report", "two", "--format", "html", "--output", "two.html").returncode == 0
    page = (mawl.directory / "two.html").read_text()
    assert "Remark: other runs of mawl are under way: " in page and run_id in page

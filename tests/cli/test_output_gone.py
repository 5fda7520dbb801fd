"""Messages that cannot be written, and a terminal that goes away: a run goes on, or ends as a stop does."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.cli.conftest import LONGEST_SECONDS, Command

pytestmark = pytest.mark.lab

ONE = 'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{{ command = {} }}]]\n'


def facts(mawl: Command) -> dict[str, Any]:
    """What the newest run says of itself."""
    found: dict[str, Any] = json.loads((mawl.directory / "runs" / "latest" / "run.json").read_text())
    return found


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", "2> >(head -c1 >/dev/null)"])
def test_a_run_whose_messages_go_nowhere_measures_to_its_end(mawl: Command, where: str) -> None:
    (mawl.directory / "one.toml").write_text(ONE.format('["false"]'))
    script = f'"$0" -m mawl run one.toml {where}; echo "ended with $?"'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable],
        cwd=mawl.directory,
        env=mawl.environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    assert done.stdout.endswith("ended with 1\n") and "NO: 1 of 1 jobs" in done.stdout
    assert facts(mawl)["outcome"] == "failed"


def test_a_terminal_that_goes_away_stops_the_run_and_its_jobs(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE.format('["sleep", "120"]'))
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.chdir(mawl.directory)
        os.execve(sys.executable, [sys.executable, "-m", "mawl", "run", "one.toml"], mawl.environment)
    ends = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < ends:
        journals = list((mawl.directory / "runs").glob("2*/journal/events.jsonl"))
        if journals and '"job_started"' in journals[0].read_text():
            break
        time.sleep(0.05)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    assert (facts(mawl)["outcome"], facts(mawl)["outcome_reason"]) == ("interrupted", "stopped by SIGHUP")
    [failure] = json.loads(mawl("report", "--format", "json").stdout)["failures"]
    assert failure["outcome"] == "stopped"

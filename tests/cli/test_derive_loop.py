"""The closed loop without SAS: a workload runs, its logs alone are derived, the derived jobs run.

What the steps of both runs counted may differ by what is asked: the larger of ratio and inverse of CPU
seconds, memory and bytes is at most 1.25 in the median and 2 at the 95th percentile; shares are within 0.1,
and the areas under the curves of jobs at a time within 10 %.  The printed ranges contain what was counted.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mawl.derive.folder import write_derived
from mawl.derive.replay.compare import replay
from mawl.store import Run, open_run
from tests import needs
from tests.cli.command_loads import LOADS, write_load
from tests.cli.conftest import Command
from tests.derive.oracle import derived_again, derived_from_logs, held, summary
from tests.lab.quiet import quiet_machine

MOST_AREA_RATIO = 0.10
STOP_SECONDS = 10


@pytest.mark.long(minutes=2)
@pytest.mark.parametrize("workload", ["starter", "mixed20", *LOADS])
def test_derived_jobs_do_what_the_jobs_behind_the_logs_did(
    workload: str, mawl: Command, tmp_path: Path
) -> None:
    if workload in LOADS:
        mawl.environment["MAWL_DATA"] = str(tmp_path / "data")
        close(mawl, str(write_load(workload, mawl.directory, tmp_path / "data")))
    else:
        close(mawl, workload)


@pytest.mark.long(minutes=2)
def test_the_same_holds_with_a_recording_of_nmon_beside_the_logs(mawl: Command, tmp_path: Path) -> None:
    needs.program("nmon").require()
    recording = tmp_path / "host.nmon"
    started = subprocess.run(
        ["nmon", "-F", str(recording), "-s", "1", "-c", "600", "-p"],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    process = int(started.stdout)
    try:
        run_uncached(mawl, "starter", "first")
    finally:
        os.kill(process, signal.SIGUSR2)  # nmon's own: it ends after the snapshot
        end = time.monotonic() + STOP_SECONDS
        while Path(f"/proc/{process}").exists() and time.monotonic() < end:
            time.sleep(0.1)
    host = judge(mawl, "starter with nmon", open_run(mawl.directory / "first"), [recording])
    assert host


def run_uncached(mawl: Command, workload: str, output: str) -> None:
    """Run it with a page cache that hides nothing."""
    made = mawl("run", workload, "--cache", "none", "--output", output)
    assert made.returncode == 0, made.stdout + made.stderr


def close(mawl: Command, workload: str) -> None:
    """The whole loop."""
    quiet_machine()
    run_uncached(mawl, workload, "first")
    judge(mawl, Path(workload).stem, open_run(mawl.directory / "first"))


def judge(mawl: Command, name: str, first: Run, beside: Sequence[Path] = ()) -> bool:
    """Derive the logs of the first run, run the jobs, and hold them against it; whether a host was beside."""
    derived = derived_from_logs(first, mawl.directory / "from", beside=beside)
    found = held(derived, first)
    sys.stdout.write(f"{name}, derived:\n{found.said}\n")
    if not name.startswith(tuple(LOADS)):
        assert all(one.ratio >= 0.9 for one in found.ranges.values()), found.said
    (mawl.directory / "shop").mkdir()
    write_derived(mawl.directory / "shop", derived)
    run_uncached(mawl, "shop/workload.toml", "again")
    again = open_run(mawl.directory / "again")
    found = held(derived_again(derived, again), first)
    sys.stdout.write(f"{name}, run again:\n{found.errors_said}\n")
    beside_run = replay(open_run(mawl.directory / "from" / "imported"), again)
    at_once = beside_run.jobs_at_once
    assert at_once is not None and at_once.area_difference_ratio is not None
    sys.stdout.write(
        f"{name}: areas of jobs at a time differ by {at_once.area_difference_ratio:.1%}; "
        f"{beside_run.sentence}\n"
    )
    assert beside_run.counted.matched == beside_run.counted.run_jobs == len(derived.workload.jobs)
    near = {one.figure: (one.median, one.high) for one in beside_run.closeness}
    for figure in ("cpu_seconds", "memory_bytes", "moved_bytes"):
        middle, most = near[figure]
        assert middle is not None and middle <= 1.25 and most is not None and most <= 2.0, near
    for errors in (found.cpu_errors, found.memory_errors, found.bytes_errors):
        _, middle, most = summary(errors)
        assert middle <= 1.25 and most <= 2.0, found.errors_said
    assert summary(found.share_errors)[2] <= 0.1
    assert at_once.area_difference_ratio <= MOST_AREA_RATIO
    return derived.evidence.host is not None

"""The closed loop without SAS: a workload runs, its logs alone are derived, the derived jobs run.

What the steps of both runs counted may differ by what is asked: the larger of ratio and inverse of CPU
seconds, memory and bytes is at most 1.25 in the median and 2 at the 95th percentile; shares are within 0.1.
"""

from __future__ import annotations

import sys

import pytest

from mawl.derive.folder import write_derived
from mawl.derive.replay.compare import replay
from mawl.store import open_run
from tests.cli.conftest import Command
from tests.derive.oracle import derived_again, derived_from_logs, held, summary


@pytest.mark.long(minutes=6)
@pytest.mark.parametrize("workload", ["starter", "mixed20"])
def test_derived_jobs_do_what_the_jobs_behind_the_logs_did(workload: str, mawl: Command) -> None:
    made = mawl("run", workload, "--cache", "none", "--output", "first")
    assert made.returncode == 0, made.stderr
    first = open_run(mawl.directory / "first")
    derived = derived_from_logs(first, mawl.directory / "from")
    write_derived(mawl.directory, derived)
    made = mawl("run", "workload.toml", "--cache", "none", "--output", "again")
    assert made.returncode == 0, made.stderr
    found = held(derived_again(derived, open_run(mawl.directory / "again")), first)
    figures = {
        "CPU seconds": summary(found.cpu_errors),
        "memory": summary(found.memory_errors),
        "bytes": summary(found.bytes_errors),
    }
    _, _, share = summary(found.share_errors)
    text = "; ".join(
        f"{name}: {count} steps, median {middle:.3f}, 95th percentile {most:.3f}"
        for name, (count, middle, most) in figures.items()
    )
    sys.stdout.write(f"{workload}: {text}; shares {share:.3f}\n")
    beside = replay(open_run(mawl.directory / "from" / "imported"), open_run(mawl.directory / "again"))
    at_once = beside.jobs_at_once
    assert at_once is not None and at_once.area_difference_ratio is not None
    # Other work on the machine moves the areas: they are printed, and none of them is a bound.
    sys.stdout.write(
        f"{workload}: areas of jobs at a time differ by {at_once.area_difference_ratio:.1%}; "
        f"{beside.sentence}\n"
    )
    assert beside.counted.matched == beside.counted.run_jobs == len(derived.workload.jobs)
    near = {one.figure: (one.median, one.high) for one in beside.closeness}
    for figure in ("cpu_seconds", "memory_bytes", "moved_bytes"):
        middle, most = near[figure]
        assert middle is not None and middle <= 1.25 and most is not None and most <= 2.0, near
    for _, middle, most in figures.values():
        assert middle <= 1.25 and most <= 2.0, text
    assert share <= 0.1

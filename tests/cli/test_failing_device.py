"""EIO in the middle of a run, in each role, and while a path is looked at: real devices that fail (root)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mawl.records.store import open_run
from tests import needs
from tests.advice.limit.beds import command
from tests.cli.conftest import Command
from tests.fakes.failing_device import FAILING_DEVICE, failing
from tests.files import text_of

pytestmark = [pytest.mark.lab, needs.marks(FAILING_DEVICE)]

WORKLOAD = text_of(__file__, "failing.toml")


@pytest.mark.parametrize("role", ["data", "work", "util"])
def test_a_device_that_fails_in_a_run_costs_the_jobs_that_need_it_and_says_so(
    mawl: Command, role: str
) -> None:
    with failing(mawl.directory) as (place, trigger):
        # Else the cache takes what a short job writes, and nobody hears of the error.
        command("mount", "-o", "remount,sync", str(place))
        (mawl.directory / "failing.toml").write_text(WORKLOAD.format(trigger=trigger))
        where = (f"--{role}", str(place / "mawl"))
        if role == "data":
            assert mawl("generate", "failing.toml", *where).returncode == 0
        done = mawl("run", "failing.toml", "--cache", "cold", "--output", "run", *where)
        trigger.unlink(missing_ok=True)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    run = open_run(mawl.directory / "run")
    assert run.facts.outcome == "failed"
    jobs = {row["job"]: row for row in run.jobs.to_pylist()}
    assert len(jobs) == 5, "nothing else is lost"
    assert jobs["before.1.wide_sort"]["outcome"] == jobs["before.2.break"]["outcome"] == "finished"
    assert jobs["after.1.wide_sort"]["outcome"] == "failed"
    reasons = [row["reason"] for row in jobs.values() if row["outcome"] == "failed"]
    for reason in reasons:
        assert "nput/output error" in reason and f"--{role}" in reason and "\n" not in reason
        assert "--" not in reason.replace(f"--{role}", ""), "no other role is named"
    said = done.stderr.splitlines()
    assert [line for line in said if "failed:" in line] != []
    summary: dict[str, Any] = json.loads(mawl("report", "run", "--format", "json").stdout)
    assert summary["jobs"]["failed"] == len(reasons) < 5
    assert summary["jobs"]["total"] == 5


def test_a_device_that_fails_while_a_path_is_looked_at_costs_that_path_and_says_so(mawl: Command) -> None:
    with failing(mawl.directory) as (place, trigger):
        for name in ("one", "two"):
            (place / name).write_bytes(b"the same line again\n" * 100_000)
        command("sync", "--file-system", str(place))
        command("mount", "-o", "remount,ro", str(place))
        (mawl.directory / "well").write_bytes(b"the same line again\n" * 100_000)
        # What was written is in the page cache; a look must go to the device.
        for name in ("one", "two"):
            command("dd", f"if={place / name}", "iflag=nocache", "count=0", "status=none")
        trigger.touch()
        done = mawl(
            "compressibility", str(place), str(mawl.directory / "well"), "--codec", "zstd-1", "--json"
        )
        trigger.unlink()
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    bad, good = found["volumes"]
    savings = {one["volume"]: one["saving_ratio"] for one in found["estimates"]}
    assert savings[good["name"]] is not None and good["reason"] is None
    assert savings[bad["name"]] is None and bad["reason"] is not None
    # The folder itself or what lies there, by what of it the kernel still has.
    assert bad["data_bytes"] is None or bad["left_out"]["lost_folders"] or bad["left_out"]["lost_files"]
    assert any("input/output error" in remark for remark in bad["left_out"]["remarks"])

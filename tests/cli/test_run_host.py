"""What a run says of its host and of the page cache, with one real job at nano scale."""

from __future__ import annotations

import json

from mawl.figures.series import RunSamples
from mawl.records.model.series_metrics import registry_name
from mawl.records.store import open_run
from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB


def test_a_cold_run_and_its_host(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    done = mawl.ok("run", "one.toml", "--cache", "cold")
    assert done.stdout.startswith("answer ")
    report = mawl("report", "latest", "--all").stdout
    assert "host      processors" in report
    assert "asked to be cold" in report
    summary = json.loads(mawl("report", "latest", "--format", "json").stdout)
    host, inputs = summary["host"], summary["inputs"]
    assert 0 < host["cpu_busy_ratio"] <= 1
    assert host["cores"] == summary["nodes"][0]["cores"]
    assert 0 < host["least_memory_available_bytes"] <= host["memory_bytes"]
    assert inputs["mode"] == "cold" and inputs["input_bytes"] > 0
    assert inputs["resident_bytes"] == 0 or inputs["remarks"]
    assert {volume["role"] for volume in summary["volumes"]} == {"data", "work", "util"}
    for volume in summary["volumes"]:
        assert volume["mount_point"] and (volume["disks"] or volume["reason"])
    run = open_run(mawl.directory / "runs" / "latest")
    samples = RunSamples(run.samples)
    names = [name for node in samples.nodes for name in samples.names(node) if "." in name]
    assert [name for name in names if name.startswith("host.") and registry_name(name) is None] == []
    gate = min(row["sampled_at"] for row in run.samples.to_pylist())
    started = min(record.started_at for record in run.job_records() if record.started_at is not None)
    assert gate.timestamp() <= started, "the first look is not after the gate"


def test_dropping_the_caches_of_the_machine_is_asked_for_twice(mawl: Command) -> None:
    done = mawl("run", "nano", "--drop-caches", "--dry-run")
    assert done.returncode == 2
    assert "--drop-caches goes with --cache cold" in done.stderr

"""The figures of real runs, computed twice: by mawl, and from the stored tables by other means."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.preload.build import Library
from tests.cli.conftest import Command
from tests.fakes.second_figures import compare, slowdown_by_table
from tests.importers.test_import import EIGHT, log, write

RATES = "read_bytes_per_second write_bytes_per_second total_bytes_per_second"
LATENCY = "mean p50 p99 max peak"
NAMES = {
    "": "run_id format_version kind workload outcome nodes jobs time cpu_real_ratio io host wait programs "
    "signature answer guideline times_alone limit validity overhead thresholds",
    "workload": "name sessions scale options",
    "jobs": "total failed unverified lost planned_peak_concurrent peak_concurrent seconds_near_peak "
    "mean_concurrent",
    "time": "elapsed_seconds active_seconds tail_seconds startup_seconds real_time_seconds user_cpu_seconds "
    "system_cpu_seconds adjusted_cpu_seconds memory_bytes os_memory_bytes",
    "cpu_real_ratio": "of_sums mean stddev range without_run_queue",
    "io": "application dirtied device own foreign by_role reach coverage_ratio",
    "io.dirtied": "written_bytes still_dirty_bytes removed_bytes at_gate_bytes sync_seconds",
    "io.own": "read_bytes written_bytes read_ratio write_source",
    "io.foreign": "read_bytes written_bytes total_bytes_per_second ratio",
    **{
        f"io.{side}": "read_bytes written_bytes read_ratio sustained_bytes_per_second_per_core window_seconds"
        for side in ("application", "device")
    },
    **{
        f"io.{side}.{figure}": RATES
        for side in ("application", "device")
        for figure in ("peak", "initial", "sustained", "active_mean", "run_mean")
    },
    **{
        f"io.by_role.{role}": "read_bytes written_bytes share_ratio sequential_ratio volumes"
        for role in ("data", "work", "util")
    },
    **{
        f"io.by_role.{role}.{direction}_latency_seconds": LATENCY
        for role in ("data", "work", "util")
        for direction in ("read", "write")
    },
    **{
        f"io.by_role.{role}.{direction}_request_bytes": "mean p50 p99"
        for role in ("data", "work", "util")
        for direction in ("read", "write")
    },
    "io.reach": "read_ratio write_ratio",
    "host": "cpu_busy_ratio cpu_iowait_ratio core_basis cores memory_bytes device network",
    "host.device.*": "read_await_seconds write_await_seconds utilisation_ratio",
    "host.device.*.read_await_seconds": "mean peak",
    "host.device.*.write_await_seconds": "mean peak",
    "wait": "on_cpu_seconds run_queue_seconds",
    "wait.blocked_seconds": "data work util other",
    "programs.*": "jobs user_cpu_seconds system_cpu_seconds",
    "programs.*.real_time_seconds": "median min max",
    "signature.*": "value low high source meaningful",
    "answer": "answer carried preliminary slowdown low high bound parts reference "
    "delivered_cores reason reasons next_step",
    "answer.parts": "on_cpu run_queue data work util other unknown",
    "answer.reference": "version file seconds covered_ratio provisional outside",
    "guideline": "bytes_per_second_per_core basis standing met",
    "limit": "verdict shares second headroom evidence",
    "limit.headroom": "cpu_ratio storage_ratio storage_source memory_ratio memory_source network_ratio",
    "validity": "status findings",
    "overhead": "cpu_seconds startup_cpu_seconds peak_memory_bytes",
}
"""The names that other tools rely on; ``*`` stands for any one member."""


def lacking(summary: Any) -> list[str]:
    """The names that a summary lacks; of blocks that are null with a reason none is asked for."""
    found = []
    for path, names in NAMES.items():
        block = summary
        for part in filter(None, path.split(".")):
            block = None if not block else next(iter(block.values())) if part == "*" else block[part]
        if block is None:
            above = [path[:at] for at, letter in enumerate(path + ".") if letter == "."]
            assert "*" in path or any(name in summary["missing"] for name in above), path
        else:
            found += [f"{path}.{name}" for name in names.split() if name not in block]
    return found


@pytest.fixture
def counted(made: Library, mawl: Command) -> Command:
    """``mawl`` with its library compiled."""
    assert made.path is not None
    mawl.environment["XDG_CACHE_HOME"] = str(made.path.parents[1])
    return mawl


def ran(mawl: Command, *arguments: str) -> tuple[Any, Path]:
    """The summary of a run, and its folder."""
    mawl.ok("run", *arguments)
    summary = json.loads(mawl("report", "latest", "--format", "json").stdout)
    folder = (mawl.directory / "runs" / "latest").resolve()
    again = slowdown_by_table(folder, summary["workload"]["scale"])
    assert summary["answer"]["slowdown"] == pytest.approx(again, rel=1e-9)
    return summary, folder


def test_a_short_run_of_one_window(counted: Command) -> None:
    summary, folder = ran(counted, "nano")
    assert lacking(summary) == []
    compare(summary, folder)


@pytest.mark.lab
def test_a_run_of_many_windows_and_a_tail(counted: Command) -> None:
    summary, folder = ran(counted, "mixed20", "--cache", "cold")
    assert len(summary["windows"]) > 2
    assert summary["limit"] is not None
    assert lacking(summary) == []
    compare(summary, folder)


def test_an_imported_run_whose_unknown_figures_have_their_reason(mawl: Command) -> None:
    names = ("load", "sort", "model")
    logs = {name: log(EIGHT + timedelta(seconds=20 * at), 50) for at, name in enumerate(names)}
    write(mawl.directory / "logs", **logs)
    mawl.ok("import", "logs", "--output", "imported")
    summary = json.loads(mawl("report", "imported", "--format", "json").stdout)
    assert lacking(summary) == []
    assert {"io.by_role", "io.coverage_ratio"} <= set(summary["missing"])
    compare(summary, mawl.directory / "imported", fewest=40)


@pytest.mark.lab
@pytest.mark.long(minutes=1)
def test_a_run_of_jobs_with_four_threads(counted: Command) -> None:
    summary, folder = ran(counted, "mixed20", "--option", "cpucount=4", "--cache", "cold")
    assert lacking(summary) == []
    compare(summary, folder)

"""Other load, from a folder that stands in for /proc."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.measure.noise import NoiseWatch


def stat(root: Path, *ticks: int) -> None:
    (root / "stat").write_text("cpu  " + " ".join(map(str, ticks)) + " 0 0\ncpu0 1 2 3\n")


def process(root: Path, pid: int, name: str, user: int, system: int) -> None:
    (root / str(pid)).mkdir(exist_ok=True)
    (root / str(pid) / "stat").write_text(f"{pid} ({name}) R 1 1 1 0 -1 0 0 0 0 0 {user} {system} 0 0 20 0\n")


def test_shares_leave_waiting_and_stolen_time_out_of_busy(tmp_path: Path) -> None:
    stat(tmp_path, 100, 0, 0, 1000, 0, 0, 0, 0)
    watch = NoiseWatch(tmp_path, ticks_per_second=100)
    stat(tmp_path, 120, 5, 5, 1050, 10, 0, 0, 10)
    noise = watch.look(seconds=1.0)
    assert noise.busy_ratio == pytest.approx(0.30)
    assert noise.steal_ratio == pytest.approx(0.10)


def test_heavy_processes_are_named_heaviest_first(tmp_path: Path) -> None:
    stat(tmp_path, 0, 0, 0, 0, 0, 0, 0, 0)
    process(tmp_path, 10, "a (b) c", 100, 0)
    process(tmp_path, 11, "idle", 100, 0)
    process(tmp_path, 12, "gone", 0, 0)
    process(tmp_path, 14, "reused", 0, 0)
    process(tmp_path, os.getpid(), "self", 0, 0)
    watch = NoiseWatch(tmp_path, ticks_per_second=100)
    process(tmp_path, 10, "a (b) c", 150, 20)
    process(tmp_path, 11, "idle", 101, 0)
    (tmp_path / "12" / "stat").unlink()
    process(tmp_path, 13, "new", 900, 0)
    process(tmp_path, 14, "another", 900, 0)
    process(tmp_path, os.getpid(), "self", 900, 0)
    noise = watch.look(seconds=2.0)
    assert [(heavy.pid, heavy.name, heavy.cores) for heavy in noise.heavy] == [(10, "a (b) c", 0.35)]


def test_no_tick_gives_no_figure(tmp_path: Path) -> None:
    stat(tmp_path, 1, 1, 1, 1, 1, 1, 1, 1)
    noise = NoiseWatch(tmp_path, ticks_per_second=100).look(seconds=0.0)
    assert (noise.busy_ratio, noise.steal_ratio) == (None, None)


def test_an_old_kernel_without_steal_is_read(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  0 0 0 0\n")
    watch = NoiseWatch(tmp_path, ticks_per_second=100)
    (tmp_path / "stat").write_text("cpu  50 0 0 50\n")
    assert watch.look(seconds=1.0).busy_ratio == 0.5


def test_this_machine_can_be_watched() -> None:
    noise = NoiseWatch().look()
    assert noise.busy_ratio is None or 0.0 <= noise.busy_ratio <= 1.0

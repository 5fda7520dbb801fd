"""CPU, memory and I/O of whole job trees, against what the jobs are known to use."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mawl.records.model.messages import Hello, LaunchMode, Ready, Release
from mawl.records.spec.program_options import StartMode
from mawl.run.launch.client import Launcher
from tests import needs
from tests.fakes.launcher_bench import Bench, known

Benches = Callable[..., Bench]

SPIN_SECONDS = 0.3
MIB = 2**20


def spun(bench: Bench, **seconds: float) -> Iterator[tuple[float, float]]:
    """What each job used beyond one that only forks, and what its processes say that they used."""
    for job, each in {"forks": 0.0, **seconds}.items():
        (bench.folder / job).mkdir()
        bench.start(job, "spin", seconds=each, folder=bench.folder / job)
    for job, each in seconds.items():
        used = bench.used_cpu_seconds(job)
        own = sum(float(path.read_text()) for path in (bench.folder / job).iterdir())
        assert used >= own >= 4 * each
        yield used - bench.used_cpu_seconds("forks"), own


def test_cpu_of_children_and_daemons_is_the_jobs(benches: Benches) -> None:
    bench = benches("zygote")
    for used, own in spun(bench, spins=SPIN_SECONDS):
        # 2 % and a scheduler tick of 10 ms for how differently the same forks go.
        assert used <= own * 1.02 + 0.01
    assert bench.reaped("spins").leftover_processes == 1


def test_cpu_of_two_jobs_with_daemons_is_not_mixed_up(benches: Benches) -> None:
    for used, own in spun(benches("zygote"), short=0.2, long=0.5):
        assert used <= own * 1.02 + 0.01


@pytest.mark.parametrize("mode", ["zygote", "spawn"])
def test_memory_of_a_known_allocation_is_right(benches: Benches, mode: StartMode) -> None:
    size = 200 * MIB
    bench = benches(mode, modules=("ballast",))
    bench.start("allocates", "allocate", bytes=size)
    bench.start("empty", "leave", status=0)
    peak = bench.peak_bytes("allocates")
    [ready] = bench.of(Ready, "allocates")
    # The kernel batches its page counts per CPU (256 KiB each): hence the margin below.
    assert size - MIB <= peak - ready.resident_bytes <= size + 4 * MIB
    # What the zygote holds is in the resident size when ready, so in none of the job's own.
    assert (ready.resident_bytes > 300 * 10**6) == (mode == "zygote")
    assert bench.peak_bytes("empty") - bench.of(Ready, "empty")[0].resident_bytes < 4 * MIB


def test_a_command_does_not_inherit_the_runners_peak(benches: Benches) -> None:
    ballast = bytearray(300 * MIB)
    for position in range(0, len(ballast), 4096):
        ballast[position] = 1
    bench = benches("bare")
    bench.command("little", "true")
    code = f"b = bytearray({200 * MIB}); b[::4096] = b'1' * len(b[::4096])"
    bench.command("much", sys.executable, "-S", "-c", code)
    assert bench.peak_bytes("little") < 20 * MIB
    assert 200 * MIB < bench.peak_bytes("much") < 220 * MIB
    assert bench.of(Ready, "much")[0].resident_bytes == 0


def test_io_of_forty_jobs_side_by_side_is_exact(benches: Benches) -> None:
    bench = benches("zygote")
    sizes = {f"job{number}": 100_000 + 7919 * number for number in range(40)}
    for job, size in sizes.items():
        bench.start(job, "copy", gate="together", path=bench.folder / f"{job}.bytes", bytes=size)
    bench.until(lambda: len(bench.of(Ready)) == len(sizes))
    bench.launcher.send(Release(gate="together"))
    for job, size in sizes.items():
        usage, startup = bench.reaped(job).usage, bench.of(Ready, job)[0].startup
        # Beside its own bytes a job writes the lines Ready (counted after start-up) and Started.
        assert 0 <= usage.application_written_bytes - startup.application_written_bytes - size < 1500, job
        assert 0 <= usage.application_read_bytes - startup.application_read_bytes - size < 300, job


def test_the_launchers_own_use_is_without_the_jobs(benches: Benches) -> None:
    bench = benches("zygote", modules=("ballast",))
    bench.start("spins", "spin", seconds=SPIN_SECONDS, folder=bench.folder)
    bench.reaped("spins")
    [hello] = bench.of(Hello)
    live = known(bench.launcher.usage().os_memory_bytes)
    own = bench.launcher.close()
    assert own == bench.launcher.close() == bench.launcher.usage()
    assert own.voluntary_context_switches is not None, "of a launcher that was killed they are not known"
    assert live > 300 * 10**6
    assert hello.usage.cpu_seconds <= known(own.cpu_seconds) <= hello.usage.cpu_seconds + SPIN_SECONDS
    assert own.application_read_bytes is None


@pytest.mark.lab
def test_jobs_and_launcher_agree_with_the_control_groups_account(benches: Benches, tmp_path: Path) -> None:
    group, read_cpu_seconds = _new_control_group(f"mawl-test-{os.getpid()}")
    try:
        launchers: list[tuple[LaunchMode, Bench]] = [
            (m, benches(m, cgroups=[group])) for m in ("zygote", "spawn")
        ]
        jobs = 0.0
        for mode, bench in launchers:
            for number in range(2):
                folder = tmp_path / f"{mode}{number}"
                folder.mkdir()
                bench.start(f"{mode}{number}", "spin", seconds=SPIN_SECONDS, folder=folder)
        for mode, bench in launchers:
            jobs += sum(known(bench.reaped(f"{mode}{number}").usage.cpu_seconds) for number in range(2))
            jobs += known(bench.launcher.close().cpu_seconds)
        outside = read_cpu_seconds()
    finally:
        group.rmdir()
    assert jobs > 8 * SPIN_SECONDS
    assert abs(jobs - outside) <= 0.02 * outside


def _new_control_group(name: str) -> tuple[Path, Callable[[], float]]:
    """A fresh group that counts CPU (v1 cpuacct or v2), and how to read its CPU seconds."""
    for root, file in (
        (Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage"),
        (Path("/sys/fs/cgroup"), "cpu.stat"),
    ):
        group = root / name
        if not (root / file).exists() or not os.access(root, os.W_OK):
            continue
        group.mkdir()

        def read(path: Path = group / file) -> float:
            words = path.read_text().split()
            return int(words[0]) / 1e9 if len(words) == 1 else int(words[1]) / 1e6

        return group, read
    raise needs.LackingNeedError("needs a writable control group with cpuacct (v1) or cpu.stat (v2)")


def test_usage_of_a_launcher_that_is_gone_is_unknown_not_zero(tmp_path: Path) -> None:
    launcher = Launcher("bare", run_id="gone", log=tmp_path / "log")
    launcher.close()
    assert launcher.usage().memory_bytes is None
    assert launcher.usage().os_memory_bytes is not None
    assert launcher.lost == "the launcher was closed"

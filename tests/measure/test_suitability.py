"""What doctor makes of the facts.

A short look at clocks.

Other load, from a folder that stands in for /proc.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.base.units import parse_size, whole_mib
from mawl.commands.terminal import require_programs
from mawl.measure import suitability
from mawl.measure.machine import Limits, Machine
from mawl.measure.suitability import (
    ClockLook,
    ClockWatch,
    Noise,
    NoiseWatch,
    kernel_synchronised,
)
from mawl.records.model.node import OtherProgram
from tests import needs
from tests.fakes.tree import plant_process


def clock(*readings: float) -> Iterator[float]:
    return iter(readings)


@pytest.mark.parametrize(
    ("wall", "drift"), [((100.0, 102.0), 0.0), ((100.0, 102.002), 1e-3), ((100.0, 92.0), -5.0)]
)
def test_drift_is_against_the_hardware_clock(wall: tuple[float, float], drift: float) -> None:
    walls, steadies = clock(*wall), clock(5.0, 7.0)
    look = ClockWatch(lambda: next(walls), lambda: next(steadies)).look()
    assert look.seconds == 2.0
    assert look.drift_ratio == pytest.approx(drift, abs=1e-9)


def test_a_look_of_no_length_has_no_drift() -> None:
    look = ClockWatch(lambda: 1.0, lambda: 1.0).look()
    assert look.drift_ratio == 0.0


def test_the_kernel_says_whether_the_clock_is_synchronised_or_why_it_is_not_known() -> None:
    state, reason = kernel_synchronised()
    assert state in ("yes", "no") or reason
    assert (state is None) == (reason is not None)


def stat(root: Path, *ticks: int) -> None:
    (root / "stat").write_text("cpu  " + " ".join(map(str, ticks)) + " 0 0\ncpu0 1 2 3\n")


def test_shares_leave_waiting_and_stolen_time_out_of_busy(tmp_path: Path) -> None:
    stat(tmp_path, 100, 0, 0, 1000, 0, 0, 0, 0)
    watch = NoiseWatch(tmp_path, ticks_per_second=100)
    stat(tmp_path, 120, 5, 5, 1050, 10, 0, 0, 10)
    noise = watch.look(seconds=1.0)
    assert noise.busy_ratio == pytest.approx(0.30)
    assert noise.steal_ratio == pytest.approx(0.10)


def test_heavy_processes_are_named_heaviest_first(tmp_path: Path) -> None:
    stat(tmp_path, 0, 0, 0, 0, 0, 0, 0, 0)
    for pid, name in ((10, "a (b) c"), (11, "idle"), (os.getpid(), "self")):
        plant_process(tmp_path, pid, name, user=100)
    watch = NoiseWatch(tmp_path, ticks_per_second=100)
    plant_process(tmp_path, 10, "a (b) c", user=150, system=20)
    plant_process(tmp_path, 11, "idle", user=101)
    plant_process(tmp_path, 13, "new", user=150)
    plant_process(tmp_path, os.getpid(), "self", user=900)
    noise = watch.look(seconds=2.0)
    assert [(one.pid, one.name, one.cpu_seconds) for one in noise.heavy] == [
        (13, "new", 1.5),
        (10, "a (b) c", 0.7),
    ]


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


GIB = 2**30

MACHINE = Machine(
    name="node1",
    kernel="6.1.0",
    cpu_model="Some CPU",
    logical_cpus=4,
    physical_cores=2,
    core_basis="physical core",
    virtual=None,
    usable_cpus=[0, 1, 2, 3],
    cpu_quota_cores=None,
    memory_bytes=8 * GIB,
    memory_available_bytes=6 * GIB,
    memory_limit_bytes=None,
    swap_bytes=0,
    boot_id="abc",
    clock_source="tsc",
    load_average=(0.5, 0.4, 0.3),
    container=None,
    autogroup=False,
    limits=Limits(open_files=1024, open_files_most=4096, processes=4096, locked_memory_bytes="unlimited"),
    missing={},
)
QUIET = Noise(seconds=1.0, busy_ratio=0.02, steal_ratio=0.0, heavy=[])
STEADY = ClockLook(seconds=1.0, drift_ratio=1e-6, synchronised="yes")


def changed(**fields: object) -> Machine:
    return msgspec.structs.replace(MACHINE, **fields)


def test_a_good_machine_has_nothing_to_cure(tmp_path: Path) -> None:
    checks = [
        suitability.memory_check(MACHINE, 6 * GIB),
        *suitability.limit_checks(MACHINE, tmp_path),
        suitability.container_check(MACHINE),
        *suitability.clock_checks(MACHINE, STEADY),
        *suitability.noise_checks(MACHINE, QUIET),
    ]
    assert [check.name for check in checks] == ["memory", "limits", "container", "clock", "noise"]
    assert suitability.worst_status(checks) == "ok"
    assert not any(check.cure for check in checks)


def test_too_little_memory_is_a_problem_that_names_both_figures() -> None:
    check = suitability.memory_check(changed(memory_limit_bytes=7 * GIB), 7 * GIB + 1)
    assert check.status == "problem"
    assert "6.00 GiB of 8.00 GiB" in check.text and "control group of 7.00 GiB" in check.text
    assert check.cure and "--scale" in check.cure


def test_memory_that_others_hold_now_is_a_notice() -> None:
    check = suitability.memory_check(MACHINE, 6 * GIB + 1)
    assert check.status == "notice" and check.cure and "swap" in check.cure
    assert suitability.memory_check(MACHINE, 8 * GIB + 1).status == "problem"


def test_memory_without_a_plan_or_without_a_figure() -> None:
    assert suitability.memory_check(MACHINE, None).status == "ok"
    unknown = suitability.memory_check(changed(memory_available_bytes=None), GIB)
    assert unknown.status == "notice" and unknown.cure


def test_low_limits_and_no_shared_memory_are_notices(tmp_path: Path) -> None:
    low = changed(limits=Limits(open_files=256, open_files_most=256, processes=100))
    checks = suitability.limit_checks(low, tmp_path / "shm")
    assert [check.status for check in checks] == ["notice"] * 3
    assert "256 open files" in checks[0].text and "nofile" in str(checks[0].cure)
    assert "100 processes" in checks[1].text and "nproc" in str(checks[1].cure)
    assert str(tmp_path / "shm") in checks[2].text


def test_unlimited_is_no_low_limit(tmp_path: Path) -> None:
    free = changed(limits=Limits(open_files_most="unlimited", processes="unlimited"))
    assert [check.status for check in suitability.limit_checks(free, tmp_path)] == ["ok"]


def test_a_cpu_quota_below_the_cpus_is_a_notice() -> None:
    check = suitability.container_check(changed(container="docker", cpu_quota_cores=1.5))
    assert check.status == "notice"
    assert "docker" in check.text and "1.5 CPUs" in check.text
    assert check.cure and "--cpuset-cpus" in check.cure
    assert suitability.container_check(changed(container="docker", cpu_quota_cores=4.0)).status == "ok"
    pod = suitability.container_check(changed(container="kubernetes", cpu_quota_cores=1.5))
    assert pod.cure and "CPU manager has the policy static" in pod.cure


@pytest.mark.parametrize(
    ("machine", "look", "said"),
    [
        (MACHINE, ClockLook(seconds=1.0, drift_ratio=0.5, synchronised="yes"), "+500000 ppm"),
        (changed(clock_source="hpet"), STEADY, "hpet"),
        (MACHINE, ClockLook(seconds=1.0, drift_ratio=0.0, synchronised="no"), "not synchronised"),
    ],
)
def test_bad_clocks_are_notices(machine: Machine, look: ClockLook, said: str) -> None:
    (check,) = suitability.clock_checks(machine, look)
    assert check.status == "notice" and said in check.text and check.cure


def test_unknown_synchronisation_keeps_its_reason() -> None:
    look = ClockLook(seconds=1.0, drift_ratio=0.0, synchronised=None, reason="not permitted")
    (check,) = suitability.clock_checks(MACHINE, look)
    assert check.status == "ok" and "not permitted" in check.text


def test_noise_names_who_makes_it() -> None:
    heavy = [OtherProgram(node="", pid=7, name="indexer", cpu_seconds=1.2, written_bytes=3 * 10**9)]
    loud = Noise(seconds=1.0, busy_ratio=0.6, steal_ratio=0.1, heavy=heavy)
    busy, stolen = suitability.noise_checks(MACHINE, loud)
    assert busy.status == "notice"
    assert busy.text == (
        "the processors are 60 % busy with other work: indexer (pid 7) used 1.2 CPU seconds and wrote 3.00 GB"
    )
    assert stolen.status == "notice" and "10 %" in stolen.text


def test_unknown_noise_is_not_called_quiet() -> None:
    (check,) = suitability.noise_checks(
        changed(load_average=None), Noise(seconds=0.0, busy_ratio=None, steal_ratio=None, heavy=[])
    )
    assert (
        check.status == "notice" and "busy the processors are is unknown, load average unknown" in check.text
    )


def test_a_proc_that_shows_processes_alone_has_a_notice_and_no_figure_of_the_machine(tmp_path: Path) -> None:
    """As mounted with ``subset=pid``."""
    plant_process(tmp_path, 1, "init", user=10)
    assert NoiseWatch(tmp_path, ticks_per_second=100).look(seconds=1.0).busy_ratio is None
    (check,) = suitability.proc_checks(tmp_path)
    assert check.status == "notice" and check.text.startswith("stat, meminfo, diskstats, vmstat are missing")
    for name in ("stat", "meminfo", "diskstats", "vmstat"):
        (tmp_path / name).touch()
    assert suitability.proc_checks(tmp_path) == []
    (tmp_path / "1/stat").unlink()  # hidepid
    (check,) = suitability.proc_checks(tmp_path)
    assert check.status == "notice" and "processes of other users are hidden" in check.text


def test_missing_libraries_are_problems_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requirements = [
        "msgspec>=0.20",
        'duckdb<3,>=2.0; extra == "programs"',
        "ruff>=0.11; extra == 'development'",
    ]
    versions = {"msgspec": "0.22.0"}

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "requires", lambda name: requirements)
    monkeypatch.setattr(metadata, "version", version)
    present, absent = suitability.library_checks()
    assert (present.status, present.text) == ("ok", "msgspec 0.22.0")
    assert (absent.status, absent.text) == ("problem", "duckdb is missing")
    assert absent.cure == "run pip install 'mawl[programs]'"


@pytest.mark.parametrize(
    ("version", "fits"), [("1.5.6", False), ("2.0.0", True), ("2.0.1.dev7", True), ("3.0.0", False)]
)
def test_a_library_outside_of_the_allowed_versions_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, version: str, fits: bool
) -> None:
    wanted = ['duckdb<3,>=2.0; extra == "programs"', 'starlette>=1.0; extra == "server"']
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    monkeypatch.setattr(metadata, "version", {"duckdb": version, "starlette": "0.1"}.__getitem__)
    found = suitability.unfit_libraries()
    assert [check for check in suitability.library_checks() if check.status == "problem"] == found
    if fits:
        assert found == []
        return
    (check,) = found
    assert check.text == f"duckdb {version} is installed, and mawl needs duckdb <3,>=2.0"
    assert check.cure == "run pip install 'mawl[programs]'"
    with pytest.raises(UnsuitableMachineError, match=f"duckdb {version} is installed"):
        require_programs()


def test_sources_that_are_not_installed_name_no_library() -> None:
    assert suitability.unfit_libraries("no-such-distribution-of-mawl") == []


def test_mawl_that_is_not_installed_is_a_problem() -> None:
    (check,) = suitability.library_checks("no-such-distribution-of-mawl")
    assert check.status == "problem" and check.cure


def test_no_compiler_is_a_notice(tmp_path: Path) -> None:
    bare = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    none = suitability.compiler_check(bare)
    assert none.status == "notice" and none.cure and "gcc" in none.cure
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho no error: >&2; exit 1\n")
    compiler.chmod(0o755)
    useless = suitability.compiler_check(bare)
    assert useless.status == "notice" and "no I/O by role" in useless.text
    assert f"{compiler} cannot compile the library that counts" in useless.text


@needs.marks(needs.COMPILER)
def test_a_user_without_a_home_learns_where_the_library_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/proc/self")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = suitability.compiler_check({"PATH": os.environ["PATH"]})
    assert found.status == "ok" and f"so {tmp_path}/mawl-cache-{os.geteuid()} keeps what" in found.text


def test_a_memory_limit_that_is_too_small_names_the_smallest_that_is_accepted() -> None:
    needed = 967 * 2**20 + 1
    cure = f"use --memory-limit {whole_mib(needed)} or more"
    check = suitability.memory_limit_check(960 * 2**20, needed, "measured", cure)
    assert (check.status, check.cure) == ("problem", "use --memory-limit 968MiB or more")
    assert suitability.memory_limit_check(parse_size("968MiB"), needed, "measured", cure).status == "ok"
    assert suitability.memory_limit_check(967 * 2**20, needed, "measured", cure).status == "problem"

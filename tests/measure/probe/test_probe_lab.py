"""Probes of real devices whose truth is made: a rate cap, a full or read-only disk, a device that fails.

About 90 s together.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.importers.formats.fio import parse_fio
from tests import needs
from tests.advice.limit.beds import Volume, command, lacking
from tests.fakes.failing_device import FAILING_DEVICE, failing

CAP_BYTES_PER_SECOND = 100 * 2**20
NOISE = 0.05
"""Two measurements of a capped device differ by less."""

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("fio")),
    needs.marks(needs.tried("bed", lacking)),
]

PAPERS = ("--patterns", "sequential-read,sequential-write", "--sizes", "256KiB")
SMALL = ("--file-size", "64MiB", "--seconds", "1", "--streams", "1")


def mawl(directory: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mawl", *words],
        cwd=directory,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=200,
        check=False,
        **more,
    )


def told(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """Targets of ``--json`` by name."""
    return {target["name"]: target for target in json.loads(done.stdout)["targets"]}


@pytest.fixture
def volume() -> Iterator[Volume]:
    """ext4 on a loop device in memory: a disk below it that others use would add its own noise."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        made = Volume(Path(directory), "work")
        made.open()
        try:
            yield made
        finally:
            made.close()


@pytest.mark.measured
def test_a_probe_finds_the_cap_and_equals_fio_by_hand_and_its_own_command_again(
    volume: Volume, tmp_path: Path
) -> None:
    volume.cap(CAP_BYTES_PER_SECOND)
    place = volume.place
    done = mawl(tmp_path, "probe", "--work", str(place), *PAPERS, "--seconds", "3", "--file-size", "64MiB",
                "--streams", "2", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    for test, way in zip(told(done)["work"]["tests"], ("read", "write"), strict=True):
        found = test[way]["bytes_per_second"]
        assert found == pytest.approx(CAP_BYTES_PER_SECOND, rel=0.05)
        again = repeated(test["command"], way, place)
        for file in place.glob("stream.*"):
            file.unlink()
        by_hand = repeated(
            ["fio", "--name=hand", f"--directory={place}", "--size=32M", "--bs=256k", f"--rw={way}",
             "--ioengine=psync", "--direct=1", "--numjobs=2", "--group_reporting", "--time_based",
             "--runtime=3", "--fallocate=none", "--overwrite=1", "--output-format=json"],
            way,
            place,
        )  # fmt: skip
        assert again == pytest.approx(found, rel=NOISE)
        assert by_hand == pytest.approx(found, rel=NOISE)


def repeated(words: list[str], way: str, place: Path) -> float:
    """The rate that a command of fio finds in a directory once its files are there."""
    command(*words, "--create_only=1", directory=place)
    (job,) = parse_fio(command(*words, directory=place))[0].jobs
    figures = job.read if way == "read" else job.write
    assert figures is not None
    return figures.bytes_per_second


def test_a_full_and_a_read_only_disk_say_so_and_the_role_beside_them_is_probed(
    volume: Volume, tmp_path: Path
) -> None:
    well = tmp_path / "well"
    well.mkdir()
    full = volume.place / "filling"
    with full.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, os.statvfs(volume.place).f_bfree * 4096 - 32 * 2**20)
    done = mawl(
        tmp_path, "probe", "--work", str(volume.place), "--util", str(well), *PAPERS, *SMALL, "--json"
    )
    targets = told(done)
    assert done.returncode == 1
    assert "cannot be probed: its files take 64.0 MiB" in targets["work"]["problem"]
    assert targets["util"]["problem"] is None and len(targets["util"]["tests"]) == 2
    full.unlink()
    command("mount", "-o", "remount,ro", str(volume.place))
    done = mawl(
        tmp_path, "probe", "--work", str(volume.place), "--util", str(well), *PAPERS, *SMALL, "--json"
    )
    targets = told(done)
    assert targets["work"]["problem"] == (
        f"{volume.place}: cannot be probed: read-only file system; name a directory that you may write to"
    )
    assert targets["util"]["problem"] is None


AS_NOBODY = """
import os, sys
from mawl.commands.main import main
from mawl.commands.verbs import build_parser
build_parser()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.exit(main(sys.argv[1:]))
"""
"""All is imported before: another user may not be able to read what runs."""


def test_a_directory_of_another_user_says_so() -> None:
    with tempfile.TemporaryDirectory() as name:
        home, place = Path(name), Path(name, "theirs")
        home.chmod(0o777)
        place.mkdir(mode=0o755)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, "probe", str(place), *PAPERS, *SMALL, "--json"],
            cwd=home,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=100,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        (target,) = told(done).values()
        assert target["problem"] == (
            f"{place}: cannot be probed: permission denied; name a directory that you may write to"
        )


@needs.marks(FAILING_DEVICE)
@pytest.mark.parametrize("role", ["data", "work", "util"])
def test_a_device_that_fails_costs_its_tests_and_says_so(tmp_path: Path, role: str) -> None:
    well = tmp_path / "well"
    well.mkdir()
    with failing(tmp_path) as (place, trigger):
        # It fails from the first test on: once the streams' file is laid out.
        stub = tmp_path / "bin"
        stub.mkdir()
        real = shutil.which("fio")
        (stub / "fio").write_text(
            f'#!/bin/sh\ncase "$PWD $*" in *{place}*--rw=read*|*{place}*--numjobs*) touch {trigger};; esac\n'
            f'{real} "$@"; status=$?\nrm -f {trigger}\nexit $status\n'
        )
        (stub / "fio").chmod(0o755)
        other = "work" if role == "data" else "data"
        roles = (f"--{role}", str(place), f"--{other}", str(well))
        done = mawl(tmp_path, "probe", *roles, *PAPERS, *SMALL, "--json",
                    env={**os.environ, "PATH": f"{stub}:{os.environ['PATH']}"})  # fmt: skip
        targets = told(done)
        assert done.returncode == 1
        for test in targets[role]["tests"]:
            assert (test["read"], test["write"]) == (None, None)
            assert test["remark"].startswith("fio met error 5, input/output error")
        assert targets[role]["problem"].startswith("2 of 2 tests gave no figures: fio met error 5")
        assert targets[other]["problem"] is None and len(targets[other]["tests"]) == 2
        assert list(well.iterdir()) == []


def test_levels_preconditioning_steadiness_and_dialled_bytes_as_asked(volume: Volume, tmp_path: Path) -> None:
    done = mawl(tmp_path, "probe", "--work", str(volume.place), "--patterns", "sequential-write", *SMALL,
                "--fill", "0.3,0.5,0.1", "--precondition", "--steady", "--content", "dialled",
                "--direct", "both", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    tests = told(done)["work"]["tests"]
    assert [round(test["fill_ratio"], 2) for test in tests] == [0.1, 0.1, 0.3, 0.3, 0.5, 0.5]
    assert [test["direct"] for test in tests] == [True, False] * 3
    assert [test["steady"] is None for test in tests] == [False, True] * 3, "a buffered test cannot wait"
    assert all(test["preconditioned"] and test["content"] == "dialled" for test in tests)
    for test in tests:
        once = test["write"]["bytes"] == 64 * 2**20
        assert once or test["direct"], "a buffered test moves each byte once"
    assert [entry.name for entry in volume.place.iterdir()] == ["lost+found"]


DELAY_MILLISECONDS = 5
RANDOM = ("--patterns", "random-read", "--sizes", "64KiB", "--streams", "1", "--file-size", "64MiB")


@pytest.mark.measured
def test_at_depths_1_8_and_32_a_probe_equals_fio_by_hand(volume: Volume, tmp_path: Path) -> None:
    volume.cap(CAP_BYTES_PER_SECOND)
    words = ("--work", str(volume.place), *RANDOM, "--seconds", "3", "--depth", "1,8,32", "--json")
    done = mawl(tmp_path, "probe", *words)
    assert done.returncode == 0, done.stderr
    tests = told(done)["work"]["tests"]
    assert [(test["depth"], test["streams"]) for test in tests] == [(1, 1), (8, 8), (32, 32)]
    for test in tests:
        by_hand = repeated(
            ["fio", "--name=hand", f"--filename={volume.place}/hand", "--size=64M", "--bs=64k",
             "--rw=randread", "--ioengine=libaio", f"--iodepth={test['depth']}", "--direct=1", "--thread",
             "--time_based", "--runtime=3", "--fallocate=none", "--overwrite=1", "--output-format=json"],
            "read",
            volume.place,
        )  # fmt: skip
        assert test["read"]["bytes_per_second"] == pytest.approx(by_hand, rel=NOISE)
        requests = test["read"]["requests_per_second"] * 65536
        assert requests == pytest.approx(by_hand, rel=NOISE)


@pytest.mark.measured
def test_the_latency_curve_of_a_device_with_a_known_delay(volume: Volume, tmp_path: Path) -> None:
    """Each request takes 5 ms below the queue, and 16 at once: the curve begins at the delay."""
    volume.open(delay_milliseconds=DELAY_MILLISECONDS)
    done = mawl(
        tmp_path, "probe", "--work", str(volume.place), *RANDOM, "--seconds", "4", "--curve", "--json"
    )
    assert done.returncode == 0, done.stderr
    target = told(done)["work"]
    first, *deep = target["tests"]
    assert first["read"]["latency_seconds"]["p50"] == pytest.approx(0.001 * DELAY_MILLISECONDS, rel=0.2)
    best = max(test["read"]["requests_per_second"] for test in deep)
    curve = [test["read"] for test in target["curve"]]
    assert len(curve) == 6
    lowest = curve[0]["latency_seconds"]
    assert lowest["p50"] == pytest.approx(0.001 * DELAY_MILLISECONDS, rel=0.2)
    assert curve[-1]["latency_seconds"]["p99"] >= lowest["p50"]
    for test, way in zip(target["curve"], curve, strict=True):
        asked = test["asked_requests_per_second"]
        assert asked < best and way["requests_per_second"] == pytest.approx(asked, rel=0.2), "at random"

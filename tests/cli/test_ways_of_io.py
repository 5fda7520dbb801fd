"""Whatever way a program does its I/O, the verdict is right, or mawl withholds it and says why.

``MAWL_TEST_WAYS`` names a file that gets a line of JSON for each run; ``tools/ways_of_io.py`` prints it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from mawl.base.units import format_instant
from mawl.measure.machine import read_machine
from tests import needs
from tests.cli.conftest import Command
from tests.fakes.second_figures import compare
from tools.ways_of_io import PAGE, WayRun, page, right, stored

SOURCES = Path(__file__).parents[1] / "fakes" / "io_ways"
BLKIO = Path("/sys/fs/cgroup/blkio")
CAP = 40_000_000
MEGABYTES = 60
FILES = 4

WAYS: dict[str, list[str]] = {
    "C": ["{bin}/reader", "call"],
    "C, static": ["{bin}/reader-static", "call"],
    "Go": ["{bin}/reader-go", "call"],
    "Rust": ["{bin}/reader-rust", "call"],
    "Java": ["java", "-cp", "{bin}", "Reader", "call"],
    "set-uid": ["{bin}/reader-setuid", "call"],
    "env -i": ["/usr/bin/env", "-i", "{bin}/reader", "call"],
    "io_uring": ["{bin}/reader", "ring"],
    "mmap, reads": ["{bin}/reader", "mmap-read"],
    "mmap, writes": ["{bin}/reader", "mmap-write"],
    "direct system calls": ["{bin}/reader", "raw"],
    "chroot": ["/usr/sbin/chroot", "{data}", "/reader-static", "call"],
    "name spaces": ["/usr/bin/unshare", "-m", "-p", "-f", "{bin}/reader", "call"],
    "executes itself again": ["{bin}/reader", "again"],
}
"""What a command begins with; file, size and seconds of computing follow."""

IN_EVERY_RUN = ("C, static", "io_uring", "mmap, reads")

pytestmark = [
    pytest.mark.lab,
    pytest.mark.alone,
    needs.marks(needs.ROOT, needs.COMPILER, needs.TWO_PROCESSORS, needs.directory(str(BLKIO))),
]


def done(*command: str, cwd: Path | None = None) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout.strip()


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The readers, in a directory that every user may enter."""
    place = tmp_path_factory.mktemp("programs")
    for above in (place, place.parent, place.parent.parent):
        above.chmod(0o755)
    source = str(SOURCES / "reader.c")
    done("cc", "-O2", "-o", str(place / "reader"), source)
    done("cc", "-O2", "-static", "-o", str(place / "reader-static"), source)
    shutil.copy(place / "reader", place / "reader-setuid")
    shutil.chown(place / "reader-setuid", "nobody")
    (place / "reader-setuid").chmod(0o4755)
    return place


def build(way: str, programs: Path) -> None:
    """Compile what another language than C needs; skip where its compiler is not here."""
    compilers = {"Go": "go", "Rust": "rustc", "Java": "javac"}
    if way not in compilers:
        return
    needs.program(compilers[way]).require()
    if way == "Go":
        shutil.copy(SOURCES / "reader.go", programs)
        done("go", "build", "-o", "reader-go", "reader.go", cwd=programs)
    elif way == "Rust":
        done("rustc", "-O", "-o", str(programs / "reader-rust"), str(SOURCES / "reader.rs"))
    else:
        done("javac", "-d", str(programs), str(SOURCES / "Reader.java"))


@pytest.fixture
def place(tmp_path: Path, programs: Path) -> Iterator[tuple[Path, str]]:
    """A file system on a loop device with a file for each job, and the number of its device."""
    image, mount = tmp_path / "image", tmp_path / "mount"
    for above in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        above.chmod(0o755)
    with image.open("wb") as file:
        file.truncate(700 << 20)
    mount.mkdir()
    with contextlib.ExitStack() as undo:
        try:
            device = done("losetup", "--find", "--show", "--direct-io=on", str(image))
        except subprocess.CalledProcessError as error:
            needs.skip(f"no loop device: {error}")
        undo.callback(done, "losetup", "--detach", device)
        done("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        done("mount", device, str(mount))
        undo.callback(done, "umount", str(mount))
        for name in ("data", "work", "util"):
            (mount / name).mkdir()
        shutil.copy(programs / "reader-static", mount / "data")
        number = os.stat(device).st_rdev  # noqa: PTH116
        found = f"{os.major(number)}:{os.minor(number)}"
        for way in ("read", "write"):
            undo.callback((BLKIO / f"blkio.throttle.{way}_bps_device").write_text, f"{found} 0")
        yield mount, found


def write_files(data: Path) -> None:
    """Files of random bytes that no page cache holds."""
    for number in range(1, FILES + 1):
        with (data / f"f{number}").open("wb") as file:
            file.write(os.urandom(MEGABYTES << 20))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def workload(way: str, programs: Path, data: Path, seconds: float) -> str:
    lines = ['name = "ways"', "scale = 0.00005"]
    for number in range(1, FILES + 1):
        begin = [part.format(bin=programs, data=data) for part in WAYS[way]]
        file = f"/f{number}" if way == "chroot" else f"{data}/f{number}"
        command = json.dumps([*begin, file, str(MEGABYTES), str(seconds)])
        lines += [f"[commands.s{number}]", f"command = {command}"]
        lines += ["[[sessions]]", f'name = "x{number}"', f'stages = [["s{number}"]]']
    return "\n".join(lines)


@pytest.mark.parametrize("device", ["capped", "free"])
@pytest.mark.parametrize(
    "way",
    [pytest.param(one, marks=[] if one in IN_EVERY_RUN else [pytest.mark.long(minutes=1)]) for one in WAYS],
)
def test_the_verdict_is_right_or_withheld_with_its_reason(
    mawl: Command, tmp_path: Path, programs: Path, place: tuple[Path, str], way: str, device: str
) -> None:
    mount, number = place
    build(way, programs)
    write_files(mount / "data")
    if device == "capped":
        for direction in ("read", "write"):
            (BLKIO / f"blkio.throttle.{direction}_bps_device").write_text(f"{number} {CAP}")
    (tmp_path / "ways.toml").write_text(
        workload(way, programs, mount / "data", 0.0 if device == "capped" else 4.0)
    )
    roles = [part for role in ("data", "work", "util") for part in (f"--{role}", str(mount / role))]
    mawl("run", str(tmp_path / "ways.toml"), *roles, "--html", "no", "--output", str(tmp_path / "run"))
    found = json.loads(mawl("report", str(tmp_path / "run"), "--format", "json").stdout)
    limit = found["limit"]
    row = WayRun(
        measured_at=format_instant(time.time()),
        machine=read_machine().cpu_model or "",
        way=way,
        device="capped" if device == "capped" else "free",
        verdict=None if limit is None else limit["verdict"],
        reason=found["missing"]["limit"] if limit is None else None,
        seen_ratio=found["io"]["coverage_ratio"],
    )
    if path := os.environ.get("MAWL_TEST_WAYS"):
        with open(path, "ab") as file:
            file.write(msgspec.json.encode(row) + b"\n")
    assert found["jobs"]["finished"] == FILES, found["failures"]
    if way in IN_EVERY_RUN:
        compare(found, tmp_path / "run", fewest=60)
    assert right(row), row


def test_the_page_is_printed_from_the_rows_that_are_kept_and_all_are_right() -> None:
    runs = stored(PAGE.with_suffix(".jsonl").read_bytes().splitlines())
    assert PAGE.read_text() == page(runs)
    assert {run.way for run in runs} == set(WAYS) and all(map(right, runs))

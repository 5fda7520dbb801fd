"""``mawl measure`` against a disk's own counters: what had reached it, and what was still in memory.

The disk is a loop device over memory that holds nothing else; ``/sys/block/DEVICE/stat`` is the other source.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.preload.build import Library
from tests import needs
from tests.cli.conftest import Command

pytestmark = pytest.mark.lab

MIB = 2**20
WRITTEN = 100 * MIB
SECTOR_BYTES = 512
CLOSE = 0.03 * WRITTEN
"""Journals and metadata of a file system that was just made."""

Disk = tuple[Path, str]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., Disk]]:
    """Makes a mounted file system of its own: (directory, name of its device)."""
    needs.ROOT.require()
    needs.program("losetup").require()
    image = Path(f"/dev/shm/mawl-test-{os.getpid()}.img")
    with contextlib.ExitStack() as undo:

        def made(kind: str, options: str = "defaults") -> Disk:
            needs.program(f"mkfs.{kind}").require()
            undo.callback(image.unlink, missing_ok=True)
            with image.open("wb") as file:
                file.truncate(1024 * MIB)
            device = done("losetup", "--find", "--show", "--direct-io=on", str(image))
            undo.callback(done, "losetup", "--detach", device)
            # Else ext4 goes on to write its tables in the background.
            eager = ("-E", "lazy_itable_init=0,lazy_journal_init=0") if kind == "ext4" else ()
            done(f"mkfs.{kind}", "-q", *eager, device)
            place = tmp_path / "disk"
            place.mkdir()
            done("mount", "-o", options, device, str(place))
            undo.callback(done, "umount", str(place))
            (place / "work").mkdir()
            done("sync", "-f", str(place))
            return place, Path(device).name

        yield made


def done(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def written_to(device: str) -> int:
    """Bytes that a device was given so far, by its own counter."""
    return int(Path(f"/sys/block/{device}/stat").read_text().split()[6]) * SECTOR_BYTES


def read_from(device: str) -> int:
    return int(Path(f"/sys/block/{device}/stat").read_text().split()[2]) * SECTOR_BYTES


@pytest.fixture
def measured(made: Library, mawl: Command) -> Callable[..., tuple[dict[str, Any], int]]:
    """Measures a command on a disk: the report, and what the disk's own counter gained meanwhile."""
    assert made.path is not None
    mawl.environment["XDG_CACHE_HOME"] = str(made.path.parents[1])

    def run(at: Disk, *words: str, options: tuple[str, ...] = ()) -> tuple[dict[str, Any], int]:
        place, device = at
        before = written_to(device)
        roles = [word for role in ("data", "util") for word in (f"--{role}", str(place / role))]
        for role in ("data", "util"):
            (place / role).mkdir()
        work = ("--work", str(place / "work"))
        finished = mawl.ok("measure", *options, *roles, *work, "--json", "--", *words)
        found: dict[str, Any] = json.loads(finished.stdout)
        return found, written_to(device) - before

    return run


def dd(place: Path, *options: str) -> tuple[str, ...]:
    return ("dd", "if=/dev/zero", f"of={place}/work/f", "bs=1M", "count=100", "status=none", *options)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_what_dd_leaves_in_memory_is_not_at_the_device(
    kind: str, disk: Callable[..., Disk], measured: Callable[..., tuple[dict[str, Any], int]]
) -> None:
    at = disk(kind)
    found, truth = measured(at, *dd(at[0]))
    io = found["io"]
    assert truth < CLOSE
    assert io["device"]["written_bytes"] == pytest.approx(truth, abs=CLOSE)
    assert io["own"]["written_bytes"] < CLOSE and io["reach"]["write_ratio"] < 0.03
    assert io["dirtied"]["written_bytes"] == pytest.approx(WRITTEN, rel=0.01)
    assert found["at_command_end"]["still_dirty_bytes"] == pytest.approx(WRITTEN, rel=0.01)
    assert found["sync_seconds"] is None and "--sync" in found["missing"]["sync_seconds"]


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
@pytest.mark.parametrize(
    ("words", "options"), [(("oflag=direct",), ()), (("conv=fsync",), ()), ((), ("--sync",))]
)
def test_what_is_forced_out_is_at_the_device(
    kind: str,
    words: tuple[str, ...],
    options: tuple[str, ...],
    disk: Callable[..., Disk],
    measured: Callable[..., tuple[dict[str, Any], int]],
) -> None:
    at = disk(kind)
    found, truth = measured(at, *dd(at[0], *words), options=options)
    io = found["io"]
    assert truth == pytest.approx(WRITTEN, abs=CLOSE)
    assert io["device"]["written_bytes"] == pytest.approx(truth, abs=CLOSE)
    assert io["own"]["written_bytes"] == pytest.approx(WRITTEN, rel=0.01)
    assert io["dirtied"]["still_dirty_bytes"] == 0
    if options:
        assert found["sync_seconds"] > 0.0
        assert found["at_command_end"]["device_written_bytes"] < CLOSE
        assert found["at_command_end"]["still_dirty_bytes"] == pytest.approx(WRITTEN, rel=0.01)


OVER = "f = open(sys.argv[1], 'r+b' if os.path.exists(sys.argv[1]) else 'w+b'); "
PROGRAMS = {
    "overwritten ten times": f"import os, sys; {OVER}"
    f"[(f.seek(0), f.write(bytes({WRITTEN}))) for _ in range(10)]",
    "overwritten, a sync each": f"import os, sys; {OVER}[(f.seek(0), f.write(bytes({WRITTEN})), f.flush(), "
    "os.fsync(f.fileno())) for _ in range(3)]",
    "removed before it was written": f"import os, sys; {OVER}f.write(bytes({WRITTEN})); f.close(); "
    "os.unlink(sys.argv[1])",
    "mapped": f"import mmap, os, sys; {OVER}f.truncate({WRITTEN}); m = mmap.mmap(f.fileno(), 0); "
    f"m[:] = b'x' * {WRITTEN}",
    "2,000 files of 3 kB": "import sys; "
    "[open(f'{sys.argv[1]}{n}', 'wb').write(bytes(3000)) for n in range(2000)]",
}


@pytest.mark.parametrize("options", [(), ("--sync",)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_own_writes_are_the_disks(
    name: str,
    options: tuple[str, ...],
    disk: Callable[..., Disk],
    measured: Callable[..., tuple[dict[str, Any], int]],
) -> None:
    at = disk("ext4")
    found, truth = measured(at, sys.executable, "-c", PROGRAMS[name], f"{at[0]}/work/f", options=options)
    io = found["io"]
    assert io["own"]["written_bytes"] == pytest.approx(truth, abs=CLOSE)


def test_own_reads_are_the_disks(
    disk: Callable[..., Disk], measured: Callable[..., tuple[dict[str, Any], int]]
) -> None:
    at = disk("xfs")
    done("dd", "if=/dev/zero", f"of={at[0]}/work/f", "bs=1M", "count=100", "status=none", "conv=fsync")
    done("dd", f"of={at[0]}/work/f", "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none")
    before = read_from(at[1])
    found, _ = measured(at, "dd", f"if={at[0]}/work/f", "of=/dev/null", "bs=1M", "status=none")
    truth = read_from(at[1]) - before
    assert truth == pytest.approx(WRITTEN, abs=CLOSE)
    assert found["io"]["own"]["read_bytes"] == pytest.approx(truth, abs=CLOSE)
    assert found["io"]["reach"]["read_ratio"] == pytest.approx(1.0, abs=0.03)


def test_compressing_btrfs_has_device_bytes_and_no_own_ones(
    disk: Callable[..., Disk], measured: Callable[..., tuple[dict[str, Any], int]]
) -> None:
    at = disk("btrfs", "compress=zstd:1")
    found, truth = measured(at, *dd(at[0], "conv=fsync"))
    assert truth < 0.2 * WRITTEN
    assert found["io"]["device"]["written_bytes"] == pytest.approx(truth, abs=CLOSE)

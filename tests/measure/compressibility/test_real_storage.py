"""Real btrfs and zram save what the estimate for them says; about 20 s, most of it writing."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from mawl.measure.compressibility.codecs import CODECS, figures
from mawl.measure.compressibility.volumes import LookRequest, look_at
from tests import needs
from tests.measure.compressibility.pieces import write_mixture

MIB = 2**20
DATA_BYTES = 96 * MIB
VOLUMES = 4
POINTS = 0.03
ZRAM = Path("/sys/class/zram-control")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def sh(*command: str) -> str:
    environment = {**os.environ, "PATH": PATH}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


def need(*programs: str) -> None:
    needs.ROOT.require()
    needs.program(*programs).require()


@contextlib.contextmanager
def mounted(device: str, place: Path, *options: str) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    try:
        sh("mount", *options, device, str(place))
    except subprocess.CalledProcessError as error:
        needs.skip(f"cannot be mounted here: {error.stderr.strip()}")
    try:
        yield place
    finally:
        sh("umount", str(place))


@contextlib.contextmanager
def loops(folder: Path, count: int) -> Iterator[list[str]]:
    """Loop devices of 256 MiB each on sparse files."""
    with contextlib.ExitStack() as cleanup:
        devices = []
        for number in range(count):
            image = folder / f"image{number}"
            with image.open("wb") as file:
                file.truncate(256 * MIB)
            try:
                device = sh("losetup", "--find", "--show", str(image))
            except subprocess.CalledProcessError as error:
                needs.skip(f"no loop device may be made here: {error.stderr.strip()}")
            cleanup.callback(sh, "losetup", "--detach", device)
            devices.append(device)
        yield devices


@contextlib.contextmanager
def zram(algorithm: str, size: int) -> Iterator[str]:
    """A zram device of our own."""
    if not (ZRAM / "hot_add").exists():
        needs.skip("this kernel has no zram")
    number = (ZRAM / "hot_add").read_text().strip()
    block = Path("/sys/block") / f"zram{number}"
    try:
        if algorithm not in (block / "comp_algorithm").read_text().replace("[", "").replace("]", "").split():
            needs.skip(f"this kernel's zram has no {algorithm}")
        (block / "comp_algorithm").write_text(algorithm)
        (block / "disksize").write_text(str(size))
        yield f"/dev/zram{number}"
    finally:
        (block / "reset").write_text("1")
        (ZRAM / "hot_remove").write_text(number)


def looked_at(path: Path, storage: str) -> tuple[dict[str, float], float]:
    """Estimates by codec as ``storage`` keeps blocks, by draws and not in full; and the real saving."""
    wanted = figures([storage], list(CODECS.values()), [])  # type: ignore[list-item]
    found = look_at(LookRequest(paths=[path], figures=wanted, seed=7, read_all_bytes=0)).volumes[0]
    assert found.real is not None and found.real.saving_ratio is not None, found.real_reason
    assert found.real.original_bytes >= DATA_BYTES * 0.99
    estimates = {one.label: one.saving_ratio for one in found.estimates if one.saving_ratio is not None}
    return estimates, found.real.saving_ratio


@pytest.mark.lab
@pytest.mark.parametrize(("option", "codec"), [("zstd:1", "zstd-1"), ("zstd:3", "zstd-3"), ("lzo", "lzo")])
def test_btrfs_saves_what_the_estimate_says(tmp_path: Path, option: str, codec: str) -> None:
    need("mkfs.btrfs", "mount", "losetup", "compsize")
    with loops(tmp_path, VOLUMES) as devices:
        # Metadata on all four: an image also keeps what later commits replaced, however many these were.
        sh("mkfs.btrfs", "-q", "-f", "-d", "raid0", "-m", "raid1c4", *devices)
        with mounted(devices[0], tmp_path / "mnt", "-o", f"compress-force={option}") as place:
            write_mixture(place, DATA_BYTES, Random(3))
            sh("sync", "--file-system", str(place))
            estimates, real = looked_at(place, "btrfs")
            assert estimates[codec] == pytest.approx(real, abs=POINTS)
            stored = [(tmp_path / f"image{number}").stat().st_blocks * 512 for number in range(VOLUMES)]
    spread = (max(stored) - min(stored)) / (sum(stored) / VOLUMES)
    assert spread < 0.05, f"uniform over the four volumes: {stored}"


@pytest.mark.lab
def test_btrfs_saves_on_small_files_what_reading_them_all_says(tmp_path: Path) -> None:
    """Files on both sides of a sector and of what lies in metadata; about 3 s."""
    need("mkfs.btrfs", "mount", "losetup", "compsize")
    random = Random(4)
    with loops(tmp_path, 1) as devices:
        sh("mkfs.btrfs", "-q", "-f", *devices)
        with mounted(devices[0], tmp_path / "mnt", "-o", "compress-force=zstd:1") as place:
            for size in (1000, 2049, 4097, 9000):
                for number in range(750):
                    (place / f"text{size}-{number}").write_bytes((b"hello world %d " % number * size)[:size])
                    (place / f"noise{size}-{number}").write_bytes(random.randbytes(size))
            sh("sync", "--file-system", str(place))
            wanted = figures(["btrfs"], [CODECS["zstd-1"]], [])
            (found,) = look_at(LookRequest(paths=[place], figures=wanted, seed=7)).volumes
    (one,) = found.estimates
    assert found.real is not None and one.saving_ratio is not None, found.real_reason
    saved = found.real.original_bytes - found.real.stored_bytes
    assert one.saving_ratio == pytest.approx(found.real.saving_ratio, abs=POINTS)
    assert one.original_bytes is not None
    assert one.saving_ratio * one.original_bytes == pytest.approx(saved, rel=0.02), "freed is saved"


@pytest.mark.lab
def test_btrfs_on_four_volumes_saves_what_each_estimate_says(tmp_path: Path) -> None:
    """Four file systems with the same data: the same saving on each, real and estimated; about 10 s."""
    need("mkfs.btrfs", "mount", "losetup", "compsize")
    wanted = figures(["btrfs"], [CODECS["zstd-1"]], [])
    with loops(tmp_path, VOLUMES) as devices, contextlib.ExitStack() as mounts:
        places = []
        for number, device in enumerate(devices):
            sh("mkfs.btrfs", "-q", "-f", device)
            options = ("-o", "compress-force=zstd:1")
            place = mounts.enter_context(mounted(device, tmp_path / f"mnt{number}", *options))
            write_mixture(place, DATA_BYTES // VOLUMES, Random(number))
            sh("sync", "--file-system", str(place))
            places.append(place)
        request = LookRequest(roles={"data": places}, figures=wanted, seed=7, read_all_bytes=0)
        found = look_at(request)
    real = []
    for volume in found.volumes:
        (one,) = volume.estimates
        assert volume.real is not None and volume.real.saving_ratio is not None, volume.real_reason
        assert one.saving_ratio == pytest.approx(volume.real.saving_ratio, abs=POINTS)
        real.append(volume.real.saving_ratio)
    (role,) = found.roles[0].estimates
    assert role.spread_ratio is not None
    assert role.spread_ratio == pytest.approx(max(real) - min(real), abs=2 * POINTS)


@pytest.mark.lab
@pytest.mark.parametrize("algorithm", ["lz4", "lzo-rle", "lzo"])
def test_zram_saves_what_the_estimate_says(tmp_path: Path, algorithm: str) -> None:
    need("mount", "dd")
    source = tmp_path / "source"
    source.mkdir()
    write_mixture(source, DATA_BYTES, Random(3))
    joined = b"".join(path.read_bytes() for path in sorted(source.iterdir()))
    with zram(algorithm, len(joined)) as device:
        with open(device, "wb") as file:
            file.write(joined)
            os.fsync(file.fileno())
        estimates, real = looked_at(Path(device), "zram")
    assert estimates[algorithm.partition("-")[0]] == pytest.approx(real, abs=POINTS)

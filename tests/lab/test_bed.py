"""Bed files: what is shipped loads, what contradicts itself is refused by name, speeds scale."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.lab.bed import DiskModel, load_bed, shipped
from mawl.lab.experiment.records import ClaimSpec
from mawl.records.model.published import published
from tests.files import text_of

BED = text_of(__file__, "small_bed.toml")


def bed_file(folder: Path, volume: str = "", work: str = "disk") -> str:
    path = folder / "small.toml"
    path.write_text(BED.format(volume=volume, work=work))
    return str(path)


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_bed_loads_and_its_claims_name_published_results(name: str) -> None:
    bed = load_bed(name)
    assert bed.name == name
    named = {result for claim in bed.claims for result in results(claim)}
    assert named <= published().keys()


def results(claim: ClaimSpec) -> tuple[str, str]:
    return claim.published_reference, claim.published_candidate


def test_rates_and_times_of_a_disk() -> None:
    disk = DiskModel(
        model="spinning", bytes_per_second="60MB", seek_seconds=0.004, revolutions_per_minute=15000
    )
    assert disk.access_seconds == pytest.approx(0.006)
    assert disk.random_requests_per_second == pytest.approx(1 / (0.006 + 4096 / 60e6))
    flash = DiskModel(model="flash", bytes_per_second="400MB", latency_seconds=0.001, channels=8)
    assert flash.random_requests_per_second == pytest.approx(8000)


def test_at_a_lower_speed_caps_and_rates_fall_and_seeks_stay() -> None:
    bed = load_bed("hybrid")
    slower = bed.at_speed(0.5)
    disk, flash = bed.volumes
    slow_disk, slow_flash = slower.volumes
    assert disk.disk is not None and slow_disk.disk is not None
    assert slow_disk.disk.rate == disk.disk.rate / 2
    assert slow_disk.disk.access_seconds == disk.disk.access_seconds
    assert flash.cap is not None and slow_flash.cap is not None
    assert slow_flash.cap.rate == flash.cap.rate / 2


@pytest.mark.parametrize(
    ("volume", "work", "words"),
    [
        ("", "other", "arm one: work: expected names of volumes, found ['other']"),
        ('algorithm = "lz4"', "disk", "only zram has an algorithm"),
        ('cap = { bytes_per_second = "1kB" }', "disk", "expected at least 1 MB/s"),
        ('read_ahead = "5KiB"', "disk", "expected a read-ahead in steps of 4 KiB, found 5KiB"),
        ('read_ahead = "far"', "disk", "volumes[0].read_ahead: expected a size such as 256KiB"),
        ('dirty = "4KiB"', "disk", "expected at least 1 MiB of dirty pages"),
        (
            'disk = { model = "spinning", bytes_per_second = "60MB", reach = "17MiB" }',
            "disk",
            "expected a reach of at most 16 MiB",
        ),
        ("colour = 1", "disk", "colour: unknown"),
        (
            'file_system = "ntfs"',
            "disk",
            "key volumes[0].file_system: expected one of btrfs, ext4, xfs, found 'ntfs'",
        ),
        ('dirty = "-1GiB"', "disk", "small.toml: key volumes[0].dirty: expected a size such as 256KiB"),
        (
            'cap = { bytes_per_second = "fast" }',
            "disk",
            "key volumes[0].cap.bytes_per_second: expected a size",
        ),
        (
            'disk = { model = "spinning", bytes_per_second = "60MB", reach = "far" }',
            "disk",
            "key volumes[0].disk.reach: expected a size",
        ),
    ],
)
def test_what_contradicts_itself_is_refused_by_name(
    tmp_path: Path, volume: str, work: str, words: str
) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_bed(bed_file(tmp_path, volume, work))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('size = "64MiB"', 'size = "-1GiB"', "small.toml: key volumes[0].size: expected a size"),
        ('title = "t"', 'title = "t"\nmemory_limit = "-3"', "small.toml: key memory_limit: expected a size"),
        ('title = "t"', 'title = "t"\nscale = -3.0', "small.toml: key scale: expected a scale"),
        ('"nano"', '"nosuch"', "small.toml: key workload: no workload is called 'nosuch'"),
        ('name = "one"', 'name = "one"\nworkload = "x"', "arm one: workload: no workload is called 'x'"),
        ('name = "one"', 'name = "one"\noptions = { x = 1 }', "arm one: options: unknown option 'x'"),
        ("[[arms]]", "[[weapons]]", "small.toml: key weapons: unknown, expected one of name, title"),
    ],
)
def test_what_a_run_would_refuse_is_refused_before_anything_is_built(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = Path(bed_file(tmp_path))
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InvalidFileError) as caught:
        load_bed(str(path))
    assert words in str(caught.value)


def test_an_unknown_bed_and_arm_name_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose one of blocksize, compression, fabric, hybrid"):
        load_bed("nothing")
    with pytest.raises(UsageError, match="no arm 'two'; choose one of one"):
        load_bed(bed_file(tmp_path)).arm("two")

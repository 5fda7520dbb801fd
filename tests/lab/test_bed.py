"""Bed files: what is shipped loads, what contradicts itself is refused by name, speeds scale."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.config.published import published
from mawl.errors import InvalidFileError, UsageError
from mawl.lab.bed import DiskModel, load_bed, shipped
from mawl.model.lab import ClaimSpec

BED = """
name = "small"
title = "t"
question = "q"
workload = "nano"
[[volumes]]
name = "disk"
size = "64MiB"
{volume}
[[arms]]
name = "one"
data = ["disk"]
work = ["{work}"]
util = ["disk"]
"""


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
        ('dirty = "4KiB"', "disk", "expected at least 1 MiB of dirty pages"),
        (
            'disk = { model = "spinning", bytes_per_second = "60MB", reach = "16MiB" }',
            "disk",
            "expected a reach of at most 8 MiB",
        ),
        ("colour = 1", "disk", "colour: unknown"),
    ],
)
def test_what_contradicts_itself_is_refused_by_name(
    tmp_path: Path, volume: str, work: str, words: str
) -> None:
    with pytest.raises(InvalidFileError) as caught:
        load_bed(bed_file(tmp_path, volume, work))
    assert words in str(caught.value)


def test_an_unknown_bed_and_arm_name_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose one of blocksize, compression, hybrid"):
        load_bed("nothing")
    with pytest.raises(UsageError, match="no arm 'two'; choose one of one"):
        load_bed(bed_file(tmp_path)).arm("two")

"""Estimates against compressing everything, on real files with codecs that are quick to know."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from mawl.measure.compressibility.codecs import (
    CODECS,
    LZ4,
    ZSTD_1,
    Codec,
    CodecKey,
    EstimateRequest,
    figures,
    load_codec,
)
from mawl.measure.compressibility.estimate import VolumeEstimates, estimate, zero_page
from mawl.measure.compressibility.population import Population
from tests.fakes.failing_reads import failing

KIB = 1024
FIGURES = [EstimateRequest("plain", LZ4, 4 * KIB), EstimateRequest("plain", LZ4, 128 * KIB)]
FEWEST_OF_200 = 184


def first_byte(key: CodecKey) -> Codec:
    """A codec that keeps as many 256ths of a block as its first byte says."""
    return Codec(key, lambda block: len(block) * block[0] // 256)


def look(path: Path, seed: int = 1, *, all_bytes: bool = False, **changes: object) -> VolumeEstimates:
    population = Population()
    population.add(path)
    options = {"figures": FIGURES, "loader": first_byte, "confidence": 0.95, "half_width": 0.02} | changes
    read_all = 2**40 if all_bytes else 0
    return estimate(population, random=Random(seed), read_all_bytes=read_all, **options)  # type: ignore[arg-type]


@pytest.fixture
def mixture(tmp_path: Path) -> Path:
    """Many small files, a giant that does not compress at all, zeros, and noise by page."""
    random = Random(5)
    for number in range(40):
        (tmp_path / f"small{number}").write_bytes(
            bytes([random.randrange(256)]) * random.randrange(1, 30_000)
        )
    (tmp_path / "giant").write_bytes(b"\xff" * 600 * KIB)
    (tmp_path / "zeros").write_bytes(bytes(300 * KIB))
    pages = b"".join(bytes([random.choice((20, 250))]) * 4 * KIB for _ in range(250))
    (tmp_path / "noise").write_bytes(pages + b"\x10" * 777)
    return tmp_path


def test_the_bound_is_honoured_against_everything_in_200_seeds(mixture: Path) -> None:
    truth = look(mixture, all_bytes=True)
    assert [one.half_width_ratio for one in truth.estimates] == [0.0, 0.0]
    found = [look(mixture, seed) for seed in range(200)]
    for place, exact in enumerate(truth.estimates):
        assert exact.saving_ratio is not None
        pairs = [(one.estimates[place].saving_ratio, one.estimates[place].half_width_ratio) for one in found]
        inside = [abs((saving or 0.0) - exact.saving_ratio) <= (half or 0.0) for saving, half in pairs]
        assert sum(inside) >= FEWEST_OF_200
        assert all(half is not None and half <= 0.02 for _, half in pairs)
    assert truth.zero_share.ratio is not None
    zeros = [one.zero_share.ratio or 0.0 for one in found]
    assert sum(abs(ratio - truth.zero_share.ratio) <= 0.02 for ratio in zeros) >= FEWEST_OF_200


def test_everything_is_weighted_by_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x80" * 4096)
    (tmp_path / "b").write_bytes(bytes(3 * 4096))
    found = look(tmp_path, all_bytes=True)
    assert found.estimates[0].saving_ratio == pytest.approx(0.5 / 4 + 3 / 4)
    assert found.zero_share.ratio == pytest.approx(0.75)
    assert found.cost.read_bytes == 4 * 4096 and found.cost.read_ratio == 1.0


def test_small_files_weigh_as_storage_counts_them(tmp_path: Path) -> None:
    """Files of 4097 bytes take two sectors, of which compression saves one; noise saves nothing."""
    for number in range(300):
        (tmp_path / str(number)).write_bytes(bytes(4097))
    (tmp_path / "noise").write_bytes(Random(1).randbytes(4097 * 300))
    wanted = [EstimateRequest("btrfs", ZSTD_1, 128 * KIB), EstimateRequest("plain", ZSTD_1, 128 * KIB)]
    whole = look(tmp_path, figures=wanted, loader=load_codec, all_bytes=True).estimates
    assert whole[0].saving_ratio == pytest.approx(300 / (600 + 301))
    assert whole[0].original_bytes == 300 * 8192 + 4096 * 301
    assert whole[1].saving_ratio == pytest.approx(0.5, abs=0.005)
    assert whole[1].original_bytes == 600 * 4097
    for part, exact in zip(look(tmp_path, figures=wanted, loader=load_codec).estimates, whole, strict=True):
        assert part.saving_ratio == pytest.approx(exact.saving_ratio, abs=0.02)


def test_all_is_read_where_draws_would_read_more(mixture: Path) -> None:
    population = Population()
    population.add(mixture)
    found = estimate(
        population,
        FIGURES,
        confidence=0.95,
        half_width=0.02,
        random=Random(1),
        loader=first_byte,
        read_all_bytes=1,
    )
    truth = look(mixture, all_bytes=True)
    assert [one.half_width_ratio for one in found.estimates] == [0.0, 0.0]
    assert found.estimates[0].saving_ratio == truth.estimates[0].saving_ratio
    assert found.cost.read_ratio == 1.0, "known before the first draw"


def test_a_missing_codec_is_null_with_its_reason_and_the_others_are_there(mixture: Path) -> None:
    def without_lz4(key: CodecKey) -> Codec:
        return Codec(key, None, "needs the package lz4") if key == LZ4 else first_byte(key)

    wanted = [*FIGURES, EstimateRequest("plain", ZSTD_1, 4 * KIB)]
    found = look(mixture, figures=wanted, loader=without_lz4)
    assert [one.saving_ratio is None for one in found.estimates] == [True, True, False]
    assert found.estimates[0].reason == "needs the package lz4"
    assert found.estimates[2].reason is None


def test_an_empty_folder_has_no_estimate_and_says_so(tmp_path: Path) -> None:
    found = look(tmp_path, all_bytes=True)
    assert found.reason == "there is no data to look at"
    assert found.estimates[0].saving_ratio is None and found.zero_share.ratio is None


def test_files_that_vanish_meanwhile_do_not_stop_it(mixture: Path) -> None:
    population = Population()
    population.add(mixture)
    for number in range(0, 40, 2):
        (mixture / f"small{number}").unlink()
    (mixture / "zeros").unlink()
    found = estimate(
        population,
        FIGURES,
        confidence=0.95,
        half_width=0.02,
        random=Random(1),
        loader=first_byte,
        read_all_bytes=0,
    )
    left = population.left_out()
    assert left.lost_files > 1 and left.lost_bytes >= 300 * KIB
    assert found.estimates[0].half_width_ratio is not None and found.estimates[0].half_width_ratio <= 0.02


@pytest.mark.parametrize("all_bytes", [True, False])
def test_an_error_of_the_device_costs_its_block_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, all_bytes: bool
) -> None:
    (tmp_path / "bad").write_bytes(b"\x00" * 128 * KIB + b"\x80" * 128 * KIB)
    (tmp_path / "good").write_bytes(b"\x80" * 128 * KIB)
    monkeypatch.setattr(os, "pread", failing(tmp_path / "bad", 5000, 5001))
    population = Population()
    population.add(tmp_path)
    found = estimate(
        population,
        FIGURES,
        confidence=0.95,
        half_width=0.02,
        random=Random(1),
        loader=first_byte,
        read_all_bytes=2**40 if all_bytes else 0,
    )
    left = population.left_out()
    assert left.lost_files == 1 and left.lost_bytes >= 128 * KIB
    assert left.lost_bytes % (128 * KIB) == 0 and (not all_bytes or left.lost_bytes == 128 * KIB)
    assert left.remarks == [f"{tmp_path / 'bad'}: input/output error at byte 0"]
    for one in found.estimates:
        assert one.saving_ratio == pytest.approx(0.5), "of all the other blocks"
        assert one.reason is None


def test_nothing_readable_is_a_reason_and_no_figure(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100_000)
    population = Population()
    population.add(tmp_path)
    (tmp_path / "file").unlink()
    found = estimate(
        population, FIGURES, confidence=0.95, half_width=0.02, random=Random(1), loader=first_byte
    )
    assert found.reason == "nothing of it could be read"
    assert found.estimates[0].saving_ratio is None


def test_zero_pages() -> None:
    assert [zero_page(page) for page in (bytes(4096), bytes(10), bytes(4095) + b"\1")] == [1.0, 1.0, 0.0]


def test_real_codecs_save_what_they_should(tmp_path: Path) -> None:
    codecs = [key for key in CODECS.values() if load_codec(key).compressed_bytes is not None]
    assert codecs, "the development environment has lz4 and zstandard"
    (tmp_path / "random").write_bytes(Random(1).randbytes(512 * KIB))
    (tmp_path / "zeros").write_bytes(bytes(512 * KIB))
    wanted = figures(["plain"], codecs, [4 * KIB, 128 * KIB, 1024 * KIB])
    for one in look(tmp_path, figures=wanted, loader=load_codec, all_bytes=True).estimates:
        assert one.saving_ratio == pytest.approx(0.5, abs=0.006), one.label

"""Work and util while they exist: weighed by what lies there, the engine's own share told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mawl.measure.compressibility.codecs import Codec, CodecKey, engine_compressed
from mawl.measure.compressibility.watch import CPU_SHARE, Watch
from mawl.records.spec.program_options import Role
from tests.fakes.failing_reads import failing


def first_byte(key: CodecKey) -> Codec:
    return Codec(key, lambda block: len(block) * block[0] // 256)


def watch(work: Path, util: Path, clock: Callable[[], float] = time.monotonic) -> Watch:
    places: dict[Role, list[Path]] = {"work": [work], "util": [util]}
    return Watch(places, confidence=0.95, seed=1, loader=first_byte, clock=clock)


class Seconds:
    """A clock that is put forward by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Milliseconds:
    """CPU time of a thread that takes a millisecond between any two questions."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def test_looks_weigh_as_much_as_lies_there_and_draws_alike_within_the_share_of_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, util = tmp_path / "work", tmp_path / "util"
    work.mkdir()
    util.mkdir()
    monkeypatch.setattr(time, "thread_time", Milliseconds())
    clock = Seconds()
    looking = watch(work, util, clock)
    for content, pause in ((b"\x80" * 30_000, 1.0), (b"\x00" * 10_000, 2.0)):
        (work / "table").write_bytes(content)
        for _ in range(50):
            clock.now += pause
            looking.look()
    volume = looking._volumes[0]
    assert volume.cpu_seconds <= CPU_SHARE * 150.0 / 2 + 0.02, "half of a hundredth of 150 s, and one look's"
    widths = [width for width, _ in volume.small.values]
    alike = sum(widths) ** 2 / sum(width**2 for width in widths)
    assert alike >= 0.7 * len(widths) >= 150
    assert sum(widths) <= volume.byte_seconds == 50 * 30_000 + 100 * 10_000
    found, nothing = looking.stop()
    assert found.data_bytes == 16_667 and found.name == str(tmp_path)
    for one in found.estimates:
        known = volume.large if one.block_bytes == 2**20 else volume.small
        assert one.half_width_ratio is not None and one.saving_ratio is not None
        assert abs(one.saving_ratio - (0.6 * 0.5 + 0.4 * 1.0)) <= one.half_width_ratio < 1.0
        assert one.draws == len(known.values)
    small = found.estimates[0]
    assert small.saving_ratio == pytest.approx(0.7, abs=0.02), "strata hold the draws in proportion"
    assert small.half_width_ratio is not None and small.half_width_ratio < 0.15
    assert found.zero_share.ratio == pytest.approx(0.4, abs=0.03)
    assert nothing.reason == "nothing lay there at any look" and nothing.data_bytes == 0
    assert nothing.estimates[0].saving_ratio is None


def test_the_mark_of_a_run_is_none_of_its_files(tmp_path: Path) -> None:
    work, util = tmp_path / "work", tmp_path / "util"
    for place in (work, util):
        place.mkdir()
        (place / ".mawl").write_bytes(b"the mark")
    (work / "data").write_bytes(b"\x80" * 30_000)
    clock = Seconds()
    marks = frozenset({str(work / ".mawl"), str(util / ".mawl")})
    places: dict[Role, list[Path]] = {"work": [work], "util": [util]}
    looking = Watch(places, confidence=0.95, seed=1, loader=first_byte, clock=clock, without=marks)
    clock.now += 1.0
    looking.look()
    found, nothing = looking.stop()
    assert found.data_bytes == 30_000
    assert nothing.reason == "nothing lay there at any look" and nothing.data_bytes == 0
    assert nothing.estimates[0].saving_ratio is None


def test_a_job_is_looked_at_when_it_ends(tmp_path: Path) -> None:
    work, util = tmp_path / "work", tmp_path / "util"
    for place in (work / "j1", util / "j1", work / "j2"):
        place.mkdir(parents=True)
    (work / "j1" / "table").write_bytes(b"\x80" * 30_000)
    (work / "j2" / "table").write_bytes(b"\x00" * 90_000)
    clock = Seconds()
    looking = watch(work, util, clock)
    clock.now += 100.0
    looking.job_ends("j1")
    looking.job_ends("never-made")
    found, nothing = looking.stop()
    assert found.estimates[0].saving_ratio == pytest.approx(0.5), "of this job alone"
    assert nothing.reason is not None
    looking.job_ends("j2")
    assert looking.stop()[0].estimates == found.estimates, "it is over"


def test_a_volume_that_took_its_part_is_left_alone(tmp_path: Path) -> None:
    work, util = tmp_path / "work", tmp_path / "util"
    work.mkdir()
    (work / "table").write_bytes(b"\x80" * 30_000)
    looking = watch(work, util)
    looking._volumes[0].cpu_seconds = 3600.0
    looking.start()
    while looking._volumes[1].looked_at == looking._began:
        looking._over.wait(0.01)
    spent, _ = looking.stop()
    assert spent.reason == "nothing lay there at any look", "in ten hours it may be looked at again"


def test_an_error_of_the_device_costs_its_blocks_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, util = tmp_path / "work", tmp_path / "util"
    work.mkdir()
    (work / "bad").write_bytes(b"\x00" * 500_000)
    (work / "good").write_bytes(b"\x80" * 500_000)
    monkeypatch.setattr(os, "pread", failing(work / "bad"))
    clock = Seconds()
    looking = watch(work, util, clock)
    for _ in range(20):
        clock.now += 1.0
        looking.look()
    found, _ = looking.stop()
    assert found.estimates[0].saving_ratio == pytest.approx(0.5), "of the file that could be read"
    assert found.left_out.lost_files >= 1 and found.left_out.lost_bytes >= 500_000
    assert found.left_out.remarks == [f"{work / 'bad'}: input/output error at byte 0"]


def test_the_thread_looks_by_itself_and_a_folder_that_goes_does_not_stop_it(tmp_path: Path) -> None:
    work, util = tmp_path / "work", tmp_path / "util"
    util.mkdir()
    (util / "duckdb_temp_1_0_storage_S64K-0.tmp").write_bytes(b"\x80" * 65536)
    (util / "duckdb_temp_1_0_storage_DEFAULT-0.tmp").write_bytes(b"\x80" * 3 * 65536)
    looking = watch(work, util)
    looking.start()
    while not looking._volumes[1].small.values:
        looking._over.wait(0.01)
    gone, found = looking.stop()
    assert gone.reason == "nothing lay there at any look"
    large = found.estimates[-1]
    assert (large.saving_ratio is None) == (large.reason is not None)
    assert found.engine_share.ratio == pytest.approx(0.25)
    assert found.cost.read_bytes >= 65536 and found.cost.cpu_seconds > 0.0


@pytest.mark.parametrize(
    ("name", "compressed"),
    [
        ("/util/duckdb_temp_11397_0_storage_S224K-0.tmp", True),
        ("/util/duckdb_temp_storage_S32K-3.tmp", True),
        ("/util/duckdb_temp_11397_0_storage_DEFAULT-0.tmp", False),
        ("/util/duckdb_temp_11397_0_owner", False),
        ("/util/part-00001.rows", False),
    ],
)
def test_files_that_the_engine_compressed_are_known_by_their_names(name: str, compressed: bool) -> None:
    assert engine_compressed(name) is compressed

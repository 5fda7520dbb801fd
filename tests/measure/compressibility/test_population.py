"""What is drawn from: data of regular files once each, nothing else, and never written to.

A look at several volumes of which one cannot be read: it has the reason, and the others their figures.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.base.errors import MawlError, UsageError
from mawl.measure.compressibility.codecs import LZ4, Codec, CodecKey, EstimateRequest
from mawl.measure.compressibility.population import BytePlace, Kind, Population
from mawl.measure.compressibility.volumes import LookRequest, look_at
from mawl.records.spec.program_options import Role
from tests import needs

KIB = 1024


def population(*paths: Path) -> Population:
    found = Population()
    for path in paths:
        found.add(path)
    return found


def test_every_byte_has_its_place(tmp_path: Path) -> None:
    for name, size in (("a", 5000), ("b", 0), ("c", 100), ("d", 20_000)):
        (tmp_path / name).write_bytes(name.encode() * size)
    found = population(tmp_path)
    assert found.bytes == 25_100
    seen: dict[str, list[int]] = {}
    for position in range(found.bytes):
        place = found.place(position)
        assert place is not None
        seen.setdefault(Path(found.path_of(place)).name, []).append(place.offset)
    assert seen == {"a": list(range(5000)), "c": list(range(100)), "d": list(range(20_000))}


def test_blocks_tile_the_population(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(10_000))
    (tmp_path / "b").write_bytes(bytes(4096))
    found = population(tmp_path)
    blocks = [found.block(place, 4096) for place in found.blocks(4096)]
    assert blocks == [(0, 4096), (4096, 4096), (8192, 1808), (0, 4096)]
    assert found.block(BytePlace(0, 9000), 4096) == (8192, 1808)


def test_holes_are_no_data(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.seek(1024 * KIB)
        file.write(b"x" * 64 * KIB)
        file.truncate(4096 * KIB)
    found = population(tmp_path)
    if found.hole_bytes == 0:
        needs.skip("this file system tells no holes")
    assert found.bytes == 64 * KIB and found.hole_bytes == 4032 * KIB
    place = found.place(0)
    assert place is not None and place.offset == 1024 * KIB


def test_links_and_special_files_are_left_out_and_hard_links_count_once(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.write_bytes(b"y" * 9000)
    inside.mkdir()
    (inside / "file").write_bytes(b"x" * 1000)
    (inside / "again").hardlink_to(inside / "file")
    (inside / "link").symlink_to(outside)
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    found = population(inside)
    assert found.bytes == 1000
    left = found.left_out()
    assert (left.links, left.special_files, left.lost_files) == (2, 1, 0)


def test_a_link_that_is_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 1000)
    (tmp_path / "link").symlink_to("file")
    assert population(tmp_path / "link").bytes == 1000


def test_a_file_that_vanishes_or_shrinks_is_lost_and_said(tmp_path: Path) -> None:
    for name in ("gone", "short", "stays"):
        (tmp_path / name).write_bytes(b"x" * 1000)
    found = population(tmp_path)
    (tmp_path / "gone").unlink()
    os.truncate(tmp_path / "short", 0)
    read = [found.read(BytePlace(segment, 0), 4096) for segment in range(3)]
    assert [place is None for place in read] == [True, True, False]
    left = found.left_out()
    assert (left.lost_files, left.lost_bytes) == (2, 2000)
    assert [remark.split(": ")[1] for remark in left.remarks] == [
        "no such file or directory",
        "it was cut short meanwhile",
    ]
    assert found.place(0) is None, "nothing more is drawn from it"


def test_reading_changes_no_time_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100_000)
    os.utime(file, ns=(10**18, 2 * 10**18))
    before = file.stat()
    found = population(file)
    assert found.read(BytePlace(0, 5000), 4096) == (4096, b"x" * 4096)
    after = file.stat()
    assert (before.st_atime_ns, before.st_mtime_ns) == (after.st_atime_ns, after.st_mtime_ns)


def test_a_folder_that_may_not_be_read_is_lost_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "file").write_bytes(b"x" * 1000)
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = population(tmp_path)
    assert found.bytes == 1000
    left = found.left_out()
    assert (left.lost_folders, left.lost_files) == (1, 0)
    assert left.remarks == [f"{tmp_path / 'closed'}: permission denied"]


def test_what_is_not_there_and_what_is_no_data_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="no such file or directory; name one that is there"):
        population(tmp_path / "nothing")
    with pytest.raises(UsageError, match="is no file, folder or block device"):
        population(tmp_path / "pipe")


FIGURES = [EstimateRequest("plain", LZ4, 4096)]


def half(key: CodecKey) -> Codec:
    return Codec(key, lambda block: len(block) // 2)


@pytest.fixture
def volumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two folders with data; the device of the first fails when it is listed."""
    places = [tmp_path / "bad", tmp_path / "good"]
    for place in places:
        place.mkdir()
        (place / "file").write_bytes(b"x" * 8192)
    add = Population.add

    def failing(self: Population, path: Path) -> Kind:
        if path == places[0]:
            raise MawlError("cannot be read", where=str(path), why="input/output error")
        return add(self, path)

    monkeypatch.setattr(Population, "add", failing)
    return places


def test_one_that_cannot_be_read_costs_itself_and_its_roles_figure(volumes: list[Path]) -> None:
    roles: dict[Role, list[Path]] = {"work": volumes}
    found = look_at(LookRequest(roles=roles, figures=FIGURES, seed=1), loader=half)
    bad, good = found.volumes
    assert good.estimates[0].saving_ratio == 0.5 and good.reason is None
    assert bad.estimates[0].saving_ratio is None and bad.reason == "input/output error"
    assert (bad.kind, bad.files, bad.data_bytes, bad.hole_bytes, bad.zero_share.ratio) == (None,) * 5
    assert bad.estimates[0].original_bytes is None and found.roles[0].data_bytes is None
    (role,) = found.roles[0].estimates
    assert role.saving_ratio is None and role.reason == "input/output error", "half of it is not known"


def test_where_none_can_be_read_or_one_is_not_there_it_is_an_error(volumes: list[Path]) -> None:
    with pytest.raises(MawlError, match="bad: cannot be read: input/output error"):
        look_at(LookRequest(paths=volumes[:1], figures=FIGURES, seed=1), loader=half)
    with pytest.raises(UsageError, match="cannot be looked at"):
        look_at(LookRequest(paths=[*volumes, volumes[0] / "none"], figures=FIGURES, seed=1), loader=half)

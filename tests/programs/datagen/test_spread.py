"""Input tables over the volumes of data: even, found again, and never moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.programs.datagen.generate import TableRequest, generate, spread_tables

SCALE = 0.00001
REQUESTS = [TableRequest(table="policies", scale=SCALE, seed=1, replica=replica) for replica in range(8)]
SIZES = [800, 700, 600, 500, 400, 300, 200, 100]


@pytest.fixture
def homes(tmp_path: Path) -> list[Path]:
    made = [tmp_path / name for name in "abcd"]
    for home in made:
        home.mkdir()
    return made


def test_by_rotation_each_volume_gets_the_same_bytes(homes: list[Path]) -> None:
    chosen = spread_tables(REQUESTS, SIZES, homes, "rotation")
    held = [sum(size for home, size in zip(chosen, SIZES, strict=True) if home == each) for each in homes]
    assert held == [900, 900, 900, 900]


def test_what_is_there_stays_whatever_becomes_of_the_list(homes: list[Path]) -> None:
    first = spread_tables(REQUESTS, SIZES, homes[:2], "rotation")
    made = generate(REQUESTS, first, processes=1, bufsize_bytes=4096)
    assert [table.directory.parent for table in made] == first
    assert {table.status for table in made} == {"built"}
    for other in (homes, homes[:2][::-1], [homes[2], *homes[:2]]):
        assert spread_tables(REQUESTS, SIZES, other, "rotation") == first
        assert spread_tables(REQUESTS, SIZES, other, "free-space") == first
    again = generate(
        REQUESTS, spread_tables(REQUESTS, SIZES, homes, "rotation"), processes=1, bufsize_bytes=4096
    )
    assert {table.status for table in again} == {"verified"}
    without = spread_tables(REQUESTS, SIZES, homes[1:], "rotation")
    gone = [place for place, home in enumerate(first) if home == homes[0]]
    assert gone
    assert all(without[place] != homes[0] for place in gone), "made again elsewhere"
    assert all((table.directory / "manifest.json").is_file() for table in made), "nothing was removed"


def test_a_table_that_was_begun_is_continued_where_it_is(homes: list[Path]) -> None:
    (whole,) = generate(REQUESTS[:1], homes[2], processes=1, bufsize_bytes=4096)
    (whole.directory / "manifest.json").unlink()
    assert spread_tables(REQUESTS[:1], SIZES[:1], homes, "rotation") == [homes[2]]


def test_by_free_space_a_full_volume_gets_nothing(homes: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.records.volumes._free_bytes", lambda home: 0 if home == homes[0] else 1000)
    chosen = spread_tables(REQUESTS, SIZES, homes, "free-space")
    assert homes[0] not in chosen
    assert [chosen.count(home) for home in homes[1:]] == pytest.approx([8 / 3] * 3, abs=1.5)

"""The compressibility dial against zstd level 1 itself, in independent blocks of 128 KiB of the files."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from mawl.datagen.dial import dial_bytes, filled_bytes, fills
from mawl.datagen.generate import TableRequest, generate
from mawl.errors import UsageError
from mawl.plan.catalogue import INPUTS
from mawl.plan.tables import InputTable

TABLES = pytest.mark.parametrize("table", INPUTS.values(), ids=INPUTS)
BLOCK_BYTES = 128 * 1024


def measured_saving(directory: Path) -> float:
    compressor = zstandard.ZstdCompressor(level=1)
    stored = original = 0
    for path in sorted([*directory.glob("part-*"), *directory.glob("state-*")]):
        content = path.read_bytes()
        for start in range(0, len(content), BLOCK_BYTES):
            block = content[start : start + BLOCK_BYTES]
            stored += min(len(compressor.compress(block)), len(block))
            original += len(block)
    return 1 - stored / original


@TABLES
@pytest.mark.parametrize("saving", [0.5, 0.7, 0.9])
def test_a_table_saves_what_the_dial_says(table: InputTable, saving: float, tmp_path: Path) -> None:
    request = TableRequest(table=table.name, scale=8e6 / table.full_bytes, seed=5, saving=saving)
    (made,) = generate([request], tmp_path, processes=1, bufsize_bytes=256 * 1024)
    assert measured_saving(made.directory) == pytest.approx(saving, abs=0.03)
    assert made.manifest.row_bytes == table.row_bytes


@TABLES
def test_an_unfilled_row_takes_the_bytes_declared(table: InputTable, tmp_path: Path) -> None:
    lowest = 1 - table.unfilled_bytes / table.row_bytes
    request = TableRequest(table=table.name, scale=8e6 / table.full_bytes, seed=5, saving=lowest)
    (made,) = generate([request], tmp_path, processes=1, bufsize_bytes=256 * 1024)
    assert filled_bytes(table, lowest) == 0
    taken = (1 - measured_saving(made.directory)) * table.row_bytes
    assert taken == pytest.approx(table.unfilled_bytes, rel=0.05)


@TABLES
def test_less_saving_fills_more_and_never_more_than_there_is(table: InputTable) -> None:
    filled = [filled_bytes(table, saving) for saving in (0.9, 0.8, 0.7, 0.6, 0.5)]
    assert filled == sorted(filled)
    assert filled[1] > filled[0]
    assert filled[-1] <= dial_bytes(table)


@TABLES
@pytest.mark.parametrize("saving", [0.2, 0.995])
def test_a_saving_out_of_reach_is_refused_with_the_range(table: InputTable, saving: float) -> None:
    with pytest.raises(
        UsageError, match=rf"{table.name} cannot be {saving}: its columns allow 0\.\d\d to 0\.9"
    ):
        filled_bytes(table, saving)


def test_dial_columns_fill_one_after_the_other() -> None:
    assert list(fills(INPUTS["policies"], 50).values()) == [8, 42, 0, 0, 0]
    assert fills(INPUTS["census"], 50) == {"household_filler": 50, "person_filler": 50}

"""What only full scale reaches, in small: rows past 2**31, offsets past 2**40 in sparse files, many parts."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import numpy as np
import pytest

from mawl.plan.catalogue import CATALOGUE, INPUTS
from mawl.plan.columns import InputTable
from mawl.plan.spec import SCALES, scaled_options
from mawl.programs.datagen.parts import PARTIAL, PartTask, RowSlot, build_part, is_intact
from mawl.programs.datagen.text import filled_bytes
from mawl.programs.ledger_update import RowFile
from mawl.programs.random_access import PAGE_WORDS, Lane, PageFile
from mawl.programs.tables.arrow import batch_rows, parts, read_batches
from mawl.programs.tables.direct import DirectIo
from mawl.programs.toolkit.partitions import partition_count, rows_in
from mawl.programs.toolkit.rows import memory, read_records
from mawl.records.spec.program_options import MIB, Options

FAR = 2**31
"""A row number that 32 signed bits cannot hold."""
LARGEST_SCALE = 100.0
BUFSIZE = 256 * 1024


def aligned(table: InputTable, row: int) -> int:
    """The first row of the group (or batch) that holds ``row``."""
    unit = 2 * table.group_rows if table.layout == "text" else batch_rows(table.row_bytes)
    return row // unit * unit


def some_rows(table: InputTable) -> int:
    """A few whole groups (an even number of them, as parts have), or rows."""
    return 4 * table.group_rows if table.layout == "text" else 64


def far_task(table: InputTable, directory: Path, start: int, rows: int) -> PartTask:
    """Rows from ``start`` on as a part of their own, at the offset that they have in one single file."""
    text = table.layout == "text"
    return PartTask(
        table=table,
        directory=str(directory),
        slot=RowSlot(
            file="state-01.txt" if text else "part-00000.arrow",
            start=start,
            rows=rows,
            offset=start * table.row_bytes if text else 0,
            bytes=rows * table.row_bytes,
        ),
        seed=7,
        replica=1,
        filled=filled_bytes(table, 0.9),
        bufsize_bytes=BUFSIZE,
    )


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_a_part_past_two_to_the_31_is_made_and_read_back(name: str, tmp_path: Path) -> None:
    table = INPUTS[name]
    task = far_task(table, tmp_path, aligned(table, FAR - 1), some_rows(table))
    part = build_part(task)
    written = next(tmp_path.iterdir())
    if table.layout == "text":
        assert written.stat().st_size == task.slot.offset + task.slot.bytes > 2**38
        assert written.stat().st_blocks * 512 < 8 * MIB
        written.rename(written.with_name(written.name.removesuffix(PARTIAL)))
    assert is_intact(msgspec.structs.replace(task, expected=part))
    # The same rows as part of a longer one, whose sums must be those of its halves.
    halves = [tmp_path / "first", tmp_path / "second"]
    sums = []
    for place, start in zip(halves, (task.slot.start, task.slot.start + task.slot.rows), strict=True):
        place.mkdir()
        sums.append(build_part(far_task(table, place, start, task.slot.rows)).sums)
    both = tmp_path / "both"
    both.mkdir()
    whole = build_part(far_task(table, both, task.slot.start, 2 * task.slot.rows)).sums
    assert sums[0] == part.sums
    assert whole == {column: (sums[0][column] + sums[1][column]) % 2**64 for column in whole}


@pytest.mark.parametrize("name", sorted(name for name in INPUTS if INPUTS[name].layout == "arrow"))
def test_numbers_past_two_to_the_31_are_whole_and_finite(name: str, tmp_path: Path) -> None:
    table = INPUTS[name]
    build_part(far_task(table, tmp_path, FAR - 32, 64))
    (batch,) = read_batches(tmp_path, bufsize_bytes=BUFSIZE)
    for column in table.columns:
        if column.width is None:
            values = batch.column(column.name).to_numpy()
            assert np.isfinite(values).all(), column.name
            # A number that had wrapped around would be negative and huge.
            assert values.min() > -(2.0**31), column.name
            assert abs(values).max() < 2.0**53, column.name


def test_parts_are_read_in_order_past_the_hundred_thousandth(tmp_path: Path) -> None:
    names = [
        "part-00000.arrow",
        "part-10000.arrow",
        "part-10001.arrow",
        "part-99999.arrow",
        "part-100000.arrow",
    ]
    for name in names:
        (tmp_path / name).touch()
    assert [path.name for path in parts(tmp_path)] == names


def test_pages_past_two_to_the_31_rows_are_read_and_updated_in_place(tmp_path: Path) -> None:
    path = tmp_path / "wide.pages"
    number = FAR // 2  # two rows of 4 KiB a page: row 2**31, byte 2**43
    io = DirectIo("auto")
    with PageFile(path, io, bufsize_bytes=BUFSIZE, create=True):
        os.truncate(path, (number + 1) * PAGE_WORDS * 8)
    with PageFile(path, io, bufsize_bytes=BUFSIZE) as file:
        assert file.pages == number + 1
        lane = Lane(file)
        assert not lane.read(number).any()
        lane.page[PAGE_WORDS // 2] = 7
        lane.write_block(number, PAGE_WORDS // 2)
        lane.read(number - 1)
        assert lane.read(number)[PAGE_WORDS // 2] == 7
    assert path.stat().st_blocks * 512 < MIB


def test_rows_past_two_to_the_31_are_replaced_in_place(tmp_path: Path) -> None:
    words = 30
    path = tmp_path / "ledger.rows"
    path.touch()
    os.truncate(path, (FAR + 8) * words * 8)
    with RowFile(path, words, bufsize_bytes=BUFSIZE) as file:
        rows = memory(2, words)
        rows[...] = 9
        file.replace(FAR, rows)
    assert rows_in(path, words) == FAR + 8
    with open(path, "rb") as source:
        source.seek((FAR - 1) * words * 8)
        found = np.frombuffer(source.read(4 * words * 8), np.uint64).reshape(4, words)
    assert found[:, 0].tolist() == [0, 9, 9, 0]


def test_text_records_past_two_to_the_31_are_parsed_at_their_offset(tmp_path: Path) -> None:
    table = INPUTS["census_single"]
    task = far_task(table, tmp_path, aligned(table, FAR), some_rows(table))
    build_part(task)
    whole = tmp_path / "whole.txt"
    with open(next(tmp_path.iterdir()), "rb") as source:
        source.seek(task.slot.offset)
        whole.write_bytes(source.read())
    (text,) = read_records(whole, table.row_bytes, bufsize_bytes=BUFSIZE)
    serials = [int(bytes(record[1:11])) for record in text]
    assert serials == sorted(serials)
    assert serials[0] > 0


@pytest.mark.parametrize("name", sorted(CATALOGUE))
@pytest.mark.parametrize("scale", [1.0, LARGEST_SCALE])
def test_declared_sizes_are_linear_and_whole(name: str, scale: float) -> None:
    program = CATALOGUE[name]
    small, large = program.bytes_by_role(0.1), program.bytes_by_role(scale)
    for role, directions in small.items():
        for direction, size in directions.items():
            assert isinstance(size, int)
            # Rows come in whole groups, hence not to the byte.
            assert large[role][direction] == pytest.approx(size * scale / 0.1, rel=5e-4)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_declared_memory_does_not_grow_beyond_full_scale(name: str) -> None:
    program = CATALOGUE[name]
    smoke, full, largest = (
        program.memory_bytes(scaled_options(Options(), scale))
        for scale in (SCALES["smoke"], SCALES["full"], LARGEST_SCALE)
    )
    assert smoke < 256 * MIB
    assert largest == full < 4.5 * 2**30


def test_the_widest_sort_of_full_scale_needs_no_more_partitions_than_memory_for_them() -> None:
    options = Options()
    size = INPUTS["transactions"].bytes(1.0)
    partitions = partition_count(size, options.sortsize_bytes)
    # A request for each partition's append, as docs/design/programs.md works it out.
    assert 800 < partitions < 1400
    assert 0.8 * options.sortsize_bytes / partitions > 128 * 1024

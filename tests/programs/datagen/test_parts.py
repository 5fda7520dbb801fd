from __future__ import annotations

import itertools

import pytest

from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import InputTable
from mawl.programs.datagen.parts import PART_BYTES, chunk_rows, part_rows, slots
from mawl.programs.tables.arrow import batch_rows

TABLES = pytest.mark.parametrize("table", INPUTS.values(), ids=INPUTS)


@TABLES
@pytest.mark.parametrize("scale", [0.0, 0.0005, 0.013, 1.0])
def test_parts_cover_every_row_once_and_in_order(table: InputTable, scale: float) -> None:
    found = slots(table, table.rows(scale))
    assert found[0].start == 0
    for before, after in itertools.pairwise(found):
        assert after.start == before.start + before.rows
        same_file = after.file == before.file
        assert after.offset == (before.offset + before.bytes if same_file else 0)
        assert after.file >= before.file
    assert sum(slot.rows for slot in found) == table.rows(scale)
    assert all(0 < slot.bytes == slot.rows * table.row_bytes <= PART_BYTES for slot in found)


@TABLES
def test_parts_are_of_whole_units_so_that_chunks_do_not_depend_on_them(table: InputTable) -> None:
    unit = batch_rows(table.row_bytes) if table.layout == "arrow" else 2 * table.group_rows
    assert part_rows(table) % unit == 0
    assert chunk_rows(table) % unit == 0


def test_census_has_a_file_a_state_of_unequal_sizes() -> None:
    table = INPUTS["census"]
    sizes: dict[str, int] = {}
    for slot in slots(table, table.rows(0.01)):
        sizes[slot.file] = sizes.get(slot.file, 0) + slot.bytes
    assert len(sizes) == 51
    assert max(sizes.values()) > 20 * min(sizes.values())


def test_full_scale_stays_within_what_directories_bear() -> None:
    table = INPUTS["transactions"]
    found = slots(table, table.rows(1.0))
    assert len(found) < 2500
    assert found[-1].file == f"part-{len(found) - 1:05d}.arrow"


def test_a_table_with_fewer_groups_than_files_is_refused() -> None:
    with pytest.raises(ValueError, match="census has fewer groups than files: 50 and 51"):
        slots(INPUTS["census"], 50 * 28)

"""random_access: three tables of rows in pages, updated and read at random places."""

from __future__ import annotations

import msgspec

from mawl.plan.programs import (
    OwnRows,
    Pass,
    Program,
    Temporary,
    data_step,
    modules_of,
    procedure_step,
    verify_step,
)
from mawl.records.spec.program_options import MIB

PAGE_BYTES = 8192
BLOCK_BYTES = 4096
"""What an update writes: the half of a page that holds the row; no row lies across two."""

READ_SHARE = 0.08
UPDATE_SHARE = 0.01
"""With these a job at full scale takes less than an hour at 5 ms a request (docs/design/programs.md)."""

INDEX_SHARE = 0.65
"""Share of memsize that the key indexes of the three tables may take."""


class PageTable(msgspec.Struct, frozen=True):
    """A table of rows in pages; ``row_bytes`` is a multiple of eight and at most a block."""

    name: str
    row_bytes: int

    @property
    def rows_per_page(self) -> int:
        """Rows of a page, whole ones in each of its blocks."""
        return BLOCK_BYTES // self.row_bytes * (PAGE_BYTES // BLOCK_BYTES)

    def point(self, share: float, *, written: bool = False) -> Pass:
        """A page read, or a block written, for each of a share of the rows."""
        size = BLOCK_BYTES if written else PAGE_BYTES
        return Pass(self.name, share * self.rows_per_page * size / PAGE_BYTES, random_bytes=size)


TABLES = (PageTable("skinny", 120), PageTable("medium", 1024), PageTable("wide", 4096))
_ALL = tuple(Pass(table.name) for table in TABLES)

PROGRAM = Program(
    name="random_access",
    program_class="io",
    title="Write a skinny, a medium and a wide table in pages, update and read rows at random",
    own_rows=OwnRows(full_rows=15_000_000, minimum_rows=12_000),
    temporaries=tuple(Temporary(table.name, "work", PAGE_BYTES, 1 / table.rows_per_page) for table in TABLES),
    steps=(
        data_step("write", "write the tables, page after page", writes=_ALL),
        data_step(
            "update",
            "update 1 % of the rows of each at random, by row number",
            reads=tuple(table.point(UPDATE_SHARE) for table in TABLES),
            writes=tuple(table.point(UPDATE_SHARE, written=True) for table in TABLES),
        ),
        procedure_step("index", "DATASETS", "one pass for the index of keys", reads=_ALL),
        procedure_step(
            "read",
            "SQL",
            "look up 8 % of the rows of each at random, by key",
            reads=tuple(table.point(READ_SHARE) for table in TABLES),
        ),
        verify_step("word sums, versions, rows made again"),
    ),
    size_knob="rows of each table it makes",
    check="word sums of all pages after the updates, key and number of every row read, rows made again",
    modules=modules_of("random_access", "numpy.ma"),
    memory_floor_bytes=8 * MIB,
    memory_per_memsize=0.7,
)

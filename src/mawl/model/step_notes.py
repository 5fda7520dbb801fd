"""What notes of a SAS log tell of the tables, sorts and indexes of one step (docs/design/sas-log.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

SortNote = Literal["threaded", "single", "host", "sorted", "source"]
"""How a sort went: by SAS's threaded or single-threaded sort, by a sort of the host, not at all because the
rows were in order already, or in the database that holds the table."""

Count = Annotated[int, msgspec.Meta(ge=0, lt=10**18)]
"""What a log can count: SAS writes at most 18 digits here."""

MOST_TABLES = 100
"""Tables of one step that are kept; of more only their number."""


class TableNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A table or a file that a step read or wrote, as far as a note tells.

    ``name`` is the table's as the log has it (``WORK.SALES``, or one word, which is a table of WORK); None
    where it cannot be read, and for external files, whose names can be paths.  ``longest_record_bytes`` and
    ``file_bytes`` are of external files.  In mawl's own logs ``file_bytes`` is also what a command moved in a
    role; ``name`` is then ``ROLE.PROGRAM``.  ``pages`` is told of compressed tables only, and counts pages of
    the table's own page size, which no log tells.  A ``remote`` table lies in a database or another session:
    the log tells the engine of its libref.
    """

    direction: Literal["read", "written"]
    name: str | None = None
    external: bool = False
    remote: bool = False
    rows: Count | None = None
    variables: Count | None = None
    shortest_record_bytes: Count | None = None
    longest_record_bytes: Count | None = None
    file_bytes: Count | None = None
    pages: Count | None = None
    uncompressed_pages: Count | None = None


class StepNotes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The notes above the performance note of a step, in their order.

    ``tables_left_out`` counts those beyond :data:`MOST_TABLES`.  ``indexes_used`` are those that answered a
    WHERE clause or a join (MSGLEVEL=I), ``indexes_made`` those that the step built.
    """

    tables: tuple[TableNote, ...] = ()
    tables_left_out: Count = 0
    sort: SortNote | None = None
    indexes_made: Count = 0
    indexes_used: Count = 0

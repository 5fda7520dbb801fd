"""What a job writes down beside its counters is read as it comes, whatever else is in the file."""

from __future__ import annotations

from pathlib import Path

from mawl.measure.preload.job import Entry, Ledger, append_entry, ledger_of
from mawl.records.model.role_io import RoleIo


def entry(number: int) -> Entry:
    """An entry with some I/O."""
    io = {"work": RoleIo(reads=number, read_bytes=7, read_nanoseconds_histogram={16: number})}
    return Entry(number=number, io=io, moved_read_bytes=7, moved_written_bytes=0)  # type: ignore[arg-type]


def test_entries_come_one_by_one(tmp_path: Path) -> None:
    counters = str(tmp_path / "job")
    ledger = Ledger(counters)
    assert ledger.entries() == {}
    for number in (0, 1):
        append_entry(counters, entry(number))
        assert ledger.entries()[number] == entry(number)
    assert sorted(ledger.entries()) == [0, 1]


def test_a_torn_line_waits_and_a_damaged_one_is_left_out(tmp_path: Path) -> None:
    counters = str(tmp_path / "job")
    ledger = Ledger(counters)
    append_entry(counters, entry(1))
    with ledger_of(counters).open("ab") as file:
        file.write(b"what is this\n" + b'{"number": 2, "io": {}, ')
    assert sorted(ledger.entries()) == [1]
    with ledger_of(counters).open("ab") as file:
        file.write(b'"moved_read_bytes": 1, "moved_written_bytes": 2}\n')
    assert sorted(ledger.entries()) == [1, 2]

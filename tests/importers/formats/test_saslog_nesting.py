"""Steps within steps: the DATA step of PROC IMPORT or EXPORT counts once, in the step that ran it."""

from __future__ import annotations

import io

import pytest

from mawl.importers.formats import saslog
from mawl.importers.formats import text as decoding
from mawl.importers.formats.saslog import read_log, read_notes, read_parts
from mawl.importers.formats.saslog_nesting import MOST_HELD, with_nesting
from mawl.importers.formats.saslog_records import Entry, LogFact, PerformanceNote
from mawl.importers.formats.saslog_scan import NoteBatch
from mawl.records.model.records import MOST_TABLES
from tests import needs

PAGE = "\f7                       The SAS System        10:00 Friday, November 20, 2026\n\n"


def note(subject: str, real: str, step: int | None, stamp: str = "10:00:05 AM") -> str:
    """A performance note of FULLSTIMER, or without a step number of STIMER."""
    rest = "      cpu time            0.01 seconds\n      \n"
    if step is not None:
        rest = (
            "      user cpu time       0.01 seconds\n      system cpu time     0.00 seconds\n"
            "      memory              9578.90k\n      OS Memory           27040.00k\n"
            f"      Timestamp           11/20/2026 {stamp}\n"
            f"      Step Count                        {step}  Switch Count  0\n      \n"
        )
    return f"NOTE: {subject} used (Total process time):\n      real time           {real}\n{rest}"


def imported(
    step: int | None, inner: str = "0.06 seconds", table: str = "WORK.WANT", between: str = ""
) -> str:
    """What PROC IMPORT of a text file writes."""
    return (
        "NOTE: 5 records were read from the infile CSV.\n"
        "      The minimum record length was 26.\n"
        "      The maximum record length was 28.\n"
        "NOTE: The data set WORK.WANT has 5 observations and 6 variables.\n"
        f"{note('DATA statement', inner, step)}{between}"
        "\n5 rows created in WORK.WANT from CSV.\n\n"
        "NOTE: WORK.WANT data set was successfully created.\n"
        f"NOTE: The data set {table} has 5 observations and 6 variables.\n"
        f"{note('PROCEDURE IMPORT', '0.17 seconds', step)}"
    )


def exported(
    step: int | None, inner: str = "0.09 seconds", table: str = "WORK.WANT", between: str = ""
) -> str:
    """What PROC EXPORT to a text file writes (public logs of saspy and of SAS 9.4 on Windows)."""
    return (
        "NOTE: 2 records were written to the file '/out/a.csv'.\n"
        "      The minimum record length was 85.\n"
        "      The maximum record length was 192.\n"
        "NOTE: There were 1 observations read from the data set WORK.WANT.\n"
        f"{note('DATA statement', inner, step)}{between}"
        f"1 records created in /out/a.csv from {table}.\n  \n  \n"
        'NOTE: "/out/a.csv" file was successfully created.\n'
        f"{note('PROCEDURE EXPORT', '0.82 seconds', step)}"
    )


def read(text: str) -> list[PerformanceNote]:
    return list(read_notes(text.splitlines()))


@pytest.mark.parametrize("step", [726, None])
@pytest.mark.parametrize("between", ["", PAGE, "ERROR: a value is out of range.\n"])
def test_the_step_within_an_import_has_its_rows_in_the_import(step: int | None, between: str) -> None:
    inner, outer = read(imported(step, between=between))
    assert (inner.kind, inner.nested, inner.rows_read, inner.rows_written) == ("data", True, None, None)
    assert inner.notes is None and inner.usage.real_time_seconds == 0.06
    assert (outer.name, outer.nested, outer.usage.real_time_seconds) == ("IMPORT", False, 0.17)
    assert (outer.rows_read, outer.rows_written, outer.variables_written) == (5, 5, 6)
    assert outer.notes is not None
    file, table = outer.notes.tables
    assert (file.external, file.rows, file.longest_record_bytes) == (True, 5, 28)
    assert (table.name, table.rows) == ("WORK.WANT", 5)


@pytest.mark.parametrize("step", [726, None])
@pytest.mark.parametrize("between", ["", "\n\n", PAGE])
def test_the_step_within_an_export_has_its_rows_in_the_export(step: int | None, between: str) -> None:
    inner, outer = read(exported(step, between=between))
    assert (inner.kind, inner.nested, inner.rows_read, inner.rows_written) == ("data", True, None, None)
    assert (outer.name, outer.nested, outer.usage.real_time_seconds) == ("EXPORT", False, 0.82)
    assert (outer.rows_read, outer.rows_written) == (1, 2)
    assert outer.notes is not None
    file, table = outer.notes.tables
    assert (file.external, file.direction, file.longest_record_bytes) == (True, "written", 192)
    assert (table.name, table.direction, table.rows) == ("WORK.WANT", "read", 1)


@pytest.mark.parametrize(
    "text",
    [
        exported(None, table="WORK.OTHER"),
        exported(None, inner="0.90 seconds"),
        exported(None).replace("1 records created", "7 records created"),
        imported(None, table="WORK.OTHER"),
        imported(None, inner="0.50 seconds"),
        imported(3).replace("Step Count                        3", "Step Count                        4", 1),
        note("PROCEDURE SORT", "1.00 seconds", None) + note("PROCEDURE SORT", "2.00 seconds", None),
    ],
    ids=[
        *("export of another table", "longer than the export", "other rows than the export"),
        *("another table", "longer than the import", "another number", "no import"),
    ],
)
def test_steps_one_after_another_are_none_within_another(text: str) -> None:
    first, second = read(text)
    assert not first.nested and not second.nested
    assert second.notes is None or len(second.notes.tables) == 1


def test_steps_of_one_number_in_several_sessions_are_none_within_another() -> None:
    """PROC PRINTTO appends the logs of many nights to one file."""
    nights = note("PROCEDURE SORT", "1.00 seconds", 5, "10:00:05 AM")
    nights += note("PROCEDURE SORT", "2.00 seconds", 5, "10:00:08 AM")
    nights += note("PROCEDURE SORT", "2.00 seconds", 5, "09:00:00 AM")
    assert [one.nested for one in read(nights)] == [False, False, False]


def test_a_session_total_has_the_number_of_its_last_step_and_contains_none() -> None:
    total = note("The SAS System", "9.00 seconds", 3)
    step, whole = read(note("DATA statement", "1.00 seconds", 3) + total)
    assert (step.nested, whole.kind, whole.nested) == (False, "session", False)


def test_all_steps_that_a_step_ran_are_in_it_however_long_each_is() -> None:
    reads = "NOTE: There were 7 observations read from the data set WORK.A.\n"
    writes = "NOTE: The data set WORK.B has 7 observations and 2 variables.\n"
    text = reads + note("PROCEDURE SORT", "2.00 seconds", 9, "10:00:02 AM") + writes
    text += note("PROCEDURE MEANS", "1.00 seconds", 9, "10:00:03 AM") + PAGE + writes.replace(".B", ".C")
    text += note("DATA statement", "4.00 seconds", 9, "10:00:04 AM")
    *inner, outer = read(text)
    assert [one.nested for one in inner] == [True, True]
    assert (outer.rows_read, outer.rows_written, outer.variables_written) == (7, 14, 4)
    assert outer.notes is not None
    assert [table.name for table in outer.notes.tables] == ["WORK.A", "WORK.B", "WORK.C"]


def test_statements_of_proc_sql_have_one_number_and_none_is_within_another() -> None:
    text = note("SQL Statement", "0.50 seconds", 9, "10:00:01 AM")
    text += note("SQL Statement", "2.00 seconds", 9, "10:00:03 AM")
    found = read(text + note("PROCEDURE SQL", "2.50 seconds", 9, "10:00:03 AM"))
    assert [(one.name, one.nested) for one in found] == [("SQL", False)] * 3


def test_a_table_that_two_inner_steps_wrote_was_written_twice() -> None:
    writes = "NOTE: The data set WORK.B has 7 observations and 2 variables.\n"
    text = writes + note("DATA statement", "2.00 seconds", 9, "10:00:02 AM")
    text += writes + note("PROCEDURE SORT", "2.00 seconds", 9, "10:00:04 AM")
    *_, outer = read(text + note("DATA statement", "5.00 seconds", 9, "10:00:05 AM"))
    assert outer.rows_written == 14


def test_a_step_that_ended_before_another_began_is_none_within_it() -> None:
    text = "".join(note("PROCEDURE SORT", "3.00 seconds", 9, f"10:00:0{at} AM") for at in (2, 5))
    *inner, outer = read(text + note("DATA statement", "4.00 seconds", 9, "10:00:06 AM"))
    assert [one.nested for one in inner] == [False, True] and not outer.nested


def test_without_stamps_equal_numbers_alone_show_nothing() -> None:
    text = note("PROCEDURE SORT", "1.00 seconds", 9) + note("DATA statement", "4.00 seconds", 9)
    lines = [line for line in text.splitlines() if "Timestamp" not in line]
    assert [one.nested for one in read_notes(lines)] == [False, False]
    text = imported(9)
    lines = [line for line in text.splitlines() if "Timestamp" not in line]
    assert [one.nested for one in read_notes(lines)] == [True, False]


def test_rows_that_a_damaged_note_leaves_unknown_stay_unknown() -> None:
    damaged = "NOTE: There were 7 observations read from the data set WORK.A.\n"
    damaged += "NOTE: There were 7 observations\n    read frum the data set WORK.B.\n"
    whole = "NOTE: There were 5 observations read from the data set WORK.C.\n"
    text = damaged + note("PROCEDURE SORT", "1.00 seconds", 9) + whole
    inner, outer = read(text + note("DATA statement", "4.00 seconds", 9))
    assert inner.nested and outer.rows_read is None


@pytest.mark.parametrize(
    "between",
    [
        "ERROR: Remote submit to A canceled.\n",
        PAGE.replace("7 ", "1 "),
        "NOTE: Remote signoff from A commencing.\n",
    ],
)
def test_a_line_that_begins_or_ends_a_session_parts_two_notes(between: str) -> None:
    first, second = read(
        note("PROCEDURE SORT", "1.00 seconds", 9) + between + note("DATA statement", "4.00 seconds", 9)
    )
    assert not first.nested and not second.nested


def test_tables_beyond_the_most_are_counted() -> None:
    reads = "NOTE: There were 1 observations read from the data set WORK.A.\n" * MOST_TABLES
    _, outer = read(
        reads + note("DATA statement", "1.00 seconds", 9) + reads + note("DATA statement", "2.00 seconds", 9)
    )
    assert outer.notes is not None and outer.rows_read == 2 * MOST_TABLES
    assert (len(outer.notes.tables), outer.notes.tables_left_out) == (MOST_TABLES, MOST_TABLES)


def test_what_is_held_back_between_two_notes_is_bounded_and_keeps_its_order() -> None:
    first, *_ = read(note("DATA statement", "1.00 seconds", 1))
    errors = [LogFact(line, "error", "x") for line in range(2, 3 * MOST_HELD)]
    seen: list[int] = []

    def told() -> object:
        for number, part in enumerate([first, *errors]):
            seen.append(number)
            yield part

    out = []
    for part in with_nesting(told()):  # type: ignore[arg-type]
        out.append(part)
        assert len(seen) - len(out) <= MOST_HELD + 1
    assert out == [first, *errors]


@needs.marks(needs.COMPILER)
@pytest.mark.parametrize("chunk", [700, 4096, 256 * 1024])
def test_large_logs_are_read_as_small_ones(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs within a batch, at its end and at its beginning, and logs without any."""
    monkeypatch.setattr(saslog, "LEAST_SCANNED_BYTES", 0)
    monkeypatch.setattr(decoding, "CHUNK_BYTES", chunk)

    def sort(step: int | None) -> str:
        reads = "NOTE: There were 7 observations read from the data set WORK.A.\n"
        return reads + note("PROCEDURE SORT", "1.00 seconds", step)

    numbered = "".join(imported(step) if step % 9 == 0 else sort(step) for step in range(1, 60))
    plain = "".join(imported(None) if step % 9 == 0 else sort(None) for step in range(1, 60))
    alone = "".join(sort(step) for step in range(1, 60))
    files = "".join(exported(None) if step % 9 == 0 else sort(None) for step in range(1, 60))
    other = "".join(
        f"{sort(step)}{note('PROCEDURE EXPORT', '1.00 seconds', step)}" if step % 7 == 0 else sort(step)
        for step in range(1, 60)
    )
    for text in (numbered, plain, alone, files, other):
        batches = 0
        entries: list[Entry] = []
        for part in read_parts(io.BytesIO(text.encode()), lambda *_: None):
            batches += isinstance(part, NoteBatch)
            entries.extend(part.entries() if isinstance(part, NoteBatch) else [part])
        assert entries == list(read_log(io.BytesIO(text.encode()), lambda *_: None))
        notes = [entry for entry in entries if isinstance(entry, PerformanceNote)]
        assert any(one.nested for one in notes) == (text is not alone)
        assert batches or text is not alone

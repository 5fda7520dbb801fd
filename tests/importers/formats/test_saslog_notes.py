"""What notes above a performance note tell of tables, compression, sorts and indexes.

The tables that mawl's own logs name are those that the program declares.
"""

from __future__ import annotations

import io
import re

import msgspec
import pytest

from mawl.importers.formats.saslog import LEAST_SCANNED_BYTES, read_log, read_notes, read_parts
from mawl.importers.formats.saslog_notes import file_notes, member, row_notes
from mawl.importers.formats.saslog_records import LogFact, PerformanceNote
from mawl.plan.catalogue import CATALOGUE
from mawl.records.model.records import MOST_TABLES, StepNotes, StepRecord, TableNote, Usage
from mawl.records.model.role_io import RoleIo

READ = re.compile(r"NOTE: (?:There were )?([0-9]+) (?:observations|records were) read from")
WRITTEN = re.compile(r"NOTE: (?:The data set \S+ has ([0-9]+) obs|([0-9]+) records were written)")
EVERY = [(program.name, step.name) for program in CATALOGUE.values() for step in program.steps]


def step(name: str, read: int | None, written: int | None) -> StepRecord:
    return StepRecord(
        job="j", number=1, name=name, kind="data", started_at=None, ended_at=None, usage=Usage(),
        rows_read=read, rows_written=written,
    )  # fmt: skip


@pytest.mark.parametrize(("program", "name"), EVERY)
def test_the_rows_of_the_notes_add_up_to_those_of_the_step(program: str, name: str) -> None:
    lines = list(row_notes(step(name, 1_000_003, 777), CATALOGUE[program], "NAME"))
    reads = [int(found[1]) for line in lines if (found := READ.match(line))]
    writes = [int(found[1] or found[2]) for line in lines if (found := WRITTEN.match(line))]
    assert sum(reads) == 1_000_003
    assert sum(writes) == 777


def test_tables_have_their_role_as_libref_and_text_files_their_record_length() -> None:
    sort = list(row_notes(step("sort", 10, 10), CATALOGUE["wide_sort"], "SORT"))
    assert sort[0] == "NOTE: There were 10 observations read from the data set UTIL.WIDE_PARTS."
    assert re.fullmatch(r"NOTE: The data set WORK\.WIDE has 10 observations and \d+ variables\.", sort[1])
    parse = list(row_notes(step("parse", 10, None), CATALOGUE["census_load"], "PARSE"))
    assert parse[0] == "NOTE: 10 records were read from the infile CENSUS."
    assert (
        parse[2] == f"      The maximum record length was {CATALOGUE['census_load'].inputs[0].record_bytes}."
    )


def test_a_step_that_nobody_declares_keeps_its_own_name() -> None:
    assert list(row_notes(step("any", 1, 2), None, "ANY")) == [
        "NOTE: There were 1 observations read from the data set MAWL.ANY.",
        "NOTE: 2 records were written to the file ANY.",
    ]


def test_the_files_of_a_command_have_its_name_and_their_bytes_by_role() -> None:
    io = {"data": RoleIo(read_bytes=5), "work": RoleIo(), "util": RoleIo(read_bytes=7, written_bytes=9)}
    one = msgspec.structs.replace(step("command", None, None), io=io)
    assert list(file_notes(one, "my-tool.sh")) == [
        "NOTE: 5 bytes were read from the files DATA.MY_TOOL_SH.",
        "NOTE: 7 bytes were read from the files UTIL.MY_TOOL_SH.",
        "NOTE: 9 bytes were written to the files UTIL.MY_TOOL_SH.",
    ]
    assert list(file_notes(step("command", None, None), "tool")) == []


def test_names_of_tables_are_names_in_sas() -> None:
    assert [member(name) for name in ("wide parts", "9 lives", "x" * 40)] == [
        "WIDE_PARTS",
        "_9_LIVES",
        "X" * 32,
    ]


BLOCK = """\
NOTE: PROCEDURE SORT used (Total process time):
      real time           2.50 seconds
      cpu time            1.00 seconds
      \n
"""


def notes_of(above: str) -> StepNotes | None:
    [note] = read_notes((above + BLOCK).splitlines(keepends=True))
    return note.notes


def test_tables_have_names_rows_and_variables_in_the_order_of_the_log() -> None:
    found = notes_of(
        "NOTE: There were 1000 observations read from the data set BANK.LEDGER.\n"
        "      WHERE amount>0;\n"
        "NOTE: SAS threaded sort was used.\n"
        "NOTE: The data set WORK.SORTED has 900 observations and 12 variables.\n"
    )
    assert found == StepNotes(
        tables=(
            TableNote(direction="read", name="BANK.LEDGER", rows=1000, filtered=True),
            TableNote(direction="written", name="WORK.SORTED", rows=900, variables=12),
        ),
        sort="threaded",
    )


APPEND = (
    "NOTE: Appending WORK.DELTA to DWH.FACT.\n"
    "NOTE: There were 5000 observations read from the data set WORK.DELTA.\n"
    "NOTE: 5000 observations added.\n"
    "NOTE: The data set DWH.FACT has 297000000 observations and 6 variables.\n"
)


@pytest.mark.parametrize(("without", "added"), [("", 5000), ("There were", 5000), ("added", 297000000)])
def test_an_append_wrote_the_rows_that_it_added(without: str, added: int) -> None:
    lines = APPEND.splitlines(keepends=True)
    above = "".join(line for line in lines if not without or without not in line)
    [note] = read_notes((above + BLOCK).splitlines(keepends=True))
    assert note.rows_written == added
    assert note.notes is not None
    whole = 297000000 if added == 5000 else None
    assert note.notes.tables[-1] == TableNote(
        direction="written", name="DWH.FACT", rows=added, table_rows=whole, variables=6
    )


UPLOAD = (
    "NOTE: The data set WORK.A has 999 observations and 18 variables.\n"
    "NOTE: Uploaded 999 observations of 18 variables.\n"
)


@pytest.mark.parametrize("verb", ["Uploaded", "Downloaded"])
@pytest.mark.parametrize(("repeated", "written"), [("WORK.A", 999), ("WORK.B", 1998)])
@pytest.mark.parametrize("whole", [True, False])
def test_a_table_that_was_transferred_is_told_twice_and_counts_once(
    verb: str, repeated: str, written: int, whole: bool
) -> None:
    lines = UPLOAD.replace("Uploaded", verb) + UPLOAD.splitlines(keepends=True)[0].replace("WORK.A", repeated)
    if not whole:
        lines = lines.replace("WORK.A", "WORK.'A B'n")  # a name that is read line by line
    [note] = read_notes((lines + BLOCK).splitlines(keepends=True))
    assert (note.rows_written, note.variables_written) == (written, 18 * written // 999)
    assert note.notes is not None and len(note.notes.tables) == written // 999


def test_rows_that_one_step_added_are_not_those_of_the_next_in_a_large_log() -> None:
    plain = "NOTE: The data set WORK.A has 7 observations and 2 variables.\n" + BLOCK
    text = ((APPEND + BLOCK + plain) * (1 + LEAST_SCANNED_BYTES // len(plain))).encode()
    rows: list[int | None] = []
    for part in read_parts(io.BytesIO(text), lambda *_: None):
        entries = [part] if isinstance(part, PerformanceNote | LogFact) else part.entries()
        rows += [entry.rows_written for entry in entries if isinstance(entry, PerformanceNote)]
    assert len(rows) > 100 and rows == [5000, 7] * (len(rows) // 2)


def test_pages_of_a_compressed_table_belong_to_the_table_of_that_name() -> None:
    found = notes_of(
        "NOTE: The data set WORK.A has 5 observations and 2 variables.\n"
        "NOTE: Compressing data set WORK.A decreased size by 45.23 percent. \n"
        "      Compressed is 1202 pages; un-compressed would require 2195 pages.\n"
        "NOTE: The data set WORK.B has 6 observations and 2 variables.\n"
    )
    assert found is not None
    assert [(table.pages, table.uncompressed_pages) for table in found.tables] == [(1202, 2195), (None, None)]


def test_external_files_have_record_lengths_and_size_and_no_name() -> None:
    found = notes_of(
        "NOTE: The infile '/shop/secret.csv' is:\n"
        "      Filename=/shop/secret.csv,\n"
        "      Owner Name=sas,Group Name=sas,\n"
        "      RECFM=V,LRECL=32767,File Size (bytes)=81920\n\n"
        "NOTE: 1024 records were read from the infile '/shop/secret.csv'.\n"
        "      The minimum record length was 70.\n"
        "      The maximum record length was 80.\n"
    )
    assert found == StepNotes(
        tables=(
            TableNote(
                direction="read",
                external=True,
                rows=1024,
                shortest_record_bytes=70,
                longest_record_bytes=80,
                file_bytes=81920,
            ),
        )
    )


def test_the_files_of_a_command_have_bytes_by_role_and_no_rows() -> None:
    [note] = read_notes(
        (
            "NOTE: 5000 bytes were read from the files DATA.TOOL.\n"
            "NOTE: 70 bytes were written to the files UTIL.TOOL.\n" + BLOCK
        ).splitlines(keepends=True)
    )
    assert note.notes == StepNotes(
        tables=(
            TableNote(direction="read", name="DATA.TOOL", file_bytes=5000),
            TableNote(direction="written", name="UTIL.TOOL", file_bytes=70),
        )
    )
    assert (note.rows_read, note.rows_written) == (None, None)


def test_indexes_made_and_used_are_counted() -> None:
    found = notes_of(
        "INFO: Index ID selected for WHERE clause optimization.\n"
        "NOTE: Simple index ID has been defined.\n"
        "NOTE: Composite index KEY has been defined.\n"
    )
    assert found == StepNotes(indexes_made=2, indexes_used=1)


@pytest.mark.parametrize(
    ("line", "sort"),
    [
        ("NOTE: SAS sort was used.", "single"),
        ("NOTE: Host sort was used.", "host"),
        ("NOTE: Input data set is already sorted, no sorting done.", "sorted"),
        ("NOTE: Sorting was performed by the data source.", "source"),
    ],
)
def test_how_a_sort_went(line: str, sort: str) -> None:
    found = notes_of(line + "\n")
    assert found is not None and found.sort == sort


@pytest.mark.parametrize(
    ("name", "kept"),
    [("SALES", "SALES"), ("work.'my table'n", "work.'my table'n"), ("WORK.b@d", None), ("A.B.C", None)],
)
def test_a_name_that_cannot_be_read_leaves_its_rows(name: str, kept: str | None) -> None:
    found = notes_of(f"NOTE: There were 7 observations read from the data set {name}.\n")
    assert found == StepNotes(tables=(TableNote(direction="read", name=kept, rows=7),))


def test_a_step_without_such_notes_has_none_and_does_not_take_those_of_the_step_before() -> None:
    log = "NOTE: There were 7 observations read from the data set WORK.A.\n" + BLOCK + BLOCK
    assert [note.notes is None for note in read_notes(log.splitlines(keepends=True))] == [False, True]


def test_of_very_many_tables_the_first_are_kept_and_the_others_counted() -> None:
    found = notes_of("NOTE: There were 2 observations read from the data set WORK.A.\n" * (MOST_TABLES + 5))
    assert found is not None
    assert (len(found.tables), found.tables_left_out) == (MOST_TABLES, 5)


def test_details_do_not_hide_a_page_header_nor_figures_without_a_heading() -> None:
    log = (
        "NOTE: 1024 records were read from the infile X.\n"
        "      real time           2.50 seconds\n"
        "NOTE: There were 3 observations read from the data set WORK.A.\n" + BLOCK
    )
    told: list[int] = []
    entries = read_log(io.BytesIO(log.encode()), lambda line, reason, text: told.append(line))
    [note] = [entry for entry in entries if isinstance(entry, PerformanceNote)]
    assert told == [2]
    assert note.notes == StepNotes(tables=(TableNote(direction="read", name="WORK.A", rows=3),))


@pytest.mark.parametrize(
    "between",
    ["", "7     The SAS System        10:00 Friday, November 20, 2026\n\n", "\x0c7  A title\n \n"],
)
@pytest.mark.parametrize("read", ["the data set BIG.ALL.", "the data set\n      BIG.ALL."])
def test_a_where_is_read_below_its_note_and_below_the_head_of_a_page(between: str, read: str) -> None:
    where = "      WHERE x<11 and name in ('a',\n      'b');\n"
    other = "NOTE: There were 5 observations read from the data set WORK.B.\n"
    text = f"NOTE: There were 10 observations read from {read}\n{between}{where}{other}{BLOCK}"
    lines = [f"{line}\n" for line in text.split("\n")]
    [note] = read_notes(lines)
    assert note.notes is not None
    assert [table.filtered for table in note.notes.tables] == [True, False]


def test_thousands_commas_are_no_part_of_a_number() -> None:
    (note,) = read_notes(
        [
            "NOTE: There were 100,000,000 observations read from the data set A.B.",
            "NOTE: DATA statement used (Total process time):",
            "      real time           1,062.24 seconds",
            "      cpu time            1,000.50 seconds",
            "      memory              3,165,715.60k",
            "      Page Faults                       1,234",
        ]
    )
    assert (note.rows_read, note.usage.real_time_seconds, note.usage.page_faults) == (
        100_000_000,
        1062.24,
        1234,
    )
    assert note.usage.memory_bytes == round(3_165_715.60 * 1024)

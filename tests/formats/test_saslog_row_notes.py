"""The tables that mawl's own logs name are those that the program declares."""

from __future__ import annotations

import re

import msgspec
import pytest

from mawl.formats.saslog_row_notes import file_notes, member, row_notes
from mawl.model.records import StepRecord
from mawl.model.role_io import RoleIo
from mawl.model.usage import Usage
from mawl.plan.catalogue import CATALOGUE

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

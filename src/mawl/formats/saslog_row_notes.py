"""The notes above a step of our own logs: tables that a program declares, as SAS would name them, and what a
command reads and writes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mawl.model.records import StepRecord
from mawl.plan.programs import Pass, Program
from mawl.spec.program_options import ROLES, Role

NUMBER_BYTES = 8
LONGEST_MEMBER = 32


class _Declared(NamedTuple):
    role: Role
    rows: float
    """At scale 1."""
    variables: int
    record_bytes: int | None
    """Of a text file, whose records are of one length."""


def file_notes(step: StepRecord, program: str) -> Iterator[str]:
    """The bytes of the files of a step that no program declares, by role: a command names no tables.

    SAS has no such note.  Its words are those of the notes on records of files.
    """
    for role in ROLES:
        if step.io is None or role not in step.io:
            continue
        name, moved = f"{role.upper()}.{member(program)}", step.io[role]
        if moved.read_bytes:
            yield f"NOTE: {moved.read_bytes} bytes were read from the files {name}."
        if moved.written_bytes:
            yield f"NOTE: {moved.written_bytes} bytes were written to the files {name}."


def row_notes(step: StepRecord, program: Program | None, name: str) -> Iterator[str]:
    """The notes of a step; ``name`` stands for its tables where the program declares none.

    A step counts its rows over all tables, and each table gets what it declares of them.  The libref is the
    role in which the table lies; a temporary table has a variable for each 8 bytes of its rows.
    """
    passes = None
    if program is not None:
        passes = next((one for one in program.steps if one.name == step.name), None)
    if step.rows_read is not None:
        if program is None or passes is None or not passes.reads:
            yield f"NOTE: There were {step.rows_read} observations read from the data set MAWL.{name}."
        else:
            for one, rows in _shared(program, passes.reads, step.rows_read):
                yield from _read(one.table, _table(program, one.table), rows)
    if step.rows_written is not None:
        if program is None or passes is None or not passes.writes:
            yield f"NOTE: {step.rows_written} records were written to the file {name}."
        else:
            for one, rows in _shared(program, passes.writes, step.rows_written):
                table = _table(program, one.table)
                yield (
                    f"NOTE: The data set {_name(one.table, table)} has {rows} observations "
                    f"and {table.variables} variables."
                )


def _read(name: str, table: _Declared, rows: int) -> Iterator[str]:
    if table.record_bytes is None:
        yield f"NOTE: There were {rows} observations read from the data set {_name(name, table)}."
        return
    yield f"NOTE: {rows} records were read from the infile {member(name)}."
    yield f"      The minimum record length was {table.record_bytes}."
    yield f"      The maximum record length was {table.record_bytes}."


def _shared(program: Program, passes: Sequence[Pass], rows: int) -> list[tuple[Pass, int]]:
    """The rows of each pass: in proportion to what it declares, whole numbers that add up to ``rows``."""
    declared = [_table(program, one.table).rows * one.share for one in passes]
    whole = math.fsum(declared)
    ends = [round(rows * math.fsum(declared[: place + 1]) / whole) for place in range(len(passes))]
    starts = [0, *ends]
    return [(one, end - start) for one, start, end in zip(passes, starts, ends, strict=False)]


def _table(program: Program, name: str) -> _Declared:
    for table in program.inputs:
        if table.name == name:
            return _Declared("data", float(table.rows(1.0)), len(table.columns), table.record_bytes)
    for temporary in program.temporaries:
        if temporary.name == name:
            variables = -(-temporary.row_bytes // NUMBER_BYTES)
            return _Declared(temporary.role, program.rows(1.0) * temporary.rows_ratio, variables, None)
    raise KeyError(f"{program.name} declares no table {name!r}")


def _name(name: str, table: _Declared) -> str:
    return f"{table.role.upper()}.{member(name)}"


def member(name: str) -> str:
    """A table's name as SAS allows it: upper case, one word."""
    plain = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name.upper())
    return plain[:LONGEST_MEMBER] if plain[:1].isalpha() else f"_{plain}"[:LONGEST_MEMBER]

"""V04 contents: the tables are unchanged since the figures were printed."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mawl.archive.contents import Contents
from mawl.archive.layout import CONTENTS, PRINTED
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject
from mawl.version import source_sha256

_NOT_OURS = "is not what mawl writes there"
_CURE = "ask for the pack as its maker has it"


def _check(subject: ValidationSubject) -> Iterator[Fault] | None:
    return None if subject.pack is None else _compared(subject)


def _compared(subject: ValidationSubject) -> Iterator[Fault]:
    assert subject.pack is not None
    same_code = subject.pack.manifest.source_sha256 == source_sha256()
    for name, run in subject.runs.items():
        where = f"{PRINTED}/{name}/{CONTENTS}"
        stated = subject.printed(name).get(CONTENTS)
        if stated is None:
            continue
        now = run.contents().encode()
        if stated != now:
            difference = _difference(stated, now)
            if difference is not None or same_code:
                yield Fault(where=where, sentence=difference or _NOT_OURS, cure=_CURE)


def _difference(stated: bytes, now: bytes) -> str | None:
    """What is not as it was, of tables, columns and files that both versions know."""
    try:
        before = msgspec.json.decode(stated, type=Contents)
    except (ValueError, RecursionError):
        return _NOT_OURS
    current = msgspec.json.decode(now, type=Contents)
    for table, found in current.tables.items():
        if table not in before.tables or before.tables[table].rows != found.rows:
            return f"{table} has other rows than when it was packed"
        for column, digest in found.columns.items():
            if before.tables[table].columns.get(column, digest) != digest:
                return f"{table}.{column} does not hold what it held when it was packed"
    for name, digest in current.files.items():
        if before.files.get(name) != digest:
            return f"{name} is not the file that was packed"
    return None


RULE = ValidationRule(
    number=4,
    name="contents",
    title="Tables and files are unchanged since the figures were printed",
    shows="Every column of every table, and every other file, has the digest that mawl wrote with the "
    "figures. The digest of a column depends on its values only, not on the layout of the file.",
    limits="Whether the digests are the original ones: after altering a table, anybody can pack again.",
    check=_check,
)

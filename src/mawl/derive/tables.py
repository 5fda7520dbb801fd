"""Tables that steps name: their roles, and how many bytes their rows take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import median

from mawl.derive.estimate import Ranged, about, exactly
from mawl.records.model.records import TableNote
from mawl.records.spec.program_options import Role

NUMBER_BYTES = 8
USUAL_VARIABLES = 20
USUAL_RECORD_BYTES = 100
SHORTEST, LONGEST = 0.4, 4.0
"""The range of 8 bytes for each variable: from numbers of length 3 to text of 32 characters."""

WIDTH_SHORTEST, WIDTH_LONGEST = 0.8, 1.25
"""The range of a width that comes from the step that wrote the table."""

Key = tuple[str, str]
"""The job whose table it is (empty for permanent tables), and LIBREF.MEMBER in upper case."""

USUAL_ROLES: dict[Role, re.Pattern[str]] = {
    "work": re.compile(r"WORK|USER"),
    "util": re.compile(r"UTIL|UTILLOC|SASUTIL"),
}
"""Librefs that are not of permanent tables, unless the user says otherwise."""


class Libraries:
    """Which role a libref is in."""

    def __init__(self, given: Mapping[Role, Sequence[re.Pattern[str]]] | None = None) -> None:
        """``given`` are patterns of whole librefs in upper case by role, which go before the usual ones."""
        self._patterns = [
            *((role, one) for role, many in (given or {}).items() for one in many),
            *USUAL_ROLES.items(),
        ]

    def role_of(self, note: TableNote) -> Role:
        """The role of a table; external files, and tables whose name cannot be read, are permanent."""
        if note.external or note.name is None:
            return "data"
        libref, dot, _ = note.name.partition(".")
        if not dot:
            return "work"
        upper = libref.upper()
        return next((role for role, pattern in self._patterns if pattern.fullmatch(upper)), "data")

    def key_of(self, note: TableNote, job: str) -> Key | None:
        """What the table is known by; None where its name is not known."""
        if note.name is None:
            return None
        name = note.name.upper() if "." in note.name else f"WORK.{note.name.upper()}"
        return ("" if self.role_of(note) == "data" else job, name)


class ObservedSizes:
    """What steps so far have shown of each table: variables, and bytes a row."""

    def __init__(self, libraries: Libraries) -> None:
        self.libraries = libraries
        self._variables: dict[Key, int] = {}
        self._widths: dict[Key, list[float]] = {}
        self._at_most: set[Key] = set()

    def wrote(self, note: TableNote, job: str, table_bytes: float | None, *, at_most: bool = False) -> None:
        """A table was written; ``table_bytes`` where the step wrote nothing else and its bytes are known.

        ``at_most``: some of these bytes can be of utility files.
        """
        key = self.libraries.key_of(note, job)
        if key is None or note.external:
            return
        if note.variables is not None:
            self._variables[key] = note.variables
        widths = self._widths.setdefault(key, [])
        if key[0]:  # a table of WORK is replaced
            widths.clear()
            self._at_most.discard(key)
        if table_bytes is not None and note.rows:
            widths.append(table_bytes / note.rows)
            if at_most:
                self._at_most.add(key)

    def of(self, note: TableNote, job: str) -> Ranged | None:
        """Bytes of one pass over the rows that a note tells; None where it tells no rows."""
        if note.external:
            return _external(note)
        if note.file_bytes is not None:
            return exactly(float(note.file_bytes), "file")
        if note.rows is None:
            return None
        key = self.libraries.key_of(note, job)
        variables = note.variables
        if key is not None:
            if (widths := self._widths.get(key)) and note.direction == "read":
                bytes_ = note.rows * median(widths)
                rule, least = "written-width", bytes_ * WIDTH_SHORTEST
                if key in self._at_most:
                    plain = note.rows * self._variables.get(key, 0) * NUMBER_BYTES
                    rule, least = "written-at-most", min(least, plain * SHORTEST)
                return Ranged(bytes_, least, bytes_ * WIDTH_LONGEST, "inferred", rule)
            variables = self._variables.get(key) if variables is None else variables
        if variables is None:
            usual = note.rows * USUAL_VARIABLES * NUMBER_BYTES
            return about(usual, 0.1, 10.0, "assumed", "rows-only")
        plain = note.rows * max(variables, 1) * NUMBER_BYTES
        if note.pages is not None and note.uncompressed_pages:
            kept = note.pages / note.uncompressed_pages
            return about(plain * kept, SHORTEST, LONGEST, "inferred", "compressed")
        return about(plain, SHORTEST, LONGEST, "inferred", "variables")


def _external(note: TableNote) -> Ranged | None:
    if note.file_bytes is not None:
        return exactly(float(note.file_bytes), "file")
    if note.rows is None:
        return None
    if note.longest_record_bytes is not None:
        shortest = min(note.shortest_record_bytes or 0, note.longest_record_bytes)
        mean = (shortest + note.longest_record_bytes) / 2 + 1
        return Ranged(
            note.rows * mean,
            note.rows * float(shortest),
            note.rows * float(note.longest_record_bytes + 2),
            "inferred",
            "records",
        )
    return about(note.rows * USUAL_RECORD_BYTES, 0.1, 10.0, "assumed", "records-only")

"""The rules by which numbers of a derived workload come about, as sentences; estimates name them.

A number with its range, where it comes from, and the rule that gave it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Origin = Literal["told", "inferred", "assumed"]
ORIGINS: tuple[Origin, ...] = ("told", "inferred", "assumed")
"""From the surest to the least sure."""


class Ranged(msgspec.Struct, frozen=True, gc=False):
    """A figure of a step: ``value`` between ``low`` and ``high``, in base units.

    A ``told`` figure is in the log.  An ``inferred`` one follows from figures of the log.  An ``assumed`` one
    rests on a convention of mawl.  ``rule`` is a name of ``RULES``.
    """

    value: float
    low: float
    high: float
    origin: Origin
    rule: str

    def times(self, factor: float) -> Ranged:
        return msgspec.structs.replace(
            self, value=self.value * factor, low=self.low * factor, high=self.high * factor
        )


def about(value: float, below: float, above: float, origin: Origin, rule: str) -> Ranged:
    """A value whose range goes from ``below`` times to ``above`` times of it."""
    return Ranged(value, value * below, value * above, origin, rule)


def exactly(value: float, rule: str, origin: Origin = "told") -> Ranged:
    """A value without a range."""
    return Ranged(value, value, value, origin, rule)


RULES: dict[str, str] = {
    "log": "the log tells it; the range is that of its last digit",
    "counted": "mawl counted the calls of the job, by role",
    "no-input-output": "the step names no table and its block operations are 0",
    "blocks": "block operations times 512 bytes, all in the only role of the tables that the step names",
    "blocks-by-tables": "block operations times 512 bytes, shared out over roles by the sizes of the tables",
    "blocks-role": "block operations times 512 bytes; no table is named: reads count as of the table the "
    "job wrote last (_LAST_), or of permanent ones before the first, writes as of WORK, and those of a sort, "
    "join or summary from 1 MiB on as of utility files",
    "blocks-cached": "the size of the tables, since block operations are less: memory served the rest",
    "blocks-at-least": "block operations times 512 bytes, by the sizes of the tables; memory may have "
    "served more, up to the largest size that the rows allow",
    "written-width": "rows times bytes a row, by the block operations of the step that wrote the table",
    "written-at-most": "rows times bytes a row, by the block operations of the step that wrote the table; "
    "some of them can be of utility files",
    "sorted-width": "rows times bytes a row of the table that was sorted",
    "variables": "rows times variables times 8 bytes, the length of a number in SAS; character variables are "
    "longer or shorter",
    "compressed": "rows times variables times 8 bytes, times the share of pages that compression left",
    "file": "the size of the external file, or the bytes of a command's files, which the log tells",
    "records": "records times the mean of the shortest and the longest",
    "rows-only": "rows times 160 bytes (20 variables of 8 bytes): the log tells no variables",
    "records-only": "records times 100 bytes: the log tells no record length",
    "sort-spill": "the step sorts more than its memory holds: what it reads goes through utility files once",
    "rest-util": "block operations beyond the tables of a sort, join or summary count as utility files; "
    "they can be of any role",
    "may-spill": "the procedure may use utility files, on which SAS writes no note: up to what its tables "
    "leave of the block operations, or to the largest size of the tables that it reads",
    "any-role": "no table that a note names accounts for these bytes: they can be of any role",
    "no-blocks": "the log has neither tables nor block operations of a known size; the "
    "range is what the real time allows at 1 GB/s",
    "cpu-of-real": "the log tells no CPU time: half of the real time; the range is from 0 to all of it",
    "memory": "the log tells no memory: 64 MiB; the range is from 1 MiB to 2 GiB (SAS's default MEMSIZE)",
    "memory-of-sort": "the log tells no memory: what is sorted, at most 1 GiB (SAS's default SORTSIZE)",
    "threads": "CPU time divided by real time, rounded up",
    "one-thread": "CPU time is at most 1.05 times the real time, or the log lacks one of the two",
    "last-table": "the procedure reads a table and the log does not say which: the one that the job wrote "
    "last; the range is from 0 to twice its size, or to what the real time allows at 1 GB/s",
    "query": "a query joins tables, unless its notes name one only; SAS writes no note on what SQL reads",
    "procedure": "the procedure, and the tables that the step names",
    "queue": "the history of a scheduler tells it: from the time at which the job could run to its start",
    "cpu-per-byte": "CPU seconds for each GB that the step moves",
}
"""Rule to its sentence, for pages and JSON."""

"""What mawl reads of a file that somebody else may have made: rows, memory and CPU time, by its size.

Equal values cost a file nothing, so a small file may hold very many rows.  Tables of real runs need 10 to 60
times the size of their files in memory, and 0.1 to 0.3 s of CPU time for each MiB of their files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec

from mawl.store.layout import MOST_ROWS
from mawl.units import format_memory

Part = TypeVar("Part")

LARGEST_TABLE_BYTES = 8 * 2**30
LEAST_EXPANDED_BYTES = 256 * 2**20
MOST_EXPANDED_RATIO = 500
"""A table may need so much memory at any size of its file, and above it so many times that size."""

LEAST_READING_SECONDS = 30.0
READING_SECONDS_PER_MEBIBYTE = 3.0
"""Reading may take so much CPU time at any size of a file, and so much more for each MiB of it."""


class OverBudgetError(ValueError):
    """A file needs more than mawl reads of one of its size."""


class Budget(msgspec.Struct, frozen=True):
    """The most that is read of one table; as text what a refusal says of it."""

    rows: int
    memory_bytes: int
    cpu_seconds: float

    def __str__(self) -> str:
        return (
            f"mawl reads at most {self.rows} rows, {format_memory(self.memory_bytes)} of memory and "
            f"{self.cpu_seconds:.0f} s of CPU time from a file of this size"
        )


def budget_of(table: str, file_bytes: int) -> Budget:
    """What may be read of a table whose file has this size."""
    most_bytes = max(LEAST_EXPANDED_BYTES, file_bytes * MOST_EXPANDED_RATIO)
    return Budget(MOST_ROWS[table], min(LARGEST_TABLE_BYTES, most_bytes), reading_seconds(file_bytes))


def reading_seconds(file_bytes: int) -> float:
    """CPU seconds that reading a file of this size may take."""
    return LEAST_READING_SECONDS + READING_SECONDS_PER_MEBIBYTE * file_bytes / 2**20


def in_time(
    parts: Iterable[Part], budget: Budget, clock: Callable[[], float] = time.thread_time
) -> Iterator[Part]:
    """The parts as they come; :class:`OverBudgetError` once this thread used more CPU than is allowed."""
    ends = clock() + budget.cpu_seconds
    for part in parts:
        if clock() > ends:
            raise OverBudgetError(
                f"reading it takes more than {budget.cpu_seconds:.0f} s of CPU time; {budget}"
            )
        yield part

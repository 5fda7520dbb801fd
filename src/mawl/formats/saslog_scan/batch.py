"""Consecutive performance notes as columns, and as the records of Python's reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.formats.saslog_records import Entry, LogFact, PerformanceNote
from mawl.model.step_notes import StepNotes
from mawl.model.usage import Usage

MISSING = np.iinfo(np.int64).min
"""An absent figure in a column of whole numbers; NaN in one of times."""

USAGE_COUNTS = (
    *("memory_bytes", "os_memory_bytes", "page_faults", "page_reclaims", "page_swaps"),
    *("voluntary_context_switches", "involuntary_context_switches"),
    *("block_input_operations", "block_output_operations"),
)
NOTE_COUNTS = ("step_count", "switch_count", "rows_read", "rows_written", "variables_written")
WHOLES = ("line", "procedure", "ended_at", *NOTE_COUNTS, *USAGE_COUNTS)
"""The columns of whole numbers, in the order of the enum in ``scan.c``; ``ended_at`` is in seconds."""
TIMES = ("real_time_seconds", "user_cpu_seconds", "system_cpu_seconds", "unsplit_cpu_seconds")


class Texts(msgspec.Struct, frozen=True):
    """Texts one after another: text i ends at ``ends[i]``."""

    letters: bytes
    ends: NDArray[np.int32]

    def __iter__(self) -> Iterator[str]:
        start = 0
        for end in self.ends.tolist():
            yield self.letters[start:end].decode()
            start = end


class NoteBatch(msgspec.Struct, frozen=True):
    """Notes of DATA steps and procedures, one after another, and the heads of pages between them.

    ``wholes`` and ``times`` hold a column by name.  ``names`` are those of the steps (``DATA``, ``SORT``),
    ``notes`` the JSON of :class:`~mawl.model.step_notes.StepNotes`, empty for None.  ``pages`` are pairs:
    how many notes of the batch went before, and the fact.
    """

    count: int
    wholes: dict[str, NDArray[np.int64]]
    times: dict[str, NDArray[np.float64]]
    names: Texts
    notes: Texts
    pages: list[tuple[int, LogFact]]

    def has(self, name: str) -> bool:
        """Whether any note has that whole number."""
        return bool((self.wholes[name] != MISSING).any())

    def entries(self) -> Iterator[Entry]:
        """The notes and pages one by one, as Python's reader gives them for these lines."""
        wholes: dict[str, list[Any]] = {
            name: [None if value == MISSING else value for value in column.tolist()]
            for name, column in self.wholes.items()
        }
        times = {
            name: [None if value != value else value for value in column.tolist()]
            for name, column in self.times.items()
        }
        pages = iter([*self.pages, (self.count + 1, None)])
        before, page = next(pages)
        decoder = msgspec.json.Decoder(StepNotes)
        for place, (name, notes) in enumerate(zip(self.names, self.notes, strict=True)):
            while page is not None and before == place:
                yield page
                before, page = next(pages)
            ended_at = wholes["ended_at"][place]
            yield PerformanceNote(
                line=wholes["line"][place],
                kind="procedure" if wholes["procedure"][place] else "data",
                name=name if wholes["procedure"][place] else None,
                usage=Usage(
                    **{field: times[field][place] for field in TIMES},
                    **{field: wholes[field][place] for field in USAGE_COUNTS},
                ),
                ended_at=None if ended_at is None else float(ended_at),
                notes=decoder.decode(notes) if notes else None,
                **{field: wholes[field][place] for field in NOTE_COUNTS},
            )
        while page is not None:
            yield page
            before, page = next(pages)

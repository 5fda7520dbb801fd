"""Consecutive performance notes of a SAS log as columns, read by a scanner in C.

The scanner is compiled at first use and tried before it is used; without it Python reads alone.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.importers.formats.saslog_records import Entry, LogFact, PerformanceNote
from mawl.records.compiled import Recipe, shared_library
from mawl.records.model.records import StepNotes, Usage

MISSING = np.iinfo(np.int64).min
"""An absent figure in a column of whole numbers; NaN in one of times."""

USAGE_COUNTS = (
    *("memory_bytes", "os_memory_bytes", "page_faults", "page_reclaims", "page_swaps"),
    *("voluntary_context_switches", "involuntary_context_switches"),
    *("block_input_operations", "block_output_operations"),
)
NOTE_COUNTS = ("step_count", "switch_count", "rows_read", "rows_written", "variables_written")
WHOLES = ("line", "procedure", "ended_at", *NOTE_COUNTS, *USAGE_COUNTS)
"""The columns of whole numbers, in the order of the enum in ``saslog_scan.c``; ``ended_at`` is in seconds."""
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

    def at(self, place: int) -> str:
        return self.letters[int(self.ends[place - 1]) if place else 0 : int(self.ends[place])].decode()


class PageHeads(msgspec.Struct, frozen=True):
    """Heads of pages: how many notes of the batch went before each, its line, and its text."""

    notes: NDArray[np.int64]
    lines: NDArray[np.int64]
    texts: Texts

    def __len__(self) -> int:
        return len(self.notes)

    def __iter__(self) -> Iterator[tuple[int, LogFact]]:
        return map(self.at, range(len(self)))

    def at(self, place: int) -> tuple[int, LogFact]:
        fact = LogFact(int(self.lines[place]), "page", self.texts.at(place).strip())
        return int(self.notes[place]), fact


class NoteBatch(msgspec.Struct, frozen=True):
    """Notes of DATA steps and procedures, one after another, and the heads of pages between them.

    ``wholes`` and ``times`` hold a column by name.  ``names`` are those of the steps (``DATA``, ``SORT``),
    ``notes`` the JSON of ``StepNotes``, empty for None.
    """

    count: int
    wholes: dict[str, NDArray[np.int64]]
    times: dict[str, NDArray[np.float64]]
    names: Texts
    notes: Texts
    pages: PageHeads

    def has(self, name: str) -> bool:
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


FOREIGN, UNFINISHED, FULL, DONE = range(4)
"""FOREIGN: Python must read the line.  UNFINISHED: a note may go on behind the bytes.  FULL: the batch has no
room left.  DONE: no line that matters is left."""


_SOURCE = Path(__file__).with_suffix(".c")
_FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared", "-ffp-contract=off")
CAPACITY = 16_384
"""The most notes of a batch; the sizes below are of the texts of so many notes."""
NAMES_BYTES, NOTES_BYTES = 1 << 20, 4 << 20
PAGES, PAGES_BYTES = 4096, 1 << 19

_TRIAL = b"""x
NOTE: There were 7 observations read from the data set WORK.A.
NOTE: PROCEDURE SORT used (Total process time):
      real time           1:02.24
      cpu time            0.29 seconds
      \n"""


class _Batch(ctypes.Structure):
    """``struct batch`` of ``saslog_scan.c``."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("capacity", "count", "line", "reason")),
        *((name, ctypes.c_int64) for name in ("page_capacity", "pages", "page_size")),
        *((name, ctypes.c_int64) for name in ("names_size", "notes_size")),
        *((name, ctypes.c_void_p) for name in ("wholes", "times", "names", "name_ends", "notes")),
        *((name, ctypes.c_void_p) for name in ("note_ends", "page_notes", "page_lines", "page_text")),
        ("page_ends", ctypes.c_void_p),
    ]


class Scanner:
    """Collects whole notes of one log until ``take`` gives them away."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._scan = library.scan
        self._arrays: dict[str, NDArray[Any]] = {
            "wholes": np.empty((len(WHOLES), CAPACITY), np.int64),
            "times": np.empty((len(TIMES), CAPACITY), np.float64),
            "names": np.empty(NAMES_BYTES, np.uint8),
            "name_ends": np.empty(CAPACITY, np.int32),
            "notes": np.empty(NOTES_BYTES, np.uint8),
            "note_ends": np.empty(CAPACITY, np.int32),
            "page_notes": np.empty(PAGES, np.int64),
            "page_lines": np.empty(PAGES, np.int64),
            "page_text": np.empty(PAGES_BYTES, np.uint8),
            "page_ends": np.empty(PAGES, np.int32),
        }
        self._batch = _Batch(
            capacity=CAPACITY,
            page_capacity=PAGES,
            page_size=PAGES_BYTES,
            names_size=NAMES_BYTES,
            notes_size=NOTES_BYTES,
            **{name: array.ctypes.data for name, array in self._arrays.items()},
        )
        self._pointer = ctypes.byref(self._batch)

    @property
    def holds(self) -> int:
        return self._batch.count + self._batch.pages  # type: ignore[no-any-return]

    @property
    def notes(self) -> int:
        return self._batch.count  # type: ignore[no-any-return]

    def run(self, content: bytes, length: int, at: int, line: int) -> tuple[int, int, int]:
        """Read on from ``at``, the beginning of line ``line``; ``content[:length]`` ends with a line's end.

        Returns the place where it stopped, the number of the line there, and the reason
        (``importers.formats.saslog_scan``).
        """
        self._batch.line = line
        stopped = self._scan(content, length, at, self._pointer)
        return stopped, self._batch.line, self._batch.reason

    def take(self) -> NoteBatch:
        """The notes and heads of pages that wait; after this none waits."""
        batch, arrays = self._batch, self._arrays
        count, pages = batch.count, batch.pages
        texts = {
            name: _texts(arrays[letters], arrays[ends], size)
            for name, letters, ends, size in (
                ("names", "names", "name_ends", count),
                ("notes", "notes", "note_ends", count),
                ("pages", "page_text", "page_ends", pages),
            )
        }
        taken = NoteBatch(
            count,
            dict(zip(WHOLES, arrays["wholes"][:, :count].copy(), strict=True)),
            dict(zip(TIMES, arrays["times"][:, :count].copy(), strict=True)),
            texts["names"],
            texts["notes"],
            PageHeads(
                arrays["page_notes"][:pages].copy(), arrays["page_lines"][:pages].copy(), texts["pages"]
            ),
        )
        batch.count = batch.pages = 0
        return taken


def _texts(letters: NDArray[np.uint8], ends: NDArray[np.int32], count: int) -> Texts:
    used = int(ends[count - 1]) if count else 0
    return Texts(letters[:used].tobytes(), ends[:count].copy())


def scanner() -> Scanner | None:
    """A scanner for one log; None if there is no library."""
    library = _library()
    return None if library is None else Scanner(library)


@cache
def _library() -> ctypes.CDLL | None:
    return load(os.environ)


def recipe() -> Recipe:
    return Recipe(
        name="saslog-scan",
        title="the scanner of SAS logs",
        files={_SOURCE.name: _SOURCE.read_text()},
        flags=_FLAGS,
        libraries=("-lm",),
    )


def load(environment: Mapping[str, str]) -> ctypes.CDLL | None:
    """The library, compiled if need be and tried; None if that fails, and Python reads alone."""
    path, _ = shared_library(recipe(), environment)
    try:
        return None if path is None else opened(path)
    except OSError:
        return None


def opened(path: Path) -> ctypes.CDLL | None:
    """A compiled library; None if it fails its trial.  Raises OSError if the file is no library."""
    library = ctypes.CDLL(str(path))
    library.prepare.restype = None
    library.scan.restype = ctypes.c_int64
    library.scan.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    library.prepare()
    trial = Scanner(library)
    told = trial.run(_TRIAL, len(_TRIAL), 0, 1)
    found = trial.take()
    right = (
        told == (len(_TRIAL), 7, DONE)
        and list(found.names) == ["SORT"]
        and found.wholes["line"].tolist() == [3]
        and found.wholes["rows_read"].tolist() == [7]
        and found.times["real_time_seconds"].tolist() == [62.24]
    )
    return library if right else None

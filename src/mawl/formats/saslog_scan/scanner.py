"""The compiled scanner: built at first use and tried before it is used; without it Python reads alone."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mawl.compiled import Recipe, shared_library
from mawl.formats.saslog_records import LogFact
from mawl.formats.saslog_scan.batch import TIMES, WHOLES, NoteBatch, Texts
from mawl.formats.saslog_scan.reasons import DONE

_SOURCE = Path(__file__).parent / "scan.c"
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
    """``struct batch`` of ``scan.c``."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("capacity", "count", "line", "reason")),
        *((name, ctypes.c_int64) for name in ("page_capacity", "pages", "page_size")),
        *((name, ctypes.c_int64) for name in ("names_size", "notes_size")),
        *((name, ctypes.c_void_p) for name in ("wholes", "times", "names", "name_ends", "notes")),
        *((name, ctypes.c_void_p) for name in ("note_ends", "page_notes", "page_lines", "page_text")),
        ("page_ends", ctypes.c_void_p),
    ]


class Scanner:
    """Collects whole notes of one log until :meth:`take` gives them away."""

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
        """How many notes and heads of pages wait."""
        return self._batch.count + self._batch.pages  # type: ignore[no-any-return]

    @property
    def notes(self) -> int:
        """How many notes wait."""
        return self._batch.count  # type: ignore[no-any-return]

    def run(self, content: bytes, length: int, at: int, line: int) -> tuple[int, int, int]:
        """Read on from ``at``, the beginning of line ``line``; ``content[:length]`` ends with a line's end.

        Returns the place where it stopped, the number of the line there, and the reason
        (:mod:`~mawl.formats.saslog_scan.reasons`).
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
        facts = zip(
            arrays["page_notes"][:pages].tolist(),
            arrays["page_lines"][:pages].tolist(),
            texts["pages"],
            strict=True,
        )
        taken = NoteBatch(
            count,
            dict(zip(WHOLES, arrays["wholes"][:, :count].copy(), strict=True)),
            dict(zip(TIMES, arrays["times"][:, :count].copy(), strict=True)),
            texts["names"],
            texts["notes"],
            [(before, LogFact(line, "page", text.strip())) for before, line, text in facts],
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
    """What the scanner's library is compiled from."""
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

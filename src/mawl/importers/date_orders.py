"""Which of day and month comes first in the timestamps of each SAS log of an import."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mawl.foreign import open_regular
from mawl.formats.decoding import byte_chunks, encoding_of
from mawl.formats.saslog_dates import DateOrder, orders_shown
from mawl.importers.recording import ChunkStream
from mawl.importers.sources import FileStream, find_files
from mawl.units import counted_noun

LOOK_BYTES = 256 * 1024
"""How much of the beginning and of the end of a log is looked at."""

OWN_MARK = b"in the layout of a SAS log"
"""In the first lines of mawl's own logs."""
MARK_BYTES = 4096


def is_own(first: bytes) -> bool:
    """Whether a file begins as mawl's own logs do."""
    return OWN_MARK in first[:MARK_BYTES]


class DateOrders:
    """The order of each log by what it shows; one that shows none, or both, has the order of all others.

    Where some of these show the one and some the other, or none shows any, it has the month first.
    """

    def __init__(self, paths: Sequence[str], asked: DateOrder | None) -> None:
        """With an order that the user ``asked`` for no log is looked at."""
        self._shown: dict[Path, DateOrder] = {}
        self._mixed = 0
        if asked is not None:
            self._others: DateOrder = asked
            return
        for path, _ in find_files(list(paths), lambda *_: None):
            shown = _looked_at(path)
            self._mixed += len(shown) > 1
            if len(shown) == 1:
                self._shown[path] = shown.pop()
        orders = set(self._shown.values())
        self._others = orders.pop() if len(orders) == 1 else "month-first"

    def of(self, path: Path, first: bytes) -> DateOrder:
        """The order of a log that begins so; mawl's own logs have the month first."""
        if is_own(first):
            return "month-first"
        return self._shown.get(path, self._others)

    @property
    def remarks(self) -> list[str]:
        """That logs have the day first, and what was taken for those whose dates read both ways."""
        counts = Counter(self._shown.values())
        if not counts["day-first"]:
            return []
        return [
            f"timestamps with the day first in {counted_noun(counts['day-first'], 'log')}, with the month "
            f"first in {counts['month-first']}; dates that read both ways are taken {self._others} (--dates)"
        ]

    @property
    def warnings(self) -> list[str]:
        """That logs show both orders."""
        if not self._mixed:
            return []
        return [
            f"timestamps in both orders of day and month in {counted_noun(self._mixed, 'log')}, taken "
            f"{self._others} (--dates)"
        ]


def _looked_at(path: Path) -> set[DateOrder]:
    """The orders that the beginning and the end of a file show.

    mawl's own logs, and files that cannot be read, show no order.
    """
    with contextlib.suppress(OSError), FileStream(path, lambda _: None) as source:
        first = source.first(LOOK_BYTES)
        if is_own(first):
            return set()
        wide = "16" in encoding_of(first)
        parts = [b"".join(byte_chunks(ChunkStream(first, iter(())))) if wide else first]  # type: ignore[arg-type]
        if source.is_plain and not wide and source.size_bytes > LOOK_BYTES:
            parts.append(_end_of(path, source.size_bytes))
        return set().union(*map(orders_shown, parts))
    return set()


def _end_of(path: Path, size_bytes: int) -> bytes:
    with open_regular(path) as file:
        file.seek(max(size_bytes - LOOK_BYTES, 0), os.SEEK_SET)
        return file.read(LOOK_BYTES)

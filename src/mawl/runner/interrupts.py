"""Ctrl-C once stops starting jobs, twice stops the jobs; SIGTERM and SIGHUP do both at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Counts interrupts while in its ``with`` block; ``fileno()`` becomes readable at each.

    ``level`` is 0 (none), 1 (start nothing more) or 2 (stop the jobs now).
    """

    def __init__(self) -> None:
        self.level = 0
        self.name = ""
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._previous: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def fileno(self) -> int:
        """Readable when a signal came since the last :meth:`drain`."""
        return self._read

    def drain(self) -> None:
        """Empty the pipe behind ``fileno()``."""
        try:
            os.read(self._read, 4096)
        except BlockingIOError:
            return

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._previous[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        os.close(self._read)
        os.close(self._write)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self.level = min(self.level + 1, 2) if number == signal.SIGINT else 2
        self.name = signal.Signals(number).name
        os.write(self._write, b"!")

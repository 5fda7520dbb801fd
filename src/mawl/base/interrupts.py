"""Ctrl-C (SIGINT) deferred while it must not interrupt."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back from this thread until the end; processes that start meanwhile never receive it.

    A process that first had to ask for this itself could be interrupted while Python starts, and a pool of
    processes would wait for it without end.  Make the pool before: Python starts its resource tracker with
    it, and that ends with the signal let through.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

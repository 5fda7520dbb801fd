"""One item ahead: while a program works on one, a second thread reads and makes the next."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from mawl.programs.context import JobContext

Item = TypeVar("Item")

_END: Any = object()


def ahead(context: JobContext, items: Iterator[Item]) -> Iterator[Item]:
    """The same items; with two threads or more the next is made while this one is worked on.

    Not for steps that work side by side: a thread must not be in the middle of something at a fork.
    """
    if context.threads == 1:
        yield from items
        return
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(next, items, _END)
        while (item := waiting.result()) is not _END:
            waiting = thread.submit(next, items, _END)
            yield item

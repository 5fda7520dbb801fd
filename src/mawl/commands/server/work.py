"""Runs long work of the server in threads, caches its answers, and gives freed memory back to the system."""

from __future__ import annotations

import asyncio
import ctypes
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

import pyarrow as pa

Result = TypeVar("Result")


class Worker:
    """Runs at most ``most`` pieces of work at once.

    A visitor who leaves does not free the place of what was begun for him: asking and leaving again
    and again starts no more than ``most`` threads.
    """

    def __init__(self, most: int) -> None:
        self._places = asyncio.Semaphore(most)

    async def run(self, work: Callable[[], Result]) -> Result:
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()

        def finished(tell: Callable[[Any], None], outcome: Any) -> None:
            self._places.release()
            if not done.cancelled():
                tell(outcome)

        def body() -> None:
            try:
                told: tuple[Callable[[Any], None], Any] = (done.set_result, work())
            except BaseException as error:
                told = (done.set_exception, error)
            # The loop is closed once the server ends, and nobody waits any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(finished, *told)

        Thread(target=body, daemon=True).start()
        return await done


class KeptAnswers:
    """Answers by what they were made of, the longest unused given up beyond ``most_bytes``.

    What is being made for one visitor is waited for by all others who ask for the same.
    """

    def __init__(self, worker: Worker, most_bytes: int) -> None:
        self._worker, self._most_bytes = worker, most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[bytes]] = {}
        self._bytes = 0

    async def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The answer of ``key``; raises what ``make`` raises, which is not kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        task = self._making.get(key)
        if task is None:
            task = self._making[key] = asyncio.create_task(self._make(key, make))
            # Also when every visitor has left, the exception of a failed one is taken notice of.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return await asyncio.shield(task)

    async def _make(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        try:
            answer = await self._worker.run(make)
        finally:
            del self._making[key]
        self._kept[key] = answer
        self._bytes += len(answer)
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped)
        return answer


_TRIM_THRESHOLD, _MAP_THRESHOLD, _MOST_ARENAS = -1, -3, -8
"""Parameters of ``mallopt`` (malloc.h of the GNU C library)."""
_THRESHOLD_BYTES = 128 * 2**10
"""The library's own default, which it raises by itself unless it is set."""


def give_freed_memory_back() -> None:
    """Keep the C library and Arrow from holding memory that pages no longer use.

    The GNU C library gives each thread an arena of its own, and takes ever larger blocks from arenas as it
    sees them freed; pages of some MB then leave fragments, and a server grew from 230 to 270 MB over a
    thousand runs.  A C library without ``mallopt`` is left as it is.
    """
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is not None:
        tune(_MOST_ARENAS, 2)
        tune(_MAP_THRESHOLD, _THRESHOLD_BYTES)
        tune(_TRIM_THRESHOLD, _THRESHOLD_BYTES)
    pa.set_memory_pool(pa.system_memory_pool())

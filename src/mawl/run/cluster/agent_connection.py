"""The node process's connection to its agent: messages out, messages in, and the lease."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import threading
import time
from collections.abc import Callable

import msgspec

from mawl.run.cluster.messages import FromNode, Going, Halt, Open, ToNode, to_node
from mawl.run.runner.request import Opening

LAST_RESORT_SECONDS = 20.0
"""After a stop that nobody could carry out (a file system that hangs) everything is killed."""


class AgentConnection:
    """Two descriptors of pipes; a thread reads one of them and keeps the lease.

    When the controller has not been heard for ``lease_seconds``, or the agent is gone (end of file), the
    process tells itself SIGTERM, which stops its jobs, and after ``LAST_RESORT_SECONDS`` more
    ``last_resort`` is called.
    """

    def __init__(self, read: int, write: int, last_resort: Callable[[], None]) -> None:
        self._read, self._write = read, write
        self._last_resort = last_resort
        self._buffer = b""
        self.words: queue.Queue[ToNode] = queue.Queue()
        self.open_at: float | None = None
        os.set_blocking(write, False)
        # Not select(2), which takes no descriptor from 1024 on.
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(read, select.POLLIN)
        self._writable.register(write, select.POLLOUT)

    def first(self) -> bytes:
        """The first line, which is the task; empty where the agent was gone before it."""
        while b"\n" not in self._buffer:
            chunk = os.read(self._read, 65536)
            if not chunk:
                return b""
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def listen(self, lease_seconds: float) -> None:
        threading.Thread(target=self._listen, args=(lease_seconds,), daemon=True).start()

    def word(self) -> ToNode:
        """The next word but gates and halts; waits for it, and lets signals in."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self.words.get(timeout=0.5)

    def say(self, word: FromNode) -> None:
        """Say a word; a status that finds the pipe full is dropped, since the next is as good."""
        line = memoryview(msgspec.json.encode(word) + b"\n")
        with contextlib.suppress(BrokenPipeError):
            while line:
                try:
                    line = line[os.write(self._write, line) :]
                except BlockingIOError:
                    if isinstance(word, Going):
                        return
                    self._writable.poll(1000.0)

    def _listen(self, lease_seconds: float) -> None:
        heard = time.monotonic()
        while True:
            left = heard + lease_seconds - time.monotonic()
            if left <= 0 or not self._take(left):
                break
            heard = time.monotonic()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(LAST_RESORT_SECONDS)
        self._last_resort()

    def _take(self, seconds: float) -> bool:
        """Take what comes within so many seconds; False when nothing did, or the agent is gone."""
        if b"\n" not in self._buffer:
            if not self._readable.poll(seconds * 1000.0):
                return False
            chunk = os.read(self._read, 65536)
            if not chunk:
                return False
            self._buffer += chunk
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            if line:
                self._obey(to_node(line))
        return True

    def _obey(self, word: ToNode) -> None:
        if isinstance(word, Halt):
            os.kill(os.getpid(), signal.SIGINT if word.level == 1 else signal.SIGTERM)
        elif isinstance(word, Open):
            self.open_at = word.at
        else:
            self.words.put(word)


class AgreedOpening(Opening):
    """The gate of a node: it says that it is ready, and opens at the moment it is told."""

    def __init__(
        self, line: AgentConnection, ready: Callable[[int], FromNode], now: Callable[[], float]
    ) -> None:
        self._line, self._ready, self._now = line, ready, now

    def ready(self, jobs: int) -> None:
        self._line.say(self._ready(jobs))

    def pause_seconds(self) -> float | None:
        at = self._line.open_at
        return None if at is None else max(at - self._now(), 0.0)

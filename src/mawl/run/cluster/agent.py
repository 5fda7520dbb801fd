"""The agent of a node: plain functions, which Dask calls in the worker's process, or ``serve`` over ssh.

It starts the node's process, passes words on, and hands out what the node's run folder holds; it
measures nothing and decides nothing.  What it started dies with it: the process sees the end of its pipe.
It imports no more than that takes: its process has no use for the runner, nor for Arrow.
"""

from __future__ import annotations

import collections
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from mawl.base.removal import remove_tree
from mawl.measure.processes import is_stopped, signal_all
from mawl.records.store.files import FACTS, JOURNAL
from mawl.run.launch.setup import RUN_ID_VARIABLE

MOST_BYTES = 4 * 2**20
"""Of a file of the journal, or of the folder, handed out at a time."""
KEPT_LINES = 20
END_SECONDS = 8.0
SILENCE_SECONDS = 15
"""An agent over ssh without a task ends after so much silence: its link may be down."""
LEASES = 4
"""An agent with a task ends after so many leases of silence, which are two node timeouts."""
STOPPED_SECONDS = 5.0
"""How long a node's process may be stopped by a signal until it is said to be."""


class AgentTask(msgspec.Struct, frozen=True):
    """The part of a ``NodeTask`` that the agent has to know."""

    run_id: str
    folder: str
    lease_seconds: float


class Child:
    """A node's process, what it said, and which words it was told.

    Its environment has the mark of its run.  So a search for the run's processes finds this one while it
    starts, before it has made a directory.
    """

    def __init__(self, own: AgentTask, task: bytes, command: list[str]) -> None:
        self.folder, self.lease_seconds = Path(own.folder).absolute(), own.lease_seconds
        self.said: list[bytes] = []
        self.complaints: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)
        self._told = 0
        self._stopped_since: float | None = None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, RUN_ID_VARIABLE: own.run_id},
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin = self._process.stdin
        self._waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._hear, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._overhear, args=(self._process.stderr,), daemon=True),
        ]
        self._tell(task)
        # A process that hangs must not make the agent wait, which has other things to hear.
        for thread in (*self._readers, threading.Thread(target=self._pass_on, daemon=True)):
            thread.start()

    def stopped(self) -> int | None:
        """The process, where it has been stopped by a signal for long."""
        now = time.monotonic()
        if not is_stopped(self._process.pid):
            self._stopped_since = None
            return None
        self._stopped_since = self._stopped_since or now
        return self._process.pid if now - self._stopped_since >= STOPPED_SECONDS else None

    def tell(self, words: list[tuple[int, bytes]]) -> None:
        """Pass on the words that were not passed on yet, and an empty line: the controller lives."""
        for number, word in words:
            if number > self._told:
                self._tell(word)
                self._told = number
                signal_all([self._process.pid], signal.SIGCONT)  # one that is stopped would never read it
        self._tell(b"")

    def ended(self) -> int | None:
        """The exit status, minus the signal's number; None while it lives or has words on the way."""
        status = self._process.poll()
        return None if any(reader.is_alive() for reader in self._readers) else status

    def end(self) -> None:
        """Close its pipe, upon which it stops its jobs and ends; where it does not, kill it."""
        self._waiting.put(b"")
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _tell(self, line: bytes) -> None:
        self._waiting.put(line + b"\n")

    def _pass_on(self) -> None:
        with contextlib.suppress(OSError):
            while line := self._waiting.get():
                view = memoryview(line)
                while view:
                    view = view[self._stdin.write(view) or 0 :]
            self._stdin.close()

    def _hear(self, stream: BinaryIO) -> None:
        self.said.extend(_lines(stream))

    def _overhear(self, stream: BinaryIO) -> None:
        self.complaints.extend(line.decode(errors="replace") for line in _lines(stream))


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of an unbuffered stream as they come, without their ends and without empty ones."""
    waiting = b""
    while chunk := stream.read(65536):
        *lines, waiting = (waiting + chunk).split(b"\n")
        yield from filter(None, lines)


_CHILDREN: dict[str, Child] = {}
_FOLDERS: dict[str, Path] = {}
"""Run folders that are handed out, by run id."""


def begin(task: bytes) -> None:
    """Start the node's process for a task (JSON of ``NodeTask``)."""
    own = msgspec.json.decode(task, type=AgentTask)
    command = [sys.executable, "-P", "-m", "mawl.run.cluster"]
    child = _CHILDREN[own.run_id] = Child(own, task, command)
    _FOLDERS[own.run_id] = child.folder


def adopt(run_id: str, folder: str) -> str | None:
    """Hand out the folder of a run that is over, until ``finish``; why not, where that cannot be."""
    from mawl.base.errors import MawlError
    from mawl.records.store.facts import read_facts
    from mawl.records.store.reading import is_under_way

    place = Path(folder).absolute()
    try:
        found = read_facts(place).run_id
    except MawlError as error:
        return str(error)
    if found != run_id:
        return f"{place} is the folder of the run {found}, not of {run_id}"
    if is_under_way(place):
        return f"{place}: its run is still under way there"
    _FOLDERS[run_id] = place
    return None


def look(roles: dict[str, list[str]]) -> bytes:
    """What this machine is (JSON of ``NodeLook``), before a run."""
    from mawl.run.cluster.node_facts import look_here  # an agent that is never asked imports nothing for it

    return msgspec.json.encode(look_here(roles))  # type: ignore[arg-type]


def clock() -> float:
    """This machine's time, seconds since the epoch."""
    return time.time()


def keep(run_id: str, words: list[tuple[int, bytes]], heard: int, offsets: dict[str, int]) -> dict[str, Any]:
    """Tell and ask: ``said`` from number ``heard`` on, the journal's bytes from ``offsets`` on.

    ``exit`` is the process's exit status once it has ended; ``complaints`` what it wrote to standard error;
    ``stopped`` its number while it is stopped by a signal, for ``STOPPED_SECONDS`` at least.
    """
    child = _CHILDREN[run_id]
    status = child.ended()
    child.tell(words)
    journal = {name: _read(child.folder / JOURNAL / name, at) for name, at in offsets.items()}
    return {
        "said": child.said[heard:],
        "exit": status,
        "complaints": list(child.complaints) if status else [],
        "stopped": child.stopped(),
        "journal": {name: content for name, content in journal.items() if content},
    }


def files(run_id: str) -> list[tuple[str, int]]:
    """The files of the node's run folder, by their paths in it, and their sizes in bytes."""
    folder = _FOLDERS[run_id]
    return [
        (str(path.relative_to(folder)), path.stat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    ]


def pieces(run_id: str, wanted: list[tuple[str, int]]) -> list[bytes]:
    """What files of the node's run folder hold from an offset on, one after the other.

    At least of the first, and no more of them than make up ``MOST_BYTES``: many are small, and each
    question costs CPU in three processes.
    """
    folder, found, left = _FOLDERS[run_id], [], MOST_BYTES
    for name, offset in wanted:
        found.append(_read(folder / name, offset, left))
        left -= len(found[-1])
        if not left:
            break
    return found


def finish(run_id: str, remove: bool) -> None:
    """End what is left of the node's process and forget it; ``remove`` its folder, which was copied."""
    child, folder = _CHILDREN.pop(run_id, None), _FOLDERS.pop(run_id, None)
    if child is not None:
        child.end()
    if remove and folder is not None and (folder / FACTS).is_file():
        remove_tree(folder, FACTS)


def _read(path: Path, offset: int, most: int = MOST_BYTES) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(most)
    except OSError:
        return b""


HELLO = b"mawl agent 2\n"
"""The first line of an agent; the controller skips what a login shell printed before it.

The number rises with every change of what follows: 2 since the agent sends signs of life.
"""
LENGTH_BYTES = 4
SIGN_SECONDS = 2.0
"""Time between two signs of life of an agent over ssh, also while it makes an answer."""
QUESTIONS = {asked.__name__: asked for asked in (begin, adopt, look, clock, keep, files, pieces, finish)}


class Question(msgspec.Struct, frozen=True, array_like=True):
    """What an agent over ssh is asked: the name of one of its functions, and the arguments."""

    number: int
    function: str
    arguments: list[Any]


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """What the function returned; or, where it failed, kind and text of the error, and a missing module."""

    number: int
    value: Any = None
    failure: tuple[str, str, str | None] | None = None


def framed(content: bytes) -> bytes:
    """A message with its length in front; an empty message is a sign of life."""
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer the questions of a controller until its input ends: framed MessagePack both ways."""
    heard, answering, writing = threading.Event(), threading.Event(), threading.Lock()

    def write(content: bytes) -> None:
        with writing:
            answers.write(content)
            answers.flush()

    write(HELLO)
    threading.Thread(target=_end_in_silence, args=(heard, answering), daemon=True).start()
    threading.Thread(target=_give_signs, args=(write,), daemon=True).start()
    while len(length := questions.read(LENGTH_BYTES)) == LENGTH_BYTES:
        content = questions.read(int.from_bytes(length, "big"))
        heard.set()
        if content:
            answering.set()
            answer = _answer(msgspec.msgpack.decode(content, type=Question))
            heard.set()
            answering.clear()
            write(framed(msgspec.msgpack.encode(answer)))


def _answer(question: Question) -> Answer:
    try:
        return Answer(question.number, QUESTIONS[question.function](*question.arguments))
    except Exception as error:  # the controller reports it
        module = error.name if isinstance(error, ModuleNotFoundError) else None
        return Answer(question.number, failure=(type(error).__name__, str(error), module))


def _give_signs(write: Callable[[bytes], None]) -> None:
    """Send empty messages until nobody reads them: by them a controller tells a busy agent from a stopped."""
    with contextlib.suppress(OSError):
        while True:
            time.sleep(SIGN_SECONDS)
            write(framed(b""))


def _end_in_silence(heard: threading.Event, answering: threading.Event) -> None:
    """End this process after a long silence; each child ends by its own lease.

    Seconds in which the process was stopped, or made an answer, do not count.
    """
    silent = 0
    while silent < max(
        [SILENCE_SECONDS, *(LEASES * child.lease_seconds for child in list(_CHILDREN.values()))]
    ):
        time.sleep(1.0)
        silent = 0 if heard.is_set() or answering.is_set() else silent + 1
        heard.clear()
    os._exit(1)

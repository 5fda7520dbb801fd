"""Groups side by side: a job's processes work on blocks of rows, results come in the blocks' order.

Fits hold the interpreter's lock, so threads would wait for each other: these are forked copies of the
job's process, as many as it may have threads, itself among them.  Blocks and results lie in memory that
all share, and only their places go through sockets: no byte is counted as I/O.
"""

from __future__ import annotations

import itertools
import math
import mmap
import os
import pickle
import select
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mawl.base.errors import UnsuitableMachineError
from mawl.base.process import die_with_parent
from mawl.measure.accounting import private_peak_bytes
from mawl.measure.step import reset_peak
from mawl.programs.context import JobContext

Block = TypeVar("Block")
Result = TypeVar("Result")
Pieces = Sequence[bytes | memoryview]
Parts = Sequence[weakref.ReferenceType[NDArray[np.uint8]]]

_PLACE = struct.Struct("=qq")
"""What sockets carry: a slot and 1 for an error in it, or ``_LEAVING`` and the bytes of memory held."""
_LEAVING = -1
_ALIGNED_BYTES = 64
_WORTH_DONE_SECONDS = 0.3
"""From this CPU time of such work on, the next work of unknown length starts other processes."""
_WORTH_SECONDS = 0.5
"""Work of known length starts other processes if so much CPU time of it is to come: a fork, the pages it
copies and its end cost 25 to 50 ms, and two threads may cost a tenth more than one."""
_FORESEEN_BLOCKS = 2
"""After so many blocks the fastest of them predicts the CPU time of the others: the first also loads
libraries."""
_NO_BLOCK: Any = object()
_SPARE_BYTES = 2**20
"""Room of a slot beyond twice the first block: the last block may be twice as large as the others."""


def side_by_side(
    context: JobContext, work: Callable[[Block], Result], blocks: Iterable[Block], count: int | None = None
) -> Iterator[Result]:
    """``work`` of each block, in order; it may change nothing but its block.

    The results do not depend on the number of processes.  ``count`` is the number of blocks, None if it is
    not known.  If it is known, the others begin when the blocks to come need enough CPU time, else when the
    job has used enough for such work.  They end with the last result, in the same step: their CPU time and
    memory are the step's.
    """
    with SideBySide(context, work) as processes:
        yield from processes.results(blocks, count)


class SideBySide(Generic[Block, Result]):
    """``side_by_side`` in several rounds of blocks, with the same processes for all that follow.

    The others have the memory of the moment at which they begin: what a later round needs is in its blocks,
    and what the work changes is in a ``shared_array``.  Enter and leave it within one step.

    With ``fixed`` a block of one number goes to the same process in every round.  Use it for work that fills
    parts of a shared array by the number of the block: each process then maps only its own pages of the
    array (1.2 microseconds each), otherwise all of them come to map all pages.
    """

    def __init__(self, context: JobContext, work: Callable[[Block], Result], *, fixed: bool = False) -> None:
        self._context, self._work, self._fixed = context, work, fixed
        self._crew: _Crew[Block, Result] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._crew is None:
            return
        try:
            if kind is None:
                self._crew.leave()
        finally:
            self._crew.close()

    def results(self, blocks: Iterable[Block], count: int | None = None) -> Iterator[Result]:
        """What the work gives of each block, in order.

        ``count`` is the number of blocks in this and all later rounds, None if it is not known.
        """
        following = iter(blocks)
        if self._context.threads == 1:
            yield from map(self._work, following)
            return
        spent: list[float] = []
        while (first := next(following, _NO_BLOCK)) is not _NO_BLOCK:
            if self._crew is None and not self._is_worth(spent, count):
                began = time.process_time()
                result = self._work(first)
                spent.append(time.process_time() - began)
                self._context.divisible_seconds += spent[-1]
                yield result
                continue
            if self._crew is None:
                self._crew = _Crew(
                    self._context, self._work, self._context.threads - 1, first, fixed=self._fixed
                )
            yield from self._crew.results(itertools.chain([first], following), len(spent))
            return

    def _is_worth(self, spent: Sequence[float], count: int | None) -> bool:
        """Whether enough has been done or is to come; ``spent`` are the CPU seconds of the blocks so far."""
        has_begun = self._context.divisible_seconds >= _WORTH_DONE_SECONDS
        if count is None:
            return has_begun
        if len(spent) < (1 if has_begun else _FORESEEN_BLOCKS):
            return False
        return min(spent) * (count - len(spent)) >= _WORTH_SECONDS


def shared_array(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers, at first 0, in memory that processes side by side may fill part by part."""
    memory = mmap.mmap(-1, max(math.prod(shape), 1) * 8)
    return np.frombuffer(memory, np.float64, count=math.prod(shape)).reshape(shape)


class _Slots:
    """Shared memory, a slot for each block that is under way or waits for its turn as a result."""

    def __init__(self, count: int, room: int) -> None:
        self._room = -(-room // mmap.PAGESIZE) * mmap.PAGESIZE
        self._view = memoryview(mmap.mmap(-1, count * self._room))

    def put(self, slot: int, pieces: Pieces) -> bool:
        """Copy what ``_pieces`` gave into a slot; False if there is not enough room."""
        if _size(pieces) > self._room:
            return False
        space = self._space(slot)
        head = struct.pack(f"=q{len(pieces)}q", len(pieces), *map(len, pieces))
        space[: len(head)] = head
        at = len(head)
        for piece in pieces:
            at = _aligned(at)
            space[at : at + len(piece)] = piece
            at += len(piece)
        return True

    def view(self, slot: int) -> tuple[Any, Parts]:
        """The value in a slot, and the parts of the slot that its arrays are views of.

        Only views keep a part alive, so a dead reference means that no view is left.
        """
        head, *arrays = self._pieces(slot)
        parts = [np.asarray(array) for array in arrays]
        return pickle.loads(head, buffers=parts), [weakref.ref(part) for part in parts]

    def copy(self, slot: int) -> Any:
        """The value in a slot; its arrays are copies, so that the slot can be filled again."""
        return _copied(self._pieces(slot))

    def _pieces(self, slot: int) -> list[memoryview]:
        space = self._space(slot)
        (count,) = struct.unpack_from("=q", space)
        at, pieces = 8 + 8 * count, []
        for size in struct.unpack_from(f"={count}q", space, 8):
            at = _aligned(at)
            pieces.append(space[at : at + size])
            at += size
        return pieces

    def _space(self, slot: int) -> memoryview:
        return self._view[slot * self._room : (slot + 1) * self._room]


def _pieces(value: object) -> Pieces:
    """A value as bytes: first its structure, then views of its arrays."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return [head, *(array.raw() for array in arrays)]


def _copied(pieces: Pieces) -> Any:
    """The value that ``_pieces`` took apart; its arrays are copies."""
    head, *arrays = pieces
    return pickle.loads(head, buffers=[bytearray(array) for array in arrays])


def _error_pieces(error: Exception) -> Pieces:
    """An error as bytes; one that cannot be made again as its text."""
    try:
        pieces = _pieces(error)
        pickle.loads(pieces[0], buffers=pieces[1:])
    except Exception:
        return _pieces(RuntimeError(f"{type(error).__name__}: {error}"))
    return pieces


def _size(pieces: Pieces) -> int:
    return 8 + sum(8 + _ALIGNED_BYTES + len(piece) for piece in pieces)


def _aligned(at: int) -> int:
    return -(-at // _ALIGNED_BYTES) * _ALIGNED_BYTES


class _Crew(Generic[Block, Result]):
    """Other processes that take blocks from a socket, and say on theirs what is done.

    All share the socket that blocks come from; with ``fixed`` each has one, and the blocks go round.
    """

    def __init__(
        self,
        context: JobContext,
        work: Callable[[Block], Result],
        others: int,
        first: Block,
        *,
        fixed: bool,
    ) -> None:
        self._context, self._work = context, work
        count = 2 * (others + 1)
        self._slots = _Slots(count, 2 * _size(_pieces(first)) + _SPARE_BYTES)
        self._free = list(range(count))
        self._numbers: dict[int, int] = {}
        """The block that each slot under way holds, by its number."""
        self._done: dict[int, Result] = {}
        self._ways = [
            socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for _ in range(others + 1 if fixed else 1)
        ]
        """Ends to give and to take blocks; this process takes from the first, each other from its own or
        from the same."""
        self._others: dict[int, tuple[int, socket.socket]] = {}
        """Descriptor of a process's socket to its id and the socket."""
        self._poll = select.poll()
        for place in range(1, others + 1):
            self._start(self._ways[place % len(self._ways)][1])

    def results(self, blocks: Iterator[Block], first: int) -> Iterator[Result]:
        given = following = first
        ended = False
        while True:
            while self._free and not ended:
                block = next(blocks, _NO_BLOCK)
                ended = block is _NO_BLOCK
                if not ended:
                    self._give(given, block)
                    given += 1
            if following in self._done:
                yield self._done.pop(following)
                following += 1
            elif ended and following == given:
                return
            # What came in meanwhile goes first: its slots are free for more.
            elif not (self._collect(0) or self._do_next()):
                self._collect(None)

    def leave(self) -> None:
        """Let the others end, and add to the step's memory what they alone held."""
        self._give_no_more()
        while self._others:
            self._collect(None)

    def close(self) -> None:
        for pid, end in self._others.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            end.close()
        self._others.clear()
        self._give_no_more()
        for _, taking in self._ways:
            taking.close()

    def _give_no_more(self) -> None:
        for giving, _ in self._ways:
            giving.close()

    def _start(self, taking: socket.socket) -> None:
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with warnings.catch_warnings():
            # It warns of the libraries' threads: the libraries handle forks, and no thread works now.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            self._be_another(parent, taking, there)
        there.close()
        self._others[here.fileno()] = pid, here
        self._poll.register(here, select.POLLIN)

    def _be_another(self, parent: int, taking: socket.socket, end: socket.socket) -> NoReturn:
        status = 1
        try:
            die_with_parent(parent)
            reset_peak()
            self._give_no_more()
            while taken := taking.recv(_PLACE.size):
                slot, _ = _PLACE.unpack(taken)
                end.send(_PLACE.pack(slot, self._answer(slot)))
            end.send(_PLACE.pack(_LEAVING, private_peak_bytes() or 0))
            status = 0
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(status)

    def _give(self, number: int, block: Block) -> None:
        slot = self._free.pop()
        self._numbers[slot] = number
        if self._slots.put(slot, _pieces(block)):
            giving, _ = self._ways[number % len(self._ways)]
            giving.send(_PLACE.pack(slot, 0))
        else:
            # Much larger than the first one: such a block is worked on here.
            del self._numbers[slot]
            self._free.append(slot)
            self._done[number] = self._work(block)

    def _do(self, slot: int) -> tuple[Result, bool]:
        block, parts = self._slots.view(slot)
        result = self._work(block)
        del block
        return result, all(part() is None for part in parts)

    def _answer(self, slot: int) -> int:
        """Replace the block in a slot by the result; 1 where it is an error."""
        try:
            result, is_apart = self._do(slot)
            pieces = _pieces(result)
            if not is_apart:
                # The block lies where the result goes.
                pieces = [bytes(piece) for piece in pieces]
            is_error = 0
        except Exception as error:
            traceback.print_exc()
            pieces, is_error = _error_pieces(error), 1
        if not self._slots.put(slot, pieces):
            raise RuntimeError("a result is much larger than its block")
        return is_error

    def _do_next(self) -> bool:
        """Work on a block that no other process has taken or will take; False where there is none."""
        _, taking = self._ways[0]
        try:
            slot, _ = _PLACE.unpack(taking.recv(_PLACE.size, socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False
        result, is_apart = self._do(slot)
        self._finish(slot, result if is_apart else _copied(_pieces(result)))
        return True

    def _collect(self, timeout_seconds: float | None) -> bool:
        """Take what the others have done; False where nothing was."""
        ready = self._poll.poll(None if timeout_seconds is None else timeout_seconds * 1000.0)
        for descriptor, _ in ready:
            pid, end = self._others[descriptor]
            message = end.recv(_PLACE.size)
            place, what = _PLACE.unpack(message) if message else (_LEAVING, None)
            if place != _LEAVING:
                self._take(place, what)
                continue
            self._poll.unregister(descriptor)
            del self._others[descriptor]
            end.close()
            _, status = os.waitpid(pid, 0)
            if what is None or status != 0:
                raise UnsuitableMachineError(
                    "a process of the job ended before its work",
                    why=_ending(status),
                    cure="see the job's log; where memory ran out, choose a smaller cpucount",
                )
            self._context.steps.add_memory(what)
        return bool(ready)

    def _take(self, slot: int, is_error: int) -> None:
        result = self._slots.copy(slot)
        if is_error:
            raise result
        self._finish(slot, result)

    def _finish(self, slot: int, result: Result) -> None:
        self._done[self._numbers.pop(slot)] = result
        self._free.append(slot)


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit status {code}"

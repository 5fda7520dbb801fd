"""Read a stranger's file or folder in a separate process, with bounds of memory, CPU time and time.

The kernel limits the CPU time (``RLIMIT_CPU``).  Its limits of memory count address space, of which Arrow's
allocator reserves 1 GiB at its start.  So the parent reads every few milliseconds how much memory the process
holds; ``RLIMIT_DATA`` only stops a single huge request.
docs/design/foreign-files.md has the figures.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import msgspec
import pyarrow as pa

from mawl.base.errors import MawlError, UnreadableRunError, UnsuitableMachineError
from mawl.base.process import die_with_parent
from mawl.base.units import format_memory
from mawl.records.spec.task import TaskFailure

Record = TypeVar("Record")


class ReadingBounds(msgspec.Struct, frozen=True, kw_only=True):
    """What reading one file or folder may take, on top of what mawl itself takes.

    ``request_bytes``: how much more than that it may ask for at once, Arrow's reserve included.
    """

    memory_bytes: int = 256 * 2**20
    seconds: int = 25
    request_bytes: int = 3 * 2**30
    answer_bytes: int = 64 * 2**20


BOUNDS = ReadingBounds()
TRUSTED_HELP = (
    f"do not limit the reading of each pack or run to {format_memory(BOUNDS.memory_bytes)} of memory and "
    f"{BOUNDS.seconds} s"
)
_LOOKS_EVERY_SECONDS = 0.005
_THREADS = 2
"""Of Arrow: more would take memory faster than the parent looks."""
_PAGE_BYTES = resource.getpagesize()


class _Answer(msgspec.Struct, kw_only=True):
    """What the process sends at its end: the record that it read, or why it could not read it."""

    record: msgspec.Raw = msgspec.Raw(b"null")
    failure: TaskFailure | None = None
    unforeseen: str | None = None
    out_of_memory: bool = False


def read_bounded_by(
    read: Callable[[], Record], kind: type[Record], where: Path | str, bounds: ReadingBounds = BOUNDS
) -> Record:
    """What ``read`` returns, a record of ``kind``, from a process forked here.

    Raises the ``MawlError`` that ``read`` raised, and ``UnreadableRunError`` where it took more than the
    bounds, died, or raised something that mawl did not foresee; that has the traceback as a note.
    """
    parent = os.getpid()
    held_bytes = _held_bytes(parent)
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _answer(read, writer, parent, bounds)
    os.close(writer)
    beyond: UnreadableRunError | None = None
    try:
        content = bytearray()
        beyond = _received(reader, pid, content, held_bytes, bounds, str(where))
    finally:
        os.close(reader)
        _end(pid)
    _, status = os.waitpid(pid, 0)
    if beyond is not None:
        raise beyond
    return _record_of(bytes(content), status, kind, bounds, str(where))


def _received(
    reader: int, pid: int, content: bytearray, held_bytes: int, bounds: ReadingBounds, where: str
) -> UnreadableRunError | None:
    """Collect what the process writes until its end; the error where it goes beyond a bound."""
    ends_at = time.monotonic() + bounds.seconds
    while True:
        ready, _, _ = select.select([reader], [], [], _LOOKS_EVERY_SECONDS)
        if ready:
            part = os.read(reader, 2**20)
            if not part:
                return None
            content += part
        if len(content) > bounds.answer_bytes or _held_bytes(pid) - held_bytes > bounds.memory_bytes:
            return _out_of_memory(where, bounds)
        if time.monotonic() > ends_at:
            return _out_of_time(where, bounds)


def _record_of(content: bytes, status: int, kind: type[Record], bounds: ReadingBounds, where: str) -> Record:
    try:
        answer = msgspec.json.decode(content, type=_Answer)
    except msgspec.DecodeError:  # it ended before its answer
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            raise _out_of_time(where, bounds) from None
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {-code}" if code < 0 else f"status {code}"
        raise UnreadableRunError(
            "cannot be read",
            where=where,
            why=f"the process that read it ended with {how}",
            cure="report this with the file",
        ) from None
    if answer.out_of_memory:
        raise _out_of_memory(where, bounds)
    if answer.failure is not None:
        raise answer.failure.error()
    if answer.unforeseen is not None:
        error = UnreadableRunError(
            "cannot be read",
            where=where,
            why=f"it holds what mawl did not foresee ({answer.unforeseen.strip().splitlines()[-1]})",
            cure="report this with the file; --debug shows the place in mawl",
        )
        error.add_note(answer.unforeseen)
        raise error
    return msgspec.json.decode(answer.record, type=kind)


def _answer(read: Callable[[], Record], writer: int, parent: int, bounds: ReadingBounds) -> NoReturn:
    """The separate process: write the answer to the pipe and exit without the destructors of libraries."""
    status = 1
    try:
        die_with_parent(parent)  # only the parent limits its memory
        os.setpgid(0, 0)
        # C++ libraries print their errors there; the user gets a sentence of mawl instead.
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        _limit(resource.RLIMIT_CPU, bounds.seconds)
        _limit(resource.RLIMIT_DATA, _data_bytes() + bounds.memory_bytes + bounds.request_bytes)
        _limit(resource.RLIMIT_CORE, 0)
        pa.set_cpu_count(min(_THREADS, pa.cpu_count()))
        answer = msgspec.json.encode(_answered(read))
        while answer:
            answer = answer[os.write(writer, answer) :]
        status = 0
    finally:
        os._exit(status)


def _answered(read: Callable[[], Record]) -> _Answer:
    try:
        return _Answer(record=msgspec.Raw(msgspec.json.encode(read())))
    except MawlError as error:
        return _Answer(failure=TaskFailure.of(error))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        place = str(error.filename or "") or None
        return _Answer(failure=TaskFailure.of(UnsuitableMachineError(why, where=place)))
    except MemoryError:
        return _Answer(out_of_memory=True)
    except Exception:
        return _Answer(unforeseen=traceback.format_exc())


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _end(pid: int) -> None:
    """Kill the process and its children; the caller waits for it."""
    for end in (os.killpg, os.kill):  # it may not have its own group yet
        try:
            end(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _held_bytes(pid: int) -> int:
    """Memory of a process without pages of files; 0 after its end, until it is waited for."""
    _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    return (int(resident) - int(shared)) * _PAGE_BYTES


def _data_bytes() -> int:
    """What ``RLIMIT_DATA`` counts of this process."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * _PAGE_BYTES


def _out_of_memory(where: str, bounds: ReadingBounds) -> UnreadableRunError:
    return _beyond(f"{format_memory(bounds.memory_bytes)} of memory", where)


def _out_of_time(where: str, bounds: ReadingBounds) -> UnreadableRunError:
    return _beyond(f"{bounds.seconds} s", where)


def _beyond(bound: str, where: str) -> UnreadableRunError:
    return UnreadableRunError(
        f"takes more than {bound} to read",
        where=where,
        why="mawl reads files of others within bounds",
        cure="if you trust who made it, read it with --trusted, which has no such bound",
    )

"""``mawl generate``: input tables made, continued after a kill, checked or repaired."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from mawl.datagen.build import PartTask, build_part, is_intact
from mawl.datagen.construction import Construction, Generated, TableRequest
from mawl.datagen.workers import in_processes
from mawl.errors import InterruptedRunError, UnsuitableMachineError
from mawl.measure.space import space_of
from mawl.plan.catalogue import INPUTS
from mawl.plan.tables import InputTable
from mawl.units import format_bytes

__all__ = ["Generated", "GenerationProgress", "TableRequest", "generate"]

Result = TypeVar("Result")

_BYTES_PER_PROCESS = 128 * 10**6


class GenerationProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a generation is: bytes made or read back, of all requests together."""

    done_bytes: int
    total_bytes: int
    table: str
    file: str
    checking: bool


def generate(
    requests: Sequence[TableRequest],
    directory: Path | Sequence[Path],
    *,
    processes: int,
    bufsize_bytes: int,
    progress: Callable[[GenerationProgress], None] = lambda _: None,
    verify: bool = True,
    tables: Mapping[str, InputTable] = INPUTS,
) -> list[Generated]:
    """Make every requested table under ``directory`` (it exists), by up to ``processes`` processes.

    Where the tables lie in several directories there is one for each request.

    A finished table is read back and compared with its manifest (its file sizes only, unless
    ``verify``), and what is damaged is rebuilt; an unfinished one is continued.

    Raises :class:`~mawl.errors.UnsuitableMachineError` before the first byte where space is too
    small, and when a write fails; :class:`~mawl.errors.InterruptedRunError` after Ctrl-C.
    """
    homes = [directory] * len(requests) if isinstance(directory, Path) else list(directory)
    places = [
        request.directory(tables[request.table], home) for request, home in zip(requests, homes, strict=True)
    ]
    with contextlib.ExitStack() as locks:
        for place in sorted(set(places)):  # in one order for everybody, so that nobody waits in a circle
            place.mkdir(mode=0o700, exist_ok=True)
            locks.enter_context(_alone(place))
        works = [
            Construction(request, tables[request.table], home, bufsize_bytes)
            for request, home in zip(requests, homes, strict=True)
        ]
        for work in works:
            if not work.finished:
                work.recall()
        for device_works in _by_file_system(works):
            _check_space(device_works, device_works[0].directory)
        try:
            _check(works, processes, progress, verify)
            _build(works, processes, progress)
        except KeyboardInterrupt:
            raise InterruptedRunError(
                "generation was interrupted",
                cure="give the same command again, it continues where this one stopped",
            ) from None
        return [work.finish() for work in works]


def _check(
    works: Sequence[Construction],
    processes: int,
    progress: Callable[[GenerationProgress], None],
    verify: bool,
) -> None:
    """Read finished tables back; parts that differ are taken out of their work."""
    owners: list[tuple[Construction, PartTask]] = []
    for work in works:
        if work.finished and verify:
            owners += [(work, task) for task in work.checks()]
        elif work.finished and work.sizes_right():
            work.status = "present"
        elif work.finished:
            owners += [(work, task) for task in work.checks()]
    for work, task, intact in _run(is_intact, owners, processes, progress, checking=True):
        if not intact:
            work.reject(task)


def _build(
    works: Sequence[Construction], processes: int, progress: Callable[[GenerationProgress], None]
) -> None:
    """Make every part that is missing, of all tables together."""
    owners = []
    for work in works:
        missing = work.missing()
        if missing or not work.finished:
            work.begin()
        owners += [(work, task) for task in missing]
    for work, _, part in _run(build_part, owners, processes, progress, checking=False):
        work.add(part)


def _run(
    function: Callable[[PartTask], Result],
    owners: list[tuple[Construction, PartTask]],
    processes: int,
    progress: Callable[[GenerationProgress], None],
    *,
    checking: bool,
) -> Iterator[tuple[Construction, PartTask, Result]]:
    """Hand out tasks, longest first, and report progress as they end."""
    owners.sort(key=lambda owner: -owner[1].slot.bytes)
    total = sum(task.slot.bytes for _, task in owners)
    # A process costs its imports, so it must have something to do.
    useful = min(processes, -(-total // _BYTES_PER_PROCESS))
    done = 0
    with contextlib.closing(in_processes(function, [task for _, task in owners], useful)) as results:
        for index, result in results:
            work, task = owners[index]
            yield work, task, result
            done += task.slot.bytes
            progress(
                GenerationProgress(
                    done_bytes=done,
                    total_bytes=total,
                    table=work.table.name,
                    file=task.slot.file,
                    checking=checking,
                )
            )


def _by_file_system(works: Sequence[Construction]) -> list[list[Construction]]:
    found: dict[int, list[Construction]] = {}
    for work in works:
        found.setdefault(work.directory.stat().st_dev, []).append(work)
    return list(found.values())


def _check_space(works: Sequence[Construction], directory: Path) -> None:
    if all(work.finished for work in works):
        return
    needed = sum(work.space_bytes() for work in works)
    free = space_of(directory).free_bytes
    if needed > free:
        raise UnsuitableMachineError(
            "the input tables do not fit",
            where=str(directory),
            why=f"they need {format_bytes(needed)} more ({needed} bytes) and {format_bytes(free)} "
            f"({free} bytes) are free",
            cure="make room, choose a smaller --scale, or name another directory with --data",
        )


@contextlib.contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Hold a table's directory, so that two generations do not write the same files.

    Waits for a generation of the same table that is under way; what it made is then there.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

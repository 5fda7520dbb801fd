"""Run tasks in several processes, or in this one, and yield the results as they come."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import queue
import signal
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

from mawl.base.errors import UnsuitableMachineError
from mawl.base.process import die_with_parent, without_interrupts
from mawl.measure.processes import is_stopped, signal_all

TaskType = TypeVar("TaskType")
ResultType = TypeVar("ResultType")
Result = TypeVar("Result")

LOOK_SECONDS, STOPPED_SECONDS = 1.0, 5.0
"""How often it is looked whether a process is stopped by a signal, and how long it may be."""

SHARED_MEMORY = Path("/dev/shm")


def usual_processes(cpus: Sequence[int] | None = None, shared_memory: Path = SHARED_MEMORY) -> int:
    """As many as processors the run may use; one where processes cannot share semaphores."""
    if not os.access(shared_memory, os.W_OK | os.X_OK):
        return 1
    return len(cpus or os.sched_getaffinity(0))


def in_processes(
    work: Callable[[TaskType], ResultType], tasks: Sequence[TaskType], processes: int
) -> Generator[tuple[int, ResultType], None, None]:
    """(index of the task, its result) as tasks end, handed out in order to up to ``processes``.

    With one process the work is done here.  New processes are spawned, since a fork would share the
    locks of libraries' threads; the terminal's Ctrl-C does not reach them, since this process answers
    it, and they die with this process.  When the caller stops early, tasks that run are waited for and
    the rest is dropped.
    Raises UnsuitableMachineError where a process was killed, or is stopped by a signal for long.
    """
    if processes <= 1:
        for index, task in enumerate(tasks):
            yield index, work(task)
        return
    pool = concurrent.futures.ProcessPoolExecutor(
        max_workers=processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=die_with_parent,
        initargs=(os.getpid(),),
    )
    try:
        with without_interrupts():
            futures = {pool.submit(work, task): index for index, task in enumerate(tasks)}
        ended: queue.SimpleQueue[concurrent.futures.Future[ResultType]] = queue.SimpleQueue()
        for future in futures:
            future.add_done_callback(ended.put)
        watch = _WorkerWatch()
        for _ in futures:
            future = watch.next_of(ended)
            yield futures[future], future.result()
    except BrokenProcessPool:
        raise UnsuitableMachineError(
            "a generating process was killed",
            why="most often the machine ran out of memory",
            cure="run mawl generate again with fewer processes, it continues where it stopped",
        ) from None
    finally:
        signal_all(_children(), signal.SIGCONT)  # one that is stopped would be waited for without end
        pool.shutdown(wait=True, cancel_futures=True)


class _WorkerWatch:
    """Waits for results, and meanwhile looks whether a generating process is stopped."""

    def __init__(self) -> None:
        self._looked_at = time.monotonic()
        self._since: dict[int, float] = {}

    def next_of(self, ended: queue.SimpleQueue[Result]) -> Result:
        while True:
            if time.monotonic() - self._looked_at >= LOOK_SECONDS:
                self._looked_at = time.monotonic()
                self._look(self._looked_at)
            with contextlib.suppress(queue.Empty):
                return ended.get(timeout=LOOK_SECONDS)

    def _look(self, now: float) -> None:
        still = [pid for pid in _children() if is_stopped(pid)]
        self._since = {pid: self._since.get(pid, now) for pid in still}
        for pid, since in self._since.items():
            if now - since >= STOPPED_SECONDS:
                os.kill(pid, signal.SIGKILL)
                raise UnsuitableMachineError(
                    f"a generating process ({pid}) was stopped by a signal for {STOPPED_SECONDS:.0f} s",
                    cure="run mawl generate again, it continues where it stopped",
                )


def _children() -> list[int]:
    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]

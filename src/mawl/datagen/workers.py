"""Several generating processes, or none: tasks in, results out as they come."""

from __future__ import annotations

import concurrent.futures
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from mawl.errors import UnsuitableMachineError

TaskType = TypeVar("TaskType")
ResultType = TypeVar("ResultType")

_PR_SET_PDEATHSIG = 1


def in_processes(
    work: Callable[[TaskType], ResultType], tasks: Sequence[TaskType], processes: int
) -> Generator[tuple[int, ResultType], None, None]:
    """(index of the task, its result) as tasks end, handed out in order to up to ``processes``.

    With one process the work is done here.  New processes are spawned, since a fork would share the
    locks of libraries' threads; they ignore the terminal's Ctrl-C, which this process answers, and die
    with it.  When the caller stops early, tasks that run are waited for and the rest is dropped.
    """
    if processes <= 1:
        for index, task in enumerate(tasks):
            yield index, work(task)
        return
    pool = concurrent.futures.ProcessPoolExecutor(
        max_workers=processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(os.getpid(),),
    )
    try:
        futures = {pool.submit(work, task): index for index, task in enumerate(tasks)}
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:
        raise UnsuitableMachineError(
            "a generating process was killed",
            why="most often the machine ran out of memory",
            cure="run mawl generate again with fewer processes, it continues where it stopped",
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _prepare(parent: int) -> None:
    """Die with the parent, and leave Ctrl-C to it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)

"""mawl's own processes: how they import, hold Ctrl-C back and end, alone or with their parent."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import NoReturn


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


def end_with(main: Callable[[], int]) -> NoReturn:
    """Run ``main`` and end the process with its status, or with 1 and a traceback where it raised.

    Threads that are no daemons and what ``atexit`` holds have their turn, as at any end.  Destructors of
    C++ libraries have none: Arrow's pool of threads sometimes aborts a process in them whose work is done
    (https://github.com/apache/arrow/issues/34314; of some 240 runs one ended with 134 instead of 0).
    """
    status = 1
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(KeyboardInterrupt):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Import modules without collections meanwhile, and leave what they made out of later ones.

    A module's objects stay until the process ends. Each collection of the oldest generation walks all of
    them, and while imports go on that happens again and again.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Orphans among the descendants become children of this process, not of init."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """A signal, by default SIGKILL, for this process when ``parent`` dies; at once if it is dead already."""
    _prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

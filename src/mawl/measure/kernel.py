"""What Linux offers a process about itself beyond the ``os`` module (prctl(2), proc(5))."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Iterator

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Orphans among the descendants become children of this process, not of init."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """A signal, SIGKILL unless told, for this process when ``parent`` dies; at once if it is dead already."""
    _prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """In the block Ctrl-C, SIGTERM and SIGHUP wait; each that came has its effect at the end of the block.

    It has it also if the block raises: what the signal raises then has the error of the block as its context.
    A process that begins with ``preexec_fn`` belongs into such a block: functions of Python run after its
    fork, and what an interrupt raises in them is printed and lost (os.register_at_fork).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, lambda which, _: came.append(which))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for which in came:
            signal.raise_signal(which)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

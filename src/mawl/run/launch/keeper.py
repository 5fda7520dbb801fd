"""A job's keeper: a small process above the job that reaps, counts and ends all of its tree.

The keeper is a subreaper, so whatever a job starts stays below it, also what daemonises; and since
it is above one job only, everything it reaps is that job's, without guessing.  It ends when
nothing is left below it, and its last message is ``Reaped``.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import os
import select
import signal
import time
from pathlib import Path
from typing import NoReturn

from mawl.base.errors import LIMITS, UnsuitableMachineError
from mawl.base.process import become_subreaper
from mawl.measure.accounting import OwnIo, address_space_limit, io_between, usage_of
from mawl.measure.preload.counters import stamp_reaper
from mawl.measure.processes import descendants, first_thread_seconds, signal_all
from mawl.records.model.messages import Failed, Forked, Reaped, Start, Stop, decode_to_launcher
from mawl.records.model.records import Usage, total
from mawl.run.launch.job import Doors, become
from mawl.run.launch.setup import Reporter, Setup

_KILL_AGAIN_SECONDS = 0.05


def keep(start: Start, control: int, doors: Doors, setup: Setup) -> NoReturn:
    """Turn the calling process, just forked by the launcher, into a keeper; never returns.

    ``control`` is read for ``Stop``; its end means that the launcher is
    gone or wants everything ended now.
    """
    report = Reporter(doors.reports, start.assignment.job)
    status = 1
    try:
        report(Keeper(start, control, doors, setup).run())
        status = 0
    except BaseException as error:
        sentence = f"the job's keeper failed: {type(error).__name__}: {error}"
        report(Failed(job=start.assignment.job, sentence=sentence))
    finally:
        os._exit(status)


class Keeper:
    """One job's tree: started once, watched until nothing of it is left."""

    def __init__(self, start: Start, control: int, doors: Doors, setup: Setup) -> None:
        self._start, self._control, self._doors, self._setup = start, control, doors, setup
        self._main = 0
        self._main_status: int | None = None
        self._ended_at = 0.0
        self._ended_monotonic = 0.0
        self._usage = Usage()
        self._orphan_memory_bytes = 0
        self._run_delay: float | None = None
        self._first: tuple[float, float] | tuple[None, None] = (None, None)
        self._io = OwnIo()
        self._kill_at: float | None = None
        self._leftovers: set[int] = set()
        self._pending = b""

    def run(self) -> Reaped:
        become_subreaper()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # the runner's pipe is the launcher's alone
        os.close(nothing)
        gc.disable()  # a collection would touch, and so copy, the zygote's pages
        # Blocked, not ignored: one that reaches the job before it has unblocked them still counts.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
        wakeup, wakeup_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
        job, keeper, began = self._start.assignment.job, os.getpid(), time.monotonic()
        if self._start.assignment.counters is not None:
            with contextlib.suppress(OSError):  # the file is lost: the job goes without
                stamp_reaper(self._start.assignment.counters)
        Reporter(self._doors.reports, job)(Forked(job=job, pid=keeper))
        self._main = os.fork()
        if self._main == 0:
            for descriptor in (self._control, wakeup, wakeup_write):
                os.close(descriptor)
            self._io.close()
            become(self._start, self._doors, self._setup, keeper)
        self._watch(wakeup)
        exit_code, killed_by = _split(self._main_status)
        return Reaped(
            job=job,
            ended_at=self._ended_at,
            exit_code=exit_code,
            signal=killed_by,
            usage=total([self._usage, Usage(real_time_seconds=self._ended_monotonic - began)]),
            leftover_processes=len(self._leftovers),
            ended_monotonic=self._ended_monotonic,
            run_delay_seconds=self._run_delay,
            first_on_cpu_seconds=self._first[0],
            first_run_delay_seconds=self._first[1],
            orphan_memory_bytes=self._orphan_memory_bytes,
        )

    def _watch(self, wakeup: int) -> None:
        poll = select.poll()
        poll.register(wakeup, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        while self._reap_all():
            if self._main_status is not None:
                self._leftovers.update(self._kill_all())
                wait_seconds: float | None = _KILL_AGAIN_SECONDS
            else:
                wait_seconds = self._kill_when_due()
            ready = poll.poll(None if wait_seconds is None else wait_seconds * 1000)
            for descriptor, _ in ready:
                if descriptor == wakeup:
                    os.read(wakeup, 4096)
                elif not self._obey():
                    poll.unregister(self._control)

    def _reap_all(self) -> bool:
        """Reap what has ended; False when no process is left."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return False
            if ended is None:
                return True
            if ended.si_pid == self._main:
                self._ended_at, self._ended_monotonic = time.time(), time.monotonic()
            first = first_thread_seconds(ended.si_pid)
            if first is not None:
                self._run_delay = (self._run_delay or 0.0) + first[1]
            if ended.si_pid == self._main and first is not None:
                self._first = first
            before = self._io.read()
            _, status, usage = os.wait4(ended.si_pid, 0)
            after = self._io.read()
            used = usage_of(usage, io_between(before, after))
            self._usage = total([self._usage, used])
            if ended.si_pid == self._main:
                self._main_status = status
            else:
                self._orphan_memory_bytes = max(self._orphan_memory_bytes, used.os_memory_bytes or 0)

    def _obey(self) -> bool:
        """Read what the launcher says; False at its end."""
        data = os.read(self._control, 65536)
        if not data:
            self._kill_at = time.monotonic()
            return False
        *lines, self._pending = (self._pending + data).split(b"\n")
        for text in lines:
            message = decode_to_launcher(text)
            if isinstance(message, Stop):
                signal_all(descendants(os.getpid()), signal.SIGTERM)
                self._kill_at = time.monotonic() + message.grace_seconds
        return True

    def _kill_when_due(self) -> float | None:
        """Kill the tree when its grace is over; the seconds until then, None without a limit."""
        if self._kill_at is None:
            return None
        left = self._kill_at - time.monotonic()
        if left > 0:
            return left
        self._kill_all()
        return _KILL_AGAIN_SECONDS

    def _kill_all(self) -> list[int]:
        return [pid for pid in descendants(os.getpid()) if signal_all([pid], signal.SIGKILL)]


def _split(status: int | None) -> tuple[int | None, int | None]:
    """Exit code and signal from a wait status; exactly one of them is set for an ended process."""
    if status is None:
        return None, None
    code = os.waitstatus_to_exitcode(status)
    return (code, None) if code >= 0 else (None, -code)


def prepare(setup: Setup) -> None:
    """Join the control groups, take the CPUs, and import (never call) what programs need."""
    for group in setup.cgroups:
        try:
            Path(group, "cgroup.procs").write_text(str(os.getpid()))
        except OSError as error:
            raise UnsuitableMachineError(
                "the launcher cannot join the control group",
                where=group,
                why=error.strerror,
                cure="run without a memory limit, or with the rights to make control groups",
            ) from error
    if setup.cpus is not None:
        os.sched_setaffinity(0, setup.cpus)
    become_subreaper()
    if setup.mode == "zygote":
        for module in (*setup.modules, setup.execute.partition(":")[0]):
            _import(module)
        gc.collect()
        gc.freeze()  # what is here now is never looked at again, so its pages stay shared


def _import(module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        # Under a limit of address space a library that is there cannot be mapped.
        there = address_space_limit() is not None and not isinstance(error, ModuleNotFoundError)
        raise UnsuitableMachineError(
            f"the zygote cannot import {module}",
            why=str(error),
            cure=LIMITS[errno.ENOMEM]
            if there
            else 'install what the programs need (pip install "mawl[programs]")',
        ) from error

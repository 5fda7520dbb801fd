"""The launcher's process: a single-threaded loop that forks one keeper per job.

``python -m mawl.run.launch.server SETUP`` with the runner on standard input.  When that ends, by a
close or by the runner's death, everything below ends, and then the launcher.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

import msgspec

from mawl.base.errors import LIMITS, UnsuitableMachineError
from mawl.base.process import become_subreaper, die_with_parent
from mawl.measure.accounting import OwnIo, address_space_limit, io_between, own_usage, usage_of
from mawl.measure.preload.counters import stamp_reaper
from mawl.measure.processes import descendants, first_thread_seconds, is_stopped, kill_marked, signal_all
from mawl.records.model.messages import (
    Failed,
    Forked,
    Hello,
    Reaped,
    Release,
    Start,
    Stop,
    decode_to_launcher,
    line,
)
from mawl.records.model.records import Usage, total
from mawl.run.launch.job import Doors, become
from mawl.run.launch.runner_watch import LOOK_SECONDS, RunnerWatch
from mawl.run.launch.setup import LAUNCHER_VARIABLE, Reporter, Setup

_KEEPERS_END_SECONDS = 1.0
_KILL_AGAIN_SECONDS = 0.05
_RUNNER_STOPPED = (
    "the runner (process {}) was stopped by a signal: running jobs go on, nothing is sampled and nothing "
    "starts"
)
KEEPER_STOPPED_SECONDS = 5.0
"""How long a keeper may be stopped until the launcher kills it: nothing else could end its job."""
_KEEPER_STOPPED = (
    "process {}, which measures the job, was stopped by a signal for more than {:.0f} s, so mawl ended the "
    "job, and its real time is unknown; a job may stop its own processes only"
)
_KILLED = float("inf")
"""Marks a keeper that the launcher killed because it stayed stopped."""
_GATE_OPEN = 2**31
"""More jobs than will ever pass one gate: each that passes takes one off."""


class RunningKeeper(msgspec.Struct, frozen=True):
    """A job that runs: its name and the pipe to its keeper."""

    job: str
    control: int


class Server:
    """The loop and what it holds; one per launcher process."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._kept: dict[int, RunningKeeper] = {}
        self._stopped: dict[int, float] = {}
        """Keepers that a signal has stopped, and since when (monotonic)."""
        self._gates: dict[str, int] = {}
        self._pending = b""
        self._watch = (
            None
            if setup.notices is None
            else RunnerWatch(setup.runner, setup.notices, _RUNNER_STOPPED.format(setup.runner))
        )
        self._wakeup, self._wakeup_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def serve(self) -> None:
        """Obey the runner until it is gone, then end everything."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup_write, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._wakeup, select.POLLIN)
        listening = True
        while listening:
            found = poll.poll(1000 * LOOK_SECONDS if self._watch or self._stopped else None)
            if not found and self._watch is not None:  # a runner that is stopped sends nothing
                self._watch.look()
            self._kill_stopped()
            for descriptor, _ in found:
                if descriptor == self._wakeup:
                    os.read(self._wakeup, 4096)
                    self._reap()
                else:
                    listening = self._listen()
        self._end()

    def _listen(self) -> bool:
        data = os.read(0, 1 << 20)
        *lines, self._pending = (self._pending + data).split(b"\n")
        for text in lines:
            try:
                message = decode_to_launcher(text)
            except msgspec.MsgspecError as error:
                sys.stderr.write(f"the launcher got a line it does not understand: {error}: {text[:200]!r}\n")
                continue
            if isinstance(message, Start):
                self._start(message)
            elif isinstance(message, Release):
                os.eventfd_write(self._gate(message.gate), _GATE_OPEN)
            else:
                self._stop(message)
        return bool(data)

    def _start(self, message: Start) -> None:
        gate = None if message.gate is None else self._gate(message.gate)
        control, control_write = os.pipe2(os.O_CLOEXEC)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(control)
            os.close(control_write)
            self._report_broken(
                message.assignment.job,
                f"the process cannot be made: {error.strerror}; see the system's log for the reason",
                Usage(),
                0,
            )
            return
        if pid == 0:
            held = [
                self._wakeup,
                self._wakeup_write,
                control_write,
                *(kept.control for kept in self._kept.values()),
                *([] if self._setup.notices is None else [self._setup.notices]),
            ]
            for descriptor in held + [other for other in self._gates.values() if other != gate]:
                os.close(descriptor)
            signal.set_wakeup_fd(-1)
            keep(message, control, Doors(self._setup.reports, gate), self._setup)
        os.close(control)
        self._kept[pid] = RunningKeeper(message.assignment.job, control_write)

    def _stop(self, message: Stop) -> None:
        for keeper, kept in self._kept.items():
            if kept.job == message.job:
                with contextlib.suppress(BrokenPipeError):  # it has just ended
                    os.write(kept.control, line(message))
                signal_all([keeper], signal.SIGCONT)  # one that is stopped would never read it

    def _gate(self, name: str) -> int:
        """The gate's counter; a job takes one off to pass and sleeps while there is none."""
        if name not in self._gates:
            self._gates[name] = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_SEMAPHORE)
        return self._gates[name]

    def _reap(self) -> None:
        """Keepers that were stopped or have ended; the launcher ends the job of one that was killed."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
                if pid == 0:
                    return
                if os.WIFSTOPPED(status) or os.WIFCONTINUED(status):
                    if self._stopped.get(pid) != _KILLED:
                        self._stopped.pop(pid, None)
                        if os.WIFSTOPPED(status):
                            self._stopped[pid] = time.monotonic()  # of each stop, from its own beginning
                    continue
                stopped = self._stopped.pop(pid, None) == _KILLED
                kept = self._kept.pop(pid, None)
                if kept is None:
                    continue
                os.close(kept.control)
                if status != 0:
                    sums, killed = self._end_orphans(usage_of(usage))
                    code = os.waitstatus_to_exitcode(status)
                    how = f"signal {-code}" if code < 0 else f"status {code}"
                    why = f"the process that kept it ended with {how}; see the system's log for the reason"
                    if stopped:
                        why = _KEEPER_STOPPED.format(pid, KEEPER_STOPPED_SECONDS)
                    self._report_broken(kept.job, why, sums, killed)

    def _kill_stopped(self) -> None:
        """Kill keepers that stay stopped; one that was continued meanwhile goes on."""
        now = time.monotonic()
        for pid in [pid for pid, since in self._stopped.items() if now - since >= KEEPER_STOPPED_SECONDS]:
            if is_stopped(pid):
                self._stopped[pid] = _KILLED
                os.kill(pid, signal.SIGKILL)
            else:
                del self._stopped[pid]

    def _end_orphans(self, usage: Usage) -> tuple[Usage, int]:
        """Kill and reap what a dead keeper left behind: it is now below the launcher, beside the keepers."""
        usages, killed = [usage], set[int]()
        while orphans := descendants(os.getpid(), spare=frozenset(self._kept)):
            killed.update(pid for pid in orphans if signal_all([pid], signal.SIGKILL))
            for pid in orphans:
                with contextlib.suppress(ChildProcessError):
                    usages.append(usage_of(os.wait4(pid, 0)[2]))
        return total(usages), len(killed)

    def _report_broken(self, job: str, why: str, usage: Usage, killed: int) -> None:
        report = Reporter(self._setup.reports, job)
        report(Failed(job=job, sentence=f"job {job} is lost: {why}"))
        report(
            Reaped(
                job=job,
                ended_at=time.time(),
                exit_code=None,
                signal=None,
                usage=usage,
                leftover_processes=killed,
            )
        )

    def _end(self) -> None:
        """Let the keepers end their jobs, then kill whatever is left, also what left the tree."""
        for kept in self._kept.values():
            os.close(kept.control)
        kill_at = time.monotonic() + _KEEPERS_END_SECONDS
        while True:
            try:
                ended, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if ended == 0:
                if time.monotonic() >= kill_at:
                    signal_all(descendants(os.getpid()), signal.SIGKILL)
                select.select([self._wakeup], [], [], _KILL_AGAIN_SECONDS)
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wakeup, 4096)
        kill_marked(LAUNCHER_VARIABLE, self._setup.name)


def main(arguments: list[str]) -> None:
    began = time.monotonic()
    setup = msgspec.json.decode(arguments[0], type=Setup)
    os.set_inheritable(setup.reports, False)
    if setup.notices is not None:
        os.set_inheritable(setup.notices, False)
    die_with_parent(setup.runner)  # an import does not see the end of standard input
    prepare(setup)
    # From here on it sees that end and ends everything in order; a stopped launcher has to wake for it.
    die_with_parent(setup.runner, signal.SIGCONT)
    report = Reporter(setup.reports, "")
    report(Hello(pid=os.getpid(), mode=setup.mode, usage=own_usage(time.monotonic() - began)))
    Server(setup).serve()


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


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UnsuitableMachineError as error:
        sys.exit(str(error))
    # Not by the interpreter's own end: libraries that were only imported would complain of leaks.
    sys.stderr.flush()
    os._exit(0)

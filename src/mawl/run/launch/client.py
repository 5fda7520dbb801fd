"""The runner's end of a launcher, or of two: one for programs, and a bare one for commands."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from mawl.base.errors import UnsuitableMachineError, cure_of
from mawl.measure.accounting import usage_of, usage_of_process
from mawl.measure.preload.build import Library
from mawl.measure.processes import is_stopped, kill_marked
from mawl.records.model.messages import FromLauncher, Hello, LaunchMode, Reaped, Start, Stop, ToLauncher, line
from mawl.records.model.records import Usage, difference, total
from mawl.run.launch.setup import (
    ARROW_POOL_VARIABLE,
    EXECUTE,
    LAUNCHER_VARIABLE,
    ONE_PASSIVE_THREAD,
    RUN_ID_VARIABLE,
    Inbox,
    Setup,
    arrow_pool,
)

_PIPE_BYTES = 1 << 20
_LAST_WORDS = 2000
_LOOK_AGAIN_SECONDS = 0.02
_KEEPERS_END_SECONDS = 1.0
GREETING_SECONDS = 300.0
"""Most time from the start to the greeting: the import of the largest libraries from a slow file system."""
STOPPED_SECONDS = 5.0
"""How long a launcher may be stopped until it counts as lost."""
_LOOK_SECONDS = 0.5
"""Least time between two looks at whether the launcher is stopped; messages come much more often."""


class Launcher:
    """Starts ``python -m mawl.run.launch.server`` and talks to it, as a ``JobLauncher``.

    ``modules`` are imported by a zygote before its first job (``plan.catalogue`` names them),
    ``cpus`` restricts it and all its jobs, ``cgroups`` are directories of control groups to join,
    ``log`` takes its own output.  ``library`` counts I/O by role in jobs whose assignment names
    counters.  ``stdio`` are three descriptors that a command gets as its own instead of a log.
    ``notices`` is where people read what this process says, for the launcher to say there that it is stopped.
    ``execute`` names what runs a job.
    Errors: UnsuitableMachineError when the log cannot be written or the interpreter cannot be started.
    """

    def __init__(
        self,
        mode: LaunchMode,
        *,
        run_id: str,
        modules: Sequence[str] = (),
        cpus: Sequence[int] | None = None,
        log: Path,
        cgroups: Sequence[Path] = (),
        library: Library | None = None,
        stdio: Sequence[int] | None = None,
        notices: int | None = None,
        execute: str = EXECUTE,
    ) -> None:
        self._name = f"{run_id}/{uuid.uuid4().hex}"
        self._reports, reports_write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._reports, False)
        # Copies: the launcher's own first three are other ones.
        handed = [_copy_descriptor(one) for one in stdio or ()]
        seen = [] if notices is None else [_copy_descriptor(notices)]
        setup = Setup(
            mode=mode,
            run_id=run_id,
            name=self._name,
            reports=reports_write,
            runner=os.getpid(),
            modules=list(modules),
            cpus=None if cpus is None else list(cpus),
            cgroups=[str(group) for group in cgroups],
            execute=execute,
            stdio=handed or None,
            notices=seen[0] if seen else None,
        )
        command = [
            *_join_command(cgroups),
            sys.executable,
            "-P",
            "-m",
            "mawl.run.launch.server",
            msgspec.json.encode(setup).decode(),
        ]
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    pass_fds=(reports_write, *handed, *seen),
                    env=(library or Library(None)).environment(_environment(mode, run_id, self._name)),
                    start_new_session=True,
                    bufsize=0,
                )
        except OSError as error:
            os.close(self._reports)
            raise UnsuitableMachineError(
                "the process that starts the jobs cannot be made",
                where=error.filename and str(error.filename),
                why=(error.strerror or str(error)).lower(),
                cure=cure_of(error, log.parent, "see the system's log for the reason"),
            ) from None
        finally:
            for descriptor in (reports_write, *handed, *seen):
                os.close(descriptor)
        assert self._process.stdin is not None
        self._to_launcher = self._process.stdin
        # So that many starts fit while a zygote still imports, and many reports while the runner writes.
        for pipe in (self._to_launcher.fileno(), self._reports):
            with contextlib.suppress(OSError):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._log = log
        self._inbox = Inbox(self._reports)
        self._jobs = Usage()
        self._own: Usage | None = None
        self.lost: str | None = None
        self._began = time.monotonic()
        self._greeted = False
        self._stopped_since: float | None = None
        self._next_look = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def complaints(self) -> list[str]:
        return self._inbox.complaints

    def fileno(self) -> int:
        return self._reports

    def send(self, message: ToLauncher) -> None:
        """Ask for something; a launcher that is gone is told of by ``receive``."""
        view = memoryview(line(message))
        with contextlib.suppress(BrokenPipeError, ValueError):  # ValueError: closed by close()
            while view:
                view = view[self._to_launcher.write(view) or 0 :]

    def receive(self) -> list[FromLauncher]:
        """What has come since the last call, in order; never waits.

        Sets ``lost`` at the launcher's end, and adds to ``complaints`` for each line that is not a
        message.  Jobs of a lost launcher end by themselves; their last messages may still come.
        """
        if self._own is None:
            ended = self._has_ended()  # looked at first, so that its last words are read below
            self._drain()
            if ended and self.lost is None:
                self.lost = f"the launcher (process {self.pid}) is gone; {_last_words(self._log)}"
            if self.lost is None and (why := self._why_useless(time.monotonic())) is not None:
                self.lost = why
                os.kill(self.pid, signal.SIGKILL)  # its jobs end with it
        return self._inbox.take()

    def usage(self) -> Usage:
        """What the launcher's process has used so far; after ``close`` the exact sums.

        Its keepers (a few CPU milliseconds a job) are in the sums of ``close`` only.
        """
        return self._own or usage_of_process(self.pid) or Usage()

    def close(self, timeout_seconds: float = 10.0) -> Usage:
        """End everything the launcher started, and itself; what it and the keepers used.

        Messages that come meanwhile wait for ``receive``.  A launcher that does not end in
        time is killed, and what carries its mark with it.
        """
        if self._own is not None:
            return self._own
        alone = usage_of_process(self.pid)
        self._to_launcher.close()
        os.kill(self.pid, signal.SIGCONT)  # one that is stopped does not see the end of its input
        if not self._drain_until(self._has_ended, timeout_seconds):
            os.kill(self.pid, signal.SIGKILL)
        _, status, whole = os.wait4(self.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if status != 0:
            self._drain_until(lambda: self._inbox.ended, _KEEPERS_END_SECONDS)
            kill_marked(LAUNCHER_VARIABLE, self._name)
        self._drain()
        os.close(self._reports)
        self.lost = self.lost or "the launcher was closed"
        if status == 0:
            # Of the largest resident size the kernel knows only that of the largest job's; and it
            # cannot say what I/O was the launcher's.
            own = difference(usage_of(whole), self._jobs)
            peak = None if alone is None else alone.os_memory_bytes
            self._own = msgspec.structs.replace(own, os_memory_bytes=peak)
        else:
            self._own = alone or Usage()
        return self._own

    def _drain_until(self, enough: Callable[[], bool], timeout_seconds: float) -> bool:
        """Take what comes until a condition holds; False when time is up first."""
        deadline = time.monotonic() + timeout_seconds
        poll = select.poll()  # not select(): a runner may hold more than 1024 descriptors
        poll.register(self._reports, select.POLLIN)
        while not enough():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if self._inbox.ended:
                time.sleep(min(left, _LOOK_AGAIN_SECONDS))
            else:
                poll.poll(min(left, _LOOK_AGAIN_SECONDS) * 1000)
                self._drain()
        return True

    def _why_useless(self, now: float) -> str | None:
        """Why a launcher that lives will do nothing more; None while it may."""
        if not self._greeted and now - self._began > GREETING_SECONDS:
            return (
                f"the launcher (process {self.pid}) was not ready after {GREETING_SECONDS:.0f} s; "
                f"{_last_words(self._log)}"
            )
        if now < self._next_look:
            return None
        self._next_look = now + _LOOK_SECONDS
        if not is_stopped(self.pid):
            self._stopped_since = None
            return None
        if self._stopped_since is None:
            self._stopped_since = now
        if now - self._stopped_since < STOPPED_SECONDS:
            return None
        return f"the launcher (process {self.pid}) was stopped by a signal for {STOPPED_SECONDS:.0f} s"

    def _drain(self) -> None:
        for message in self._inbox.drain():
            self._greeted = self._greeted or isinstance(message, Hello)
            if isinstance(message, Reaped):
                self._jobs = total([self._jobs, message.usage])

    def _has_ended(self) -> bool:
        if self._process.returncode is not None:
            return True
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is not None


def _copy_descriptor(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)


def _join_command(cgroups: Sequence[Path]) -> list[str]:
    """A shell that joins the groups and becomes the launcher, so that they count it from its first step.

    It may fail in silence: ``prepare`` joins again, and says what is wrong.
    """
    if not cgroups:
        return []
    join = 'until [ "$1" = -- ]; do echo $$ 2>/dev/null >"$1/cgroup.procs"; shift; done; shift; exec "$@"'
    return ["/bin/sh", "-c", join, "sh", *map(str, cgroups), "--"]


def _last_words(log: Path) -> str:
    try:
        lines = log.read_text("utf-8", "replace")[-_LAST_WORDS:].strip().splitlines()
    except OSError as error:
        return f"its log {log} cannot be read: {error.strerror}"
    return f"its log {log} ends with: {lines[-1]}" if lines else f"its log {log} is empty: it was killed"


def _environment(mode: LaunchMode, run_id: str, name: str) -> dict[str, str]:
    """The launcher's environment.

    A command gets its user's threads and memory pool, a program one thread while importing, and mawl's pool.
    """
    environment = {**os.environ, RUN_ID_VARIABLE: run_id, LAUNCHER_VARIABLE: name}
    if mode != "bare":
        environment.update(ONE_PASSIVE_THREAD)
        environment[ARROW_POOL_VARIABLE] = arrow_pool()
    return environment


class JobLauncher(Protocol):
    """Starts jobs and reports on them; a fake of it runs jobs by script on a fake clock."""

    @property
    def lost(self) -> str | None:
        """Why nothing more can come from the launcher, in one sentence; None while it lives."""

    @property
    def complaints(self) -> list[str]:
        """A sentence for each line from the launcher that could not be understood, so far."""

    def send(self, message: ToLauncher) -> None:
        """Ask for something; nothing happens when the launcher is lost."""

    def fileno(self) -> int:
        """A descriptor that is readable when ``receive`` has something, or the end, to tell."""

    def receive(self) -> list[FromLauncher]:
        """What has come since the last call, in order; never waits."""

    def usage(self) -> Usage:
        """What the launcher itself has used so far (no job's use)."""

    def close(self, timeout_seconds: float = 10.0) -> Usage:
        """End everything it started, and itself; its own use, keepers included."""


class Launchers:
    """A ``JobLauncher`` that sends each job where it is started.

    A command cannot start from the zygote, since it would inherit the zygote's peak of memory.  The
    two greet as one, when both are ready; one that is lost is the loss of both.
    """

    def __init__(self, programs: JobLauncher, commands: JobLauncher) -> None:
        self._every: Sequence[JobLauncher] = (programs, commands)
        self._programs, self._commands = programs, commands
        self._of_job: dict[str, JobLauncher] = {}
        self._hellos: list[Hello] = []
        self._either = select.epoll()
        for launcher in self._every:
            self._either.register(launcher.fileno(), select.EPOLLIN)

    @property
    def lost(self) -> str | None:
        return next((launcher.lost for launcher in self._every if launcher.lost is not None), None)

    @property
    def complaints(self) -> list[str]:
        return [text for launcher in self._every for text in launcher.complaints]

    def send(self, message: ToLauncher) -> None:
        """To the launcher of the message's job; the release of a gate to both."""
        if isinstance(message, Start):
            chosen = self._programs if message.command is None else self._commands
            self._of_job[message.assignment.job] = chosen
            chosen.send(message)
        elif isinstance(message, Stop):
            self._of_job[message.job].send(message)
        else:
            for launcher in self._every:
                launcher.send(message)

    def fileno(self) -> int:
        return self._either.fileno()

    def receive(self) -> list[FromLauncher]:
        """What both have told since the last call; one greeting of two."""
        told: list[FromLauncher] = []
        for launcher in self._every:
            for message in launcher.receive():
                if isinstance(message, Hello):
                    self._hellos.append(message)
                else:
                    told.append(message)
            if launcher.lost is not None:
                # Its end stays readable for ever, and the loop would never sleep again.
                with contextlib.suppress(OSError, ValueError):
                    self._either.unregister(launcher.fileno())
        if len(self._hellos) == len(self._every):
            first = min(self._hellos, key=lambda hello: hello.mode == "bare")
            told.insert(0, msgspec.structs.replace(first, usage=total(hello.usage for hello in self._hellos)))
            self._hellos.clear()
        return told

    def usage(self) -> Usage:
        return total(launcher.usage() for launcher in self._every)

    def close(self, timeout_seconds: float = 10.0) -> Usage:
        usages = [launcher.close(timeout_seconds) for launcher in self._every]
        self._either.close()
        return total(usages)

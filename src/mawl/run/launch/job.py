"""The job's own process: settle, say Ready, wait at the gate, say Started, run, end.

A program of the catalogue is run here, in a copy of the zygote or (``python -m mawl.run.launch.job``)
in a new interpreter; a command replaces this process once its gate is open.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import NoReturn

import msgspec

from mawl.base.errors import MawlError
from mawl.base.process import die_with_parent
from mawl.measure.accounting import own_usage, resident_bytes
from mawl.measure.preload.counters import COUNTERS_VARIABLE
from mawl.measure.preload.job import JobCounters, attach
from mawl.measure.processes import own_run_delay_seconds
from mawl.measure.step import reset_peak
from mawl.records.model.messages import Assignment, Failed, FromLauncher, Ready, Start, Started, line
from mawl.records.model.records import Usage
from mawl.run.launch.setup import JOB_VARIABLE, THREAD_VARIABLES, Reporter, Setup

Execute = Callable[[Assignment, Callable[[FromLauncher], None]], int]

EXIT_FAILED = 1
EXIT_NOT_STARTED = 127
EXIT_NOT_EXECUTABLE = 126
"""As shells have them: there is no such command, or it is none that can be started."""


_COMMAND_CURES = {
    errno.EACCES: "name a file that may be executed (chmod +x)",
    errno.ENOEXEC: "name its interpreter before it, or in its first line (#!)",
}


class Doors(msgspec.Struct, frozen=True):
    """The descriptors a job keeps: the pipe to the runner, and its gate (None: no gate)."""

    reports: int
    gate: int | None


def become(start: Start, doors: Doors, setup: Setup, keeper: int) -> NoReturn:
    """Turn the calling process, just forked by ``keeper``, into the job; never returns."""
    began = time.monotonic()
    status = EXIT_NOT_STARTED
    report = Reporter(doors.reports, start.assignment.job)
    try:
        die_with_parent(keeper)
        _settle(start.assignment, setup)
        if start.command is not None:
            _exec_command(start, start.command, report, doors, began)
        elif setup.mode == "zygote":
            if start.assignment.counters is not None:
                attach(start.assignment.counters)
            status = perform(start.assignment, report, doors, setup.execute, began)
        else:
            _exec_interpreter(start.assignment, doors, setup)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in _COMMAND_CURES:
            status = EXIT_NOT_EXECUTABLE
        report(Failed(job=start.assignment.job, sentence=_sentence(error, start)))
    finally:
        os._exit(status)


def perform(assignment: Assignment, report: Reporter, doors: Doors, execute: str, began: float) -> int:
    """Everything from Ready to the program's end; the exit status."""
    run = load_execute(execute)
    _announce(report, began, resident=True)
    _pass_gate(assignment, report, doors)
    try:
        return run(assignment, report)
    except BaseException as error:
        traceback.print_exc()
        report(Failed(job=assignment.job, sentence=f"{type(error).__name__}: {error}"))
        return EXIT_FAILED
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()


def load_execute(name: str) -> Execute:
    """The callable behind ``module:function``."""
    module, _, function = name.partition(":")
    execute: Execute = getattr(importlib.import_module(module), function)
    return execute


def _settle(assignment: Assignment, setup: Setup) -> None:
    """Own session, default signals, own log, marks and threads in the environment."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)  # also what the shell that started mawl ignored
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    gc.enable()  # the keeper had put it off
    _take_stdio(assignment, setup.stdio)
    os.environ[JOB_VARIABLE] = assignment.job
    if assignment.counters is not None:
        os.environ[COUNTERS_VARIABLE] = assignment.counters  # for what is executed from here on
    if setup.mode != "bare":
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)  # as every Python program has it
        for variable in THREAD_VARIABLES:
            os.environ[variable] = str(assignment.options.cpucount)


def _take_stdio(assignment: Assignment, stdio: list[int] | None) -> None:
    """Standard input, output and error: nothing and the job's log, or what the launcher was handed."""
    if stdio is None:
        log = os.open(assignment.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        given = [os.open(os.devnull, os.O_RDONLY), log, log]
    else:
        given = stdio
    for standard, descriptor in enumerate(given):
        os.dup2(descriptor, standard)
    for descriptor in set(given):
        os.close(descriptor)


def _exec_command(start: Start, command: list[str], report: Reporter, doors: Doors, began: float) -> None:
    if start.directory is not None:
        os.chdir(start.directory)
    os.environ.update(start.environment)
    # What the copy of the keeper holds now would be the command's peak: exec keeps the larger one.
    reset_peak()
    _announce(report, began, resident=False)
    _pass_gate(start.assignment, report, doors)
    os.execvp(command[0], command)


def _exec_interpreter(assignment: Assignment, doors: Doors, setup: Setup) -> None:
    letter = os.memfd_create("mawl-assignment", 0)
    os.write(letter, msgspec.json.encode(assignment))
    os.lseek(letter, 0, os.SEEK_SET)
    for descriptor in (doors.reports, doors.gate):
        if descriptor is not None:
            os.set_inheritable(descriptor, True)
    arguments = [str(letter), msgspec.json.encode(doors).decode(), setup.execute]
    os.execv(sys.executable, [sys.executable, "-P", "-m", "mawl.run.launch.job", *arguments])


def _announce(report: Reporter, began: float, *, resident: bool) -> None:
    """Say Ready, the last thing start-up does; a command's own memory begins at nothing."""
    reset_peak()
    size = resident_bytes() if resident else 0
    startup = own_usage(time.monotonic() - began)
    report(Ready(job=report.job, at=time.time(), resident_bytes=size, startup=startup))


def _pass_gate(assignment: Assignment, report: Reporter, doors: Doors) -> None:
    """Wait until the gate is released; what the job's counters say then is none of the job's own.

    The death of the launcher does not release it, as the end of a pipe would: nothing starts then.
    """
    if doors.gate is not None:
        os.eventfd_read(doors.gate)
    counters = JobCounters.open(assignment.counters)
    if counters is not None:
        counters.begin()
    delay = own_run_delay_seconds() if counters is None else counters.run_delay_seconds()
    used = own_usage()
    at, monotonic = time.time(), time.monotonic()
    said = Started(job=report.job, at=at, monotonic=monotonic, used=used, run_delay_seconds=delay)
    report(msgspec.structs.replace(said, used=_with_this_message(said, used)))


def _with_this_message(said: Started, used: Usage) -> Usage:
    """What was used before the job's own work: saying so, which comes after the look, is part of it."""
    if used.application_written_bytes is None or used.write_calls is None:
        return used
    written = used.application_written_bytes + len(line(said))
    return msgspec.structs.replace(used, application_written_bytes=written, write_calls=used.write_calls + 1)


def _sentence(error: BaseException, start: Start) -> str:
    if (
        start.command is not None
        and isinstance(error, OSError)
        and error.filename in (None, start.command[0])
    ):
        cure = _COMMAND_CURES.get(error.errno or 0, "check its name and PATH")
        return f"{start.command[0]}: the command cannot be started: {error.strerror}; {cure}"
    if isinstance(error, MawlError):
        return str(error)
    return f"the job's process cannot be set up: {error}"


def main(arguments: list[str]) -> NoReturn:
    """A job in a new interpreter: its imports are start-up too."""
    letter, doors_text, execute = arguments
    doors = msgspec.json.decode(doors_text, type=Doors)
    with open(int(letter), "rb") as file:
        assignment = msgspec.json.decode(file.read(), type=Assignment)
    report = Reporter(doors.reports, assignment.job)
    status = EXIT_NOT_STARTED
    try:
        for descriptor in (doors.reports, doors.gate):
            if descriptor is not None:
                os.set_inheritable(descriptor, False)
        for module in _modules(assignment):
            importlib.import_module(module)
        status = perform(assignment, report, doors, execute, _process_began())
    except BaseException as error:
        traceback.print_exc()
        report(Failed(job=assignment.job, sentence=f"the job's process cannot be set up: {error}"))
    finally:
        os._exit(status)


def _modules(assignment: Assignment) -> tuple[str, ...]:
    if assignment.entry is not None:
        return (assignment.entry.partition(":")[0],)
    if assignment.derived is not None:
        from mawl.plan.derived_program import MODULES

        return MODULES
    # Here, not above: the zygote's copies never need the catalogue.
    from mawl.plan.catalogue import CATALOGUE

    declared = CATALOGUE.get(assignment.program)
    return () if declared is None else declared.imports


def _process_began() -> float:
    """When this process was forked, in seconds since the epoch (a tick of 10 ms exact)."""
    with open("/proc/self/stat", "rb") as file:
        text = file.read()
    ticks = int(text[text.rindex(b")") + 2 :].split()[19])
    now_since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic() - (now_since_boot - ticks / os.sysconf("SC_CLK_TCK"))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Run one command under the measurement of a job: FULLSTIMER, I/O by role, waits.

Like time(1), the report goes to standard error and the exit status is the command's. With --json
standard output holds one JSON object, and what the command prints there goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Literal, TextIO

import msgspec

from mawl.base.errors import MawlError
from mawl.base.units import format_bytes, format_seconds
from mawl.commands.arguments import DATA, UTIL, WORK, settings
from mawl.commands.terminal import encoded
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.figures.io import DeviceBytes
from mawl.figures.job_sums import UNKNOWN_PEAK
from mawl.figures.series import CounterChange
from mawl.figures.throughput import role_places, why_no_devices
from mawl.figures.view import RunView
from mawl.importers.formats.saslog_write import block
from mawl.importers.formats.text import one_line
from mawl.records.definitions import BYTES, Number, count, listing, seconds, size, unitless
from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.run import CacheFacts, RunFacts, WorkloadFacts
from mawl.records.model.summary.io import Io
from mawl.records.model.summary.storage import CachedInputs
from mawl.records.model.summary.summary import LAUNCH, Summary
from mawl.records.model.summary.time import CpuReal, Wait
from mawl.records.spec.program_options import Role
from mawl.records.store.output import OutputFile
from mawl.reports.json import render
from mawl.reports.layout import LINE_WIDTH, figure
from mawl.reports.paragraphs import waits
from mawl.reports.run_lines import NO_PAGE_CACHE
from mawl.reports.run_tables.roles import ROLE_DEVICES, ROLES
from mawl.reports.tables import io_totals, table_lines
from mawl.run.runner.job_io import why_refused
from mawl.run.runner.measured_command import NODE, MeasuredCommand, StorageCounters, measure_command
from mawl.run.runner.preparation import deny_cache
from mawl.version import __version__

EXIT_STATUS = (
    "exit status: the command's, or 128 and the number of the signal that killed it; 127 no such command, "
    "126 it cannot be executed, 2 wrong use"
)
EXIT_BY_SIGNAL = 128
"""As shells have it: this, and the number of the signal that killed the command."""


class AtCommandEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What the devices of the roles had moved, and memory still held, when the command ended."""

    device_read_bytes: Annotated[Number | None, size("Bytes that the devices had read.", BYTES)]
    device_written_bytes: Annotated[Number | None, size("Bytes that the devices had written.", BYTES)]
    still_dirty_bytes: Annotated[
        Number | None, size("Bytes of the command that were not yet written out.", BYTES)
    ]


class CommandFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What ``--json`` prints; ``missing`` has the reason of each null figure by its path."""

    command: Annotated[list[str], listing("The command and its arguments.", LAUNCH)]
    exit_code: Annotated[int | None, unitless("Exit code of the command; null: a signal ended it.", LAUNCH)]
    signal: Annotated[int | None, unitless("The signal that ended the command; null: it exited.", LAUNCH)]
    leftover_processes: Annotated[
        int, count("Processes that still ran when the command was over; mawl ended them.", LAUNCH)
    ]
    at_command_end: AtCommandEnd
    sync_seconds: Annotated[float | None, seconds("Time of the sync after the command (--sync).", BYTES)]
    usage: Usage
    inputs: CachedInputs | None
    io: Io
    wait: Wait | None
    cpu_real_ratio: CpuReal
    missing: dict[str, str]


class MeasureArguments(Arguments):
    data: list[str] | None = DATA
    work: list[str] | None = WORK
    util: list[str] | None = UTIL
    sync: bool = switch(
        "when the command has ended, wait until the file systems of the roles are written (syncfs), and "
        "time it apart"
    )
    cache: Literal["none"] | None = option(
        None,
        "none: take all files below the directories of the roles out of the page cache before the "
        "start, and keep them out of it until the end, so that the storage serves every request. Default: "
        "leave the cache as it is",
    )
    json: bool = switch("print one JSON object to standard output")
    output: str | None = option("FILE", "write the report there")
    command: list[str] = operand("COMMAND", "the command, after -- where it has options", nargs="+")


def run(arguments: MeasureArguments) -> int:
    """Run the command, print what it did; its exit status."""
    given: dict[Role, list[str] | None] = {
        "data": arguments.data,
        "work": arguments.work,
        "util": arguments.util,
    }
    directories = settings().roles(given)
    with contextlib.ExitStack() as stack:
        output = None if arguments.output is None else stack.enter_context(OutputFile(arguments.output))
        sys.stdout.flush()
        errors = sys.stderr.fileno()
        to = errors if arguments.json and output is None else sys.stdout.fileno()
        denied = None if arguments.cache is None else deny_cache(directories)
        measured = measure_command(
            arguments.command,
            directories,
            (sys.stdin.fileno(), to, errors),
            sync=arguments.sync,
            uncached=denied is not None,
        )
        view = _view(measured, directories, denied)
        text = _json(measured, view.summary, arguments.command) if arguments.json else _text(measured, view)
        if not arguments.json:
            text = "\n\n".join([text, *_cache_lines(denied), *_missing_places(given)])
        if output is not None:
            output.write(encoded(f"{text}\n"))
        else:
            _print(text, sys.stdout if arguments.json else sys.stderr)
    record = measured.record
    return EXIT_BY_SIGNAL + record.signal if record.signal is not None else record.exit_code or 0


def _print(text: str, file: TextIO) -> None:
    try:
        print(text, file=file, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise MawlError(
            "the report cannot be written",
            where="standard output" if file is sys.stdout else "standard error",
            why=error.strerror,
            cure="name a file with --output",
        ) from error


def _view(
    measured: MeasuredCommand, directories: dict[Role, list[Path]], denied: CacheFacts | None
) -> RunView:
    """The view of a run of this one job; ``denied`` is what ``--cache none`` found before the start."""
    facts = msgspec.structs.replace(_facts(measured, directories), cache=denied)
    moved = _moved_bytes(facts, measured.storage, measured.storage.after)
    return RunView(facts, [measured.record], moved=moved)


def _facts(measured: MeasuredCommand, directories: dict[Role, list[Path]]) -> RunFacts:
    record = measured.record
    return RunFacts(
        run_id="measure",
        kind="measured",
        mawl_version=__version__,
        workload=WorkloadFacts(name="measure", title="one command", sessions=1, jobs=1),
        outcome="completed",
        started_at=record.started_at or time.time(),
        roles={role: [str(place) for place in places] for role, places in directories.items()},
        volumes=measured.storage.volumes,
        dirty={NODE: measured.storage.dirty},
        missing={} if measured.no_roles is None else {"io.by_role": f"not measured: {measured.no_roles}"},
    )


def _moved_bytes(facts: RunFacts, storage: StorageCounters, until: Mapping[str, float]) -> DeviceBytes | None:
    """What the devices of the roles moved from before the command until then; None where unknown."""
    if why_no_devices(facts) is not None:
        return None
    devices = sorted(device for _, device in role_places(facts))
    gained = []
    for way in ("read", "written"):
        names = [f"device.{device}.{way}_bytes" for device in devices]
        if any(name not in until or name not in storage.before for name in names):
            return None
        amount = sum(until[name] - storage.before[name] for name in names)
        gained.append(CounterChange(amount, storage.seconds))
    return DeviceBytes(f"block devices {', '.join(devices)}", gained[0], gained[1])


def _json(measured: MeasuredCommand, summary: Summary, command: list[str]) -> str:
    record, blocks = measured.record, ("inputs", "io", "wait", "cpu_real_ratio")
    return render(
        CommandFigures(
            command=command,
            exit_code=record.exit_code,
            signal=record.signal,
            leftover_processes=record.leftover_processes,
            at_command_end=_at_end(measured),
            sync_seconds=measured.storage.sync_seconds,
            usage=record.usage,
            inputs=summary.inputs,
            io=summary.io,
            wait=summary.wait,
            cpu_real_ratio=summary.cpu_real_ratio,
            missing={
                **_why_missing(measured),
                **{path: reason for path, reason in summary.missing.items() if path.split(".")[0] in blocks},
            },
        )
    )


def _text(measured: MeasuredCommand, view: RunView) -> str:
    record, summary = measured.record, view.summary
    figures = [line.strip() for line in block(record.usage, record.ended_at, 1)]
    parts = [
        figures,
        [*io_totals(summary), *_sync_lines(measured)],
        table_lines(ROLES, view, summary) or table_lines(ROLE_DEVICES, view, summary),
        waits(summary),
        _background_notice(record.leftover_processes),
        _refused_notice(record),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _at_end(measured: MeasuredCommand) -> AtCommandEnd:
    storage = measured.storage
    facts = _facts(measured, {})
    moved = _moved_bytes(facts, storage, storage.at_end)
    return AtCommandEnd(
        device_read_bytes=None if moved is None or moved.read is None else moved.read.amount,
        device_written_bytes=None if moved is None or moved.written is None else moved.written.amount,
        still_dirty_bytes=storage.dirty_at_end.own_at_end_bytes,
    )


def _why_missing(measured: MeasuredCommand) -> dict[str, str]:
    """The reason of each null that no summary explains."""
    storage, end = measured.storage, _at_end(measured)
    why = why_no_devices(_facts(measured, {})) or "the kernel does not count what its devices move"
    peaks = ("memory_bytes", "os_memory_bytes") if measured.record.usage.os_memory_bytes is None else ()
    missing = {f"usage.{name}": UNKNOWN_PEAK for name in peaks}
    missing |= {
        f"at_command_end.{name}": why
        for name, value in msgspec.structs.asdict(end).items()
        if value is None and name != "still_dirty_bytes"
    }
    if end.still_dirty_bytes is None:
        missing["at_command_end.still_dirty_bytes"] = storage.dirty_at_end.own_source or why
    if storage.sync_seconds is None:
        missing["sync_seconds"] = storage.sync_reason or "not asked for (--sync)"
    return missing


def _sync_lines(measured: MeasuredCommand) -> list[str]:
    storage, end = measured.storage, _at_end(measured)
    written, left = end.device_written_bytes, end.still_dirty_bytes
    if written is None and left is None:
        return []
    text = (
        f"at the command's end: {figure(written, format_bytes)} written to the devices, "
        f"{figure(left, format_bytes)} still in memory"
    )
    if storage.sync_seconds is not None:
        text += f"; the sync after it took {format_seconds(storage.sync_seconds)}, and the table is of both"
    elif storage.sync_reason is not None:
        text += f"; the sync after it did not end: {storage.sync_reason}"
    return wrap(text, LINE_WIDTH)


def _cache_lines(cache: CacheFacts | None) -> list[str]:
    if cache is None:
        return []
    said = f"cache     {NO_PAGE_CACHE}"
    return ["\n".join(wrap("; ".join([said, *cache.remarks]), LINE_WIDTH, subsequent_indent=" " * 10))]


def _missing_places(given: dict[Role, list[str] | None]) -> list[str]:
    return [
        f"absent    --{role} {one_line(place)}: there is no such directory, so nothing counted for it"
        for role, places in given.items()
        for place in places or ()
        if not os.path.lexists(place)
    ]


def _refused_notice(record: JobRecord) -> list[str]:
    why = why_refused(record.exit_code, record.signal)
    if why is None:
        return []
    return wrap(f"ended     by SIGSYS: {why}", LINE_WIDTH, subsequent_indent=" " * 10)


def _background_notice(processes: int) -> list[str]:
    if not processes:
        return []
    what = "1 process" if processes == 1 else f"{processes} processes"
    return wrap(
        f"ended     {what} that still ran when the command was over: nothing outlives a measurement, so "
        "let it wait for what it starts",
        LINE_WIDTH,
        subsequent_indent=" " * 10,
    )


VERBS = {"measure": Verb(MeasureArguments, run, EXIT_STATUS)}

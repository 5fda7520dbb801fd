"""One command, measured like a job, with the counters of the storage under its roles."""

from __future__ import annotations

import contextlib
import secrets
import selectors
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

import msgspec

from mawl.base.errors import MawlError, NotStartedError
from mawl.base.removal import temporary_directory
from mawl.measure.devices import volume_facts
from mawl.measure.host.devices import Devices
from mawl.measure.host.files import Figures
from mawl.measure.page_cache import Sync, dirty_of, machine_dirty_bytes
from mawl.measure.processes import descendants, signal_all
from mawl.records.model.messages import Assignment, Failed, Forked, Ready, Reaped, Start, Started
from mawl.records.model.node import DirtyPages
from mawl.records.model.records import JobRecord, Usage, difference
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Options, Role
from mawl.run.launch.client import Launcher
from mawl.run.launch.job import EXIT_NOT_STARTED
from mawl.run.runner.counting import MEASURE_PREFIX, Counting
from mawl.run.runner.job_io import first_thread_of, own_io, run_delay_of, with_own_peak

COARSE_CLOCK_SECONDS = 0.05
"""Files carry the time of the kernel's last tick, which may be this much before the clock's."""


class StorageCounters(msgspec.Struct, frozen=True, kw_only=True):
    """Series ``device.NAME.*`` before the command, at its end and after the sync (else as at the end).

    ``dirty_at_end`` is what memory held when the command ended, ``dirty`` what it held at last;
    ``sync_seconds`` is None without a sync, or with ``sync_reason`` where it did not end.
    """

    volumes: list[VolumeFacts]
    seconds: float
    before: Figures
    at_end: Figures
    after: Figures
    dirty_at_end: DirtyPages
    dirty: DirtyPages
    sync_seconds: float | None = None
    sync_reason: str | None = None


class StorageAround:
    """Looks at the storage of the roles when it is made, and again when the command has ended."""

    def __init__(
        self,
        roles: Mapping[Role, Sequence[Path]],
        node: str,
        proc: Path = Path("/proc"),
        sys: Path = Path("/sys"),
    ) -> None:
        there = {role: [place for place in places if place.is_dir()] for role, places in roles.items()}
        self._places = [place for places in there.values() for place in places]
        self._volumes = volume_facts(there, node, proc, sys)
        self._proc = proc
        self._devices = Devices(proc, sys, {device for volume in self._volumes for device in volume.devices})
        self._began = time.time()
        self._monotonic = time.monotonic()
        self._machine = machine_dirty_bytes(proc)
        self._before = self._look()

    def ended(self, *, sync: bool) -> StorageCounters:
        """The command has ended: look, and with ``sync`` wait until its file systems are written."""
        at_end, dirty_at_end = self._look(), self._dirty()
        after, dirty, syncing = at_end, dirty_at_end, None
        if sync:
            syncing = Sync(self._places)
            syncing.wait()
            after, dirty = self._look(), self._dirty()
        self._devices.close()
        return StorageCounters(
            volumes=self._volumes,
            seconds=time.monotonic() - self._monotonic,
            before=self._before,
            at_end=at_end,
            after=after,
            dirty_at_end=dirty_at_end,
            dirty=dirty,
            sync_seconds=syncing.seconds if syncing else None,
            sync_reason=syncing.reason if syncing else None,
        )

    def _look(self) -> Figures:
        figures: Figures = {}
        self._devices.read(figures)
        return figures

    def _dirty(self) -> DirtyPages:
        own, source = dirty_of(self._places, since=self._began - COARSE_CLOCK_SECONDS)
        return DirtyPages(
            sync_reason="a command is measured as it is found: nothing is synced before it",
            machine_at_gate_bytes=self._machine,
            machine_at_end_bytes=machine_dirty_bytes(self._proc),
            own_at_end_bytes=own,
            own_source=source,
            removed_bytes=0,
        )


FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
JOB = "command"
NODE = "localhost"


class MeasuredCommand(msgspec.Struct, frozen=True, kw_only=True):
    """The command's record, why I/O by role is missing from it where it is, and its storage."""

    record: JobRecord
    no_roles: str | None
    storage: StorageCounters


def measure_command(
    command: Sequence[str],
    roles: Mapping[Role, Sequence[Path]],
    stdio: tuple[int, int, int],
    *,
    sync: bool = False,
    uncached: bool = False,
) -> MeasuredCommand:
    """Run a command to its end with these three descriptors, and forward signals to it.

    With ``sync`` the file systems of the roles are written when it has ended, which is timed apart.  With
    ``uncached`` its files of the roles are kept out of the page cache.

    Raises ``NotStartedError`` where it cannot be started, and
    ``UnsuitableMachineError`` where ``uncached`` cannot hold.
    """
    run_id = f"{MEASURE_PREFIX}{secrets.token_hex(4)}"
    with contextlib.ExitStack() as cleanup:
        folder = cleanup.enter_context(temporary_directory("mawl-measure-"))
        counting = Counting(run_id, roles, folder, jobs=1, uncached=uncached)
        cleanup.callback(counting.close)
        counters = counting.make(JOB)
        launcher = Launcher(
            "bare", run_id=run_id, log=folder / "launcher.log", library=counting.library, stdio=stdio
        )
        cleanup.callback(launcher.close)
        watch = _CommandWatch(launcher)
        cleanup.enter_context(watch)
        around = StorageAround(roles, NODE)
        launcher.send(Start(assignment=_assignment(run_id, folder, counters), command=list(command)))
        record = watch.record(command, counting)
        return MeasuredCommand(record=record, no_roles=counting.reason, storage=around.ended(sync=sync))


class _CommandWatch:
    """What launcher and command say; while it is entered, signals go to the command."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._said: dict[type, object] = {}
        self._previous: dict[int, object] = {}

    def __enter__(self) -> None:
        for number in FORWARDED:
            self._previous[number] = signal.signal(number, self._forward)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _forward(self, number: int, _: FrameType | None) -> None:
        forked = self._said.get(Forked)
        if isinstance(forked, Forked):
            signal_all(descendants(forked.pid), number)

    def record(self, command: Sequence[str], counting: Counting) -> JobRecord:
        with selectors.DefaultSelector() as selector:
            selector.register(self._launcher.fileno(), selectors.EVENT_READ)
            while Reaped not in self._said:
                if self._launcher.lost is not None:
                    raise MawlError("the command cannot be measured", why=self._launcher.lost)
                selector.select(1.0)
                self._said |= {type(message): message for message in self._launcher.receive()}
        ready, started, reaped = (self._said.get(kind) for kind in (Ready, Started, Reaped))
        failed = self._said.get(Failed)
        if isinstance(failed, Failed):
            status = reaped.exit_code if isinstance(reaped, Reaped) else None
            raise NotStartedError(failed.sentence, status or EXIT_NOT_STARTED)
        assert isinstance(ready, Ready) and isinstance(started, Started) and isinstance(reaped, Reaped)
        return _record(command, started, reaped, counting)


def _record(command: Sequence[str], started: Started, reaped: Reaped, counting: Counting) -> JobRecord:
    taken = counting.take(JOB)
    count = None if taken is None else taken[0]
    reaped = with_own_peak(reaped, started, count)
    startup = started.used or Usage()
    real = None
    if started.monotonic is not None and reaped.ended_monotonic is not None:
        real = reaped.ended_monotonic - started.monotonic
    usage = msgspec.structs.replace(
        difference(reaped.usage, startup),
        real_time_seconds=real,
        os_memory_bytes=reaped.usage.os_memory_bytes,
        memory_bytes=reaped.usage.os_memory_bytes,
    )
    own = own_io(
        count,
        [],
        usage,
        run_delay_seconds=run_delay_of(reaped, count, 0.0),
        started_delay_seconds=started.run_delay_seconds,
        first=first_thread_of(reaped, started),
    )
    return JobRecord(
        job=JOB,
        program=command[0],
        program_class="io",
        session=JOB,
        stage=1,
        node=NODE,
        replica=0,
        gate=None,
        trail_out=False,
        outcome="finished",
        verified=None,
        exit_code=reaped.exit_code,
        signal=reaped.signal,
        started_at=started.at,
        ended_at=reaped.ended_at,
        usage=usage,
        startup=startup,
        verify=Usage(),
        total=reaped.usage,
        steps=0,
        leftover_processes=reaped.leftover_processes,
        **{name: getattr(own, name) for name in own.__struct_fields__},
    )


def _assignment(run_id: str, folder: Path, counters: str | None) -> Assignment:
    return Assignment(
        run_id=run_id,
        job=JOB,
        program=JOB,
        scale=1.0,
        seed=0,
        replica=0,
        options=Options(),
        inputs={},
        results=str(folder),
        work=[],
        util=[],
        log=str(folder / "command.log"),
        counters=counters,
    )

"""What the files of an import have given so far: jobs, nodes, settings, and devices under roles.

Steps and host figures go straight to the run folder.  Copies of a file, packed or not, count once.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import format_instant
from mawl.importers.clock import Clocks, Span, overlap_ratio, zone_difference
from mawl.importers.formats.text import one_line
from mawl.importers.hosts import Cores
from mawl.importers.interface import (
    Context,
    HostFigures,
    HostSettings,
    ImportedJob,
    Item,
    ScheduledJob,
    StepColumns,
)
from mawl.importers.jobs import Placed, job_records
from mawl.importers.log_parts import joined_parts
from mawl.importers.recording import CLOSE_SECONDS, NOT_KNOWN
from mawl.importers.scheduler_jobs import Joined, LogJob, join
from mawl.importers.sources import FileStream
from mawl.records.model.node import periods_of
from mawl.records.model.probe import Probe
from mawl.records.model.records import JobRecord, StepRecord
from mawl.records.model.run import NodeFacts, Setting, VolumeFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.facts import in_calendar
from mawl.records.store.folder import WholeRunWriter

UNKNOWN_NODE = "unknown"
LOG_KIND = "saslog"
"""Whose clock moves where jobs and host differ."""
LONGEST_NAME = 120
MOST_SCHEDULED = 1_000_000
MOST_NAMED = 20


class Collected:
    """The jobs, nodes, settings, devices and probe of an import."""

    def __init__(
        self, writer: WholeRunWriter, clocks: Clocks, cores: Mapping[str, int] | None = None
    ) -> None:
        self.cores = Cores(cores)
        self._writer, self._clocks = writer, clocks
        self._names: dict[str, int] = {}
        self.jobs: list[tuple[ImportedJob, str]] = []
        self.nodes: dict[str, NodeFacts] = {}
        self.settings: dict[str, Setting] = {}
        self.devices: set[tuple[str, str]] = set()
        self.probe: Probe | None = None
        self.scheduled: list[ScheduledJob] = []
        self._scheduled_zoned: list[bool] = []
        self._unzoned: set[int] = set()
        self._files = 0
        self._file_of: dict[str, int] = {}
        """The number of the file of each job: files of several folders may share a name."""
        self.steps = 0
        self.samples = 0
        self.host: dict[str, Span] = {}
        self._recorded: dict[str, dict[str, _Recorded]] = {}

    def job_name(self, wanted: str) -> str:
        """A name that no other job has: ``load``, ``load-2``."""
        base = one_line(wanted)[:LONGEST_NAME] or "job"
        while True:
            count = self._names[base] = self._names.get(base, 0) + 1
            name = base if count == 1 else f"{base}-{count}"
            if count == 1 or name not in self._names:
                self._names.setdefault(name, 1)
                return name

    def take(self, items: Iterator[Item], context: Context) -> None:
        self._files += 1
        for item in items:
            if isinstance(item, StepRecord):
                self.steps += 1
                self._writer.step(item)
            elif isinstance(item, StepColumns):
                self.steps += item.table.num_rows
                self._writer.step_columns(item.table)
            elif isinstance(item, HostFigures):
                self._figures(item, context)
            elif isinstance(item, ImportedJob):
                self.jobs.append((item, context.file))
                self._file_of[item.job] = self._files
            elif isinstance(item, ScheduledJob):
                if len(self.scheduled) >= MOST_SCHEDULED:
                    context.skip(
                        None, f"more than {MOST_SCHEDULED:,} jobs of schedulers: the rest is not read"
                    )
                    break
                self.scheduled.append(item)
                self._scheduled_zoned.append(item.zoned or self._is_named(context.kind))
            elif isinstance(item, NodeFacts):
                self.nodes[item.name] = _merged_facts(self.nodes.get(item.name), item)
            elif isinstance(item, HostSettings):
                self.settings.update((f"{item.node}.{name}", value) for name, value in item.values.items())
            else:
                self.probe = _with_targets(self.probe, item)
        if context.zone_known is False and not self._is_named(context.kind):
            self._unzoned.add(self._files)

    def join_parts(self) -> list[str]:
        """Join the logs that hold parts of one session; a sentence for each kind of them."""
        joins = joined_parts(self.jobs)
        self.jobs = joins.jobs
        if joins.renamed or joins.copies:
            self.steps -= self._writer.move_steps(joins.renamed, frozenset(joins.copies))
        return joins.remarks

    def _is_named(self, kind: str) -> bool:
        """Whether the user said what the clock of a kind of files is, by its zone or by a shift to UTC."""
        return self._clocks.zone_of(kind) is not None or kind in self._clocks.shifts

    def joined(self) -> Joined | None:
        """The jobs of schedulers that the logs are of; None without any history of a scheduler."""
        if not self.scheduled:
            return None
        logs = [
            LogJob(
                job=job.job,
                file=file,
                file_number=number,
                program=job.program,
                started_at=job.started_at,
                ended_at=job.ended_at,
                zoned=number not in self._unzoned,
            )
            for job, file in self.jobs
            for number in [self._file_of[job.job]]
        ]
        return join(logs, self.scheduled, self._scheduled_zoned)

    def _figures(self, item: HostFigures, context: Context) -> None:
        at = item.at + self._clocks.shift_of_node(item.node)
        if not in_calendar(at):
            context.skip(None, "a time outside the calendar is left out")
            return
        if not all(map(math.isnan, item.figures.values())):
            first, last = self.host.get(item.node, (at, at))
            self.host[item.node] = (min(first, at), max(last, at))
        figures = self._own_figures(item, at, context)
        if figures:
            self.samples += len(figures)
            self._writer.figures(item.node, at, figures)

    def _own_figures(self, item: HostFigures, at: float, context: Context) -> Mapping[str, float]:
        """The figures that no file before this one has of the same time: the first that tells counts."""
        files = self._recorded.setdefault(item.node, {})
        own = files.setdefault(context.file, _Recorded(at))
        others = [
            file
            for name, file in files.items()
            if name != context.file and file.first_at <= at <= file.last_at
        ]
        own.first_at, own.last_at = min(own.first_at, at), max(own.last_at, at)
        if not own.names.issuperset(item.figures):
            for name in item.figures.keys() - own.names:
                own.names.add(name)
                if name.startswith("device."):
                    self.devices.add((item.node, name.split(".", 1)[1].rpartition(".")[0]))
        if not others and not own.left_out:
            return item.figures
        told = {name for file in others for name in item.figures.keys() & file.names}
        if told and not own.left_out:
            context.skip(None, f"figures of {item.node} that another file has for the same time are left out")
        back = own.left_out & item.figures.keys() - told
        if back:
            marks = dict.fromkeys(back, NOT_KNOWN)
            self._writer.figures(item.node, at - CLOSE_SECONDS, marks)
        own.left_out = (own.left_out - back) | told
        return (
            {name: value for name, value in item.figures.items() if name not in told}
            if told
            else item.figures
        )

    def job_records(self, joined: Joined | None) -> list[JobRecord]:
        """The records of the jobs, each on the node its log names, else on the only one that was recorded."""
        only = next(iter(self.host)) if len(self.host) == 1 else UNKNOWN_NODE
        short = {name.split(".")[0].lower(): name for name in self.host}
        scheduled = joined.jobs if joined else {}
        placed = [
            Placed(
                job,
                self._file_of[job.job],
                short.get(job.node.split(".")[0].lower(), job.node) if job.node else only,
                scheduled.get(job.job),
            )
            for job, _ in self.jobs
        ]
        return job_records(placed)

    def job_span(self) -> Span | None:
        """First start to last end of the jobs; None without times."""
        starts = [job.started_at for job, _ in self.jobs if job.started_at is not None]
        ends = [job.ended_at for job, _ in self.jobs if job.ended_at is not None]
        return (min(starts), max(ends)) if starts and ends else None

    def host_span(self) -> Span | None:
        """First to last sample of any node; None without samples."""
        spans = list(self.host.values())
        return (min(span[0] for span in spans), max(span[1] for span in spans)) if spans else None

    def overlap_ratio(self) -> float | None:
        """The share of the jobs' time that recordings of hosts cover, of nights far apart without the time
        between them; None where one of them is missing."""
        host = self.host_span()
        periods = periods_of(
            (job.started_at, max(job.started_at, job.ended_at))
            for job, _ in self.jobs
            if job.started_at is not None and job.ended_at is not None
        )
        if host is None or not periods:
            return None
        lengths = [end - start for start, end in periods]
        shares = [overlap_ratio(period, host) for period in periods]
        weights = lengths if sum(lengths) > 0 else [1.0] * len(periods)
        return sum(share * weight for share, weight in zip(shares, weights, strict=True)) / sum(weights)

    def warnings(self) -> list[str]:
        jobs, host = self.job_span(), self.host_span()
        if jobs is None or host is None or overlap_ratio(jobs, host) > 0:
            return []
        return [
            f"no recording of the host lies within the time of the jobs: they ran from {_moment(jobs[0])} to "
            f"{_moment(jobs[1])}, it was recorded from {_moment(host[0])} to {_moment(host[1])} (UTC); where "
            f"their clocks differ, say so with --timezone KIND=Area/City or --shift {LOG_KIND}=SECONDS, else "
            "give recordings of the time of the jobs"
        ]

    def check_shifts(self, kinds: Iterable[str]) -> None:
        """Refuse a shift of what is neither a kind of file nor a node that was recorded."""
        nodes = sorted({*self.nodes, *self.host})
        for name in self._clocks.shifts.keys() - {*kinds, *nodes}:
            raise UsageError(
                f"--shift {name}=...: no recording is of a node of that name",
                why=f"nodes: {', '.join(nodes[:MOST_NAMED]) or 'none'}; kinds of files: {', '.join(kinds)}",
                cure="name one of them",
            )

    def check_clocks(self) -> None:
        """Ask, in one sentence, where jobs and host lie apart by what looks like a difference of zones."""
        jobs, host = self.job_span(), self.host_span()
        move = None if jobs is None or host is None else zone_difference(jobs, host)
        if jobs is None or host is None or move is None or LOG_KIND in self._clocks.shifts:
            return
        raise UsageError(
            f"are the clocks of the logs and of the host {abs(move) / 3600:g} hours apart",
            why=f"the jobs ran from {_moment(jobs[0])} to {_moment(jobs[1])}, the host was recorded from "
            f"{_moment(host[0])} to {_moment(host[1])}, and moved by {move:+g} seconds they meet",
            cure=f"say so with --shift {LOG_KIND}={move:+g}, or name the zones: --timezone "
            f"{LOG_KIND}=Area/City (--shift {LOG_KIND}=0 leaves them as they are)",
        )


class _Recorded:
    """What one file told of one node: when, which series, and which of them now stand in another file."""

    def __init__(self, at: float) -> None:
        self.first_at = self.last_at = at
        self.names: set[str] = set()
        self.left_out: set[str] = set()


def _moment(at: float) -> str:
    return format_instant(at)[:19].replace("T", " ")


def _merged_facts(old: NodeFacts | None, new: NodeFacts) -> NodeFacts:
    """What two files say of a node; the first one that says something counts."""
    if old is None:
        return new
    known = {name: value for name in NodeFacts.__struct_fields__ if (value := getattr(old, name)) is not None}
    return msgspec.structs.replace(new, **known)


def _with_targets(old: Probe | None, new: Probe) -> Probe:
    if old is None:
        return new
    return msgspec.structs.replace(
        old, created_at=min(old.created_at, new.created_at), targets=[*old.targets, *new.targets]
    )


READ_BYTES = 2**20


class Copies:
    """The files of an import by their content; only files that begin alike are read for it."""

    def __init__(self) -> None:
        self._begun: dict[bytes, tuple[Path, str] | None] = {}
        self._whole: dict[bytes, str] = {}

    def earlier(self, path: Path, name: str, first: bytes) -> str | None:
        """The name of an earlier file with the same content, if any.

        ``first`` are the file's first bytes, unpacked, and ``name`` is what messages call it.
        """
        begin = hashlib.blake2b(first).digest()
        if begin not in self._begun:
            self._begun[begin] = path, name
            return None
        if (alone := self._begun[begin]) is not None:
            self._whole[_content_sum(alone[0])] = alone[1]
            self._begun[begin] = None
        content = _content_sum(path)
        if content not in self._whole:
            self._whole[content] = name
            return None
        return self._whole[content]


def tells_times(kind: str, first: bytes) -> bool:
    """Whether equal files of a kind that begin so are copies: they say when they were written.

    Two short jobs may well have the same SAS log where it has no timestamps.
    """
    return kind != "saslog" or b"Timestamp" in first.replace(b"\0", b"")


def _content_sum(path: Path) -> bytes:
    """A sum of all bytes that can be read of a file, unpacked; one that is gone is like no other."""
    found = hashlib.blake2b()
    try:
        stream = FileStream(path, lambda _: None)
    except OSError:
        return str(path).encode()
    with stream:
        while part := stream.read(READ_BYTES):
            found.update(part)
    return found.digest()


MOST_DEVICES_NAMED = 10

NodeDevice = tuple[str, str]
"""Node and device."""


def volumes_by_pattern(
    patterns: Mapping[Role, Sequence[re.Pattern[str]]], devices: Collection[NodeDevice]
) -> list[VolumeFacts]:
    """A volume for each device that a pattern of a role (``--role work='hdisk1[0-9]'``) names as a whole.

    A partition is left out where its disk is in the role, too: its bytes are the disk's.  Raises
    ``UsageError`` where a pattern names no device.
    """
    held: dict[Role, list[NodeDevice]] = {}
    for role, own in patterns.items():
        found: set[NodeDevice] = set()
        for pattern in own:
            named = {place for place in devices if pattern.fullmatch(place[1])}
            if not named:
                raise _no_match(role, pattern.pattern, devices)
            found |= named
        held[role] = sorted(
            place for place in found if not any(_is_partition(place, other) for other in found)
        )
    return [
        VolumeFacts(
            role=role,
            node=node,
            directory=f"device {device}",
            source=device,
            devices=[device],
            layers=[device],
            disks=[device],
            shared_with=[other for other in ROLES if other != role and (node, device) in held.get(other, ())],
        )
        for role in ROLES
        for node, device in held.get(role, ())
    ]


def _is_partition(place: NodeDevice, disk: NodeDevice) -> bool:
    """``sda1`` of sda, ``nvme0n1p1`` of nvme0n1; hdisk10 is none of hdisk1."""
    rest = place[1].removeprefix(disk[1])
    if place[0] != disk[0] or rest == place[1] or not rest or not disk[1]:
        return False
    return rest.isdecimal() if disk[1][-1].isalpha() else rest[0] == "p" and rest[1:].isdecimal()


def _no_match(role: Role, pattern: str, devices: Collection[NodeDevice]) -> UsageError:
    names = sorted({device for _, device in devices})
    more = f" and {len(names) - MOST_DEVICES_NAMED} more" if len(names) > MOST_DEVICES_NAMED else ""
    return UsageError(
        "names no device of the recordings as a whole",
        where=f"--role {role}={pattern}",
        cure=f"their devices are {', '.join(names[:MOST_DEVICES_NAMED])}{more}"
        if names
        else "they hold no figures of devices",
    )

"""Foreign files to one run folder: detects the kind of each file, reads it, and reports what was left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import counted_noun
from mawl.importers import fio, nmon, sas_jobs, scheduler_jobs, sysstat, tables
from mawl.importers.clock import Clocks, DateOrders
from mawl.importers.facts import facts_of
from mawl.importers.formats.saslog_records import DateOrder
from mawl.importers.formats.sysstat_reports import DATE_TAKEN, Untimed
from mawl.importers.formats.text import one_line
from mawl.importers.hosts import HostNames
from mawl.importers.interface import FIRST_BYTES, Context, Importer
from mawl.importers.items import Collected, Copies, tells_times
from mawl.importers.scheduler_jobs import SchedulerJoin, remarks_of
from mawl.importers.sources import FileStream, find_files
from mawl.importers.tables import table_reason
from mawl.records.model.run import Skipped, SourceFacts
from mawl.records.spec.program_options import Role
from mawl.records.store.folder import WholeRunWriter

_EVERY: list[Importer] = [
    sas_jobs.IMPORTER,
    nmon.IMPORTER,
    *sysstat.EVERY,
    fio.IMPORTER,
    *tables.EVERY,
    *scheduler_jobs.EVERY,
]
IMPORTERS: dict[str, Importer] = {importer.kind: importer for importer in _EVERY}
"""In the order in which they are asked where two are equally sure."""


LEAST_SURE = 0.2
MOST_SKIPPED_FILES = 1000


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to import and how; ``kind`` is None for detection, ``roles`` are patterns of device names."""

    paths: list[str]
    folder: Path
    run_id: str
    runs: Path | None = None
    kind: str | None = None
    kinds: Mapping[str, Importer] = {}
    """Of files that the user named with their kind or their map, by path; ``kind`` is of all others."""
    clocks: Clocks = Clocks()
    untimed: Untimed | None = None
    dates: DateOrder | None = None
    """Order of day and month in the timestamps of logs; None: as the logs show it."""
    roles: Mapping[Role, Sequence[re.Pattern[str]]] = {}
    cores: Mapping[str, int] = {}
    """Processors by node, ``""`` for all, of recordings that do not tell their number."""
    hosts: HostNames | None = None
    command: list[str] = []


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What was made of the files; ``blocks`` are the performance notes of all logs.

    ``schedulers`` is null without the history of a scheduler.  ``warnings`` say what makes the run of little
    use, and what to do about it.
    """

    run: str
    folder: str
    jobs: int
    steps: int
    blocks: int
    samples: int
    sessions: int
    files: int
    skipped_lines: int
    skipped: list[Skipped]
    remarks: list[str]
    warnings: list[str]
    schedulers: SchedulerJoin | None
    dates: list[str] = []
    """Of the remarks those on the order of day and month."""


def import_files(request: ImportRequest) -> Imported:
    """Read the files and write the run folder, whole or not at all.

    Raises ``UsageError`` where nothing could be imported, or where jobs and host
    were recorded by clocks of different zones and the user has not said which.
    """
    writer = WholeRunWriter(request.folder)
    try:
        collected = Collected(writer, request.clocks, request.cores)
        orders = DateOrders(request.paths, request.dates)
        sources, refused = _read_all(request, collected, orders)
        host = collected.host_span()
        if not collected.jobs and (host is None or host[0] == host[1]) and collected.probe is None:
            raise _nothing(request, sources, refused)
        collected.check_shifts(tuple(IMPORTERS))
        collected.check_clocks()
        parts = collected.join_parts()
        joined = collected.joined()
        records = collected.job_records(joined)
        facts = facts_of(request.run_id, request.command, request.roles, collected, records, sources, refused)
        further = [*parts, *(remarks_of(joined) if joined else []), *orders.remarks]
        facts = msgspec.structs.replace(facts, remarks=[*facts.remarks, *further])
        writer.finish(facts, records, collected.probe, request.runs)
    except BaseException:
        writer.abandon()
        raise
    warnings = [
        *collected.warnings(),
        *(joined.warnings if joined else []),
        *orders.warnings,
    ]
    return Imported(
        run=facts.run_id,
        folder=str(request.folder),
        jobs=len(records),
        steps=collected.steps,
        blocks=sum(source.blocks for source in sources if source.kind == "saslog"),
        samples=collected.samples,
        sessions=facts.workload.sessions,
        files=len(sources),
        skipped_lines=sum(source.skipped_lines for source in sources),
        skipped=[*refused, *(skipped for source in sources for skipped in source.skipped)],
        remarks=[remark for remark in facts.remarks if remark not in warnings],
        warnings=warnings,
        schedulers=joined.counts if joined else None,
        dates=orders.remarks,
    )


def _read_all(
    request: ImportRequest, collected: Collected, orders: DateOrders
) -> tuple[list[SourceFacts], list[Skipped]]:
    sources: list[SourceFacts] = []
    refused: list[Skipped] = []
    copies = Copies()
    hosts = request.hosts or HostNames()

    def refuse(file: str, reason: str) -> None:
        if len(refused) < MOST_SKIPPED_FILES:
            refused.append(Skipped(file=one_line(file), line=None, reason=reason))

    for path, name in find_files(request.paths, refuse):
        if path.is_relative_to(request.folder.absolute()):
            continue
        shown = one_line(name)
        problems: list[str] = []
        try:
            source = FileStream(path, problems.append)
        except OSError as error:
            refuse(shown, (error.strerror or str(error)).lower())
            continue
        with source:
            first = source.first(FIRST_BYTES)
            if (why := refusal(first)) is not None:
                refuse(shown, why)
                continue
            importer = request.kinds.get(str(path))
            if importer is None:
                importer = IMPORTERS[request.kind] if request.kind else detected(first, shown)
            if importer is None:
                problem = f"; {problems[0]}" if problems else ""
                unknown = table_reason(first) or f"no kind of file that mawl reads ({', '.join(IMPORTERS)})"
                refuse(shown, f"{unknown}{problem}" if source.size_bytes else "the file is empty")
                continue
            earlier = copies.earlier(path, shown, first) if tells_times(importer.kind, first) else None
            if earlier is not None:
                refuse(shown, f"the same content as {earlier}, which was read: it counts once")
                continue
            to_utc = request.clocks.to_utc(importer.kind)
            of_log = importer.kind == "saslog"
            context = Context(
                shown,
                importer.kind,
                to_utc,
                collected.job_name,
                request.untimed,
                orders.of(path, first) if of_log else request.dates or "month-first",
                collected.cores,
                hosts,
            )
            collected.take(importer.read(source, context), context)  # type: ignore[arg-type]
            for problem in problems:
                context.skip(None, problem)
            zone = request.clocks.zone_of(importer.kind)
            sources.append(
                SourceFacts(
                    file=shown,
                    kind=importer.kind,
                    size_bytes=source.size_bytes,
                    blocks=context.blocks,
                    zone_known=context.zone_known,
                    zone=str(zone) if zone is not None else "UTC" if context.zone_known is False else None,
                    skipped_lines=context.skipped_lines,
                    skipped=context.skipped,
                )
            )
    return sources, refused


SAYS_WHAT_TO_DO = re.compile("[:;] (?:give|name|record|unpack)\\b")
"""A reason with a way out of its own gets no second one."""


def detected(first: bytes, name: str) -> Importer | None:
    """The importer that is surest of a file by its first bytes; None where none is sure enough."""
    sure = {kind: importer.recognises(first, name) for kind, importer in IMPORTERS.items()}
    best = max(sure, key=lambda kind: sure[kind])
    return IMPORTERS[best] if sure[best] >= LEAST_SURE else None


def _nothing(
    request: ImportRequest, sources: Sequence[SourceFacts], refused: Sequence[Skipped]
) -> UsageError:
    told = [*refused, *(skipped for source in sources for skipped in source.skipped)]
    cure: str | None = (
        "name logs or recordings, or their kind with --as (the history of a scheduler needs logs)"
    )
    what = f"nothing in {counted_noun(len(sources) + len(refused), 'file')} could be imported"
    if told:
        # A date that is taken one way costs nothing: another reason decided.
        decided = next((one for one in told if not one.reason.startswith(DATE_TAKEN)), told[0])
        first = f"{decided.file}: {decided.reason}"
        cure = None if SAYS_WHAT_TO_DO.search(decided.reason) else cure
    elif sources:
        first = f"{sources[0].file} holds no job and no figure"
    else:
        first = "the directories hold no file"
    return UsageError(
        what,
        where=", ".join(request.paths)[:200],
        why=first,
        cure=cure,
    )


# Files that mawl knows and does not read.  Sources: sysstat's ``sa.h`` (SYSSTAT_MAGIC 0xd596, in the byte
# order of the machine that wrote the file); the headings that ``sar``, ``iostat`` and ``vmstat`` of AIX print
# (IBM, *AIX commands reference*); the magic numbers of the compression formats (RFC 8878, the XZ and ZIP file
# formats, bzip2).
BINARY_SAR = (
    "binary data of sar, which only sadf of the same version reads: give what `sadf -j FILE -- -A` prints"
)
_PACKED = "compressed with {}, which mawl does not read: unpack it, or compress it with gzip"
_NOT_LINUX = (
    "text of {}'s {}, which mawl does not read: give a recording of nmon of that host (nmon -f, topas_nmon)"
)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x96\xd5", BINARY_SAR),
    (b"\xd5\x96", BINARY_SAR),
    (b"\xfd7zXZ\0", _PACKED.format("xz")),
    (b"\x28\xb5\x2f\xfd", _PACKED.format("zstd")),
    (b"BZh", _PACKED.format("bzip2")),
    (b"PK\x03\x04", _PACKED.format("zip")),
)
_OTHER_UNIX = re.compile(
    rb"\A\s{0,99}(AIX|SunOS|HP-UX) \S{1,255} [^\n]{1,255}\s[0-9]{1,4}[/.-][0-9]{1,2}[/.-][0-9]{1,4}\s"
)
_AIX_HEAD = re.compile(rb"\A\s{0,99}System configuration: lcpu=[^\n]{0,255}\n")
_AIX_KTHR = re.compile(rb"(?m)^kthr\s{1,9}memory\s{1,40}page\s{1,40}faults")
_AIX_DISKS = re.compile(rb"\n(?:tty:|Disks:|hdisk[0-9]+ )")


def refusal(first: bytes) -> str | None:
    """Why a file that begins so is not read, and what is; None for all others."""
    for magic, why in _MAGIC:
        if first.startswith(magic):
            return why
    if found := _OTHER_UNIX.match(first):
        return _NOT_LINUX.format(found[1].decode(), "sar")
    if _AIX_HEAD.match(first):
        return _NOT_LINUX.format("AIX", "iostat" if _AIX_DISKS.search(first) else "vmstat or mpstat")
    if _AIX_KTHR.search(first[:4096]):
        return _NOT_LINUX.format("AIX", "vmstat")
    return None

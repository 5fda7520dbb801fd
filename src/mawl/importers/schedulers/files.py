"""Files of schedulers as items of an import: LSF, Slurm, SAS Workload Orchestrator, SASGSUB."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO, Protocol

from mawl.base.foreign_text import BeyondBoundError, json_record
from mawl.base.units import counted_noun
from mawl.importers.formats.schedulers import lsf, slurm
from mawl.importers.formats.schedulers.history import (
    Entry,
    HistoryDoubt,
    HistoryEnd,
    HistoryJob,
    OrchestratorJson,
    read_jobs,
)
from mawl.importers.formats.schedulers.slurm import SacctJson
from mawl.importers.formats.text import byte_chunks, one_line, whole_of
from mawl.importers.interface import Context, Item, ScheduledJob
from mawl.importers.recording import ChunkStream, whole_lines
from mawl.importers.schedulers.join import names_of

LARGEST_JSON_BYTES = 64 * 2**20
MOST_JSON_PARTS = 4_000_000
"""Lists, objects and members of a document, which need up to 100 bytes of memory each."""

_ARRAY = rb'"jobs"\s{0,9}:\s{0,9}\['
ReadText = Callable[[Iterable[tuple[int, str]]], Iterator[Entry]]


class _Document(Protocol):
    def entries(self) -> Iterator[Entry]: ...


class SchedulerFiles:
    """Files of one scheduler, as text, JSON or both; patterns in the first bytes recognise them."""

    def __init__(
        self,
        kind: str,
        title: str,
        *,
        text: bytes | None = None,
        read_text: ReadText | None = None,
        json: tuple[bytes, ...] = (),
        document: type[_Document] | None = None,
    ) -> None:
        self.kind, self.title = kind, title
        self._text = None if text is None else re.compile(text)
        self._json = tuple(re.compile(pattern) for pattern in json)
        self._read_text, self._document = read_text, document

    def recognises(self, first: bytes, name: str) -> float:  # noqa: ARG002
        if self._text is not None and self._text.search(first):
            return 1.0
        return float(bool(self._json) and all(pattern.search(first) for pattern in self._json))

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """The jobs that ran; how many others there are is reported once, as skipped."""
        chunks = byte_chunks(stream)
        first = next(chunks, b"")
        if self._document is not None and (self._read_text is None or first.lstrip().startswith(b"{")):
            entries = _of_json(chain([first], chunks), self._document, context)
        else:
            assert self._read_text is not None
            entries = self._read_text(_lines(ChunkStream(first, chunks), context))
        yield from _items(entries, context)


def _lines(stream: ChunkStream, context: Context) -> Iterator[tuple[int, str]]:
    """Numbered lines without those that were cut, because these lack fields."""
    cut: set[int] = set()

    def skip(line: int, reason: str, text: str) -> None:
        cut.add(line)
        context.skip(line, reason, text)

    for number, line in whole_lines(stream, skip):  # type: ignore[arg-type]
        if number not in cut:
            yield number, line


def _of_json(chunks: Iterator[bytes], document: type[_Document], context: Context) -> Iterator[Entry]:
    content = whole_of(chunks, LARGEST_JSON_BYTES)
    if content is None:
        context.skip(None, f"longer than {LARGEST_JSON_BYTES // 2**20} MiB: export the time of the logs only")
        return iter(())
    try:
        found = json_record(content, document, most_bytes=LARGEST_JSON_BYTES, most_parts=MOST_JSON_PARTS)
        return found.entries()
    except BeyondBoundError as error:
        context.skip(None, f"{error}: export the time of the logs only")
        return iter(())
    except ValueError as error:
        context.skip(None, f"not the JSON of a scheduler, or cut short: {one_line(str(error))[:100]}")
        return iter(())


def _items(entries: Iterable[Entry], context: Context) -> Iterator[ScheduledJob]:
    without: Counter[str] = Counter()
    for entry in entries:
        if isinstance(entry, HistoryDoubt):
            context.skip(entry.line, f"a job is left out: {entry.reason}", one_line(entry.text))
        elif isinstance(entry, HistoryEnd):
            context.blocks += 1
            without[entry.reason] += 1
        else:
            context.blocks += 1
            yield _item(entry, context)
    for reason, count in without.items():
        context.skip(None, f"{counted_noun(count, 'job')} of the scheduler {reason}")
    if not context.blocks:
        context.skip(None, "no job of a scheduler was found")


def _item(job: HistoryJob, context: Context) -> ScheduledJob:
    clock = context.absolute if job.times.zoned else context.local
    started_at = clock(job.times.started)
    return ScheduledJob(
        names=names_of(job.name, job.command),
        number=job.number,
        task=job.task,
        submitted_at=clock(job.times.submitted),
        started_at=started_at,
        ended_at=clock(job.times.ended),
        zoned=job.times.zoned,
        queue_seconds=None if job.why_unknown else max(started_at - clock(job.times.eligible), 0.0),
        why_unknown=job.why_unknown,
        stopped=job.stopped,
    )


LSF = SchedulerFiles(
    "lsf",
    "lsb.acct of LSF",
    text=rb'(?m)^"JOB_FINISH" "[0-9.]{1,20}" [0-9]{9,10} ',
    read_text=lsf.read_jobs,
)
SLURM = SchedulerFiles(
    "slurm",
    "sacct of Slurm with -P or -p, and its JSON",
    text=rb"\A(?:\xef\xbb\xbf)?\s{0,99}(?:[^|\n]{0,99}\|){0,300}JobID(?:\||\r?\n)",
    read_text=slurm.read_jobs,
    json=(_ARRAY, rb'"submission"\s{0,9}:', rb'"eligible"\s{0,9}:'),
    document=SacctJson,
)
ORCHESTRATOR = SchedulerFiles(
    "orchestrator",
    "jobs of SAS Workload Orchestrator as JSON",
    json=(_ARRAY, rb'(?i)"processingInfo"\s{0,9}:', rb'(?i)"submitTime"\s{0,9}:'),
    document=OrchestratorJson,
)
SASGSUB = SchedulerFiles(
    "sasgsub",
    "text of SASGSUB -GRIDGETSTATUS",
    text=rb"(?m)^\s{0,20}Job \S{1,99} \([^\n]{0,999}\) is \w{1,99}:\s{1,9}Submitted: ",
    read_text=read_jobs,
)
EVERY = (LSF, SLURM, ORCHESTRATOR, SASGSUB)

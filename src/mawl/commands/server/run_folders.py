"""Finds the runs and campaigns in a directory by listing it.

A name from a visitor is compared with the listing, never joined to a path, and links out of the directory
are not followed.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from mawl.base.errors import MawlError, UnreadableRunError
from mawl.figures.open_jobs import CUT
from mawl.plan.spec import shown_scale
from mawl.records.model.run import RunFacts
from mawl.records.store.campaign import CAMPAIGN, read_campaign, read_qualification
from mawl.records.store.facts import read_facts
from mawl.records.store.files import FACTS, JOURNAL, JOURNAL_FILES, LATEST, QUALIFICATION, TABLES
from mawl.records.store.parquet import elapsed_seconds
from mawl.records.store.reading import runner_lives
from mawl.records.store.side_files import PEAK_FOLDER, SOLO_FOLDER

FILES = (
    FACTS,
    *(f"{table}.parquet" for table in TABLES),
    *(f"{JOURNAL}/{name}" for name in JOURNAL_FILES),
)
"""The files that are read of a run folder."""

State = tuple[tuple[str, int, int, int], ...]
"""Name, inode, size and time of change (nanoseconds) of each file: another state is another report."""


class LibraryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A folder in the library: what ``run.json`` says of it, or in ``trouble`` why it cannot be read.

    ``elapsed_seconds`` is that of its report: the first start of a job to the last end; None while it grows,
    and of a run that did not get to its end.  ``alone`` runs measured programs alone for another run.
    """

    name: str
    trouble: str | None = None
    run_id: str | None = None
    workload: str | None = None
    sessions: int | None = None
    jobs: int | None = None
    scale: str | None = None
    kind: str | None = None
    outcome: str | None = None
    started_at: float | None = None
    elapsed_seconds: float | None = None
    nodes: tuple[str, ...] = ()
    alone: bool = False


class Folders:
    """The run folders of one directory; facts are read again only when ``run.json`` changed."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._known: dict[str, tuple[tuple[int, int, int], LibraryEntry]] = {}
        self.states: dict[str, State] = {}
        """By the name of a folder what it was when it was listed last."""

    def listing(self) -> list[LibraryEntry]:
        """Every folder, in no order; an empty list where the directory is not there (yet)."""
        found = [self._entry(name) for name in self._names()]
        self._known = {entry.name: self._known[entry.name] for entry in found if entry.name in self._known}
        self.states = {name: self.states[name] for name in self._known}
        return found

    def entry(self, name: str) -> LibraryEntry:
        return self._entry(name)

    def find(self, name: str) -> Path | None:
        return next((self.runs / known for known in self._names() if known == name), None)

    def current(self) -> list[Path]:
        """The runs that grow; where there is none, the one that started last, if any."""
        entries = self.listing()
        growing = sorted(entry.name for entry in entries if entry.outcome == "running")
        started = sorted((entry.started_at, entry.name) for entry in entries if entry.started_at is not None)
        return [self.runs / name for name in growing or [name for _, name in started[-1:]]]

    def _names(self) -> list[str]:
        """Folders that may be runs; a link within the directory (``latest``) is none, nor is a cache."""
        try:
            with os.scandir(self.runs) as entries:
                return [
                    entry.name
                    for entry in entries
                    if entry.is_dir()
                    and not entry.name.startswith(".")
                    and entry.name != LATEST
                    and (entry.name not in (SOLO_FOLDER, PEAK_FOLDER) or Path(entry.path, FACTS).exists())
                    and not (entry.is_symlink() and self._inside(entry.path))
                ]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _inside(self, path: str) -> bool:
        return Path(path).resolve().parent == self.runs.resolve()

    def _entry(self, name: str) -> LibraryEntry:
        folder = self.runs / name
        try:
            self.states[name] = state_of(folder)
            found = (folder / FACTS).stat()
            identity = (found.st_ino, found.st_size, found.st_mtime_ns)
            known = self._known.get(name)
            if known is None or known[0] != identity:
                known = (identity, _entry_of(folder, read_facts(folder)))
                self._known[name] = known
            entry = known[1]
        except (MawlError, OSError) as error:
            return LibraryEntry(name=name, trouble=str(error))
        if entry.outcome == "running" and not runner_lives(folder):
            return msgspec.structs.replace(entry, outcome="interrupted")
        return entry


def state_of(folder: Path) -> State:
    """The state of a folder's files.

    Raises ``UnreadableRunError`` where one is something else than a file of this
    folder: a link would lead a visitor out of the directory of runs, a pipe would hold the reader.
    """
    if folder.is_symlink():
        raise UnreadableRunError(
            "is a link that leads out of the directory of runs, which is not followed",
            where=str(folder),
            cure="copy the run folder itself, or name its own directory with --runs",
        )
    seen = []
    for name in FILES:
        try:
            found = os.lstat(folder / name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise UnreadableRunError(
                "cannot be read", where=str(folder / name), why=(error.strerror or str(error)).lower()
            ) from None
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableRunError(
                "is not a regular file", where=str(folder / name), cure="copy the whole run folder again"
            )
        seen.append((name, found.st_ino, found.st_size, found.st_mtime_ns))
    if (folder / JOURNAL).is_symlink():
        raise UnreadableRunError("is a link, which is not followed", where=str(folder / JOURNAL))
    if not any(name == FACTS for name, *_ in seen):
        raise UnreadableRunError(
            f"is not a run folder (or is one that was only begun): it has no {FACTS}", where=str(folder)
        )
    return tuple(seen)


def grows(folder: Path) -> bool:
    """Whether a runner still writes to this run; raises what ``examined`` does."""
    state_of(folder)
    return (folder / JOURNAL).is_dir() and runner_lives(folder)


def _entry_of(folder: Path, facts: RunFacts) -> LibraryEntry:
    workload = facts.workload
    return LibraryEntry(
        name=folder.name,
        run_id=facts.run_id,
        workload=workload.name,
        sessions=workload.sessions,
        jobs=workload.jobs,
        scale=shown_scale(workload.scale_name, workload.scale),
        kind=facts.kind,
        outcome=facts.outcome,
        started_at=facts.started_at,
        elapsed_seconds=None
        if facts.outcome in CUT
        else elapsed_seconds(folder, imported=facts.kind == "imported"),
        nodes=tuple(node.name for node in facts.nodes),
        alone="-alone-" in facts.run_id and workload.name.endswith("-alone"),
    )


DEEPEST = 4
"""Folders below the directory of runs that are looked into, one in another."""
MOST_FOLDERS = 2000
"""Folders that are looked into for one page: a directory of runs may hold other things."""


class CampaignEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign or qualification.

    ``name`` is its path below the directory of runs, ``trouble`` why it cannot be read.

    ``finished`` of ``planned`` runs are over; ``outcome`` of a qualification is its answer, if it has one;
    ``created_at`` is in seconds since the epoch.
    """

    name: str
    trouble: str | None = None
    kind: str = ""
    finished: int = 0
    planned: int = 0
    outcome: str = ""
    created_at: float | None = None


class FoundCampaigns(NamedTuple):
    """Campaigns and qualifications by their path below the directory of runs, in order; ``whole`` where every
    folder was looked into."""

    folders: dict[str, Path]
    whole: bool


def campaigns_below(runs: Path) -> FoundCampaigns:
    """The campaigns in the first ``MOST_FOLDERS``, the least deep ones first; nothing below a run or a
    campaign."""
    paths: dict[str, Path] = {}
    waiting, whole = [(runs, 0)], True
    for folder, depth in waiting:
        for child in _folders(folder):
            if (child / CAMPAIGN).is_file() or (child / QUALIFICATION).is_file():
                paths[child.relative_to(runs).as_posix()] = child
            elif depth + 1 < DEEPEST and not (child / FACTS).exists():
                if len(waiting) < MOST_FOLDERS:
                    waiting.append((child, depth + 1))
                else:
                    whole = False
    return FoundCampaigns(dict(sorted(paths.items())), whole)


class CampaignRecords:
    """What the records of campaigns say; one is read again only when its file changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int], CampaignEntry]] = {}

    def entries(self, folders: Mapping[str, Path]) -> list[CampaignEntry]:
        """An entry for each campaign, in their order; those that are gone are forgotten."""
        found = [self._entry(name, folder) for name, folder in folders.items()]
        self._known = {folder: self._known[folder] for folder in folders.values() if folder in self._known}
        return found

    def _entry(self, name: str, folder: Path) -> CampaignEntry:
        try:
            record = folder / CAMPAIGN
            qualifies = not record.exists() and (folder / QUALIFICATION).exists()
            seen = (folder / QUALIFICATION if qualifies else record).stat()
            identity = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
            known = self._known.get(folder)
            if known is None or known[0] != identity:
                entry = _qualification_entry if qualifies else _campaign_entry
                known = self._known[folder] = (identity, entry(name, folder))
        except (MawlError, OSError) as error:
            return CampaignEntry(name=name, trouble=str(error))
        return known[1]


QUALIFIES = "qualification"


def _qualification_entry(name: str, folder: Path) -> CampaignEntry:
    record = read_qualification(folder)
    return CampaignEntry(
        name=name,
        kind=QUALIFIES,
        finished=sum(run.state == "finished" for run in record.runs),
        planned=len(record.runs),
        outcome=record.outcome if record.answer is None else record.answer.sentence,
        created_at=record.created_at,
    )


def _campaign_entry(name: str, folder: Path) -> CampaignEntry:
    record = read_campaign(folder)
    return CampaignEntry(
        name=name,
        kind=record.kind,
        finished=sum(slot.state == "finished" for slot in record.slots),
        planned=len(record.slots),
        outcome=record.outcome,
        created_at=record.created_at,
    )


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except OSError:
        return []


Result = TypeVar("Result")


class Worker:
    """Runs at most ``most`` pieces of work at once.

    A visitor who leaves does not free the place of what was begun for him: asking and leaving again
    and again starts no more than ``most`` threads.
    """

    def __init__(self, most: int) -> None:
        self._places = asyncio.Semaphore(most)

    async def run(self, work: Callable[[], Result]) -> Result:
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()

        def finished(tell: Callable[[Any], None], outcome: Any) -> None:
            self._places.release()
            if not done.cancelled():
                tell(outcome)

        def body() -> None:
            try:
                told: tuple[Callable[[Any], None], Any] = (done.set_result, work())
            except BaseException as error:
                told = (done.set_exception, error)
            # The loop is closed once the server ends, and nobody waits any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(finished, *told)

        Thread(target=body, daemon=True).start()
        return await done


class KeptAnswers:
    """Answers by what they were made of, the longest unused given up beyond ``most_bytes``.

    What is being made for one visitor is waited for by all others who ask for the same.
    """

    def __init__(self, worker: Worker, most_bytes: int) -> None:
        self._worker, self._most_bytes = worker, most_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[bytes]] = {}
        self._bytes = 0

    async def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The answer of ``key``; raises what ``make`` raises, which is not kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        task = self._making.get(key)
        if task is None:
            task = self._making[key] = asyncio.create_task(self._make(key, make))
            # Also when every visitor has left, the exception of a failed one is taken notice of.
            task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return await asyncio.shield(task)

    async def _make(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        try:
            answer = await self._worker.run(make)
        finally:
            del self._making[key]
        self._kept[key] = answer
        self._bytes += len(answer)
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped)
        return answer


_TRIM_THRESHOLD, _MAP_THRESHOLD, _MOST_ARENAS = -1, -3, -8
"""Parameters of ``mallopt`` (malloc.h of the GNU C library)."""
_THRESHOLD_BYTES = 128 * 2**10
"""The library's own default, which it raises by itself unless it is set."""


def give_freed_memory_back() -> None:
    """Keep the C library and Arrow from holding memory that pages no longer use.

    The GNU C library gives each thread an arena of its own, and takes ever larger blocks from arenas as it
    sees them freed; pages of some MB then leave fragments, and a server grew from 230 to 270 MB over a
    thousand runs.  A C library without ``mallopt`` is left as it is.
    """
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is not None:
        tune(_MOST_ARENAS, 2)
        tune(_MAP_THRESHOLD, _THRESHOLD_BYTES)
        tune(_TRIM_THRESHOLD, _THRESHOLD_BYTES)
    pa.set_memory_pool(pa.system_memory_pool())

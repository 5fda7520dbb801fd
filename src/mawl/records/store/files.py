"""Names, format version and bounds of a run folder's files; atomic writes, locks and the cache directory."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from mawl.base.errors import UnreadableRunError, UnsuitableMachineError
from mawl.base.foreign import LARGEST_JSON_BYTES, descriptor_of, read_regular

FORMAT_VERSION = "2.8"
"""Of the run folder (docs/design/run-folder.md).

History of the format
  1.0  first: run.json, plan.toml, journal/, jobs, steps, events and samples as Parquet
  1.1  jobs and steps: I/O by role, waits; jobs: counted bytes, io_remark;
       run.json: volumes, cache, sockets and threads of nodes; samples: series of the host
  1.2  jobs and steps: direct_read_bytes, direct_written_bytes; jobs: bytes by volume;
       run.json: option direct, volume_order, space of the volumes, compressibility; samples: their used bytes
       imported runs: run.json: sources; jobs and steps: unsplit_cpu_seconds; steps: variables_written,
       kind view, times may be null (a log without timestamps); jobs: class unknown;
       run.json: inventories
  1.3  run.json: node_runs, same_machine_as of nodes; nodes/NAME: the run folders of a run on several nodes
  1.4  run.json: campaign, and repeats of the runs of a finished campaign; storage_runs,
       link_bytes_per_second; samples of storage servers beside those of nodes
  2.0  jobs and steps: own_read_bytes and charged_written_bytes (device_read_bytes and device_written_bytes
       before), series of the samples alike;
       run.json: dirty, what memory held of writes at the gate and at the end; runs of the times alone,
       with their waits
  2.1  run.json: spec, what was asked of the run, whole; option queue_depth;
       jobs: private_memory_bytes
  2.2  steps: notes, what a SAS log tells of tables, sorts and indexes;
       arrays.json: statistics of storage arrays; derived.json: the derived jobs of the plan
  2.3  run.json: source_sha256, the digest of the code that wrote the run;
       samples: series of energy
  2.4  run.json: caps of the volumes, what control groups let the run move at their devices
  2.5  jobs: submitted_at, queue_seconds, of an imported job, from the history of its scheduler;
       steps: kind nested, of SAS logs; run.json: cpu_quota of nodes
  2.6  run.json: arrow_pool, the memory pool of Arrow in the programs, load_version of the workload
  2.7  run.json: reference and reference_seconds of the planned jobs; runs of the times alone: when they
       started, without their waits
  2.8  run.json: other_programs, the processes of others that used processors or moved bytes;
       machine, network and collected of node_runs, controller_overhead; written_bytes of overhead;
       cloud and instance_type of nodes, models of the disks of volumes

A minor version adds fields; older readers ignore them.  A major version changes what is there:
older readers refuse it, and formats before ``OLDEST``, which no release wrote, are refused here.
"""

OLDEST = (2, 1)
"""The oldest format that mawl reads, major and minor number."""

FACTS = "run.json"
QUALIFICATION = "qualify.json"
PLAN = "plan.toml"
LOGS = "logs"
OWN_LOG, KEPT_LOG = ".saslog", ".sas.log"
"""After a job's name in logs: the log that mawl writes of it, and the log of a command that is SAS."""
PROBE = "probe.json"
ARRAYS = "arrays.json"
LATEST = "latest"
NODES = "nodes"
"""Of a run on several nodes: their own run folders, by name."""

LIBRARY_KEY = ".mawl-key"
"""In a directory of runs: the key of digests that say whether values that no record holds are equal."""

JOURNAL = "journal"
COMPACTED = "journal.compacted"
"""The journal's name once all tables are in place, while it is being removed."""

SAMPLES_STREAM = "samples.arrows"
JOURNAL_FILES = ("events.jsonl", "jobs.jsonl", "steps.jsonl", SAMPLES_STREAM)

TABLES = ("jobs", "steps", "events", "samples")

LARGEST_FACTS_BYTES = LARGEST_JSON_BYTES
LARGEST_LINE_BYTES = 2**20
LARGEST_LINES_BYTES = 4 * 2**30
MOST_BAD_LINES = 10_000
MOST_ROWS = {"jobs": 10**6, "steps": 10**7, "events": 10**7, "samples": 4 * 10**8}
"""Bounds on what a reader takes from a folder of unknown origin; ``records.store.parquet`` has those that
depend on the size of a file."""

LARGEST_NUMBER = 1e30
"""The largest number, of either sign, that a figure may have: sums and products of such stay finite."""


def version_numbers(version: str) -> tuple[int, int]:
    """The two numbers of ``MAJOR.MINOR``; ValueError for anything else."""
    first, _, second = version.partition(".")
    if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        raise ValueError(version)
    return int(first), int(second)


def major(version: str) -> int:
    """The first of the two numbers; ValueError as there."""
    return version_numbers(version)[0]


def _draft_of(path: Path) -> Path:
    """A new name in the same directory, of at most 130 bytes; it contains the begin of the file's name."""
    begin = os.fsencode(path.name)[:100].decode(errors="ignore")
    return path.with_name(f".{begin}.{os.getpid()}-{secrets.token_hex(4)}")


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A new file to write, which gets the name of ``path`` at the end of the block, whole and synced.

    A reader, or a power cut, finds the old content or the new.  Before its end the new file has a name that
    nothing had before (O_EXCL); it is removed if the block fails.  ``mode`` is less the umask.
    """
    draft = _draft_of(path)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all (``replacing``); an OSError names ``path``."""
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:  # that of a write names no file
        error.filename = str(path)
        raise


def read_bounded(path: Path, cure: str, *, inside: Path | None = None) -> bytes:
    """A record's file, of at most ``LARGEST_FACTS_BYTES``, in a folder or named.

    Raises ``UnreadableRunError`` where ``read_regular`` refuses it
    (``cure`` says what helps).
    """
    try:
        return read_regular(path, LARGEST_FACTS_BYTES, inside=inside)
    except OSError as error:
        raise UnreadableRunError(
            "cannot be read", where=str(path), why=(error.strerror or str(error)).lower(), cure=cure
        ) from None


def sync_directory(path: Path) -> None:
    """Make renames inside a directory last."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lies_in(folder: Path, runs: Path) -> bool:
    """Whether a run folder is one of those of a directory of runs."""
    return folder.absolute().parent.resolve() == runs.resolve()


def replace_link(link: Path, target: Path) -> None:
    """Point a symbolic link at a target, relative to the link's directory, in one step.

    Raises ``UnsuitableMachineError`` where something else has that name.
    """
    if os.path.lexists(link) and not link.is_symlink():
        raise UnsuitableMachineError(
            "is in the way of the link to the newest run",
            where=str(link),
            cure="rename it, or name another directory with --runs",
        )
    draft = _draft_of(link)
    draft.symlink_to(os.path.relpath(target.absolute(), link.absolute().parent))
    draft.rename(link)


def library_key(runs: Path) -> bytes:
    """32 bytes of a directory of runs that only its owner reads; made where it has none yet.

    Raises OSError where it cannot be made or read.
    """
    file = runs / LIBRARY_KEY
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        draft = _draft_of(file)
        replace_file(draft, secrets.token_bytes(32))
        with contextlib.suppress(FileExistsError):  # another run was first
            file.hardlink_to(draft)
        draft.unlink()
    return read_regular(file, 64, inside=runs)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Take a flock without waiting; False when another process holds it."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lock(descriptor: int) -> None:
    """Take a flock for as long as the descriptor lives; one who only looks holds it for a moment."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_held(folder: Path, lock: str) -> bool:
    """Whether a living process holds a lock (flock) in a folder; a link out of the folder is none."""
    try:
        descriptor = descriptor_of(folder / lock, inside=folder)
    except OSError:
        return False
    try:
        return not try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def folder_with(record: str, name: str, runs: Path) -> Path | None:
    """The folder with that record that a path, or a name in ``runs``, means; None for anything else."""
    if name == LATEST or not name:
        return None
    return next((place for place in (Path(name), runs / name) if os.path.lexists(place / record)), None)


TEMPORARY_CACHE = "mawl-cache-{}"
"""Name of the cache in the directory for temporary files, for a user (by id) without a writable home."""


def cache_place(environment: Mapping[str, str]) -> Path:
    """The user's cache directory of mawl, whether or not it exists (XDG base directories).

    What is in it, mawl can make again.  A user id without a home, as in pods of OpenShift, has it in the
    directory for temporary files; OSError if there is no such directory.
    """
    named = environment.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # the home is unknown
        place = Path(named or "~/.cache").expanduser().absolute() / "mawl"
        if named or _can_be_made(place):
            return place
    import tempfile  # each job imports this module, and needs none

    return Path(tempfile.gettempdir()).absolute() / TEMPORARY_CACHE.format(os.geteuid())


def _can_be_made(place: Path) -> bool:
    there = next(path for path in (place, *place.parents) if os.access(path, os.F_OK))
    return os.access(there, os.W_OK | os.X_OK, effective_ids=True)


def make_cache(environment: Mapping[str, str]) -> Path:
    """Make the cache directory, writable by its user alone.

    Raises UnsuitableMachineError if another user made it, who could put in code of their own, OSError if it
    cannot be made, and the errors of ``cache_place``.
    """
    place = cache_place(environment)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for status in (place.lstat(), place.stat()):  # a link, and where it leads
        if status.st_uid != os.geteuid():
            raise UnsuitableMachineError(
                "belongs to another user",
                where=str(place),
                cure="set XDG_CACHE_HOME to a directory of your own",
            )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        place.chmod(0o700)
    return place

"""A job's counter file: its layout for Python and C, how the runner makes it, and how it is read.

All words are 64-bit, of the machine's byte order: a header of ``HEADER_BYTES``, then
``SHARDS`` shards.  A shard holds sums (kind by kind, class by class, ``SUMS`` each) and
after them bytes by volume, and the histograms of the file classes, latency and sizes, of reads and of
writes.  The library is compiled with ``c_header``, so that the layout is written down once.

Sums of one file cost about 5 microseconds, all histograms up to 300.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.base.errors import UnsuitableMachineError
from mawl.records.model.role_io import (
    FILE_ROLES,
    SUB_BUCKETS,
    FileRole,
    Histogram,
    IoByRole,
    RoleIo,
    VolumeBytes,
)
from mawl.records.spec.program_options import Role

MAGIC = 0x4F49_4C57_414D  # "MAWLIO"
VERSION = 7
"""Raise it with every change here or of what a word means: a library of another version stays inert."""

SHARDS = 16
"""Threads are spread over them by their number, so that they do not fight for one cache line."""

CLASSES = (*FILE_ROLES, "stream")
"""``stream``: what is no file (pipes, sockets, devices, /proc and /sys); it counts for coverage only."""

KINDS = ("read", "write", "sync", "open", "map", "submit_read", "submit_write")
TIMED_KINDS = ("read", "write", "sync", "open")
"""Those whose time is shared out over CPU, run queue and waiting; ``open`` is closes, too."""

SUMS = (
    "calls",
    "bytes",
    "errors",
    "nanoseconds",
    "waited_nanoseconds",
    "scattered_bytes",
    "longest",
    "uncaching_nanoseconds",
)

HEADER = (
    "magic",
    "version",
    "shards_used",
    "images",
    "forks",
    "threads",
    "run_delay_nanoseconds",
    "io_uring_setups",
    "stdio_unseen",
    "reaper",
    "uncached_classes",
    "first",
    *(f"first_waited_{role}_nanoseconds" for role in FILE_ROLES),
    "silenced",
    "first_image",
    "first_peak_bytes",
)
"""``first`` is the first process, ``first_waited_*`` how long its first thread waited inside calls, by role,
``first_image`` the state of its program (``IMAGES``), ``first_peak_bytes`` the peak of its programs that were
left and of the children that it waited for;
``shards_used`` is a bit map; ``images`` are programs that took the library, ``forks`` their forks,
``threads`` those they made; ``run_delay_nanoseconds`` is of threads and processes that ended;
``silenced`` are images that entered a seccomp filter, after which the library makes no calls of its own;
``stdio_unseen`` are images whose C library is not the one whose tables the library knows;
``reaper`` is the process that accounts for the run delay of its own children's first threads;
``uncached_classes`` has a bit for each class whose files are kept out of the page cache."""

IMAGES = ("none", "runs", "execs", "ended", "unknown")
"""``execs``: the program is left for another one; ``unknown``: a program was left that nobody saw leave."""

HEADER_BYTES = 16384
ROLES_AT = 256
"""Where the directories of the roles stand: ``0/path``, NUL, ...; the digit is the class.  The first is
volume 1, and so on; what lies in none is volume 0."""

VOLUMES = 96
"""Volume 0, whose bytes are not counted by volume, and the 95 whose are: they fill the page of the sums."""

LATENCY_OCTAVES = 40
SIZE_OCTAVES = 32


def buckets(octaves: int) -> int:
    """Buckets of a histogram of values below ``2**octaves``; larger ones count in the last."""
    first = SUB_BUCKETS.bit_length() - 1
    return SUB_BUCKETS * (octaves - first + 1)


LATENCY_BUCKETS = buckets(LATENCY_OCTAVES)
SIZE_BUCKETS = buckets(SIZE_OCTAVES)
HISTOGRAM_WORDS = LATENCY_BUCKETS + SIZE_BUCKETS
SUM_WORDS = len(KINDS) * len(CLASSES) * len(SUMS)
SUMS_WORDS_PADDED = 512
"""The histograms begin on a page of their own."""
VOLUMES_AT_WORD = SUMS_WORDS_PADDED - 2 * VOLUMES
"""Bytes read and bytes written of each volume, one behind the other."""
SHARD_WORDS = -(-(SUMS_WORDS_PADDED + len(FILE_ROLES) * 2 * HISTOGRAM_WORDS) // 512) * 512
FILE_BYTES = HEADER_BYTES + SHARDS * SHARD_WORDS * 8


def lower_bound(bucket: int) -> int:
    if bucket < SUB_BUCKETS:
        return bucket
    octave, part = divmod(bucket, SUB_BUCKETS)
    return (SUB_BUCKETS + part) << (octave - 1)


def sum_word(kind: str, class_name: str, name: str = "calls") -> int:
    """Index of a sum within its shard."""
    row = KINDS.index(kind) * len(CLASSES) + CLASSES.index(class_name)
    return row * len(SUMS) + SUMS.index(name)


def histogram_word(class_name: str, direction: str) -> int:
    """Index of a latency histogram within its shard; the sizes follow it."""
    row = CLASSES.index(class_name) * 2 + ("read", "write").index(direction)
    return SUMS_WORDS_PADDED + row * HISTOGRAM_WORDS


def c_header() -> str:
    """The layout as the C header ``layout.h``."""
    numbers = {
        "MAGIC": f"{MAGIC}ull",
        "VERSION": VERSION,
        "SHARDS": SHARDS,
        "HEADER_WORDS": HEADER_BYTES // 8,
        "ROLES_AT": ROLES_AT,
        "VOLUMES": VOLUMES,
        "VOLUMES_AT": VOLUMES_AT_WORD,
        "SUB_BITS": SUB_BUCKETS.bit_length() - 1,
        "LATENCY_BUCKETS": LATENCY_BUCKETS,
        "SIZE_BUCKETS": SIZE_BUCKETS,
        "HISTOGRAM_WORDS": HISTOGRAM_WORDS,
        "SUMS_WORDS": SUMS_WORDS_PADDED,
        "SHARD_WORDS": SHARD_WORDS,
        "FILE_BYTES": FILE_BYTES,
    }
    lines = [f"#define {name} {value}" for name, value in numbers.items()]
    for prefix, names, count in (
        ("CLASS", CLASSES, "CLASSES"),
        ("KIND", KINDS, "KINDS"),
        ("SUM", SUMS, "SUMS"),
        ("HEADER", HEADER, "HEADERS"),
        ("IMAGE", IMAGES, "IMAGES"),
    ):
        members = [f"{prefix}_{name.upper()}" for name in names]
        lines.append(f"enum {{ {', '.join(members)}, {count} }};")
    lines.append(f"#define TIMED_KINDS {len(TIMED_KINDS)}")
    return "\n".join(["/* Printed by counters.py. */", *lines]) + "\n"


COUNTERS_VARIABLE = "MAWL_COUNTERS"
"""Names the file in the environment of a program that shall count into it."""

MOST_VOLUMES = VOLUMES - 1
"""Directories of all roles together whose bytes are told apart."""

_HEADER_WORDS = HEADER_BYTES // 8
_SHARDS_USED = HEADER.index("shards_used")
_RUN_DELAY = HEADER.index("run_delay_nanoseconds")
_FIRST_WAITED = HEADER.index(f"first_waited_{FILE_ROLES[0]}_nanoseconds")
_WAITED_WORDS = {
    role: [sum_word(kind, role, "waited_nanoseconds") for kind in TIMED_KINDS] for role in FILE_ROLES
}
_LIVE_WORDS = len(TIMED_KINDS) * len(CLASSES) * len(SUMS)
NEVER_REACHED = 2**56
"""Nanoseconds of two years, bytes of 72 PB: no word that the library counted is as large."""

_BOUNDS = [lower_bound(bucket) for bucket in range(LATENCY_BUCKETS)]
"""Sizes have fewer buckets of the same bounds."""


def create(path: Path, roles: Mapping[Role, Sequence[Path]], *, uncached: bool = False) -> None:
    """Make an empty counter file for a job whose roles lie in these directories.

    With ``uncached`` the library keeps the files of the roles out of the page cache.  Calls on files
    beside it are mawl's own and no file I/O of the job.  Raises OSError where it cannot be made,
    ``UnsuitableMachineError`` for more directories than it holds.
    """
    places = [(index, os.path.realpath(place)) for index, role in enumerate(roles) for place in roles[role]]
    places.append((CLASSES.index("stream"), os.path.realpath(path.parent)))
    table = b"".join(b"%d%b\0" % (index, os.fsencode(place)) for index, place in places) + b"\0"
    if ROLES_AT + len(table) > HEADER_BYTES:
        raise UnsuitableMachineError(
            f"the directories of the roles take {len(table)} bytes together",
            why=f"I/O by role has room for {HEADER_BYTES - ROLES_AT}",
            cure="name fewer directories, or shorter ones",
        )
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        # Not a sparse file: a job that touches a page when memory is full would be killed (SIGBUS).
        os.posix_fallocate(descriptor, 0, FILE_BYTES)
        os.pwrite(descriptor, table, ROLES_AT)
        if uncached:
            classes = sum(1 << index for index in range(len(roles)))
            os.pwrite(descriptor, struct.pack("Q", classes), 8 * HEADER.index("uncached_classes"))
        os.pwrite(descriptor, struct.pack("QQ", MAGIC, VERSION), 0)
    finally:
        os.close(descriptor)


def stamp_reaper(path: str) -> None:
    """Say that the calling process reads the run delay of its children's first threads itself."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.pwrite(descriptor, struct.pack("Q", os.getpid()), 8 * HEADER.index("reaper"))
    finally:
        os.close(descriptor)


class CounterFile:
    """A reader of one file; OSError where it is gone, ValueError where it is no counter file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if status.st_size != FILE_BYTES:
                raise ValueError(f"{path}: not a counter file of this version")
            mapped = mmap.mmap(descriptor, FILE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ)
        finally:
            os.close(descriptor)
        self._words = memoryview(mapped).cast("Q")
        self._mapped = mapped
        self._identity = status.st_dev, status.st_ino
        self._roles = mapped[ROLES_AT:HEADER_BYTES]
        self._raw: list[bytes] = []
        self._live = 0
        self._used = 0
        self._at: list[int] = []
        self._parts: list[slice] = []
        if (self.header("magic"), self.header("version")) != (MAGIC, VERSION):
            raise ValueError(f"{path}: not a counter file of this version")

    @property
    def whole(self) -> bool:
        """Whether it can be read: a page that its job cut off would end the reader (SIGBUS), and words of the
        header that nobody counted would be figures."""
        return self._mapped.size() == FILE_BYTES and _are_counted(self._mapped[: 8 * len(HEADER)])

    @property
    def sound(self) -> bool:
        """Whether nothing shows that another program than the library wrote into it (300 us)."""
        if not self.whole or (self.header("magic"), self.header("version")) != (MAGIC, VERSION):
            return False
        if self._words[_SHARDS_USED] >> SHARDS or self._mapped[ROLES_AT:HEADER_BYTES] != self._roles:
            return False
        return all(_are_counted(self._mapped[8 * at : 8 * (at + SHARD_WORDS)]) for at in self._shards())

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Whether the path still leads to this file, so that every program of the job found it."""
        try:
            status = Path(path).stat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def header(self, name: str) -> int:
        return self._words[HEADER.index(name)]

    @property
    def run_delay_seconds(self) -> float:
        """Waiting for a CPU of the threads and processes that have ended."""
        return self._words[_RUN_DELAY] / 1e9

    @property
    def first_waited_seconds(self) -> dict[FileRole, float]:
        """Waiting of the first process's first thread inside calls, by role."""
        words = self._words[_FIRST_WAITED : _FIRST_WAITED + len(FILE_ROLES)].tolist()
        return {role: word / 1e9 for role, word in zip(FILE_ROLES, words, strict=True)}

    @property
    def first_peak_bytes(self) -> int | None:
        """Peak resident size of the first process and of the children that it waited for, at its end."""
        ended = self.header("first_image") == IMAGES.index("ended")
        return self.header("first_peak_bytes") if ended else None

    @property
    def waited_seconds(self) -> dict[FileRole, float]:
        rows = [self._words[at : at + _LIVE_WORDS].tolist() for at in self._shards()]
        return {
            role: sum(row[word] for row in rows for word in words) / 1e9
            for role, words in _WAITED_WORDS.items()
        }

    def live(self) -> int:
        """Sums of calls that take time as one number, so that those of many jobs are added in one step.

        A word is 64 of its bits, and no sum comes near 2**64 (``live_words`` takes them apart).
        Of a file that is no longer whole, or whose sums nobody counted, it is what was read last.
        """
        if not self.whole:
            return self._live
        self._shards()
        raw = [self._mapped[part] for part in self._parts]
        if raw != self._raw and all(map(_are_counted, raw)):  # most jobs ask for nothing in most seconds
            self._raw = raw
            self._live = sum(int.from_bytes(words, "little") for words in raw)
        return self._live

    def moved_bytes(self) -> tuple[int, int]:
        """Bytes that all calls read and wrote, files or not, as the kernel counts rchar and wchar."""
        sums = self._sums()
        read, written = (
            sum(sums[sum_word(kind, name, "bytes")] for name in CLASSES) for kind in ("read", "write")
        )
        return read, written

    def by_role(self) -> IoByRole:
        sums = self._sums()
        return {role: self._role(role, sums) for role in FILE_ROLES}

    def by_volume(self) -> VolumeBytes:
        """Bytes of each volume in which any moved; volumes are numbered from 1 in the order of the roles'
        directories, and those past ``MOST_VOLUMES`` are not told apart."""
        first, last = VOLUMES_AT_WORD, VOLUMES_AT_WORD + 2 * VOLUMES
        rows = [self._words[at + first : at + last].tolist() for at in self._shards()]
        sums = [sum(column) for column in zip(*rows, strict=True)] or [0] * (last - first)
        return {
            volume: (sums[2 * volume], sums[2 * volume + 1])
            for volume in range(1, VOLUMES)
            if sums[2 * volume] or sums[2 * volume + 1]
        }

    def _shards(self) -> list[int]:
        used = self._words[_SHARDS_USED]
        if used != self._used:
            self._used = used
            self._at = [_HEADER_WORDS + shard * SHARD_WORDS for shard in range(SHARDS) if used >> shard & 1]
            self._parts = [slice(8 * at, 8 * (at + _LIVE_WORDS)) for at in self._at]
        return self._at

    def _sums(self) -> list[int]:
        """All sums; of the longest calls it is the largest (``_role`` takes it by itself)."""
        rows = [self._words[at : at + SUM_WORDS].tolist() for at in self._shards()]
        return [sum(column) for column in zip(*rows, strict=True)] or [0] * SUM_WORDS

    def _role(self, role: FileRole, sums: list[int]) -> RoleIo:
        def of(kind: str, name: str = "calls") -> int:
            return sums[sum_word(kind, role, name)]

        def sequential(kind: str) -> int:
            # Between the two additions of one request it would be below zero.
            return max(of(kind, "bytes") - of(kind, "scattered_bytes"), 0)

        def seconds(kind: str, name: str = "nanoseconds") -> float:
            return of(kind, name) / 1e9

        read_latency, read_sizes = self._histograms(role, "read", of("read"))
        write_latency, write_sizes = self._histograms(role, "write", of("write"))
        return RoleIo(
            reads=of("read"),
            writes=of("write"),
            syncs=of("sync"),
            opens=of("open"),
            failed_reads=of("read", "errors"),
            failed_writes=of("write", "errors"),
            read_bytes=of("read", "bytes"),
            written_bytes=of("write", "bytes"),
            sequential_read_bytes=sequential("read"),
            sequential_written_bytes=sequential("write"),
            mapped_bytes=of("map", "bytes"),
            submitted_read_bytes=of("submit_read", "bytes"),
            submitted_written_bytes=of("submit_write", "bytes"),
            read_seconds=seconds("read"),
            write_seconds=seconds("write"),
            sync_seconds=seconds("sync"),
            open_seconds=seconds("open"),
            read_waited_seconds=seconds("read", "waited_nanoseconds"),
            write_waited_seconds=seconds("write", "waited_nanoseconds"),
            sync_waited_seconds=seconds("sync", "waited_nanoseconds"),
            open_waited_seconds=seconds("open", "waited_nanoseconds"),
            uncaching_seconds=sum(
                seconds(kind, "uncaching_nanoseconds") for kind in ("read", "write", "open")
            ),
            longest_read_seconds=self._longest(role, "read"),
            longest_write_seconds=self._longest(role, "write"),
            read_nanoseconds_histogram=read_latency,
            write_nanoseconds_histogram=write_latency,
            read_size_bytes_histogram=read_sizes,
            write_size_bytes_histogram=write_sizes,
        )

    def _longest(self, role: FileRole, kind: str) -> float:
        word = sum_word(kind, role, "longest")
        return max((self._words[at + word] for at in self._shards()), default=0) / 1e9

    def _histograms(self, role: FileRole, direction: str, calls: int) -> tuple[Histogram, Histogram]:
        if not calls:
            return {}, {}
        first = histogram_word(role, direction)
        whole = [0] * HISTOGRAM_WORDS
        for at in self._shards():
            for word, count in enumerate(self._words[at + first : at + first + HISTOGRAM_WORDS].tolist()):
                if count:
                    whole[word] += count
        return _sparse(whole[:LATENCY_BUCKETS]), _sparse(whole[LATENCY_BUCKETS:])


def _sparse(counts: Sequence[int]) -> Histogram:
    return {_BOUNDS[bucket]: count for bucket, count in enumerate(counts) if count}


def _are_counted(words: bytes) -> bool:
    """Whether all words are below ``NEVER_REACHED``."""
    return not words[7 if sys.byteorder == "little" else 0 :: 8].strip(b"\0")


def live_words(whole: int) -> tuple[int, ...]:
    """The sums in the order of ``sum_word``."""
    return struct.unpack(f"<{_LIVE_WORDS}Q", whole.to_bytes(8 * _LIVE_WORDS, "little"))

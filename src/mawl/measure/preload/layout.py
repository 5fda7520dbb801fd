"""The layout of a job's counter file: the one place from which reader and C library have it.

All words are 64-bit, of the machine's byte order: a header of :data:`HEADER_BYTES`, then
:data:`SHARDS` shards.  A shard holds sums (kind by kind, class by class, :data:`SUMS` each) and
after them bytes by volume, and the histograms of the file classes, latency and sizes, of reads and of
writes.
:func:`c_header` is what the library is compiled with.
"""

from __future__ import annotations

from mawl.model.role_io import FILE_ROLES, SUB_BUCKETS

MAGIC = 0x4F49_4C57_414D  # "MAWLIO"
VERSION = 5
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
)
"""``first`` is the first process, ``first_waited_*`` how long its first thread waited inside calls, by role;
``shards_used`` is a bit map; ``images`` are programs that took the library, ``forks`` their forks,
``threads`` those they made; ``run_delay_nanoseconds`` is of threads and processes that ended;
``stdio_unseen`` are images whose C library is not the one whose tables the library knows;
``reaper`` is the process that accounts for the run delay of its own children's first threads;
``uncached_classes`` has a bit for each class whose files are kept out of the page cache."""

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
    """The least value of a bucket, as in :data:`mawl.model.role_io.Histogram`."""
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
    """The same, as ``layout.h``."""
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
    ):
        members = [f"{prefix}_{name.upper()}" for name in names]
        lines.append(f"enum {{ {', '.join(members)}, {count} }};")
    lines.append(f"#define TIMED_KINDS {len(TIMED_KINDS)}")
    return "\n".join(["/* Printed by layout.py. */", *lines]) + "\n"

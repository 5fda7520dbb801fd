"""Statistics of storage arrays that joined a run: ``arrays.json`` of the run folder.

Times are UTC; a figure is a mean over the interval that ends at its time, and None where the array did not
print it.  Latencies are seconds at the array: from the arrival of a request there to its end.
"""

from __future__ import annotations

from typing import Literal

import msgspec

ARRAYS_FORMAT_VERSION = "1.0"

ArrayRole = Literal["data", "work", "util"]


class ArrayInterval(msgspec.Struct, frozen=True, kw_only=True):
    """What a volume, a pool or a whole array did in an interval."""

    at: float
    seconds: float
    read_bytes_per_second: float | None = None
    written_bytes_per_second: float | None = None
    reads_per_second: float | None = None
    writes_per_second: float | None = None
    read_latency_seconds: float | None = None
    write_latency_seconds: float | None = None
    hit_ratio: float | None = None
    saved_ratio: float | None = None


class ArrayVolume(msgspec.Struct, frozen=True, kw_only=True):
    """A volume (a pool, or all of the array where ``name`` is empty) with the role that a map gives it."""

    array: str
    name: str
    role: ArrayRole | None
    intervals: list[ArrayInterval]


class ArrayFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was read: rows that were used, and those that were not with the first reason."""

    name: str
    preset: str
    rows: int
    skipped: int
    reason: str | None


class ArrayStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """All arrays of a run."""

    format_version: str = ARRAYS_FORMAT_VERSION
    files: list[ArrayFile]
    volumes: list[ArrayVolume]

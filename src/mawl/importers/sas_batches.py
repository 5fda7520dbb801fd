"""Batches of performance notes of a large SAS log as steps of one job, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.formats.saslog_scan.batch import MISSING, USAGE_COUNTS, NoteBatch, Texts
from mawl.importers.sums import FIELDS, MICROSECONDS
from mawl.model.usage import PEAKS
from mawl.store.plain import in_calendar

FEWEST_NOTES = 32
"""A smaller batch is read note by note, which is faster."""

_ROWS = ("rows_read", "rows_written", "variables_written")
_MOST_SUMMED = 2**62


def sums_of(batch: NoteBatch) -> tuple[dict[str, int | None], int | None]:
    """What :meth:`~mawl.importers.sums.StepSums.add_sums` takes: sums by name, and CPU time."""
    times = {name: _microseconds(column) for name, column in batch.times.items()}
    columns = {**times, **{name: batch.wholes[name] for name in USAGE_COUNTS}}
    sums = {name: _largest(columns[name]) if name in PEAKS else _sum(columns[name]) for name in FIELDS}
    user, system = times["user_cpu_seconds"], times["system_cpu_seconds"]
    split = (user != MISSING) & (system != MISSING)
    return sums, _sum(np.where(split, user + system, times["unsplit_cpu_seconds"]))


def spans_of(
    batch: NoteBatch, to_utc: Callable[[float], float], longest_seconds: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
    """Start and end of each step in seconds since the epoch, NaN if not known; and lines of doubtful notes.

    A note is doubtful if its real time is longer than ``longest_seconds`` or leads out of the calendar.
    """
    stamps = batch.wholes["ended_at"]
    known = stamps != MISSING
    ended_at = np.full(batch.count, np.nan)
    ended_at[known] = [to_utc(float(stamp)) for stamp in stamps[known].tolist()]
    real = batch.times["real_time_seconds"]
    started_at = ended_at - real
    doubtful = known & ((real > longest_seconds) | ~_in_calendar(started_at))
    started_at[doubtful] = np.nan
    return started_at, ended_at, batch.wholes["line"][doubtful].tolist()


def steps_of(
    batch: NoteBatch, job: str, first: int, started_at: NDArray[np.float64], ended_at: NDArray[np.float64]
) -> pa.Table:
    """The steps as rows of the table ``steps``, numbered from ``first``; without columns that no log has."""
    count = batch.count
    kinds = pa.array(["data", "procedure"])
    columns: dict[str, Any] = {
        "job": pa.repeat(job, count),
        "number": pa.array(np.arange(first, first + count)),
        "name": _strings(batch.names),
        "kind": kinds.take(pa.array(batch.wholes["procedure"])),
        "started_at": _instants(started_at),
        "ended_at": _instants(ended_at),
        **{name: pa.array(column, mask=np.isnan(column)) for name, column in batch.times.items()},
        **{name: _counts(batch.wholes[name]) for name in (*USAGE_COUNTS, *_ROWS)},
        "notes": _strings(batch.notes, empty_is_null=True),
    }
    return pa.table(columns)


def _in_calendar(instants: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.fromiter(map(in_calendar, instants.tolist()), np.bool_, len(instants))


def _microseconds(column: NDArray[np.float64]) -> NDArray[np.int64]:
    missing = np.isnan(column)
    return np.where(missing, MISSING, np.rint(np.where(missing, 0.0, column) * MICROSECONDS).astype(np.int64))


def _largest(column: NDArray[np.int64]) -> int | None:
    return None if (column == MISSING).any() else int(column.max())


def _sum(column: NDArray[np.int64]) -> int | None:
    if (column == MISSING).any():
        return None
    return sum(column.tolist()) if int(column.max()) > _MOST_SUMMED // len(column) else int(column.sum())


def _counts(column: NDArray[np.int64]) -> pa.Array:
    return pa.array(column, mask=column == MISSING)


def _instants(seconds: NDArray[np.float64]) -> pa.Array:
    missing = np.isnan(seconds)
    whole = np.rint(np.where(missing, 0.0, seconds) * MICROSECONDS).astype(np.int64)
    return pa.array(whole, mask=missing)


def _strings(texts: Texts, *, empty_is_null: bool = False) -> pa.Array:
    ends = np.concatenate(([0], texts.ends)).astype(np.int32)
    valid = None
    if empty_is_null:
        valid = pa.py_buffer(np.packbits(np.diff(ends) > 0, bitorder="little").tobytes())
    buffers = [valid, pa.py_buffer(ends.tobytes()), pa.py_buffer(texts.letters)]
    return pa.Array.from_buffers(pa.string(), len(texts.ends), buffers)

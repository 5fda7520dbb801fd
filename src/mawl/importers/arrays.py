"""The statistics of a storage array as intervals of its volumes, on the clock of a run.

The columns are named by a map: a user's file over a shipped preset.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from mawl.base.errors import UsageError
from mawl.base.foreign import read_regular
from mawl.base.printable import encodable
from mawl.base.units import counted_noun
from mawl.importers.clock import Clocks, parse_zones
from mawl.importers.formats.arrays import ArrayRow, rows
from mawl.importers.formats.table_map import TableMap
from mawl.importers.formats.tables import LONGEST_INTERVAL_SECONDS
from mawl.importers.formats.text import one_line, text_of
from mawl.records.model.node import ArrayFile, ArrayInterval, ArrayRole, ArrayStatistics, ArrayVolume

MOST_BYTES = 64 * 2**20
MOST_INTERVALS = 400_000
KIND = "array"
LATENCIES = {"read_latency_seconds": "reads_per_second", "write_latency_seconds": "writes_per_second"}
Key = tuple[str, str]
"""Volume, and the node of the array whose counters it is."""


def read_arrays(paths: Sequence[Path], held: TableMap) -> ArrayStatistics:
    """Statistics in the files; ``UsageError`` if there are none."""
    to_utc = Clocks(parse_zones([f"{KIND}={held.timezone or 'UTC'}"], (KIND,))).to_utc(KIND)
    files: list[ArrayFile] = []
    told: dict[Key, list[ArrayRow]] = {}
    for path in paths:
        files.append(_read(path, held, to_utc, told))
    volumes = [_volume(held, volume, found) for (volume, _), found in sorted(told.items())]
    volumes = [volume for volume in volumes if volume.intervals]
    if not volumes:
        reasons = [f"{one.name}: {one.reason}" for one in files if one.reason]
        raise UsageError(
            f"no array statistics in {counted_noun(len(paths), 'file')}",
            why=reasons[0] if reasons else "an interval needs two rows of a volume, or interval_seconds",
            cure="check the map (mawl help arrays)",
        )
    if sum(len(volume.intervals) for volume in volumes) > MOST_INTERVALS:
        raise UsageError(f"more than {MOST_INTERVALS} intervals", cure="export only the time of the run")
    return ArrayStatistics(files=files, volumes=volumes)


def _read(
    path: Path, held: TableMap, to_utc: Callable[[float], float], told: dict[Key, list[ArrayRow]]
) -> ArrayFile:
    skipped: list[str] = []
    used = 0
    try:
        text = text_of(read_regular(path, MOST_BYTES)).removeprefix("\ufeff")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read", why=(error.strerror or str(error)).lower()) from None
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith(("\n", "\r")) and held.layout != "counters":
        text = "".join(lines[:-1])
        skipped.append(f"row {len(lines)}: the file ends within it")
    for row in rows(held, path.name, text, lambda place, why: skipped.append(f"row {place}: {why}")):
        at = to_utc(row.at) if row.ahead is None else row.at - row.ahead
        told.setdefault((row.volume, row.node), []).append(row._replace(at=at))
        used += 1
    reason = one_line(skipped[0])[:300] if skipped else None
    name = encodable(one_line(path.name))
    return ArrayFile(name=name, preset=held.preset or "own", rows=used, skipped=len(skipped), reason=reason)


def _volume(held: TableMap, name: str, found: list[ArrayRow]) -> ArrayVolume:
    roles: tuple[ArrayRole, ...] = ("data", "work", "util")
    fits = [role for role in roles if role in held.roles and re.fullmatch(held.roles[role], name)]
    return ArrayVolume(
        array=held.array,
        name=encodable(one_line(name)),
        role=fits[0] if len(fits) == 1 else None,
        intervals=list(_intervals(held, found)),
    )


def _intervals(held: TableMap, found: list[ArrayRow]) -> Iterator[ArrayInterval]:
    """Intervals of one volume, which do not overlap."""
    merged = _merged(found)
    gaps = [later.at - earlier.at for earlier, later in pairwise(merged)]
    usual = held.interval_seconds or (statistics.median(gaps) if gaps else None)
    for place, row in enumerate(merged):
        gap = gaps[place - 1] if place else None
        if row.counters:
            if gap and gap <= LONGEST_INTERVAL_SECONDS:
                figures = _grown(merged[place - 1].figures, row.figures, gap)
                if figures is not None:
                    yield ArrayInterval(at=row.at, seconds=gap, **figures)
        elif usual is not None:
            seconds = min(usual, gap) if gap else usual
            if 0 < seconds <= LONGEST_INTERVAL_SECONDS:
                yield ArrayInterval(at=row.at, seconds=seconds, **row.figures)


def _merged(found: list[ArrayRow]) -> list[ArrayRow]:
    """Rows by time, one for each time; a figure with two values at one time is None."""
    result: list[ArrayRow] = []
    for row in sorted(found, key=lambda one: one.at):
        if not result or result[-1].at != row.at:
            result.append(row._replace(figures=dict(row.figures)))
            continue
        own = result[-1].figures
        for name, value in row.figures.items():
            own[name] = value if own.get(name, value) == value else None
    return result


def _grown(
    before: dict[str, float | None], after: dict[str, float | None], seconds: float
) -> dict[str, float | None] | None:
    """Rates and latencies from the growth of counters; None if a counter fell, because the node restarted."""
    gains: dict[str, float | None] = {}
    for name, value in after.items():
        old = before.get(name)
        gains[name] = None if value is None or old is None else value - old
    if any(gain is not None and gain < 0 for gain in gains.values()):
        return None
    figures: dict[str, float | None] = {}
    for name, gain in gains.items():
        requests = gains.get(LATENCIES.get(name, ""))
        if name in LATENCIES:
            figures[name] = gain / requests if gain is not None and requests else None
        else:
            figures[name] = None if gain is None else gain / seconds
    return figures


def joined(held: ArrayStatistics | None, more: ArrayStatistics) -> ArrayStatistics:
    """Statistics of a run with further ones; a volume of one array that is there already is replaced."""
    if held is None:
        return more
    new = {(volume.array, volume.name) for volume in more.volumes}
    kept = [volume for volume in held.volumes if (volume.array, volume.name) not in new]
    return msgspec.structs.replace(more, files=[*held.files, *more.files], volumes=[*kept, *more.volumes])

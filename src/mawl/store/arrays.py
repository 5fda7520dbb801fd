"""``arrays.json``: statistics of storage arrays that joined a run after it."""

from __future__ import annotations

import math
import os
from pathlib import Path

import msgspec

from mawl.errors import UnreadableRunError
from mawl.model.arrays import ARRAYS_FORMAT_VERSION, ArrayInterval, ArrayStatistics
from mawl.store.files import read_bounded, replace_file
from mawl.store.layout import ARRAYS, major
from mawl.store.plain import decoded, in_calendar


def write_arrays(folder: Path, held: ArrayStatistics) -> None:
    """Write the statistics into a run folder, whole or not at all; raises OSError."""
    replace_file(folder / ARRAYS, msgspec.json.encode(held) + b"\n")


def arrays_of(folder: Path) -> ArrayStatistics | None:
    """The statistics in a run folder; None where it holds none.

    Raises :class:`~mawl.errors.UnreadableRunError` for a file that is damaged, or of a newer version.
    """
    path = folder / ARRAYS
    if not os.path.lexists(path):
        return None
    content = read_bounded(path, "attach the statistics again", inside=folder)
    try:
        held = msgspec.convert(decoded(content), ArrayStatistics)
        newer = major(held.format_version) > major(ARRAYS_FORMAT_VERSION)
        if not all(_plausible(one) for volume in held.volumes for one in volume.intervals):
            raise ValueError("an interval has an impossible time or figure")
    except (ValueError, OverflowError) as error:
        raise UnreadableRunError(
            "is not what mawl attach writes",
            where=str(path),
            why=str(error),
            cure="attach the statistics again",
        ) from None
    if newer:
        raise UnreadableRunError(
            f"has format version {held.format_version}, newer than this mawl's {ARRAYS_FORMAT_VERSION}",
            where=str(path),
            cure="read it with a newer mawl",
        )
    return held


def _plausible(one: ArrayInterval) -> bool:
    figures = [value for value in msgspec.structs.astuple(one) if value is not None]
    return (
        all(math.isfinite(value) and value >= 0 for value in figures)
        and one.seconds > 0
        and in_calendar(one.at)
    )

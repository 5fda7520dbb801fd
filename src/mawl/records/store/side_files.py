"""JSON files in or next to run folders: probe, array statistics, solo times and memory peaks of programs."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mawl.base.errors import UnreadableRunError
from mawl.base.foreign import read_regular
from mawl.base.units import format_instant, parse_instant
from mawl.records.model.node import ARRAYS_FORMAT_VERSION, ArrayInterval, ArrayStatistics
from mawl.records.model.probe import PROBE_FORMAT_VERSION, Probe
from mawl.records.model.run import AloneRun
from mawl.records.store.facts import decoded, in_calendar
from mawl.records.store.files import ARRAYS, PROBE, major, read_bounded, replace_file

SOLO_FOLDER = "solo"
"""In the directory of run folders: times of programs alone (docs/design/answer.md)."""

LARGEST_SOLO_BYTES = 2**20

Condition = str | int | float | bool | None | list[str]
Conditions = Mapping[str, Condition]
"""Everything that a time or a peak depends on, by name; another value is another file."""


class Solo(msgspec.Struct, frozen=True, kw_only=True):
    """What a program took alone in each run of it, and under which conditions."""

    program: str
    runs: list[AloneRun]
    conditions: dict[str, Condition]


def file_for(folder: Path, program: str, conditions: Conditions) -> Path:
    """The file of a program under these conditions, in ``SOLO_FOLDER`` or ``PEAK_FOLDER``."""
    text = msgspec.json.encode({"program": program, **conditions}, order="sorted")
    return folder / f"{program}-{hashlib.sha256(text).hexdigest()[:16]}.json"


def read_solo(runs: Path, program: str, conditions: Conditions) -> Solo | None:
    """The time kept for these conditions; None where there is none, or a file that holds no time.

    A damaged file is measured anew, and so replaced; so is one of an older mawl, which kept one time
    and not where it went.
    """
    try:
        path = file_for(runs / SOLO_FOLDER, program, conditions)
        content = read_regular(path, LARGEST_SOLO_BYTES, inside=path.parent)
        found = msgspec.json.decode(content, type=Solo)
    except (OSError, ValueError, RecursionError):
        return None
    same = found.program == program and found.conditions == dict(conditions)
    well = bool(found.runs) and all(run.real_time_seconds > 0 for run in found.runs)
    return found if same and well else None


def write_solo(runs: Path, solo: Solo) -> None:
    """Keep a time; OSError where the directory of run folders cannot be written."""
    path = file_for(runs / SOLO_FOLDER, solo.program, solo.conditions)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path, msgspec.json.format(msgspec.json.encode(solo, order="sorted"), indent=2) + b"\n")


PEAK_FOLDER = "memory"
"""In the directory of run folders: measured peaks of memory of programs."""

LARGEST_PEAK_BYTES = 2**16


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The largest peak of all jobs of one program under the same conditions.

    ``private_bytes`` are those it shared with no other process, ``ready_bytes`` the resident size of the
    process before its program began; ``jobs`` were measured, the largest in the run ``run_id``.
    """

    program: str
    private_bytes: int
    ready_bytes: int
    jobs: int
    run_id: str
    conditions: dict[str, Condition]


def read_peak(runs: Path, program: str, conditions: Conditions) -> Peak | None:
    """The peak kept for these conditions; None where there is none, or a file that holds no peak."""
    try:
        path = file_for(runs / PEAK_FOLDER, program, conditions)
        found = msgspec.json.decode(read_regular(path, LARGEST_PEAK_BYTES, inside=path.parent), type=Peak)
    except (OSError, ValueError, RecursionError):
        return None
    same = found.program == program and found.conditions == dict(conditions)
    well = min(found.private_bytes, found.ready_bytes) > 0 and found.jobs > 0
    return found if same and well else None


def write_peak(runs: Path, peak: Peak) -> None:
    """Keep a peak; OSError where the directory of run folders cannot be written."""
    path = file_for(runs / PEAK_FOLDER, peak.program, peak.conditions)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path, msgspec.json.format(msgspec.json.encode(peak, order="sorted"), indent=2) + b"\n")


def write_arrays(folder: Path, held: ArrayStatistics) -> None:
    """Write the statistics into a run folder, whole or not at all; raises OSError."""
    replace_file(folder / ARRAYS, msgspec.json.encode(held) + b"\n")


def arrays_of(folder: Path) -> ArrayStatistics | None:
    """The statistics in a run folder; None where it holds none.

    Raises ``UnreadableRunError`` for a file that is damaged, or of a newer version.
    """
    path = folder / ARRAYS
    if not os.path.lexists(path):
        return None
    content = read_bounded(path, "attach the statistics again", inside=folder)
    try:
        held = msgspec.convert(decoded(content), ArrayStatistics)
        newer = major(held.format_version) > major(ARRAYS_FORMAT_VERSION)
        if not all(_plausible(interval) for volume in held.volumes for interval in volume.intervals):
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


def _plausible(interval: ArrayInterval) -> bool:
    figures = [value for value in msgspec.structs.astuple(interval) if value is not None]
    return (
        all(math.isfinite(value) and value >= 0 for value in figures)
        and interval.seconds > 0
        and in_calendar(interval.at)
    )


def write_probe(path: Path, probe: Probe) -> None:
    """Write a probe whole or not at all; raises OSError."""
    replace_file(path, probe_content(probe))


def probe_content(probe: Probe) -> bytes:
    """What ``probe.json`` holds."""
    current = msgspec.structs.replace(probe, format_version=PROBE_FORMAT_VERSION)
    content = msgspec.json.encode(plain_probe(current))
    return msgspec.json.format(content, indent=2) + b"\n"


def plain_probe(probe: Probe) -> dict[str, Any]:
    """The probe as plain data, with ``created_at`` in ISO 8601, UTC, as in all files."""
    return {**msgspec.to_builtins(probe), "created_at": format_instant(probe.created_at)}


def read_probe(path: Path, *, inside: Path | None = None) -> Probe:
    """A probe from its file, in a folder or named by the user.

    Raises ``UnreadableRunError`` for a file that is missing, damaged, none, or of a
    newer version.
    """
    content = read_bounded(path, "name the file that mawl probe wrote", inside=inside)
    try:
        plain = decoded(content)
        if isinstance(plain, dict) and isinstance(plain.get("created_at"), str):
            plain["created_at"] = parse_instant(plain["created_at"])
        probe = msgspec.convert(plain, Probe)
        if not in_calendar(probe.created_at):
            raise ValueError("no calendar has this time - at `$.created_at`")
        newer = major(probe.format_version) > major(PROBE_FORMAT_VERSION)
    except (ValueError, OverflowError) as error:
        raise UnreadableRunError(
            "is not what mawl probe writes", where=str(path), why=str(error), cure="probe again"
        ) from None
    if newer:
        raise UnreadableRunError(
            f"has format version {probe.format_version}, newer than this mawl's {PROBE_FORMAT_VERSION}",
            where=str(path),
            cure="read it with a newer mawl",
        )
    return probe


def probe_of(folder: Path) -> Probe | None:
    """The probe in a run folder; None where it holds none."""
    path = folder / PROBE
    return read_probe(path, inside=folder) if os.path.lexists(path) else None

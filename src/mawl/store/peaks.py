"""Measured peaks of memory of programs, one file beside the runs for each set of conditions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.foreign import read_regular
from mawl.store.files import replace_file
from mawl.store.solo import Condition

FOLDER = "memory"
"""Where they are, in the directory of run folders."""

LARGEST_BYTES = 2**16


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


def place(runs: Path, program: str, conditions: Mapping[str, Condition]) -> Path:
    """The file of a program under these conditions."""
    text = msgspec.json.encode({"program": program, **conditions}, order="sorted")
    return runs / FOLDER / f"{program}-{hashlib.sha256(text).hexdigest()[:16]}.json"


def read_peak(runs: Path, program: str, conditions: Mapping[str, Condition]) -> Peak | None:
    """The peak kept for these conditions; None where there is none, or a file that holds no peak."""
    try:
        path = place(runs, program, conditions)
        found = msgspec.json.decode(read_regular(path, LARGEST_BYTES, inside=path.parent), type=Peak)
    except (OSError, ValueError, RecursionError):
        return None
    same = found.program == program and found.conditions == dict(conditions)
    well = min(found.private_bytes, found.ready_bytes) > 0 and found.jobs > 0
    return found if same and well else None


def write_peak(runs: Path, peak: Peak) -> None:
    """Keep a peak; OSError where the directory of run folders cannot be written."""
    path = place(runs, peak.program, peak.conditions)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path, msgspec.json.format(msgspec.json.encode(peak, order="sorted"), indent=2) + b"\n")

"""Times of programs alone, one file beside the runs for each set of conditions (docs/design/capacity.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mawl.foreign import read_regular
from mawl.model.run import AloneRun
from mawl.store.files import replace_file

FOLDER = "solo"
"""Where they are, in the directory of run folders."""

LARGEST_BYTES = 2**20

Condition = str | int | float | bool | None | list[str]
Conditions = Mapping[str, Condition]
"""Everything that a time alone depends on, by name; another value is another file."""


class Solo(msgspec.Struct, frozen=True, kw_only=True):
    """What a program took alone in each run of it, and under which conditions."""

    program: str
    runs: list[AloneRun]
    conditions: dict[str, Condition]


def place(runs: Path, program: str, conditions: Conditions) -> Path:
    """The file of a program under these conditions."""
    text = msgspec.json.encode({"program": program, **conditions}, order="sorted")
    return runs / FOLDER / f"{program}-{hashlib.sha256(text).hexdigest()[:16]}.json"


def read_solo(runs: Path, program: str, conditions: Conditions) -> Solo | None:
    """The time kept for these conditions; None where there is none, or a file that holds no time.

    A damaged file is measured anew, and so replaced; so is one of an older mawl, which kept one time
    and not where it went.
    """
    try:
        path = place(runs, program, conditions)
        content = read_regular(path, LARGEST_BYTES, inside=path.parent)
        found = msgspec.json.decode(content, type=Solo)
    except (OSError, ValueError, RecursionError):
        return None
    same = found.program == program and found.conditions == dict(conditions)
    well = bool(found.runs) and all(run.real_time_seconds > 0 for run in found.runs)
    return found if same and well else None


def write_solo(runs: Path, solo: Solo) -> None:
    """Keep a time; OSError where the directory of run folders cannot be written."""
    path = place(runs, solo.program, solo.conditions)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path, msgspec.json.format(msgspec.json.encode(solo, order="sorted"), indent=2) + b"\n")

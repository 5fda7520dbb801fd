"""``probe.json``: what the storage can do, in a run folder or of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from mawl.errors import UnreadableRunError
from mawl.model.probe import PROBE_FORMAT_VERSION, Probe
from mawl.store.files import read_bounded, replace_file
from mawl.store.layout import PROBE, major
from mawl.store.plain import decoded, in_calendar
from mawl.units import format_instant, parse_instant


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

    Raises :class:`~mawl.errors.UnreadableRunError` for a file that is missing, damaged, none, or of a
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

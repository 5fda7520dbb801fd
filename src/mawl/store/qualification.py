"""``qualify.json``: written whole or not at all, checked when read; its lock shows a process at work."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.errors import UnreadableRunError, UsageError
from mawl.model.qualification import PHASES, QUALIFICATION_FORMAT_VERSION, Qualification
from mawl.store.files import folder_with, is_held, read_bounded, replace_file
from mawl.store.layout import QUALIFICATION, major
from mawl.store.plain import Plain, decoded, from_plain, instant_of, to_plain
from mawl.units import format_instant

LOCK = "qualify.lock"
"""Held (flock) by the process that makes the qualification, for as long as it lives."""


def plain_qualification(record: Qualification) -> Plain:
    """The record as plain data, with every point in time as text."""
    plain = to_plain(msgspec.structs.replace(record, format_version=QUALIFICATION_FORMAT_VERSION))
    for phase in plain["phases"]:
        if phase["began_at"] is not None:
            phase["began_at"] = format_instant(phase["began_at"])
    return plain


def write_qualification(folder: Path, record: Qualification) -> None:
    """Replace the record, in the current format; raises OSError."""
    plain = plain_qualification(record)
    replace_file(folder / QUALIFICATION, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def read_qualification(folder: Path) -> Qualification:
    """The record as it is; one whose process has ended before its work reads as ``interrupted``.

    Raises :class:`~mawl.errors.UnreadableRunError` naming the file and what is wrong with it.
    """
    path = folder / QUALIFICATION
    record = _decoded(path, read_bounded(path, "name the folder of a qualification", inside=folder))
    if record.outcome == "running" and not is_worked_on(folder):
        return msgspec.structs.replace(record, outcome="interrupted", reason="its process was killed")
    return record


def _decoded(path: Path, content: bytes) -> Qualification:
    try:
        plain = decoded(content)
        version = plain.get("format_version") if isinstance(plain, dict) else None
        newer = major(version) > major(QUALIFICATION_FORMAT_VERSION) if isinstance(version, str) else False
        if newer:
            raise UnreadableRunError(
                f"was written in format {str(version)[:40]}, and this mawl knows "
                f"{QUALIFICATION_FORMAT_VERSION}",
                where=str(path),
                cure="read it with the mawl that wrote it, or upgrade this one",
            )
        record = from_plain(_with_instants(plain), Qualification)
        _check(record)
    except ValueError as error:
        raise UnreadableRunError(
            "is no record of a qualification",
            where=str(path),
            why=str(error),
            cure="its runs are whole: mawl report reads each run folder below runs",
        ) from None
    return record


def _with_instants(plain: object) -> object:
    """The same with the phases' points in time as seconds."""
    phases = plain.get("phases") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or not isinstance(phases, list):
        return plain
    made = [
        {**phase, "began_at": instant_of("began_at", phase["began_at"])}
        if isinstance(phase, dict) and phase.get("began_at") is not None
        else phase
        for phase in phases
    ]
    return {**plain, "phases": made}


def _check(record: Qualification) -> None:
    """What a schema cannot say: every phase once and in order, folders inside the qualification's."""
    if tuple(phase.name for phase in record.phases) != PHASES:
        raise ValueError(f"expected the phases {', '.join(PHASES)} - at `$.phases`")
    for place, run in enumerate(record.runs):
        parts = run.folder.split("/")
        if parts[0] != "runs" or len(parts) != 2 or parts[1] in ("", ".", "..") or "\0" in run.folder:
            raise ValueError(f"{run.folder[:40]!r} is no folder below runs - at `$.runs[{place}]`")


def is_worked_on(folder: Path) -> bool:
    """Whether a living process holds the qualification's lock."""
    return is_held(folder, LOCK)


def qualification_folder(name: str, runs: Path) -> Path | None:
    """The folder of a qualification that a path, or a name in ``runs``, means; None for anything else."""
    return folder_with(QUALIFICATION, name, runs)


def locate_qualification(name: str, runs: Path) -> Path:
    """As :func:`qualification_folder`; raises :class:`~mawl.errors.UsageError` for anything else."""
    folder = qualification_folder(name, runs)
    if folder is None:
        raise UsageError(
            "is no qualification",
            where=name or "an empty name",
            why=f"it has no {QUALIFICATION}",
            cure="name the folder that mawl qualify made",
        )
    return folder.resolve()

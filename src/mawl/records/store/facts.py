"""``run.json``: written whole or not at all, checked when read."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.base.errors import UnreadableRunError
from mawl.records.model.run import RunFacts
from mawl.records.store.files import (
    FACTS,
    FORMAT_VERSION,
    OLDEST,
    QUALIFICATION,
    major,
    read_bounded,
    replace_file,
    version_numbers,
)
from mawl.records.store.plain_data import decoded, from_plain, to_plain


def write_facts(folder: Path, facts: RunFacts) -> None:
    """Write ``run.json`` atomically, in the current format."""
    plain = to_plain(msgspec.structs.replace(facts, format_version=FORMAT_VERSION))
    replace_file(folder / FACTS, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def read_facts(folder: Path) -> RunFacts:
    """The facts of a run.  Raises ``UnreadableRunError`` naming the file, and the key that is wrong."""
    path = folder / FACTS
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        if (folder / QUALIFICATION).exists():
            raise UnreadableRunError(
                "is the folder of a qualification, not of a run",
                where=str(folder),
                cure=f"name one of its runs, which are in {folder / 'runs'}",
            ) from None
        raise UnreadableRunError(
            f"is not a run folder, or its run was killed before it began: it has no {FACTS}",
            where=str(folder),
            cure="name the folder of a run, its id, or latest; mawl clean removes what a killed run left",
        ) from None
    except OSError:
        pass  # of a folder that may not be searched the reader below says why
    cure = "check its permissions, or copy the run to where you may read it"
    return _decode(path, read_bounded(path, cure, inside=folder))


def _decode(path: Path, content: bytes) -> RunFacts:
    try:
        plain = decoded(content)
    except ValueError as error:
        raise UnreadableRunError(
            "is not JSON",
            where=str(path),
            why=str(error),
            cure="copy the run again from where it was made; without this file it cannot be read",
        ) from None
    version = plain.get("format_version") if isinstance(plain, dict) else None
    _check_version(version, str(path))
    try:
        return from_plain(plain, RunFacts)
    except ValueError as error:
        what, _, key = str(error).partition(" - at `$")
        where = f"{path}: {key.strip('`.')}" if key else str(path)
        raise UnreadableRunError(
            "holds something else than a run's facts", where=where, why=what[:1].lower() + what[1:]
        ) from None


def _check_version(version: object, where: str) -> None:
    """Raises ``UnreadableRunError`` for a newer major version, for an old one, and for what is no version."""
    try:
        numbers = version_numbers(version) if isinstance(version, str) else None
    except ValueError:
        numbers = None
    if numbers is None:
        raise UnreadableRunError(
            "has no format version",
            where=where,
            why=f"expected format_version such as {FORMAT_VERSION!r}, found {str(version)[:40]!r}",
            cure="name the folder of a run that mawl wrote",
        )
    if numbers[0] > major(FORMAT_VERSION):
        raise UnreadableRunError(
            f"was written in format {str(version)[:40]}, and this mawl knows up to {FORMAT_VERSION}",
            where=where,
            cure="read it with the mawl that wrote it, or upgrade this one",
        )
    if numbers < OLDEST:
        raise UnreadableRunError(
            f"was written in format {version}, which this mawl can no longer read",
            where=where,
            cure="read it with an older mawl",
        )

"""``run.json``: written whole or not at all, checked when read."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.base.errors import UnreadableRunError
from mawl.records.model.run import RunFacts
from mawl.records.store.files import FACTS, FORMAT_VERSION, QUALIFICATION, read_bounded, replace_file
from mawl.records.store.plain_data import decoded, from_plain, to_plain
from mawl.records.store.upgrades import Upgrade, steps_from, with_queue_depth


def write_facts(folder: Path, facts: RunFacts) -> None:
    """Write ``run.json`` atomically, in the current format."""
    plain = to_plain(msgspec.structs.replace(facts, format_version=FORMAT_VERSION))
    replace_file(folder / FACTS, msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")


def read_facts(folder: Path) -> tuple[RunFacts, list[Upgrade]]:
    """The facts in the current format, and the steps by which the rest of the folder is upgraded.

    Raises ``UnreadableRunError`` naming the file, and the key that is wrong.
    """
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


def _decode(path: Path, content: bytes) -> tuple[RunFacts, list[Upgrade]]:
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
    steps = steps_from(version, str(path))
    try:
        for step in steps:
            plain = step.facts(plain)
        facts = from_plain(with_queue_depth(plain), RunFacts)
    except ValueError as error:
        what, _, key = str(error).partition(" - at `$")
        where = f"{path}: {key.strip('`.')}" if key else str(path)
        raise UnreadableRunError(
            "holds something else than a run's facts", where=where, why=what[:1].lower() + what[1:]
        ) from None
    return facts, steps

"""Reads collections into the record that `mawl tune check` compares, the same as for a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.errors import UsageError
from mawl.formats.lines import one_line
from mawl.formats.settings.collected import Section, UnreadOutput
from mawl.formats.settings.commands import TUNABLES, reader_of
from mawl.formats.settings.told import Told
from mawl.model.inventory_metrics import MACHINE
from mawl.printable import encodable
from mawl.tuning.check import CurrentSettings
from mawl.tuning.collection.files import NodeFiles, places
from mawl.tuning.collection.joining import join
from mawl.tuning.records import FileUnread, Platform

_AIX = (*TUNABLES, "lsattr", "lsdev", "lspath", "lsmap", "lparstat", "smtctl")
_SCALE = ("mmlsconfig", "mmdiag", "mmlsfs", "mmlsdisk", "mmlsnsd")


def collected(paths: Sequence[Path], storages: Mapping[str, str]) -> CurrentSettings:
    """Settings of each node in the files; its name is from the collector's lines or from ``lparstat -i``."""
    nodes: dict[str, Told] = {}
    servers, unread, platforms = set[str](), list[FileUnread](), dict[Platform, None]()
    for place in places(paths):
        name, told, parts = _place(place)
        if name in nodes:
            raise UsageError(
                f"two collections of {name}",
                cure="compare an older and a newer one: mawl tune compare OLD NEW",
            )
        nodes[name] = told
        for part in parts:
            if isinstance(part, UnreadOutput):
                unread.append(FileUnread(file=encodable(one_line(part.file)), reason=one_line(part.reason)))
                continue
            platforms |= dict.fromkeys(_platforms(part))
            if part.platform == "vios" or part.command[0] == "lsmap":
                servers.add(name)
    join(nodes, servers, storages)
    found: list[Platform] = list(platforms) or ["linux"]
    return CurrentSettings(
        run_id=None,
        platform=found[0],
        also=tuple(found[1:]),
        inventories={name: told.inventory() for name, told in nodes.items()},
        collected=True,
        unread=unread,
    )


def _platforms(part: Section) -> list[Platform]:
    """Platforms whose settings an output can hold."""
    if part.command[0] in _SCALE:
        return ["spectrum scale"]
    on_aix = part.platform in ("aix", "vios") or part.command[0] in _AIX
    on_linux = part.platform == "linux" or part.command[0] not in (*_AIX, "mount", "ulimit")
    return ["aix"] if on_aix else ["linux"] if on_linux else []


def _place(place: NodeFiles) -> tuple[str, Told, list[Section | UnreadOutput]]:
    """Name and settings of a node, with what was not read."""
    told, parts = Told(), list[Section | UnreadOutput]()
    for part in place.parts:
        reader = reader_of(part.command, part.lines) if isinstance(part, Section) else None
        if isinstance(part, Section) and reader is None:
            reason = f"mawl reads nothing of {' '.join(part.command)}"
            parts.append(UnreadOutput(command=(), lines=(), whole=False, file=part.file, reason=reason))
            continue
        if isinstance(part, Section) and reader is not None:
            reader(part, told)
        parts.append(part)
    named = list(dict.fromkeys(part.node for part in parts if isinstance(part, Section) and part.node))
    if len(named) > 1:
        raise UsageError(
            f"{place.name or 'the files'}: outputs of several nodes ({', '.join(named[:3])})",
            cure="keep the files of each node in a separate folder",
        )
    own = told.subjects("lparstat").get(MACHINE, {}).get("Node Name")
    return (named[0] if named else None) or str(own or place.name or "collection"), told, parts

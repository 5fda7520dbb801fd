"""Facts that need several outputs: which storage a disk, an adapter or a file system is on.

Folders and files of collections, read as input that cannot be trusted.

Reads collections into the record that `mawl tune check` compares, the same as for a run.

The shell script that collects a platform's settings: what `mawl tune collector PLATFORM` prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.foreign import read_regular
from mawl.base.printable import encodable
from mawl.importers.formats.settings.collected import TUNABLES, Section, UnreadOutput, reader_of, sections
from mawl.importers.formats.settings.scale import join_running
from mawl.importers.formats.settings.told import Told, check_sum
from mawl.importers.formats.settings.told import rows as rows_told
from mawl.importers.formats.text import one_line
from mawl.records.model.node import Figures, Value
from mawl.records.model.series_metrics import MACHINE
from mawl.tuning.check import CurrentSettings
from mawl.tuning.records import FileUnread, Platform

MANIFEST = "MANIFEST"
"""What cksum(1) printed of the files of a folder, once all were written."""
MOST_FILES = 5000
MOST_FOLDERS = 200
MOST_BYTES = 16 * 2**20


class NodeFiles(msgspec.Struct, frozen=True):
    """A folder of one node, or files that were named one by one."""

    name: str
    parts: list[Section | UnreadOutput]


def places(paths: Sequence[Path]) -> list[NodeFiles]:
    """What the paths hold: a folder is one node, a folder of folders several, files together one.

    ``UsageError`` for a path that is not there, or holds no file.
    """
    found, files = [], []
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"{path} is not there", cure="name the folder that the collector wrote, or files"
            )
        if path.is_dir():
            found += list(_folders(path))
        else:
            files.append(path)
    if files:
        found.append(NodeFiles("", [part for path in files for part in _parts(path, path.name, None)]))
    if not any(place.parts for place in found):
        raise UsageError(
            f"{', '.join(map(str, paths))}: no file in it",
            cure="collect with the script that mawl tune collector prints",
        )
    return found


def _folders(path: Path) -> Iterator[NodeFiles]:
    below = [one for one in _entries(path) if one.is_dir() and not one.is_symlink()]
    own = [one for one in _entries(path) if not one.is_dir()]
    if own:
        yield _folder(path, own)
    for folder in below[:MOST_FOLDERS]:
        held = [one for one in _entries(folder) if not one.is_dir()]
        if held:
            yield _folder(folder, held)


def _entries(path: Path) -> list[Path]:
    try:
        return sorted(one for one in path.iterdir() if not one.name.startswith("."))[:MOST_FILES]
    except OSError as error:
        raise InvalidFileError("cannot be read", where=str(path), why=error.strerror) from None


def _folder(path: Path, files: list[Path]) -> NodeFiles:
    sums: dict[str, tuple[int, int]] | None = None
    if any(one.name == MANIFEST for one in files):
        content = _content(path / MANIFEST, path)
        rows = rows_told(content) if isinstance(content, bytes) else ()
        sums = {name: (value, size) for name, value, size in rows}
    parts = [part for one in files if one.name != MANIFEST for part in _parts(one, one.name, path, sums)]
    there = {one.name for one in files}
    parts += [
        _unread(name, f"{MANIFEST} lists it, but it is not there") for name in sums or () if name not in there
    ]
    return NodeFiles(path.name, parts)


def _content(path: Path, inside: Path | None) -> bytes | str:
    """What the file holds, or why it cannot be read."""
    try:
        return read_regular(path, MOST_BYTES, inside=inside)
    except OSError as error:
        return (error.strerror or str(error)).lower()


def _parts(
    path: Path, name: str, inside: Path | None, sums: dict[str, tuple[int, int]] | None = None
) -> Iterator[Section | UnreadOutput]:
    content = _content(path, inside)
    if isinstance(content, str):
        yield _unread(name, content)
    elif sums is not None and name not in sums:
        yield _unread(name, f"not in {MANIFEST}: collect again if it belongs to the collection")
    elif sums is not None and not _intact(content, *sums[name]):
        yield _unread(name, f"changed since it was collected: its checksum differs from {MANIFEST}")
    else:
        yield from sections(name, content)


def _intact(content: bytes, value: int, size: int) -> bool:
    """A transfer as text may have changed the ends of lines, and nothing else."""
    return any(
        len(one) == size and check_sum(one) == value for one in (content, content.replace(b"\r\n", b"\n"))
    )


def _unread(name: str, reason: str) -> UnreadOutput:
    return UnreadOutput(command=(), lines=(), whole=False, file=name, reason=reason)


ON_STORAGE = ("hdisk", "fcs", "fscsi", "mmlsfs")
"""Families whose subjects are on a storage system."""
CLIENT, SERVER = "client", "virtual I/O server"


def join(nodes: Mapping[str, Told], servers: Iterable[str], storages: Mapping[str, str]) -> None:
    """Add ``storage``, ``partition`` and ``layout`` to the subjects of every node.

    ``servers`` are the nodes that are virtual I/O servers; ``storages`` are the user's: a pattern
    of subjects to the name of their storage.  What the outputs do not show stays absent.
    """
    at_server = set(servers)
    for name, told in nodes.items():
        join_running(told)
        _space(told)
        if name not in at_server:
            _say(told, storages, ("hdisk",))
            _adapters(told)
            _file_systems(told)
    for name in at_server:
        _physical_adapters(nodes[name], nodes)
    for told in nodes.values():
        _say(told, storages, ON_STORAGE)
    layouts = {name: _layout(told) for name, told in nodes.items()}
    for name, told in nodes.items():
        layout = layouts[name]
        if layout is None and name in at_server:
            layout = _layout_of_clients(told, nodes, layouts)
        for family in ("hdisk", "fcs", "fscsi"):
            for subject in told.subjects(family):
                told.put(family, subject, "partition", SERVER if name in at_server else CLIENT)
        for family in ("hdisk", "fcs", "fscsi", "mmlsconfig"):
            for subject in told.subjects(family) if layout else ():
                told.put(family, subject, "layout", layout)


def _say(told: Told, storages: Mapping[str, str], families: Iterable[str]) -> None:
    """The user's storage names override those in the outputs."""
    for family in families:
        for subject, figures in told.subjects(family).items():
            for pattern, kind in storages.items():
                if fnmatchcase(subject, pattern):
                    figures["storage"] = kind


def _adapters(told: Told) -> None:
    """Storage of fscsiN and of the fcsN below it: that of the disks on its paths, where all are known."""
    disks: dict[str, set[Value]] = {}
    for disk, figures in told.subjects("lspath").items():
        for parent in str(figures.get("parents") or "").split():
            kind = told.subjects("hdisk").get(disk, {}).get("storage")
            disks.setdefault(parent, set()).add(kind)
    for device, kinds in disks.items():
        if kinds & {None, "other"} or len(kinds) != 1:
            continue
        below = told.subjects("lsdev").get(device, {}).get("parent")
        for family, name in (("fscsi", device), ("fcs", str(below))):
            if name in told.subjects(family):
                told.put(family, name, "storage", next(iter(kinds)))


def _space(told: Told) -> None:
    """Used space of file systems that ``mount`` shows: df also lists those that hold no data."""
    for over, figures in told.families.pop("df", {}).items():
        if over in told.subjects("file_system"):
            told.put("file_system", over, "used_ratio", figures["used_ratio"])


def _file_systems(told: Told) -> None:
    """Storage of a file system: that of the devices of its disks, where all are known."""
    devices = {name: figures.get("device") for name, figures in told.subjects("mmlsnsd").items()}
    for file_system, figures in told.subjects("mmlsdisk").items():
        names = str(figures.get("names") or "").split()
        kinds = {told.subjects("hdisk").get(str(devices.get(name)), {}).get("storage") for name in names}
        if file_system in told.subjects("mmlsfs") and len(kinds) == 1 and None not in kinds:
            told.put("mmlsfs", file_system, "storage", kinds.pop())


def _physical_adapters(server: Told, nodes: Mapping[str, Told]) -> None:
    """Storage of an adapter of a virtual I/O server: that of the partitions' adapters that it carries."""
    by_name = {partition: nodes[node] for partition, node in _partitions(nodes).items()}
    kinds: dict[str, set[Value]] = {}
    for figures in server.subjects("lsmap").values():
        adapter, client = figures.get("adapter"), by_name.get(str(figures.get("client")))
        if isinstance(adapter, str):
            seen: Figures = (
                client.subjects("fcs").get(str(figures.get("client_adapter")), {}) if client else {}
            )
            kinds.setdefault(adapter, set()).add(seen.get("storage"))
    for adapter, found in kinds.items():
        if len(found) == 1 and None not in found:
            above = [name for name, own in server.subjects("lsdev").items() if own.get("parent") == adapter]
            for family, name in (("fcs", adapter), *(("fscsi", device) for device in above)):
                if name in server.subjects(family):
                    server.put(family, name, "storage", next(iter(found)))


def _partitions(nodes: Mapping[str, Told]) -> dict[str, str]:
    """Name of a partition, as its virtual I/O server has it, to its node."""
    own = {node: told.subjects("lparstat").get(MACHINE, {}) for node, told in nodes.items()}
    return {str(held.get("Partition Name") or node): node for node, held in own.items()}


def _layout_of_clients(
    server: Told, nodes: Mapping[str, Told], layouts: Mapping[str, str | None]
) -> str | None:
    """The layout of the partitions of a virtual I/O server, where all of them are known and have the same."""
    maps = dict(server.subjects("lsmap"))
    number = maps.pop(MACHINE, {}).get("vfchosts")
    hosts = [figures for name, figures in maps.items() if name.startswith("vfchost")]
    if not hosts or number != len(hosts):
        return None
    partitions = _partitions(nodes)
    used = [one for one in hosts if one.get("adapter") or one.get("client")]
    found = {layouts.get(partitions.get(str(one.get("client")), "")) for one in used}
    return found.pop() if len(found) == 1 and all(one.get("adapter") for one in used) else None


def _layout(told: Told) -> str | None:
    """``XIV alone`` or ``XIV and FlashSystem``; None where the storage of a disk or adapter is not known."""
    disks = {disk: figures.get("storage") for disk, figures in told.subjects("hdisk").items()}
    adapters = [figures.get("storage") for figures in told.subjects("fcs").values()]
    kinds = {*disks.values(), *adapters} - {"other"}
    flash = any(str(kind).startswith("FlashSystem") for kind in kinds)
    if flash and "XIV" in kinds:
        return "XIV and FlashSystem"
    paths = told.subjects("lspath")
    known = all(figures.get("paths") and disks.get(disk) for disk, figures in paths.items())
    return "XIV alone" if paths and known and kinds == {"XIV"} else None


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


SCRIPTS = Path(__file__).parent / "scripts"


def collector(platform: str) -> str:
    """The script, in plain sh; ``platform`` is one of ``formats.settings.collected.PLATFORMS``."""
    parts = ((SCRIPTS / f"{name}.sh").read_text() for name in ("head", platform, "foot"))
    return "".join(parts).replace("PLATFORM", platform)

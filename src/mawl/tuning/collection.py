"""Reads collections: files with the settings of systems that mawl does not run on.

The files are foreign input and not trusted.  The result is the record that `mawl tune check` compares, the
same as for a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.foreign import read_regular
from mawl.base.printable import encodable
from mawl.importers.formats.settings.collection import TUNABLES, Section, UnreadOutput, reader_of, sections
from mawl.importers.formats.settings.output import NodeSettings, check_sum, check_sum_rows
from mawl.importers.formats.settings.scale import join_running
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
    below = [entry for entry in _entries(path) if entry.is_dir() and not entry.is_symlink()]
    own = [entry for entry in _entries(path) if not entry.is_dir()]
    if own:
        yield _folder(path, own)
    for folder in below[:MOST_FOLDERS]:
        held = [entry for entry in _entries(folder) if not entry.is_dir()]
        if held:
            yield _folder(folder, held)


def _entries(path: Path) -> list[Path]:
    try:
        return sorted(one for one in path.iterdir() if not one.name.startswith("."))[:MOST_FILES]
    except OSError as error:
        raise InvalidFileError("cannot be read", where=str(path), why=error.strerror) from None


def _folder(path: Path, files: list[Path]) -> NodeFiles:
    sums: dict[str, tuple[int, int]] | None = None
    if any(file.name == MANIFEST for file in files):
        content = _content(path / MANIFEST, path)
        rows = check_sum_rows(content) if isinstance(content, bytes) else ()
        sums = {name: (value, size) for name, value, size in rows}
    parts = [part for file in files if file.name != MANIFEST for part in _parts(file, file.name, path, sums)]
    there = {file.name for file in files}
    parts += [
        _unread(name, f"{MANIFEST} lists it, but it is not there") for name in sums or () if name not in there
    ]
    return NodeFiles(path.name, parts)


def _content(path: Path, inside: Path | None) -> bytes | str:
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


def join(nodes: Mapping[str, NodeSettings], servers: Iterable[str], storages: Mapping[str, str]) -> None:
    """Add ``storage``, ``partition`` and ``layout`` to the subjects of every node.

    ``servers`` are the nodes that are virtual I/O servers; ``storages`` are the user's: a pattern
    of subjects to the name of their storage.  What the outputs do not show stays absent.
    """
    at_server = set(servers)
    for name, settings in nodes.items():
        join_running(settings)
        _used_space(settings)
        if name not in at_server:
            _name_storages(settings, storages, ("hdisk",))
            _adapters(settings)
            _file_systems(settings)
    for name in at_server:
        _physical_adapters(nodes[name], nodes)
    for settings in nodes.values():
        _name_storages(settings, storages, ON_STORAGE)
    layouts = {name: _layout(settings) for name, settings in nodes.items()}
    for name, settings in nodes.items():
        layout = layouts[name]
        if layout is None and name in at_server:
            layout = _layout_of_clients(settings, nodes, layouts)
        for family in ("hdisk", "fcs", "fscsi"):
            for subject in settings.subjects(family):
                settings.put(family, subject, "partition", SERVER if name in at_server else CLIENT)
        for family in ("hdisk", "fcs", "fscsi", "mmlsconfig"):
            for subject in settings.subjects(family) if layout else ():
                settings.put(family, subject, "layout", layout)


def _name_storages(settings: NodeSettings, storages: Mapping[str, str], families: Iterable[str]) -> None:
    """The user's storage names override those in the outputs."""
    for family in families:
        for subject, figures in settings.subjects(family).items():
            for pattern, kind in storages.items():
                if fnmatchcase(subject, pattern):
                    figures["storage"] = kind


def _adapters(settings: NodeSettings) -> None:
    """Storage of fscsiN and of the fcsN below it: that of the disks on its paths, where all are known."""
    disks: dict[str, set[Value]] = {}
    for disk, figures in settings.subjects("lspath").items():
        for parent in str(figures.get("parents") or "").split():
            kind = settings.subjects("hdisk").get(disk, {}).get("storage")
            disks.setdefault(parent, set()).add(kind)
    for device, kinds in disks.items():
        if kinds & {None, "other"} or len(kinds) != 1:
            continue
        below = settings.subjects("lsdev").get(device, {}).get("parent")
        for family, name in (("fscsi", device), ("fcs", str(below))):
            if name in settings.subjects(family):
                settings.put(family, name, "storage", next(iter(kinds)))


def _used_space(settings: NodeSettings) -> None:
    """Used space of file systems that ``mount`` shows: df also lists those that hold no data."""
    for over, figures in settings.families.pop("df", {}).items():
        if over in settings.subjects("file_system"):
            settings.put("file_system", over, "used_ratio", figures["used_ratio"])


def _file_systems(settings: NodeSettings) -> None:
    """Storage of a file system: that of the devices of its disks, where all are known."""
    devices = {name: figures.get("device") for name, figures in settings.subjects("mmlsnsd").items()}
    for file_system, figures in settings.subjects("mmlsdisk").items():
        names = str(figures.get("names") or "").split()
        kinds = {settings.subjects("hdisk").get(str(devices.get(name)), {}).get("storage") for name in names}
        if file_system in settings.subjects("mmlsfs") and len(kinds) == 1 and None not in kinds:
            settings.put("mmlsfs", file_system, "storage", kinds.pop())


def _physical_adapters(server: NodeSettings, nodes: Mapping[str, NodeSettings]) -> None:
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


def _partitions(nodes: Mapping[str, NodeSettings]) -> dict[str, str]:
    """Name of a partition, as its virtual I/O server has it, to its node."""
    own = {node: settings.subjects("lparstat").get(MACHINE, {}) for node, settings in nodes.items()}
    return {str(held.get("Partition Name") or node): node for node, held in own.items()}


def _layout_of_clients(
    server: NodeSettings, nodes: Mapping[str, NodeSettings], layouts: Mapping[str, str | None]
) -> str | None:
    """The layout of the partitions of a virtual I/O server, where all of them are known and have the same."""
    maps = dict(server.subjects("lsmap"))
    number = maps.pop(MACHINE, {}).get("vfchosts")
    hosts = [figures for name, figures in maps.items() if name.startswith("vfchost")]
    if not hosts or number != len(hosts):
        return None
    partitions = _partitions(nodes)
    used = [host for host in hosts if host.get("adapter") or host.get("client")]
    found = {layouts.get(partitions.get(str(one.get("client")), "")) for one in used}
    return found.pop() if len(found) == 1 and all(one.get("adapter") for one in used) else None


def _layout(settings: NodeSettings) -> str | None:
    """``XIV alone`` or ``XIV and FlashSystem``; None where the storage of a disk or adapter is not known."""
    disks = {disk: figures.get("storage") for disk, figures in settings.subjects("hdisk").items()}
    adapters = [figures.get("storage") for figures in settings.subjects("fcs").values()]
    kinds = {*disks.values(), *adapters} - {"other"}
    flash = any(str(kind).startswith("FlashSystem") for kind in kinds)
    if flash and "XIV" in kinds:
        return "XIV and FlashSystem"
    paths = settings.subjects("lspath")
    known = all(figures.get("paths") and disks.get(disk) for disk, figures in paths.items())
    return "XIV alone" if paths and known and kinds == {"XIV"} else None


_AIX = (*TUNABLES, "lsattr", "lsdev", "lspath", "lsmap", "lparstat", "smtctl")
_SCALE = ("mmlsconfig", "mmdiag", "mmlsfs", "mmlsdisk", "mmlsnsd")


def read_collections(paths: Sequence[Path], storages: Mapping[str, str]) -> CurrentSettings:
    """Settings of each node in the files; its name is from the collector's lines or from ``lparstat -i``."""
    nodes: dict[str, NodeSettings] = {}
    servers, unread, platforms = set[str](), list[FileUnread](), dict[Platform, None]()
    for place in places(paths):
        name, settings, parts = _read_node(place)
        if name in nodes:
            raise UsageError(
                f"two collections of {name}",
                cure="compare an older and a newer one: mawl tune compare OLD NEW",
            )
        nodes[name] = settings
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
        inventories={name: settings.inventory() for name, settings in nodes.items()},
        collected=True,
        unread=unread,
    )


def _platforms(part: Section) -> list[Platform]:
    if part.command[0] in _SCALE:
        return ["spectrum scale"]
    on_aix = part.platform in ("aix", "vios") or part.command[0] in _AIX
    on_linux = part.platform == "linux" or part.command[0] not in (*_AIX, "mount", "ulimit")
    return ["aix"] if on_aix else ["linux"] if on_linux else []


def _read_node(place: NodeFiles) -> tuple[str, NodeSettings, list[Section | UnreadOutput]]:
    settings, parts = NodeSettings(), list[Section | UnreadOutput]()
    for part in place.parts:
        reader = reader_of(part.command, part.lines) if isinstance(part, Section) else None
        if isinstance(part, Section) and reader is None:
            reason = f"mawl reads nothing of {' '.join(part.command)}"
            parts.append(UnreadOutput(command=(), lines=(), whole=False, file=part.file, reason=reason))
            continue
        if isinstance(part, Section) and reader is not None:
            reader(part, settings)
        parts.append(part)
    named = list(dict.fromkeys(part.node for part in parts if isinstance(part, Section) and part.node))
    if len(named) > 1:
        raise UsageError(
            f"{place.name or 'the files'}: outputs of several nodes ({', '.join(named[:3])})",
            cure="keep the files of each node in a separate folder",
        )
    own = settings.subjects("lparstat").get(MACHINE, {}).get("Node Name")
    return (named[0] if named else None) or str(own or place.name or "collection"), settings, parts


SCRIPTS = Path(__file__).parent / "scripts"


def collector(platform: str) -> str:
    """The script, in plain sh; ``platform`` is one of ``formats.settings.collected.PLATFORMS``."""
    parts = ((SCRIPTS / f"{name}.sh").read_text() for name in ("head", platform, "foot"))
    return "".join(parts).replace("PLATFORM", platform)

"""Facts that need several outputs: which storage a disk, an adapter or a file system is on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from mawl.formats.settings.scale import join_running
from mawl.formats.settings.told import Told
from mawl.model.inventory import Figures, Value
from mawl.model.inventory_metrics import MACHINE

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

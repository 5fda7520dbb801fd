"""What Spectrum Scale prints of its settings.

Source: IBM, Spectrum Scale command reference: mmlsconfig, mmdiag (``--config``), mmlsfs, mmlsdisk, mmlsnsd
(``-m``).  mmlsconfig prints only what was set; mmdiag prints what the daemon of its node runs with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mawl.importers.formats.settings.aix import number
from mawl.importers.formats.settings.output import (
    CONTRADICTED,
    IGNORED,
    NodeSettings,
    Output,
)
from mawl.records.model.series_metrics import MACHINE

_NAME = r"(?P<name>[A-Za-z][\w-]{1,63})"
_SET = re.compile(rf"{_NAME}\s(?P<value>\S{{1,200}})(?:\s+\[(?P<nodes>[^\]]{{1,2000}})\])?\s*")
_SECTION = re.compile(r"\[(?P<nodes>[^\]]{1,2000})\]\s*")
_RUNS = re.compile(rf"\s*(?:! {{1,9}})?{_NAME}\s+(?P<value>\S{{1,200}})\s*")
_YES_NO = ("scatterBuffers", "stealFromDoneList")
"""Settings that mmlsconfig prints as yes or no, and the daemon as 1 or 0."""
BYTES = re.compile(r"([0-9]{1,15})\s?(?:([KMGT])i?B?)?")


def read_configuration(output: Output, settings: NodeSettings) -> None:
    """``mmlsconfig``, of the cluster or of one attribute."""
    found: dict[str, dict[str, str]] = {}
    for nodes, name, value in _configured(output.lines):
        found.setdefault(name, {})[nodes] = value
    for name, by_nodes in found.items():
        values = {_form(name, value) for value in by_nodes.values()}
        if "all nodes" not in by_nodes:
            reason = f"set only for {', '.join(by_nodes)}; mmdiag --config says what a node runs with"
            settings.lack("mmlsconfig", MACHINE, name, reason[:300])
        elif len(values) == 1:
            settings.machine("mmlsconfig", name, values.pop())
        else:
            parts = ", ".join(f"{value} for {nodes}" for nodes, value in by_nodes.items())
            reason = f"not the same for all nodes: {parts}; mmdiag --config says what a node runs with"
            settings.lack("mmlsconfig", MACHINE, name, reason[:300])


def _configured(lines: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    nodes = "all nodes"
    for line in lines:
        section, match = _SECTION.fullmatch(line), _SET.fullmatch(line)
        if section:
            nodes = "all nodes" if section["nodes"] == "common" else section["nodes"]
        elif line == IGNORED or (not match and {"[", "]"} & {*line}):
            nodes = "nodes that the file does not show"
        elif line.startswith("File systems in cluster"):
            return
        elif match and match["value"] not in ("(undefined)", "---"):
            yield match["nodes"] or nodes, match["name"], match["value"]


def _form(name: str, value: str) -> str:
    """A value as mmlsconfig has it, sizes in bytes."""
    if name in _YES_NO:
        return {"1": "yes", "0": "no"}.get(value, value.lower())
    size = BYTES.fullmatch(value)
    if size is None:
        return value
    return str(int(size[1]) * (number(f"1{size[2]}") or 1) if size[2] else int(size[1]))


def read_running(output: Output, settings: NodeSettings) -> None:
    """``mmdiag --config``; what differs from mmlsconfig is set, but does not run yet."""
    for match in output.matches(_RUNS):
        settings.machine("mmdiag", match["name"], _form(match["name"], match["value"]))


def join_running(settings: NodeSettings) -> None:
    """Into the family mmlsconfig what the daemon runs with, where that is not another value."""
    for name, value in settings.subjects("mmdiag").get(MACHINE, {}).items():
        held = settings.subjects("mmlsconfig").get(MACHINE, {}).get(name)
        if held is not None and value is not None and held != value:
            settings.families["mmlsconfig"][MACHINE][name] = None
            reason = f"set to {held}, but the daemon runs with {value}: restart it"
            settings.missing[f"mmlsconfig.{MACHINE}.{name}"] = reason
        elif value is not None:
            settings.machine("mmlsconfig", name, value)


_ATTRIBUTE = re.compile(r"\s{1,2}(?P<flag>-[A-Za-z]|--[a-z-]{2,40})\s{2,}(?P<value>\S{1,200})\s.*")
_OTHER_POOLS = re.compile(r"\s{15,}(?P<value>[0-9]{1,15})\s.*\((?P<pool>[^)]*pools?[^)]*)\).*")
_OF = re.compile(r"File system attributes for /dev/(?P<device>[\w.-]{1,100}):\s*")
_FLAGS = {"-B": "block_bytes", "-f": "subblock_bytes", "-j": "allocation", "-i": "inode_bytes", "-n": "nodes"}


_FIELD = re.compile(
    r"mmlsfs::\d{1,3}:\d{1,3}:[^:]*:[^:]*:(?P<device>[\w.-]{1,100}):(?P<field>[\w-]{1,80}):(?P<value>[^:]{1,200}):(?P<pool>[^:]*):.*"
)
_FIELDS = {
    "blockSize": "block_bytes",
    "minFragmentSize": "subblock_bytes",
    "blockAllocationType": "allocation",
    "inodeSize": "inode_bytes",
    "numNodes": "nodes",
}
"""Field of ``mmlsfs -Y``, a line each, to the figure that the table has."""


def read_file_systems(output: Output, settings: NodeSettings) -> None:
    """``mmlsfs all`` or ``mmlsfs DEVICE``, also with ``-Y``: block size, sub-block size, allocation type.

    A file system whose pools differ has no one block size.
    """
    sizes = _sizes_of_fields(output, settings)
    device = next((word.removeprefix("/dev/") for word in output.command[1:] if word[:1] != "-"), "all")
    last = None
    for line in output.lines:
        head, match, other = _OF.fullmatch(line), _ATTRIBUTE.fullmatch(line), _OTHER_POOLS.fullmatch(line)
        if head:
            device, last = head["device"], None
            settings.name("mmlsfs", device)
        elif line.strip() and not line.startswith((" ", "flag ", "---", "===")):
            device, last = "all", None
        elif match and device != "all":
            last = _FLAGS.get(match["flag"])
            whole = int(match["value"]) if match["value"].isdecimal() else None
            if last == "allocation":
                settings.put("mmlsfs", device, last, match["value"])
            elif last is not None:
                sizes.append(_Size(device, last, whole, "system" if "(system pool)" in line else ""))
        elif other and last is not None and device != "all":
            sizes.append(_Size(device, last, int(other["value"]), "other"))
    _put_sizes(settings, sizes)


class _Size(NamedTuple):
    """A size of a file system; ``pool`` is empty if it is that of all pools."""

    device: str
    figure: str
    size: int | None
    pool: str


def _sizes_of_fields(output: Output, settings: NodeSettings) -> list[_Size]:
    """The sizes in lines of ``-Y``; an allocation type goes to ``settings``."""
    sizes = []
    for field in output.matches(_FIELD):
        figure, text = _FIELDS.get(field["field"]), field["value"]
        if figure == "allocation":
            settings.put("mmlsfs", field["device"], figure, text)
        elif figure is not None:
            size = int(text) if text.isdecimal() else None
            sizes.append(_Size(field["device"], figure, size, field["pool"].partition(" ")[0]))
    return sizes


def _put_sizes(settings: NodeSettings, sizes: Sequence[_Size]) -> None:
    pools: dict[tuple[str, str], dict[str, list[int | None]]] = {}
    for one in sizes:
        if one.pool:
            pools.setdefault((one.device, one.figure), {}).setdefault(one.pool, []).append(one.size)
        else:
            settings.put("mmlsfs", one.device, one.figure, one.size)
    for (device, figure), by_pool in pools.items():
        _put_pools(settings, device, figure, by_pool)


def _put_pools(settings: NodeSettings, device: str, figure: str, pools: dict[str, list[int | None]]) -> None:
    """Note a size that is printed for each pool (system, other): it counts if both pools have the same."""
    sizes = list(dict.fromkeys(size for held in pools.values() for size in held))
    if pools.keys() == {"system"} and len(sizes) == 1:
        reason = "not readable" if sizes[0] is None else str(sizes[0])
        settings.lack("mmlsfs", device, figure, f"printed for the system pool only: {reason}")
    elif "system" not in pools or None in sizes:
        settings.lack("mmlsfs", device, figure, f"{CONTRADICTED}; one of them is not readable")
    elif len(sizes) > 1:
        settings.lack("mmlsfs", device, figure, f"{CONTRADICTED}: {' and '.join(map(str, sizes))}")
    else:
        settings.put("mmlsfs", device, figure, sizes[0])


_DISK = re.compile(
    r"(?P<name>[\w.-]{1,100})\s+(?P<driver>nsd|disk)\s+(?P<sector>512|4096)?\s+\S+\s+(?:yes|no|Yes|No)\s+"
    r"(?:yes|no|Yes|No)\s+(?P<status>\S+)\s+(?P<up>up|down|recovering|unrecovered)\s+(?P<pool>\S+).*"
)

_HEADS = ("disk  ", "name  ", "-----", "Number of quorum disks:", "Read quorum value:", "Write quorum value:")


def read_disks(output: Output, settings: NodeSettings) -> None:
    """``mmlsdisk DEVICE``: how many disks a file system has, and their sector size."""
    device = next((word.removeprefix("/dev/") for word in output.command[1:] if word[:1] != "-"), None)
    lines = [line for line in output.lines if line.strip() and not line.startswith(_HEADS)]
    rows = [match for line in lines if (match := _DISK.fullmatch(line))]
    if device is None or not rows:
        return None
    if doubt := output.doubt(strange=len(rows) < len(lines)):
        return settings.lack("mmlsdisk", device, "disks", doubt)
    settings.put("mmlsdisk", device, "disks", len(rows))
    settings.put("mmlsdisk", device, "names", " ".join(row["name"] for row in rows)[:400])
    sectors = {row["sector"] for row in rows}
    if len(sectors) == 1 and None not in sectors:
        settings.put("mmlsdisk", device, "sector_bytes", int(rows[0]["sector"]))
    return None


_NSD = re.compile(
    r"\s*(?P<name>[\w.-]{1,100})\s+(?P<id>[0-9A-F]{16})\s+/dev/r?(?P<device>[\w/-]{1,60})\s+\S+.*"
)


def read_network_disks(output: Output, settings: NodeSettings) -> None:
    """``mmlsnsd -m``: which device of this node a disk of the cluster is."""
    for match in output.matches(_NSD):
        settings.put("mmlsnsd", match["name"], "device", match["device"])

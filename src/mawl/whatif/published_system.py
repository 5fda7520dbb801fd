"""The papers' systems as descriptions: figures with the paper's words for them, and a table of assumptions.

``whatif/published/*.toml`` keep numbers in the unit that a paper prints; what no paper gives is taken
from ``assumed.toml``, the same for every system (docs/design/published-forecasts.md has the formulas).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from mawl.records.spec import toml
from mawl.records.spec.program_options import Role
from mawl.simulation.demand import Direction
from mawl.simulation.system import Device, NodeKind, System

SHIPPED = Path(__file__).parent / "published"
ASSUMED = "assumed"

GIB, KIB = 2.0**30, 2.0**10
REFERENCE_HERTZ = 4.116e9
"""The clock of the first fitted system, s822-xiv-20: its cores have speed 1."""

DeviceKind = Literal["disk_7200", "disk_15000", "flash_array", "flash_card"]


class QuotedFigure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure and the words of its paper; ``printed`` if the figure is printed in another way.

    The figure is the printed one multiplied by ``times``: a number of equal parts that the quotation names,
    or the ratio of two speeds if the paper prints the figure of the same ports at another speed.
    ``count`` is the number of nodes that have it.
    """

    value: float
    quote: str
    printed: str | None = None
    times: float = 1.0
    count: int = 1


class Ports(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ports of a node, or of the storage, and the Gbit/s of each.

    ``total_gb``: GB/s that all of them carry, both directions together.  The paper gives the rate; that it
    is a bound of both directions is assumed.
    """

    kind: Literal["fc", "ethernet"]
    ports: QuotedFigure
    gbit: QuotedFigure
    total_gb: QuotedFigure | None = None


class Tier(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Storage in an array that serves random requests in place of its disks, and the paper's words for it."""

    kind: DeviceKind
    quote: str


class Store(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An array, or the cards of a server: ``units`` disks, modules or cards, and what a paper measured.

    ``cache`` is a quotation that names the cache of the array, which reads ahead of streams and takes writes.
    ``random`` is the tier that serves random requests.  ``software_raid`` is a quotation that names RAID
    which spreads each block over several disks.  ``capacity_tb`` (TB) is the capacity of the disks,
    ``used_tb`` the sizes of the file systems on them.
    """

    name: str
    kind: DeviceKind
    roles: list[Role]
    units: QuotedFigure
    block_kib: QuotedFigure | None = None
    cache: str | None = None
    random: Tier | None = None
    software_raid: str | None = None
    capacity_tb: QuotedFigure | None = None
    used_tb: list[QuotedFigure] = []
    read_mb: QuotedFigure | None = None
    write_mb: QuotedFigure | None = None
    local: bool = False


class PublishedSystem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One system of a paper, and the workload that ran on each of its nodes.

    ``variant`` names a change that the paper tried without figures of its own.  ``waits_on_cpu``: the
    accounting of its operating system charges CPU time while jobs wait for storage; ``logs_core_share``:
    its CPU times are the part of a core that a thread had (AIX's scaled accounting, not adjusted).
    ``parallel_file_system`` is a quotation that names one, if its daemon moves what jobs read and write.
    Without it the jobs use a file system of the kernel.
    """

    result: str
    workload: Literal["mixed20", "mixed30", "mixed30-19"]
    cores: list[QuotedFigure]
    memory_gib: QuotedFigure
    devices: list[Store]
    thread_share: str
    variant: str | None = None
    sessions: QuotedFigure | None = None
    sessions_assumed: str | None = None
    threads_per_core: QuotedFigure | None = None
    clock_mhz: QuotedFigure | None = None
    clock: str | None = None
    link: Ports | None = None
    fabric: Ports | None = None
    waits_on_cpu: bool = False
    logs_core_share: bool = False
    parallel_file_system: str | None = None

    @property
    def id(self) -> str:
        """The result's id, with the variant where it is one."""
        return self.result if self.variant is None else f"{self.result}/{self.variant}"

    @property
    def nodes(self) -> int:
        return sum(kind.count for kind in self.cores)

    def quoted(self) -> Iterator[tuple[str, QuotedFigure]]:
        for name in self.__struct_fields__:
            yield from _quoted(name, getattr(self, name))


class Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An assumed value and why it is plausible."""

    value: float
    reason: str


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    systems: list[PublishedSystem]


class _Assumption(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    values: dict[str, Value]


def _quoted(key: str, held: object) -> Iterator[tuple[str, QuotedFigure]]:
    if isinstance(held, QuotedFigure):
        yield key, held
    elif isinstance(held, list):
        for number, one in enumerate(held):
            yield from _quoted(f"{key}[{number}]", one)
    elif isinstance(held, Ports | Store):
        for name in held.__struct_fields__:
            yield from _quoted(f"{key}.{name}", getattr(held, name))


@cache
def published_systems() -> tuple[PublishedSystem, ...]:
    """All, paper by paper, variants after what they vary."""
    files = sorted(path for path in SHIPPED.glob("*.toml") if path.stem != ASSUMED)
    return tuple(system for path in files for system in toml.load(path, _File).systems)


@cache
def assumed() -> dict[str, Value]:
    """The one table of what is assumed, by name."""
    return toml.load(SHIPPED / f"{ASSUMED}.toml", _Assumption).values


def value(name: str) -> float:
    """An assumed value; KeyError for one that is not in the table."""
    return assumed()[name].value


def system_of(system: PublishedSystem) -> System:
    """The description that the engine simulates; ``sources`` say what is published and what assumed.

    Cores are counted in threads that can compute at full speed side by side: cores / thread share.
    """
    sources: dict[str, str] = {}
    kinds = []
    clock = system.clock_mhz.value * 1e6 if system.clock_mhz else value(str(system.clock))
    for number, cores in enumerate(system.cores):
        key = f"nodes.{number}"
        kinds.append(
            NodeKind(
                count=cores.count,
                cores=cores.value / value(system.thread_share),
                core_speed=clock / REFERENCE_HERTZ,
                threads_per_core=int(system.threads_per_core.value) if system.threads_per_core else 1,
                memory_bytes=system.memory_gib.value * GIB,
                link_bytes_per_second=None if system.link is None else _ports_rate(system.link),
                roles={role: (device.name,) for device in system.devices for role in device.roles},
            )
        )
        sources[f"{key}.cores"] = f"published: {cores.quote}; assumed: {system.thread_share}"
        sources[f"{key}.core_speed"] = (
            f"published: {system.clock_mhz.quote}" if system.clock_mhz else f"assumed: {system.clock}"
        )
        sources[f"{key}.memory_bytes"] = f"published: {system.memory_gib.quote}"
        if system.link is not None:
            sources[f"{key}.link_bytes_per_second"] = (
                f"published: {system.link.ports.quote}; assumed: {system.link.kind}_ratio"
            )
    if system.fabric is not None:
        sources["fabric_bytes_per_second"] = (
            f"published: {system.fabric.ports.quote}; assumed: {system.fabric.kind}_ratio"
        )
    total = system.fabric.total_gb if system.fabric is not None else None
    if total is not None:
        sources["fabric_shared_bytes_per_second"] = f"assumed: a bound of both directions, from {total.quote}"
    for store in system.devices:
        measured = store.read_mb.quote if store.read_mb else f"{store.units.quote}; assumed: {store.kind}"
        for way in ("read", "write"):
            sources[f"devices.{store.name}.{way}_bytes_per_second"] = f"published: {measured}"
    return System(
        name=system.id,
        nodes=tuple(kinds),
        devices=tuple(device_of(store) for store in system.devices),
        fabric_bytes_per_second=None if system.fabric is None else _ports_rate(system.fabric),
        fabric_shared_bytes_per_second=None if total is None else total.value * 1e9,
        sources=sources,
    )


def _ports_rate(ports: Ports) -> float:
    """Bytes a second in each direction."""
    per_port = ports.gbit.value * 1e9 / 8.0
    # Fibre Channel's 8 Gb are 800 MB/s by its own coding; Ethernet's are what TCP makes of them.
    return ports.ports.value * per_port * value(f"{ports.kind}_ratio")


def device_of(store: Store) -> Device:
    """Units side by side, each a request after another; a measured rate of the whole goes before.

    A disk's head and an array's controllers serve reads and writes in turn, so both share what there is;
    a card has no controller between.
    """
    units, block = store.units.value, unit_bytes(store)
    if store.kind.startswith("disk"):
        read = units * block / unit_seconds(store)
        write = read * value("disk_write_ratio")
    else:
        read, write = (units * value(f"flash_{way}_bytes_per_second") for way in ("read", "write"))
    read = store.read_mb.value * 1e6 if store.read_mb else read
    write = store.write_mb.value * 1e6 if store.write_mb else write
    return Device(
        name=store.name,
        read_bytes_per_second=read,
        write_bytes_per_second=write,
        shared_bytes_per_second=None if store.kind == "flash_card" else read,
        latency_seconds=unit_seconds(store),
        local=store.local,
    )


def block_bytes(store: Store) -> float:
    """The request that reaches the store: the file system's block, else the papers' bufsize."""
    return store.block_kib.value * KIB if store.block_kib else value("request_bytes")


def unit_bytes(store: Store) -> float:
    """The part of a block that one unit has: all, or a strip where software RAID spreads each block."""
    return block_bytes(store) / (value("software_raid_strips") if store.software_raid else 1.0)


def unit_seconds(store: Store) -> float:
    """A block, or its strip, at one idle unit: positioning or latency, and the transfer."""
    return _request_seconds(store, store.kind, unit_bytes(store))


def random_seconds(store: Store, size: float) -> float:
    """A request of ``size`` bytes at a random place, while nothing else is asked of the store."""
    return _request_seconds(store, store.random.kind if store.random else store.kind, size)


def _request_seconds(store: Store, kind: DeviceKind, size: float) -> float:
    if kind.startswith("disk"):
        return _positioning_seconds(store) + size / value("disk_bytes_per_second")
    return value(f"{kind}_latency_seconds") + size / value("flash_read_bytes_per_second")


def _positioning_seconds(store: Store) -> float:
    """Half a turn, and a seek within the part of the disks that the file systems take.

    Beyond settling, the time of a short seek grows with the root of its distance, as the arm accelerates
    (Ruemmler and Wilkes, An introduction to disk drive modeling, Computer 27(3), 1994); a mean seek crosses
    a third of what is used.
    """
    settle = value("disk_settle_seconds")
    used = 1.0
    if store.capacity_tb is not None:
        used = sum(one.value for one in store.used_tb) / store.capacity_tb.value
    seek = settle + (value(f"{store.kind}_seek_seconds") - settle) * math.sqrt(used)
    return value(f"{store.kind}_half_turn_seconds") + seek


def missed_ratio(store: Store, direction: Direction, places: float, requests: float) -> float:
    """The part of random ``requests`` to ``places`` of a table that miss the cache of an array.

    Without a cache all do.  A cache takes all writes, and keeps each place that was read, so only the first
    read of a place misses.  Of ``n`` reads of ``m`` places m (1 - exp(-n / m)) / n do (occupancy: Feller, An
    Introduction to Probability Theory and Its Applications, volume 1, chapter II.5).  That a cache holds all
    such places of the mix is assumed (docs/design/published-forecasts.md).
    """
    if store.cache is None:
        return 1.0
    return 0.0 if direction == "write" else places * -math.expm1(-requests / places) / requests


def stream_seconds(system: PublishedSystem, store: Store) -> float:
    """A request of a stream, in sequence, while nothing else is asked of the store.

    The cache of an array has read ahead of the stream or takes the write, so the request does not wait for
    a disk: it takes the array's latency and crosses one port.  Without a cache an idle unit serves it.
    """
    if store.cache is None:
        return unit_seconds(store)
    ports = system.link
    assert ports is not None, f"{system.id}: an array with a cache lies behind ports"
    port = _ports_rate(ports) / ports.ports.value
    return value("array_cache_latency_seconds") + block_bytes(store) / port


def sessions_of(system: PublishedSystem) -> int:
    """Sessions of each node."""
    return int(system.sessions.value if system.sessions else value(str(system.sessions_assumed)))

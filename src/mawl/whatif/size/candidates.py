"""The catalogue of ``mawl size`` (TOML): candidate systems and upgrades with the user's prices.

Sizes and rates are numbers in base units, or text such as ``64GiB`` and ``400MB``, as in descriptions of
systems (docs/design/systems.md).  What a candidate leaves out is taken from the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.units import format_latency, format_memory, format_plain, format_rate, parse_size
from mawl.records.model.probe import Probe
from mawl.records.model.published import check_price
from mawl.records.spec import toml
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.side_files import read_probe
from mawl.simulation.device_rates import is_assumed
from mawl.simulation.forecast import Base
from mawl.simulation.measured_system import MEMORY_PATH, probed_system
from mawl.simulation.system import (
    IN_BYTES,
    OF_DEVICES,
    OF_NODES,
    Device,
    NodeKind,
    System,
    SystemChange,
    apply_changes,
    system_of_tree,
)
from mawl.whatif.size.published_caps import (
    Bought,
    Row,
    VolumeCaps,
    cores_of,
    instance_named,
    instance_said,
    volume_caps,
)

MOST_CANDIDATES = 100
MOST_UPGRADES = 50
"""Each is simulated several times; with so many an answer takes minutes."""

MOST_NODES = 1000
LONGEST_NAME = 100
"""Characters of a name, because names are cells of a table."""


Amount = float | str
"""Bytes or bytes per second: a number, or text with a unit."""


class DeviceOffer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[candidate.devices.NAME]``: what one device or pool does, by the keys of a description of a system.

    If ``latency_seconds`` or ``requests_per_second`` is left out, that of the run is used.  ``volume`` is a
    type of mawl's catalogue, of ``size`` and with the ``bytes_per_second`` that is bought apart from it, or
    ``local``: its caps stand for the rates.
    """

    volume: str | None = None
    size: Amount | None = None
    bytes_per_second: Amount | None = None
    read_bytes_per_second: Amount | None = None
    write_bytes_per_second: Amount | None = None
    shared_bytes_per_second: Amount | None = None
    latency_seconds: float | None = None
    requests_per_second: float | None = None
    spinning_streams: float | None = None
    local: bool = False


class CandidateOffer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[candidate]]``: ``nodes`` alike nodes for one ``price``.

    ``instance`` is a type of mawl's catalogue, whose cores, memory and caps stand for those left out.
    ``cores``, ``memory_bytes`` and the link are those of one node.  Devices are described here, or measured
    in the file ``probe``, or those of the run.
    """

    name: str
    price: float
    instance: str | None = None
    cores: float | None = None
    core_speed: float = 1.0
    threads_per_core: int = 1
    memory_bytes: Amount | None = None
    nodes: int = 1
    link_bytes_per_second: Amount | None = None
    fabric_bytes_per_second: Amount | None = None
    roles: dict[Role, list[str]] = {}
    devices: dict[str, DeviceOffer] = {}
    probe: str | None = None


class UpgradeOffer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[upgrade]]``: figures that ``price`` sets to other values, by the keys of ``mawl simulate --set``.

    ``candidates`` are the names that it can be bought for; empty: all.
    """

    name: str
    price: float
    set: dict[str, float | str]
    candidates: list[str] = []


class CatalogueFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file: ``currency`` and ``period`` are shown with each price, such as ``EUR`` and ``a month``."""

    currency: Annotated[str, msgspec.Meta(max_length=20)] = ""
    period: Annotated[str, msgspec.Meta(max_length=40)] = ""
    candidate: list[CandidateOffer]
    upgrade: list[UpgradeOffer] = []


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """A checked file, and the probes that its candidates name, by candidate; ``where`` is the file."""

    file: CatalogueFile
    probes: dict[str, Probe]
    where: str


def load_catalogue(path: Path) -> Catalogue:
    """The catalogue; ``InvalidFileError`` names the key that is wrong.

    Probes are looked for from the folder of the file.
    """
    file = toml.load(path, CatalogueFile)
    where = str(path)
    _check_count(file.candidate, MOST_CANDIDATES, "candidate", where)
    _check_count(file.upgrade, MOST_UPGRADES, "upgrade", where)
    if not file.candidate:
        raise InvalidFileError(
            "there is no candidate", where=where, cure="describe at least one as [[candidate]]"
        )
    _check_names([one.name for one in file.candidate], "candidate", where)
    _check_names([one.name for one in file.upgrade], "upgrade", where)
    for place, offer in enumerate(file.candidate):
        _check_candidate(offer, f"{where}: candidate[{place}]")
        _published(offer, "vCPU", f"{where}: candidate[{place}]")
    names = {one.name for one in file.candidate}
    for place, upgrade in enumerate(file.upgrade):
        _check_upgrade(upgrade, names, f"{where}: upgrade[{place}]")
    probes = {
        one.name: read_probe(path.parent / one.probe) for one in file.candidate if one.probe is not None
    }
    return Catalogue(file=file, probes=probes, where=where)


def changes_of(upgrade: UpgradeOffer) -> list[SystemChange]:
    """What an upgrade sets, as ``mawl simulate --set`` takes it."""
    return [SystemChange(key, _value(key, value)) for key, value in upgrade.set.items()]


def _value(key: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    word = key.rpartition(".")[2]
    return f"{value:.0f}" if word in IN_BYTES else repr(value)


def _check_count(found: Sequence[object], most: int, word: str, where: str) -> None:
    if len(found) > most:
        raise InvalidFileError(
            f"there are {len(found)} [[{word}]] entries; at most {most} are allowed",
            where=where,
            why="each is simulated several times",
            cure="leave out those that you would not buy",
        )


def _check_names(names: Sequence[str], word: str, where: str) -> None:
    for place, name in enumerate(names):
        if not name.strip():
            raise InvalidFileError("the name is empty", where=f"{where}: {word}[{place}]")
        if len(name) > LONGEST_NAME:
            raise InvalidFileError(
                f"the name has {len(name)} characters; at most {LONGEST_NAME} are allowed",
                where=f"{where}: {word}[{place}]",
            )
        if name in names[:place]:
            raise InvalidFileError(
                f"two [[{word}]] entries have the name {name!r}",
                where=where,
                cure="give each a different name",
            )


def _check_candidate(offer: CandidateOffer, where: str) -> None:
    check_price(offer.price, f"{where}.price")
    if not 1 <= offer.nodes <= MOST_NODES:
        raise InvalidFileError(f"expected 1 to {MOST_NODES} nodes, found {offer.nodes}", where=where)
    if offer.probe is not None and not offer.probe.strip():
        raise InvalidFileError(
            "the name of the file is empty",
            where=f"{where}.probe",
            cure="name the file that mawl probe wrote, or leave probe out",
        )
    if offer.probe is not None and (offer.devices or offer.roles):
        raise InvalidFileError("has both a probe and devices or roles", where=where, cure="leave one out")
    if offer.roles and not offer.devices:
        raise InvalidFileError(
            "has roles but no devices", where=where, cure="describe the devices, or leave the roles out"
        )


def _check_upgrade(upgrade: UpgradeOffer, candidates: set[str], where: str) -> None:
    check_price(upgrade.price, f"{where}.price")
    if not upgrade.set:
        raise InvalidFileError("sets nothing", where=where, cure="name what it changes: set = { cores = 32 }")
    for key in upgrade.set:
        device, dot, figure = key.rpartition(".")
        known = key in OF_NODES or key in ROLES or key == "fabric"
        if not known and not (dot and device and figure in OF_DEVICES):
            raise InvalidFileError(
                f"key set.{key}: unknown",
                where=where,
                cure=f"set {', '.join(OF_NODES)}, fabric, a role, or DEVICE.FIGURE with one of "
                f"{', '.join(OF_DEVICES)}",
            )
    for name in upgrade.candidates:
        if name not in candidates:
            raise InvalidFileError(f"candidate {name!r} is not in the catalogue", where=where)


def blamed(error: UsageError, where: str) -> InvalidFileError:
    """An error of a system that cannot be, as one of the catalogue."""
    key = f"{error.where}: " if error.where else ""
    return InvalidFileError(f"{key}{error.what}", where=where, why=error.why, cure=error.cure)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An offer as a system, and what of it was taken from the run, in sentences."""

    offer: CandidateOffer
    system: System
    taken: tuple[str, ...]

    @property
    def nodes(self) -> int:
        return self.offer.nodes


PLAUSIBLE: dict[str, tuple[float, float]] = {
    "cores": (0.01, 1e5),
    "core_speed": (0.01, 100.0),
    "threads_per_core": (1.0, 1024.0),
    "memory_bytes": (2.0**20, 1e18),
    "read_bytes_per_second": (1e3, 1e15),
    "write_bytes_per_second": (1e3, 1e15),
    "shared_bytes_per_second": (1e3, 1e15),
    "link_bytes_per_second": (1e3, 1e15),
    "fabric_bytes_per_second": (1e3, 1e15),
    "latency_seconds": (0.0, 100.0),
    "requests_per_second": (0.01, 1e12),
    "spinning_streams": (1.0001, 1e12),
}
"""The least and the most that a machine can have; outside of them the engine's sums lose digits."""


def candidates_of(catalogue: Catalogue, base: Base) -> list[Candidate]:
    """Every candidate, in the order of the file.

    Raises ``InvalidFileError`` for one that no system can be.
    """
    return [
        _candidate(offer, base, catalogue, f"{catalogue.where}: candidate[{place}]")
        for place, offer in enumerate(catalogue.file.candidate)
    ]


def upgraded(candidate: Candidate, changes: Sequence[SystemChange]) -> System | str:
    """The candidate's system with the changes of an upgrade, or the reason why they do not fit it."""
    names = [device.name for device in candidate.system.devices]
    for change in changes:
        device, dot, _ = change.key.rpartition(".")
        if dot and device not in names:
            return f"{candidate.offer.name} has no device {device}, only {', '.join(names)}"
    try:
        system = apply_changes(candidate.system, changes)
    except UsageError as error:
        return error.what if error.cure is None else f"{error.what}; {error.cure}"
    return _implausible(system) or system


def _implausible(system: System) -> str | None:
    """The figure that no machine has, in words; None if all are within ``PLAUSIBLE``."""
    for of in (system, *system.nodes, *system.devices):
        for name, (least, most) in PLAUSIBLE.items():
            value = getattr(of, name, None)
            if value is not None and not least <= value <= most:
                return f"{name} is {value:g}, and no machine is below {least:g} or above {most:g}"
    return None


def _published(offer: CandidateOffer, basis: str | None, where: str) -> tuple[CandidateOffer, list[str]]:
    """The offer with the figures of mawl's catalogue for what it names, and what these are."""
    row = None if offer.instance is None else instance_named(offer.instance, f"{where}.instance")
    said = [] if row is None else instance_said(row)
    cores, memory, link = offer.cores, offer.memory_bytes, offer.link_bytes_per_second
    devices, links = dict[str, DeviceOffer](), set[float | None]()
    for name, device in offer.devices.items():
        place = f"{where}.devices.{name}"
        devices[name], caps = _with_caps(device, row, place)
        if caps is not None:
            said += caps.said
            links |= set() if caps.local else {caps.link}
    if row is not None:
        cores = cores_of(row, basis, where) if cores is None else cores
        memory = row["memory_gib"] * 2.0**30 if memory is None else memory
        if link is None and len(links) == 1:
            (link,) = links
        elif link is None and len(links) > 1:
            said.append(
                f"{offer.instance}: its kinds of volumes have different caps, so no cap is taken for all "
                "of them together"
            )
    if cores is None:
        raise InvalidFileError("has no cores", where=where, cure="write cores, or instance with a type")
    filled = {"cores": cores, "memory_bytes": memory, "link_bytes_per_second": link, "devices": devices}
    return msgspec.structs.replace(offer, **filled), list(dict.fromkeys(said))


def _with_caps(device: DeviceOffer, row: Row | None, where: str) -> tuple[DeviceOffer, VolumeCaps | None]:
    """The device with its published caps, and these; None for one that names no volume."""
    rates = device.read_bytes_per_second, device.write_bytes_per_second
    if device.volume is None:
        if None in rates or device.size is not None or device.bytes_per_second is not None:
            raise InvalidFileError(
                "needs read_bytes_per_second and write_bytes_per_second, or volume", where=where
            )
        return device, None
    bought = Bought(
        device.volume,
        _bytes(device.size, f"{where}.size"),
        _bytes(device.bytes_per_second, f"{where}.bytes_per_second"),
        device.requests_per_second,
    )
    caps = volume_caps(bought, row, where)
    filled = DeviceOffer(
        read_bytes_per_second=caps.read if rates[0] is None else rates[0],
        write_bytes_per_second=caps.write if rates[1] is None else rates[1],
        shared_bytes_per_second=device.shared_bytes_per_second or caps.shared,
        latency_seconds=device.latency_seconds,
        requests_per_second=caps.requests,
        spinning_streams=device.spinning_streams,
        local=device.local or caps.local,
    )
    return filled, caps


def _bytes(value: Amount | None, where: str) -> float | None:
    try:
        return float(parse_size(value)) if isinstance(value, str) else value
    except UsageError as error:
        raise InvalidFileError(str(error), where=where) from None


def _candidate(offer: CandidateOffer, base: Base, catalogue: Catalogue, where: str) -> Candidate:
    own = base.own.nodes[0]
    offer, taken = _published(offer, base.facts.nodes[0].core_basis, where)
    memory = offer.memory_bytes
    if memory is None:
        memory = own.memory_bytes
        if not is_assumed(base.own, MEMORY_PATH):
            taken.append(f"memory is that of the run ({format_memory(memory)})")
    link = offer.link_bytes_per_second
    if link is None and own.link_bytes_per_second is not None:
        link = own.link_bytes_per_second
        taken.append(f"the link is that of the run ({format_rate(link)})")
    if not offer.devices:
        devices, roles, more = _measured_devices(offer, base, catalogue, where)
        described = {
            device.name: {name: value for name, value in vars(device).items() if name != "name"}
            for device in devices
        }
    else:
        roles = {role: list(names) for role, names in _roles(offer).items()}
        described, more = {}, []
        for name, device in offer.devices.items():
            described[name], remarks = _completed(name, device, base, roles)
            more += remarks
    node = {
        "cores": offer.cores,
        "memory_bytes": memory,
        "roles": roles,
        "count": offer.nodes,
        "core_speed": offer.core_speed,
        "threads_per_core": offer.threads_per_core,
        "link_bytes_per_second": link,
    }
    tree = {
        "name": offer.name,
        "nodes": [node],
        "devices": described,
        "fabric_bytes_per_second": offer.fabric_bytes_per_second,
    }
    system = system_of_tree(tree, where)
    wrong = _implausible(system)
    if wrong is not None:
        raise InvalidFileError(wrong, where=where, cure="check the figure and its unit")
    return Candidate(offer=offer, system=system, taken=(*taken, *more))


def _measured_devices(
    offer: CandidateOffer, base: Base, catalogue: Catalogue, where: str
) -> tuple[Sequence[Device], dict[Role, list[str]], list[str]]:
    probe = catalogue.probes.get(offer.name)
    if probe is None:
        kind, words = base.own.nodes[0], ["devices are those of the run"]
        return base.own.devices, _listed(kind), words
    try:
        system, remarks = probed_system(probe, name=offer.name, memory_bytes=base.own.nodes[0].memory_bytes)
    except UsageError as error:
        raise blamed(error, f"{where}.probe") from None
    return system.devices, _listed(system.nodes[0]), [f"probe: {remark}" for remark in remarks]


def _listed(kind: NodeKind) -> dict[Role, list[str]]:
    return {role: list(kind.roles[role]) for role in ROLES}


def _roles(offer: CandidateOffer) -> dict[Role, list[str]]:
    """As described; a single device also holds the roles left out."""
    if len(offer.devices) > 1:
        return offer.roles
    return {role: offer.roles.get(role, list(offer.devices)) for role in ROLES}


def _completed(
    name: str, device: DeviceOffer, base: Base, roles: dict[Role, list[str]]
) -> tuple[dict[str, object], list[str]]:
    """The device with the latency and the bound on requests of the run's slowest device of its roles."""
    held = [role for role in ROLES if name in roles.get(role, ())]
    measured = [holder for role in held for holder in base.own.holders(base.own.nodes[0], role)]
    latency, requests, remarks = device.latency_seconds, device.requests_per_second, []
    if latency is None:
        latency = max((one.latency_seconds for one in measured), default=0.0)
        remarks.append(
            f"the latency of {name} is that of the run's device ({format_latency(latency)})"
            if latency
            else f"the latency of {name} is neither in the catalogue nor in the run, so none is simulated"
        )
    if requests is None:
        requests = min(_known(one.requests_per_second for one in measured), default=None)
        if requests is not None:
            remarks.append(
                f"the bound on requests of {name} is that of the run's device ({format_plain(requests, 4)}/s)"
            )
    given = {**msgspec.structs.asdict(device), "latency_seconds": latency, "requests_per_second": requests}
    return {key: value for key, value in given.items() if key not in OF_CATALOGUE}, remarks


OF_CATALOGUE = {"volume", "size", "bytes_per_second"}
"""Keys of a device that only say what its figures are taken from."""


def _known(figures: Iterable[float | None]) -> list[float]:
    return [figure for figure in figures if figure is not None]

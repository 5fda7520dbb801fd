"""The catalogue of ``mawl size``: candidate systems and upgrades with the user's prices, from TOML.

Sizes and rates are numbers in base units, or text such as ``64GiB`` and ``400MB``, as in descriptions of
systems (docs/design/systems.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from mawl.config.prices import check_price
from mawl.errors import InvalidFileError, UsageError
from mawl.model.probe import Probe
from mawl.simulation.changes import IN_BYTES, OF_DEVICES, OF_NODES, SystemChange
from mawl.simulation.system_file import Amount
from mawl.spec import toml
from mawl.spec.program_options import ROLES, Role
from mawl.store.probe import read_probe

MOST_CANDIDATES = 100
MOST_UPGRADES = 50
"""Each is simulated several times; with so many an answer takes minutes."""

MOST_NODES = 1000
LONGEST_NAME = 100
"""Characters of a name, because names are cells of a table."""


class DeviceOffer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[candidate.devices.NAME]``: what one device or pool does.

    The keys are those of a description of a system.  If ``latency_seconds`` or ``requests_per_second`` is
    left out, that of the run is used.
    """

    read_bytes_per_second: Amount
    write_bytes_per_second: Amount
    shared_bytes_per_second: Amount | None = None
    latency_seconds: float | None = None
    requests_per_second: float | None = None
    spinning_streams: float | None = None
    local: bool = False


class CandidateOffer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[candidate]]``: ``nodes`` alike nodes for one ``price``.

    ``cores``, ``memory_bytes`` and the link are those of one node.  Devices are described here, or measured
    in the file ``probe``, or those of the run.
    """

    name: str
    price: float
    cores: float
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
    """The catalogue; :class:`~mawl.errors.InvalidFileError` names the key that is wrong.

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

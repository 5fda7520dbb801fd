"""Candidates of a catalogue as systems: what a candidate does not say is taken from the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mawl.errors import InvalidFileError, UsageError
from mawl.simulation.changes import SystemChange, changed
from mawl.simulation.forecast import Base
from mawl.simulation.own_system import MEMORY_PATH, is_assumed
from mawl.simulation.probed import probed_system
from mawl.simulation.system import Device, NodeKind, System
from mawl.simulation.system_file import DeviceSpec, NodeSpec, SystemSpec, described
from mawl.spec.program_options import ROLES, Role
from mawl.units import format_latency, format_memory, format_rate
from mawl.whatif.size.catalogue import CandidateOffer, Catalogue, DeviceOffer, blamed


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An offer as a system, and what of it was taken from the run, in sentences."""

    offer: CandidateOffer
    system: System
    taken: tuple[str, ...]

    @property
    def nodes(self) -> int:
        """Its nodes."""
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

    Raises :class:`~mawl.errors.InvalidFileError` for one that no system can be.
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
        system = changed(candidate.system, changes)
    except UsageError as error:
        return error.what if error.cure is None else f"{error.what}; {error.cure}"
    return _implausible(system) or system


def _implausible(system: System) -> str | None:
    """The figure that no machine has, in words; None if all are within :data:`PLAUSIBLE`."""
    for of in (system, *system.nodes, *system.devices):
        for name, (least, most) in PLAUSIBLE.items():
            value = getattr(of, name, None)
            if value is not None and not least <= value <= most:
                return f"{name} is {value:g}, and no machine is below {least:g} or above {most:g}"
    return None


def _candidate(offer: CandidateOffer, base: Base, catalogue: Catalogue, where: str) -> Candidate:
    own, taken = base.own.nodes[0], list[str]()
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
        specs = {one.name: _spec(one) for one in devices}
    else:
        roles = {role: list(names) for role, names in _roles(offer).items()}
        specs, more = {}, []
        for name, device in offer.devices.items():
            specs[name], told = _completed(name, device, base, roles)
            more += told
    node = NodeSpec(
        cores=offer.cores,
        memory_bytes=memory,
        roles=roles,
        count=offer.nodes,
        core_speed=offer.core_speed,
        threads_per_core=offer.threads_per_core,
        link_bytes_per_second=link,
    )
    system = described(
        SystemSpec(
            name=offer.name,
            nodes=[node],
            devices=specs,
            fabric_bytes_per_second=offer.fabric_bytes_per_second,
        ),
        where,
    )
    wrong = _implausible(system)
    if wrong is not None:
        raise InvalidFileError(wrong, where=where, cure="check the figure and its unit")
    return Candidate(offer=offer, system=system, taken=(*taken, *more))


def _measured_devices(
    offer: CandidateOffer, base: Base, catalogue: Catalogue, where: str
) -> tuple[Sequence[Device], dict[Role, list[str]], list[str]]:
    """Devices and roles of the candidate's probe, or of the run."""
    probe = catalogue.probes.get(offer.name)
    if probe is None:
        kind, told = base.own.nodes[0], ["devices are those of the run"]
        return base.own.devices, _listed(kind), told
    try:
        system, remarks = probed_system(probe, name=offer.name, memory_bytes=base.own.nodes[0].memory_bytes)
    except UsageError as error:
        raise blamed(error, f"{where}.probe") from None
    return system.devices, _listed(system.nodes[0]), [f"probe: {remark}" for remark in remarks]


def _listed(kind: NodeKind) -> dict[Role, list[str]]:
    return {role: list(kind.roles[role]) for role in ROLES}


def _roles(offer: CandidateOffer) -> dict[Role, list[str]]:
    """As described; an only device also holds the roles that are not named."""
    if len(offer.devices) > 1:
        return offer.roles
    return {role: offer.roles.get(role, list(offer.devices)) for role in ROLES}


def _completed(
    name: str, device: DeviceOffer, base: Base, roles: dict[Role, list[str]]
) -> tuple[DeviceSpec, list[str]]:
    """The device with the latency and the bound on requests of the run's slowest device of its roles."""
    held = [role for role in ROLES if name in roles.get(role, ())]
    measured = [one for role in held for one in base.own.holders(base.own.nodes[0], role)]
    latency, requests, told = device.latency_seconds, device.requests_per_second, []
    if latency is None:
        latency = max((one.latency_seconds for one in measured), default=0.0)
        told.append(
            f"the latency of {name} is that of the run's device ({format_latency(latency)})"
            if latency
            else f"the latency of {name} is neither in the catalogue nor in the run, so none is simulated"
        )
    if requests is None:
        requests = min(_known(one.requests_per_second for one in measured), default=None)
        if requests is not None:
            told.append(f"the bound on requests of {name} is that of the run's device ({requests:.4g}/s)")
    return (
        DeviceSpec(
            read_bytes_per_second=device.read_bytes_per_second,
            write_bytes_per_second=device.write_bytes_per_second,
            shared_bytes_per_second=device.shared_bytes_per_second,
            latency_seconds=latency,
            requests_per_second=requests,
            spinning_streams=device.spinning_streams,
            local=device.local,
        ),
        told,
    )


def _known(figures: Iterable[float | None]) -> list[float]:
    return [one for one in figures if one is not None]


def _spec(device: Device) -> DeviceSpec:
    return DeviceSpec(**{name: value for name, value in vars(device).items() if name != "name"})

"""The system that a run was made on, as far as the run tells: its nodes, and its devices by role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mawl.analysis.series import Samples
from mawl.analysis.storage_servers import device_rates
from mawl.analysis.windows import Windows, rates
from mawl.errors import UsageError
from mawl.model.options import ROLES, Role
from mawl.model.run import NodeFacts, RunFacts, VolumeFacts
from mawl.simulation.served import served_roles
from mawl.simulation.system import RESERVED, Device, NodeKind, System

UNSEEN_BYTES_PER_SECOND = 1e9
"""For a device of which the run saw no bytes, and for storage that it does not know; marked assumed."""


MEMORY_PATH = "nodes.0.memory_bytes"
"""Key path of the memory of a system's first kind of node."""

UNTOLD_BYTES = 2.0**34
UNTOLD = "assumed: the run does not say"
"""The memory of nodes of which it is not known, and its source: nothing may be concluded from it."""


def is_assumed(system: System, path: str) -> bool:
    """Whether a figure is neither measured nor published."""
    return system.sources.get(path, "").startswith("assumed")


def own_system(facts: RunFacts, samples: Samples | None, windows: Windows | None) -> System:
    """Nodes as recorded, and each role's devices with the highest rate of a window that they showed.

    It is of both directions together, and each is taken to reach it alone.  That is what a device can do
    only where it was the limit, else a lower bound of it: measure it with ``mawl probe``, or describe the
    system.  Raises :class:`~mawl.errors.UsageError` for nodes whose cores are not known or differ.
    """
    nodes = facts.machines()
    if not nodes or nodes[0].cores is None:
        raise UsageError(
            "the run does not say how many cores its nodes have",
            where=facts.run_id,
            cure="describe the system it was made on with --measured-on FILE",
        )
    used = [cores_of(node) for node in nodes]
    if len(set(used)) > 1:
        raise UsageError(
            "the run's nodes differ in cores", where=facts.run_id, cure="simulate a run of alike nodes"
        )
    one_machine = len(nodes) == 1 < len(facts.nodes)
    if not one_machine and len(nodes) < len(facts.nodes):
        raise UsageError(
            f"the run's {len(facts.nodes)} nodes are on {len(nodes)} machines",
            where=facts.run_id,
            why="some of them share a machine and its cores",
            cure="simulate a run whose nodes are machines, or all on one",
        )
    served = served_roles(facts)
    sources: dict[str, str] = {}
    devices: dict[str, Device] = {}
    roles: dict[str, tuple[str, ...]] = {}
    if served:
        pool = _pool(facts, samples, windows, sources)
        devices[pool.name] = pool
    for role in ROLES:
        if role in served:
            roles[role] = (pool.name,)
            continue
        volumes = [one for one in facts.volumes if one.role == role and one.node == facts.nodes[0].name]
        names = []
        for name, seen in _seen(role, volumes):
            names.append(name)
            if name not in devices:
                devices[name] = _device(name, seen, len(nodes), samples, windows, sources)
        roles[role] = tuple(dict.fromkeys(names))
    memory = nodes[0].memory_limit_bytes or nodes[0].memory_bytes
    sources["nodes.0.cores"] = "measured"
    sources[MEMORY_PATH] = "measured" if memory else UNTOLD
    link = facts.link_bytes_per_second if served else None
    if link is not None:
        sources["nodes.0.link_bytes_per_second"] = "declared (--link)"
    kind = NodeKind(
        count=len(facts.nodes),
        cores=used[0],
        memory_bytes=float(memory or UNTOLD_BYTES),
        roles=roles,
        link_bytes_per_second=link,
    )
    return System(
        name=facts.run_id,
        nodes=(kind,),
        devices=tuple(devices.values()),
        sources=sources,
        one_machine=one_machine,
    )


def _pool(
    facts: RunFacts, samples: Samples | None, windows: Windows | None, sources: dict[str, str]
) -> Device:
    """The devices of the watched storage servers as one that all nodes share, with their highest window."""
    both = 0.0
    if samples is not None and windows is not None:
        rows = [device_rates(run, samples, windows.edges) for run in facts.storage_runs]
        columns = zip(*(rates for row in rows for rates in row.values()), strict=True)
        both = max((sum(rate or 0.0 for rate in column) for column in columns), default=0.0)
    name = _device_name([run.node for run in facts.storage_runs])
    return _as_seen(name, both, local=False, sources=sources)


def cores_of(node: NodeFacts) -> float:
    """Cores that jobs could use: those of the logical CPUs that the run was confined to, else all."""
    cores = float(node.cores or 1)
    if node.cpus_used and node.logical_cpus:
        return cores * len(node.cpus_used) / node.logical_cpus
    return cores


@dataclass(frozen=True)
class _Seen:
    devices: tuple[str, ...]
    local: bool


def _seen(role: Role, volumes: Sequence[VolumeFacts]) -> list[tuple[str, _Seen]]:
    """A name for each volume's storage, and the block devices that show its bytes."""
    if not volumes:
        return [(f"{role}-storage", _Seen((), True))]
    found = []
    for volume in volumes:
        words = volume.devices or [volume.source or volume.mount_point or role]
        found.append((_device_name(words), _Seen(tuple(volume.devices), not volume.network)))
    return found


def _device_name(words: Sequence[str]) -> str:
    name = "-".join(re.sub(r"[^A-Za-z0-9]+", "-", word).strip("-") or "root" for word in words)
    return f"device-{name}" if name in RESERVED or name in ROLES else name


def _device(
    name: str,
    seen: _Seen,
    nodes: int,
    samples: Samples | None,
    windows: Windows | None,
    sources: dict[str, str],
) -> Device:
    both = _peak(seen.devices, samples, windows)
    return _as_seen(name, both / (nodes if seen.local else 1), local=seen.local, sources=sources)


def _as_seen(name: str, both: float, *, local: bool, sources: dict[str, str]) -> Device:
    """A device that moved ``both`` bytes a second in its highest window; 0: none were seen."""
    rate = both if both > 0.0 else UNSEEN_BYTES_PER_SECOND
    for figure in ("read_bytes_per_second", "write_bytes_per_second"):
        sources[f"devices.{name}.{figure}"] = "assumed"
    sources[f"devices.{name}.shared_bytes_per_second"] = "measured" if both > 0.0 else "assumed"
    return Device(
        name=name,
        read_bytes_per_second=rate,
        write_bytes_per_second=rate,
        shared_bytes_per_second=rate,
        local=local,
    )


def _peak(devices: Sequence[str], samples: Samples | None, windows: Windows | None) -> float:
    if samples is None or windows is None or not devices:
        return 0.0
    found = rates(
        samples,
        [f"device.{name}.{way}_bytes" for name in devices for way in ("read", "written")],
        windows.edges,
    )
    return max((rate for rate in found if rate is not None), default=0.0)

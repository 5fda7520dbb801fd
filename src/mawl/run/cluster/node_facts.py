"""What each node offers before a run: processors, memory and the file systems of the roles."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.measure.devices import NETWORK_FILE_SYSTEMS
from mawl.measure.machine import read_machine
from mawl.measure.space import FileSystem, ephemeral_storage, file_systems
from mawl.measure.suitability import why_cached
from mawl.records.spec.program_options import Role
from mawl.records.spec.run_spec import NodesSpec
from mawl.run.cluster.node_access import NodeAccess, chosen_nodes, linked

LOOK_SECONDS = 30.0
"""For a node's answer: its Python imports what reads the machine."""


class NodeLook(msgspec.Struct, frozen=True, kw_only=True):
    """A node as its own process sees it; ``cached_reason`` is why ``--cache none`` cannot hold there.

    Nodes with the same ``boot_id`` are one machine.
    """

    cpu_model: str | None
    cores: int
    memory_bytes: int
    boot_id: str | None
    systems: list[FileSystem]
    cached_reason: str | None = None

    def is_shared(self, system: FileSystem) -> bool:
        """Whether a file system is behind a network, so that other nodes may have the same."""
        return system.kind in NETWORK_FILE_SYSTEMS


def look_here(roles: Mapping[Role, Sequence[str]]) -> NodeLook:
    """The look at this machine, for the controller."""
    places = {role: [Path(place) for place in named] for role, named in roles.items()}
    machine = read_machine()
    return NodeLook(
        cpu_model=machine.cpu_model,
        cores=machine.available_cores or 1,
        memory_bytes=machine.binding_memory_limit or machine.memory_bytes or 0,
        boot_id=machine.boot_id,
        systems=[*file_systems(places, None), *ephemeral_storage(places, None)],
        cached_reason=why_cached(places, os.environ),
    )


def look_at(
    nodes: NodesSpec, roles: Mapping[Role, Sequence[str]], chosen: Sequence[str] = ()
) -> dict[str, NodeLook]:
    """The nodes that would run sessions, by name and in order; ``chosen`` are those that must be there.

    Raises MawlError where the cluster cannot be reached, has no such node, or one does not answer.
    """
    return asyncio.run(_look_at(nodes, roles, chosen))


async def _look_at(
    nodes: NodesSpec, roles: Mapping[Role, Sequence[str]], chosen: Sequence[str]
) -> dict[str, NodeLook]:
    reach, asked = NodeAccess.of(nodes), {str(role): list(places) for role, places in roles.items()}
    async with linked(reach) as (link, known):
        names = chosen_nodes(known, reach, chosen, list(nodes.storage_node), nodes.nodes)
        answers = [await link.ask(name, "look", asked, seconds=LOOK_SECONDS) for name in names]
        return {
            name: msgspec.json.decode(answer, type=NodeLook)
            for name, answer in zip(names, answers, strict=True)
        }

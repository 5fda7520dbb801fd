"""What is said of the nodes of a cluster: how they differ, which are one machine, what is unseen."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.qualification import QualifyNode
from mawl.model.run import RunFacts
from mawl.units import counted_noun, format_memory

NO_PROBE = "mawl cannot probe from a node, so the figures of the storage are those of the runs"
MOST_KINDS = 4
"""Kinds of nodes that a sentence names."""


def differing(nodes: Sequence[QualifyNode]) -> list[str]:
    """That nodes are not alike, and how; nothing where they are."""
    kinds: dict[str, list[str]] = {}
    for node in nodes:
        cores, memory = counted_noun(node.cores, "core"), format_memory(node.memory_bytes)
        kinds.setdefault(f"{node.cpu_model or 'unknown processor'}, {cores}, {memory}", []).append(node.name)
    if len(kinds) < 2:
        return []
    said = [f"{', '.join(names)}: {kind}" for kind, names in kinds.items()][:MOST_KINDS]
    more = ["others"] if len(kinds) > MOST_KINDS else []
    return [f"The nodes differ ({'; '.join([*said, *more])}); every node runs the same number of sessions."]


def one_machine(nodes: Sequence[QualifyNode]) -> list[str]:
    """That nodes share a machine, and which; nothing where each has its own."""
    return [
        f"{node.name} and {node.machine} are one machine: they share its processors, memory and devices."
        for node in nodes
        if node.machine is not None
    ]


def unseen_server(facts: RunFacts) -> list[str]:
    """That the devices behind a network file system are not visible, where no storage server was watched."""
    systems = sorted({volume.file_system or "a network" for volume in facts.volumes if volume.network})
    if not systems or facts.storage_runs:
        return []
    return [
        f"The devices behind {' and '.join(systems)} are not visible from the nodes, so storage and network "
        "cannot be told apart. Start a worker on the storage server and name it: --storage-node, with --link."
    ]

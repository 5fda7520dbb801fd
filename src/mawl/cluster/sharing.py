"""Which nodes see one file system under a role, and who makes which input table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.cluster.messages import Looked, Seen
from mawl.errors import UnsuitableMachineError
from mawl.plan.needs import TableNeed
from mawl.spec.program_options import Role
from mawl.units import format_bytes

Tokens = Mapping[str, str]
"""Node to the token that it left in its directories."""


def require_shared(role: Role, directories: Sequence[str], tokens: Tokens, seen: Mapping[str, Seen]) -> None:
    """Refuse where a node does not see what another one wrote into a directory that must be one."""
    for node, places in seen.items():
        for directory, found in zip(directories, places.places[role], strict=True):
            unseen = [other for other, token in tokens.items() if token not in found]
            if unseen:
                raise UnsuitableMachineError(
                    f"{node} does not see what {unseen[0]} wrote there, so {role} is not one file system",
                    where=directory,
                    cure=f"mount the same one on all nodes, or leave {role} out of --shared",
                )


def groups(role: Role, tokens: Tokens, seen: Mapping[str, Seen]) -> list[list[str]]:
    """The nodes by what they see under a role: those of a group see each other in every directory."""
    found: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    known = set(tokens.values())
    for node, places in seen.items():
        view = tuple(tuple(token for token in place if token in known) for place in places.places[role])
        found.setdefault(view, []).append(node)
    return list(found.values())


def check_shared_space(role: Role, nodes: Sequence[str], looked: Mapping[str, Looked]) -> None:
    """Refuse where the temporary tables of nodes that share a role do not fit there together."""
    needed = sum(looked[node].needed_bytes[role] for node in nodes)
    free = min(looked[node].free_bytes[role] for node in nodes)
    if needed > free:
        raise UnsuitableMachineError(
            f"the run would not fit: {role} of {', '.join(nodes)} needs {format_bytes(needed)} "
            f"and {format_bytes(free)} are free on the file system that they share",
            cure=f"free space, choose a smaller --scale, or give --{role} larger directories",
        )


def share_out(nodes: Sequence[str], tables: Mapping[str, Sequence[TableNeed]]) -> dict[str, list[TableNeed]]:
    """Each table once, to the node that has least so far of those that read it, the largest first."""
    wanted = {
        need: [node for node in nodes if need in tables[node]] for node in nodes for need in tables[node]
    }
    load = dict.fromkeys(nodes, 0)
    parts: dict[str, list[TableNeed]] = {node: [] for node in nodes}
    for need in sorted(wanted, key=lambda one: (-one.bytes, one)):
        node = min(wanted[need], key=lambda one: load[one])
        parts[node].append(need)
        load[node] += need.bytes
    return {node: part for node, part in parts.items() if part}

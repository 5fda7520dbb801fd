"""The engine's world on several nodes: each run is a run of a cluster, with one of its nodes or with all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.advice.qualification.alike import differing, one_machine
from mawl.campaigns.qualify.machine import QualifyMachine, check_places
from mawl.campaigns.qualify.work import MachineSeen, RunWish, WritableSpace
from mawl.cluster.look import NodeLook, look_at
from mawl.errors import MawlError, UsageError
from mawl.measure.ephemeral import EPHEMERAL
from mawl.model.cluster import NodeRun, StorageRun
from mawl.model.qualification import Asked, QualifyNode
from mawl.model.records import RunOutcome
from mawl.model.run import RunFacts
from mawl.spec.record import NodesSpec, RunSpec
from mawl.store import open_run
from mawl.store.layout import FACTS
from mawl.units import counted_noun

FEWEST_NODES = 2


class QualifyNodes(QualifyMachine):
    """See :class:`~mawl.campaigns.qualify.work.Work`; the first of the nodes is the one that runs alone."""

    def __init__(
        self,
        folder: Path,
        asked: Asked,
        directory: str,
        lock: int | None,
        show: Callable[[str], None],
        names: Sequence[str] = (),
    ) -> None:
        """``names`` are the nodes of a qualification that was begun; without any, those that a look finds."""
        super().__init__(folder, asked, directory, lock, show)
        assert asked.nodes is not None, "a qualification of several nodes says how to reach them"
        self._nodes: NodesSpec = asked.nodes
        self._names = list(names)

    def look(self) -> MachineSeen:
        """The nodes and their file systems; raises where they cannot be reached, or cannot be qualified."""
        found = look_at(self._nodes, self._asked.roles, self._names)
        self._names = list(found)
        check_several(self._names)
        seen = seen_of(found)
        check_places(seen.systems)
        return seen

    def run(self, wish: RunWish, folder: Path, log: Path) -> None:
        """Make a run; one that lost a node is none."""
        super().run(wish, folder, log)
        lost = _lost(folder)
        if lost is not None:
            raise lost

    def _spec(self, wish: RunWish) -> RunSpec:
        spec = super()._spec(wish)
        names = self._names if wish.all_nodes else self._names[:1]
        nodes = msgspec.structs.replace(
            self._nodes, nodes=None, on=dict.fromkeys(names, spec.workload), on_lost_node="stop"
        )
        return msgspec.structs.replace(spec, nodes=nodes)

    def outcome(self, folder: Path) -> RunOutcome | None:
        """What became of a run; one that lost a node is to be made again."""
        found = super().outcome(folder)
        return "interrupted" if found is not None and _lost(folder) is not None else found


def check_several(names: Sequence[str]) -> None:
    """Refuse a cluster of one node: that is a machine."""
    if len(names) < FEWEST_NODES:
        raise UsageError(
            f"{counted_noun(len(names), 'node')} is no cluster",
            why=f"only {', '.join(names)} would run sessions",
            cure="run mawl qualify on that machine, without --cluster and --ssh, or start another worker",
        )


def seen_of(found: Mapping[str, NodeLook]) -> MachineSeen:
    """What the nodes have in common: the fewest cores, the least memory, and every file system once."""
    reasons = [f"{name}: {one.cached_reason}" for name, one in found.items() if one.cached_reason]
    nodes = nodes_of(found)
    return MachineSeen(
        cores=min(one.cores for one in found.values()),
        memory_bytes=min(one.memory_bytes for one in found.values()),
        systems=_systems(found),
        uncached=not reasons,
        uncached_reason=reasons[0] if reasons else None,
        has_fio=False,
        notices=[*differing(nodes), *one_machine(nodes)],
        nodes=nodes,
    )


def nodes_of(found: Mapping[str, NodeLook]) -> list[QualifyNode]:
    """The nodes by name; those with one boot id are one machine, called by the first of them."""
    first: dict[str, str] = {}
    for name, one in found.items():
        if one.boot_id is not None:
            first.setdefault(one.boot_id, name)
    return [
        QualifyNode(
            name=name,
            cpu_model=one.cpu_model,
            cores=one.cores,
            memory_bytes=one.memory_bytes,
            machine=None if one.boot_id is None or first[one.boot_id] == name else first[one.boot_id],
        )
        for name, one in found.items()
    ]


def _systems(found: Mapping[str, NodeLook]) -> list[WritableSpace]:
    """File systems behind a network, and those of one machine, are the same for all nodes that see them."""
    held: dict[tuple[str, ...], WritableSpace] = {}
    for name, look in found.items():
        for system in look.systems:
            shared = look.is_shared(system)
            own = name if system.kind == EPHEMERAL else look.boot_id or name
            key = ("network" if shared else own, system.kind or "", *system.roles, *system.directories)
            before = held.get(key)
            if before is not None:
                free = min(before.free_bytes, system.free_bytes)
                held[key] = msgspec.structs.replace(before, free_bytes=free, nodes=before.nodes + 1)
                continue

            def placed(places: Sequence[str], node: str = "" if shared else f"{name}:") -> list[str]:
                return [f"{node}{place}" for place in places]

            held[key] = WritableSpace(
                roles=system.roles,
                directories=placed(system.directories),
                free_bytes=system.free_bytes,
                kind=system.kind,
                unwritable=placed(system.unwritable),
            )
    return list(held.values())


def _lost(folder: Path) -> MawlError | None:
    """The node that a run lost, as an error; None where it lost none."""
    if not (folder / FACTS).exists():
        return None
    facts: RunFacts = open_run(folder).facts
    every: list[NodeRun | StorageRun] = [*facts.node_runs, *facts.storage_runs]
    for run in every:
        if run.outcome == "lost":
            return MawlError(
                f"node {run.node} was lost during the run",
                where=str(folder),
                why=run.reason,
                cure="see to the node and start its worker again; the run is then made anew",
            )
    return None

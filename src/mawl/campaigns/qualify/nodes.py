"""Qualifies several nodes: runs with one node and with all nodes in turn, and no probe or search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path

import msgspec

from mawl.advice.qualification.answer import FEWEST_RUNS
from mawl.advice.qualification.machine import NO_PROBE, differing, one_machine
from mawl.base.errors import MawlError, UsageError
from mawl.base.units import counted_noun, format_ratio
from mawl.campaigns.qualify.choice import LEAST_PHASE_SECONDS, Chooser, Repeats, needs_at
from mawl.campaigns.qualify.engine import Engine, LeftOutError
from mawl.campaigns.qualify.interface import Model, ObservedMachine, RunWish, WritableSpace
from mawl.campaigns.qualify.machine import QualifyMachine, check_places
from mawl.figures.open_jobs import cut_nodes
from mawl.measure.space import EPHEMERAL
from mawl.records.model.node import NodeRun, StorageRun
from mawl.records.model.qualification import (
    Asked,
    Decision,
    Expected,
    PhaseName,
    QualificationChoice,
    QualifyNode,
    RunPurpose,
)
from mawl.records.model.records import RunOutcome
from mawl.records.model.run import RunFacts
from mawl.records.spec.run_spec import NodesSpec, RunSpec
from mawl.records.store import open_run
from mawl.records.store.files import FACTS
from mawl.run.cluster.node_access import look_at
from mawl.run.cluster.node_check import without_the_unfit
from mawl.run.cluster.node_facts import NodeLook

FEWEST_NODES = 2


class QualifyNodes(QualifyMachine):
    """See ``Work``; the first of the nodes is the one that runs alone."""

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

    def look(self) -> ObservedMachine:
        check = look_at(self._nodes, self._asked.roles, self._names)
        for line in check.lines() if check.checks else ():
            self._show(line)
        names = self._names or list({**check.looks, **check.unreached})
        self._names = without_the_unfit(check, names, goes_on=self._nodes.start_with_those_that_come)
        found = {name: check.looks[name] for name in self._names}
        check_several(self._names)
        machine = observed_machine(found)
        check_places(machine.systems)
        return machine

    def run(self, wish: RunWish, folder: Path, log: Path) -> None:
        """Make a run; one that lost a node is none."""
        super().run(wish, folder, log)
        lost = _lost_node_error(folder)
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
        found = super().outcome(folder)
        return "interrupted" if found is not None and _lost_node_error(folder) is not None else found


def check_several(names: Sequence[str]) -> None:
    if len(names) < FEWEST_NODES:
        raise UsageError(
            f"{counted_noun(len(names), 'node')} is no cluster",
            why=f"only {', '.join(names)} would run sessions",
            cure="run mawl qualify there without --cluster and --ssh, or name another host or worker",
        )


def observed_machine(found: Mapping[str, NodeLook]) -> ObservedMachine:
    """What the nodes have in common: the fewest cores, the least memory, and every file system once."""
    reasons = [f"{name}: {one.cached_reason}" for name, one in found.items() if one.cached_reason]
    nodes = nodes_of(found)
    return ObservedMachine(
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


def _lost_node_error(folder: Path) -> MawlError | None:
    if not (folder / FACTS).exists():
        return None
    facts: RunFacts = open_run(folder).facts
    lost: list[NodeRun | StorageRun] = [run for run in cut_nodes(facts) if run.outcome in ("lost", "failed")]
    lost += [run for run in facts.storage_runs if run.outcome == "lost"]
    if not lost:
        return None
    return MawlError(
        f"node {lost[0].node} was lost during the run",
        where=str(folder),
        why=lost[0].reason,
        cure="repair the node (with --cluster: start its worker again); the run is then made anew",
    )


PREFERRED = (
    Repeats(measured=3, proofs=0, one_node=3),
    Repeats(measured=3, proofs=0, one_node=2),
    Repeats(measured=3, proofs=0, one_node=1),
    Repeats(measured=2, proofs=0, one_node=1),
    Repeats(measured=1, proofs=0, one_node=1),
)
"""What is given up first where time is short: runs with one node, then those with all."""


def preferred_for(repeat: int | None) -> tuple[Repeats, ...]:
    if repeat is None:
        return PREFERRED
    if repeat < FEWEST_RUNS:
        return (Repeats(measured=repeat, proofs=0, one_node=1),)
    every = (msgspec.structs.replace(one, measured=repeat) for one in PREFERRED)
    return tuple(dict.fromkeys(every))


class NodesChooser(Chooser):
    """The choice for a cluster.

    What all nodes take together on shared storage cannot be forecast from one node.  Their runs are planned
    as long as a load takes that is just carried: so much longer than one node as the bound permits.
    """

    def __init__(self, asked: Asked, seen: ObservedMachine, model: Model, left_seconds: float) -> None:
        super().__init__(asked, seen, model, left_seconds)
        self.preferred = preferred_for(asked.repeat)

    def seconds(self, repeats: Repeats, scale: float) -> dict[PhaseName, float]:
        """The forecast of each phase to come; the nodes make the input tables in the first measured run."""
        beyond, elapsed = self.model.overhead_seconds, self.mix(scale).elapsed_seconds
        made = sum(table.bytes for table in needs_at(self.sessions, scale).tables)
        inputs = LEAST_PHASE_SECONDS + made / self.model.input_bytes_per_second
        return {
            "inputs": 0.0,
            "runs": repeats.measured * self._all_nodes_seconds(scale)
            + repeats.one_node * (elapsed + beyond)
            + inputs,
        }

    def _all_nodes_seconds(self, scale: float) -> float:
        """A run with all nodes that is just carried."""
        mix = self.mix(scale)
        longer = max(self.asked.answer_bound / mix.slowdown, 1.0)
        return longer * mix.elapsed_seconds + self.model.overhead_seconds

    def _runs_words(self) -> str:
        return f"a run with one node and {counted_noun(self.preferred[-1].measured, 'run')} with all nodes"

    def _make_choice(
        self, repeats: Repeats, scale: float, spent: Mapping[PhaseName, float]
    ) -> QualificationChoice:
        choice = msgspec.structs.replace(
            super()._make_choice(repeats, scale, spent),
            nodes=len(self.seen.nodes),
            one_node_runs=repeats.one_node,
            run_seconds=self._all_nodes_seconds(scale),
        )
        return msgspec.structs.replace(
            choice, expected=expected_of_all(choice.expected), decisions=self._of_nodes(choice)
        )

    def _of_nodes(self, choice: QualificationChoice) -> list[Decision]:
        first = self.seen.nodes[0].name
        changed = {
            "sessions": {"value": f"{choice.sessions} a node"},
            "measured runs": {
                "value": f"{choice.repeats} with all nodes, {choice.one_node_runs} with {first} alone",
            },
            "search": {"why": "on several nodes mawl does not search; name another number with --sessions"},
        }
        names = ", ".join(node.name for node in self.seen.nodes)
        return [
            Decision(what="nodes", value=str(choice.nodes), why=names),
            *(
                msgspec.structs.replace(decision, **changed.get(decision.what, {}))
                for decision in choice.decisions
            ),
        ]


def expected_of_all(one: Expected) -> Expected:
    """What the forecast of one node says of all: no more than that they are not carried where one is not."""
    if one.answer != "carried":
        return one
    forecast = f"{format_ratio(one.slowdown)} times the reference time"
    range_ = f"{format_ratio(one.slowdown_low)} to {format_ratio(one.slowdown_high)}"
    return msgspec.structs.replace(
        one,
        answer="not known",
        reason=f"one node is forecast to take {forecast} ({range_}), and what all nodes together do on "
        "shared storage has to be measured",
    )


MADE_BY_NODES = "the nodes make the input tables at the beginning of the first run that needs them"


class NodesEngine(Engine):
    """See ``Engine``."""

    def until_choice(self) -> QualificationChoice:
        """As of one machine; what goes on looks first whether all nodes are there."""
        self._check_nodes()
        return super().until_choice()

    def _check_nodes(self) -> None:
        nodes = self._look().nodes
        if [*map(_identity, nodes)] != [*map(_identity, self.record.nodes)]:
            raise UsageError(
                "the nodes are not those that it was begun on",
                why=f"then {_words(self.record.nodes)}, now {_words(nodes)}",
                cure="begin a new one",
            )

    def _doctor(self) -> str:
        return f"{counted_noun(len(self.record.nodes), 'node')}, each with {super()._doctor()}"

    def _probe(self) -> str:
        raise LeftOutError(NO_PROBE)

    def _chooser(self, left_seconds: float) -> Chooser:
        return NodesChooser(self.record.asked, self._look(), self._modelled(), left_seconds)

    def _inputs(self) -> str:
        raise LeftOutError(MADE_BY_NODES)

    def _runs(self) -> str:
        choice, position = self._chosen, 1
        first = self.record.nodes[0].name
        one = RunWish(sessions=choice.sessions, scale=choice.scale, cache=choice.cache)
        every = RunWish(sessions=choice.sessions, scale=choice.scale, cache=choice.cache, all_nodes=True)
        while self._is_next(position):
            may_repeat = partial(self._spare, max(choice.repeats - position, 0))
            further = position > choice.repeats
            stopped = self._stopped_with_one()
            with_one = stopped or next(
                number for number in count(1) if not self.runs.is_over("one-node", number)
            )
            if stopped or self._one_is_next(position, with_one):
                self._show(f"  run {with_one} with {first} alone: {choice.sessions} sessions")
                self.runs.make("one-node", with_one, one, may_repeat=may_repeat, further=further)
            self._show(f"  run {position} with {choice.nodes} nodes: {choice.sessions} sessions each")
            self.runs.make("measured", position, every, may_repeat=may_repeat, further=further)
            position += 1
        return f"one node: {self._slowdowns('one-node')}; all: {self._slowdowns('measured')}"

    def _is_next(self, position: int) -> bool:
        """Whether a run with all nodes is made: the first, and others as far as the time allows."""
        if position == 1 or self.runs.begun("measured", position) or self._stopped_with_one():
            return True
        if position > self._chosen.repeats:
            return self._time_for_another(position)
        return self._in_time(self._run_seconds())

    def _stopped_with_one(self) -> int | None:
        last = self.record.runs[-1]
        return last.position if last.purpose == "one-node" else None

    def _one_is_next(self, position: int, with_one: int) -> bool:
        """Whether a run with one node goes before the run with all nodes of that position.

        A planned one does not, where all nodes take so long that the time is needed for them.
        """
        choice = self._chosen
        further = position - choice.repeats
        most = min(choice.one_node_runs + further, FEWEST_RUNS) if further > 0 else choice.one_node_runs
        if self.runs.begun("measured", position) or with_one > min(most, position):
            return False
        return position == 1 or self._in_time(self._seconds_of("one-node") + self._run_seconds())

    def _seconds_of(self, purpose: RunPurpose) -> float:
        made = [run.seconds or 0.0 for run in self.record.runs_for(purpose)]
        return sum(made) / len(made)

    def _slowdowns(self, purpose: RunPurpose) -> str:
        seen = [self.runs.read(run) for run in self.record.runs_for(purpose)]
        slowdowns = [format_ratio(one.slowdown) for one in seen if one.slowdown is not None]
        return f"{counted_noun(len(seen), 'run')}, slowdown {', '.join(slowdowns) or 'not known'}"


def _identity(node: QualifyNode) -> tuple[str, str | None, int]:
    """What may not change between a stop and what goes on."""
    return node.name, node.cpu_model, node.cores


def _words(nodes: list[QualifyNode]) -> str:
    return ", ".join(f"{node.name} ({counted_noun(node.cores, 'core')})" for node in nodes)

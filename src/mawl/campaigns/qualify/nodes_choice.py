"""The choice for several nodes: as for one machine, for each node, with one node and with all."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mawl.advice.qualification.answer import FEWEST_RUNS
from mawl.campaigns.qualify.choice import (
    LEAST_PHASE_SECONDS,
    SMOKE,
    Chooser,
    Repeats,
    needs_at,
)
from mawl.campaigns.qualify.work import MachineSeen, Model
from mawl.model.qualification import Asked, Decision, Expected, PhaseName, QualificationChoice
from mawl.units import counted_noun, format_ratio

PREFERRED = (
    Repeats(alone=3, measured=3, proofs=0, one_node=3),
    Repeats(alone=3, measured=3, proofs=0, one_node=2),
    Repeats(alone=3, measured=3, proofs=0, one_node=1),
    Repeats(alone=2, measured=3, proofs=0, one_node=1),
    Repeats(alone=1, measured=3, proofs=0, one_node=1),
    Repeats(alone=1, measured=2, proofs=0, one_node=1),
    Repeats(alone=1, measured=1, proofs=0, one_node=1),
)
"""What is given up first where time is short: runs with one node, then runs alone, then those with all."""


def preferred_for(repeat: int | None) -> tuple[Repeats, ...]:
    """:data:`PREFERRED`, or with so many runs with all nodes as were asked for."""
    if repeat is None:
        return PREFERRED
    if repeat < FEWEST_RUNS:
        return (Repeats(alone=1, measured=repeat, proofs=0, one_node=1),)
    every = (msgspec.structs.replace(one, measured=repeat) for one in PREFERRED)
    return tuple(dict.fromkeys(every))


class NodesChooser(Chooser):
    """The choice for a cluster.

    What all nodes take together on shared storage cannot be forecast from one node.  Their runs are planned
    as long as a load takes that is just carried: so much longer than one node as the bound permits.
    """

    def __init__(self, asked: Asked, seen: MachineSeen, model: Model, left_seconds: float) -> None:
        super().__init__(asked, seen, model, left_seconds)
        self.preferred = preferred_for(asked.repeat)

    def seconds(self, repeats: Repeats, scale: float) -> dict[PhaseName, float]:
        """The forecast of each phase to come; the nodes make the input tables in the first run to come.

        Without a further run alone that is the first measured one.
        """
        beyond, elapsed = self.model.overhead_seconds, self.mix(scale).elapsed_seconds
        rounds = repeats.alone - (scale == SMOKE)
        made = sum(table.bytes for table in needs_at(self.sessions, scale).tables)
        inputs = LEAST_PHASE_SECONDS + made / self.model.input_bytes_per_second
        return {
            "inputs": 0.0,
            "alone": rounds * (self.model.alone_seconds(scale) + beyond) + (inputs if rounds else 0.0),
            "runs": repeats.measured * self._all_nodes_seconds(scale)
            + repeats.one_node * (elapsed + beyond)
            + (0.0 if rounds else inputs),
            "search": 0.0,
        }

    def _all_nodes_seconds(self, scale: float) -> float:
        """A run with all nodes that is just carried."""
        mix = self.mix(scale)
        longer = max(self.asked.most_slowdown / mix.slowdown, 1.0)
        return longer * mix.elapsed_seconds + self.model.overhead_seconds

    def _runs_words(self) -> str:
        return f"a run with one node and {counted_noun(self.preferred[-1].measured, 'run')} with all nodes"

    def _made(self, repeats: Repeats, scale: float, spent: Mapping[PhaseName, float]) -> QualificationChoice:
        choice = msgspec.structs.replace(
            super()._made(repeats, scale, spent),
            nodes=len(self.seen.nodes),
            one_node_runs=repeats.one_node,
            run_seconds=self._all_nodes_seconds(scale),
        )
        return msgspec.structs.replace(
            choice, expected=expected_of_all(choice.expected), decisions=self._of_nodes(choice)
        )

    def _of_nodes(self, choice: QualificationChoice) -> list[Decision]:
        """The decisions, each in the words of several nodes."""
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
            *(msgspec.structs.replace(one, **changed.get(one.what, {})) for one in choice.decisions),
        ]


def expected_of_all(one: Expected) -> Expected:
    """What the forecast of one node says of all: no more than that they are not carried where one is not."""
    if one.answer != "carried":
        return one
    forecast = f"{format_ratio(one.slowdown)} times as long as alone"
    range_ = f"{format_ratio(one.slowdown_low)} to {format_ratio(one.slowdown_high)}"
    return msgspec.structs.replace(
        one,
        answer="not known",
        reason=f"one node is forecast to take {forecast} ({range_}), and what all nodes together do on "
        "shared storage has to be measured",
    )

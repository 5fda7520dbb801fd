"""The engine on several nodes: runs with one node and with all nodes in turn, and no probe or search."""

from __future__ import annotations

from functools import partial
from itertools import count

from mawl.advice.qualification.alike import NO_PROBE
from mawl.advice.qualification.answer import FEWEST_RUNS
from mawl.campaigns.qualify.choice import Chooser
from mawl.campaigns.qualify.engine import Engine, LeftOutError
from mawl.campaigns.qualify.nodes_choice import NodesChooser
from mawl.campaigns.qualify.work import RunWish
from mawl.errors import UsageError
from mawl.model.qualification import QualificationChoice, QualifyNode, RunPurpose
from mawl.units import counted_noun, format_ratio

NO_SEARCH = "on several nodes mawl does not search the number that fits: name another with --sessions"
MADE_BY_NODES = "the nodes make the input tables at the beginning of the first run that needs them"


class NodesEngine(Engine):
    """See :class:`~mawl.campaigns.qualify.engine.Engine`."""

    def until_choice(self) -> QualificationChoice:
        """As of one machine; what goes on looks first whether all nodes are there."""
        self._check_nodes()
        return super().until_choice()

    def _check_nodes(self) -> None:
        nodes = self._look().nodes
        if [*map(_same, nodes)] != [*map(_same, self.record.nodes)]:
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
            if position > choice.repeats:
                self._further_alone()
        return f"one node: {self._median_slowdowns('one-node')}; all: {self._median_slowdowns('measured')}"

    def _is_next(self, position: int) -> bool:
        """Whether a run with all nodes is made: the first, and others as far as the time allows."""
        if position == 1 or self.runs.begun("measured", position) or self._stopped_with_one():
            return True
        if position > self._chosen.repeats:
            return self._time_for_another(position)
        return self._in_time(self._run_seconds())

    def _stopped_with_one(self) -> int | None:
        """The run with one node that was the last before a stop: it may have to be made again."""
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
        """The mean of the runs of a purpose that were made."""
        made = [run.seconds or 0.0 for run in self.record.runs_for(purpose)]
        return sum(made) / len(made)

    def _median_slowdowns(self, purpose: RunPurpose) -> str:
        seen = [self.runs.read(run) for run in self.record.runs_for(purpose)]
        slowdowns = [format_ratio(one.slowdown) for one in seen if one.slowdown is not None]
        return f"{counted_noun(len(seen), 'run')}, median slowdown {', '.join(slowdowns) or 'not known'}"

    def _search(self) -> str:
        raise LeftOutError(NO_SEARCH)


def _same(node: QualifyNode) -> tuple[str, str | None, int]:
    """What may not change between a stop and what goes on."""
    return node.name, node.cpu_model, node.cores


def _words(nodes: list[QualifyNode]) -> str:
    return ", ".join(f"{node.name} ({counted_noun(node.cores, 'core')})" for node in nodes)

"""What the controller says of nodes that do not answer, before they count as lost."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from mawl.cluster.attend import Attendant
from mawl.cluster.link import NoAnswerError


class Silenced:
    """A link whose every question takes as long as it may; why nobody answers, by node (None: it does)."""

    def __init__(self, whys: dict[str, str | None]) -> None:
        self.now, self.whys = 1000.0, whys

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> str:
        why = self.whys[node]
        if why is None:
            return "an answer"
        self.now += seconds
        raise NoAnswerError(why)


def node(name: str) -> Any:
    """As much of a node as a question needs."""
    return SimpleNamespace(
        name=name,
        mirror=None,
        task=SimpleNamespace(run_id=name),
        words=[],
        heard=0,
        answered=1000.0,
        lost=None,
        take=lambda answer, writer: None,
    )


def heard(link: Silenced, nodes: list[Any], rounds: int) -> list[str]:
    """What is said while each node is asked so many times."""
    said: list[str] = []
    attendant = Attendant(
        cast(Any, link), 30.0, said.append, now=lambda: link.now, monotonic=lambda: link.now
    )
    for _ in range(rounds):
        for one in nodes:
            asyncio.run(attendant.ask(one, None))
    return said


def test_a_silent_node_is_said_once_with_what_becomes_of_it() -> None:
    nodes = [node("a"), node("b")]
    said = heard(Silenced({"a": None, "b": "b did not answer"}), nodes, rounds=5)
    assert said == [
        "b did not answer; a node stops its jobs after 15 s of silence and counts as lost after 30 s"
    ]
    assert [one.lost for one in nodes] == [None, None]


def test_a_silent_scheduler_is_said_once_for_all_nodes() -> None:
    nodes = [node("a"), node("b")]
    silent = "the scheduler did not answer"
    [said] = heard(Silenced({"a": silent, "b": silent}), nodes, rounds=3)
    assert said.startswith(f"{silent}; a node stops")
    assert nodes[1].lost == f"no answer for 30 s ({silent})"


def test_a_node_that_answered_again_is_said_again() -> None:
    link, one, said = Silenced({"a": "a did not answer"}), node("a"), list[str]()
    attendant = Attendant(
        cast(Any, link), 30.0, said.append, now=lambda: link.now, monotonic=lambda: link.now
    )
    for why in ("a did not answer", "a did not answer", None, "a did not answer"):
        link.whys["a"] = why
        asyncio.run(attendant.ask(one, None))
    assert len(said) == 2 and len(set(said)) == 1

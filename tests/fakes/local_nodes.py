"""Nodes without a cluster: a link that calls the agent's functions in this process, and can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from mawl.run.cluster import agent
from mawl.run.cluster.link import Link, NoAnswerError, NodeGoneError


class LocalLink(Link):
    """Real agents and real node processes of this machine; ``silent`` and ``gone`` nodes do not answer.

    ``lie`` makes another answer of one.
    """

    def __init__(self, before: Callable[[str, str], None] = lambda node, function: None) -> None:
        self.silent: set[str] = set()
        self.gone: set[str] = set()
        self.before = before
        self.lie: Callable[[str, str, Any], Any] = lambda node, function, answer: answer
        self.asked: list[tuple[str, str]] = []

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        self.asked.append((node, function))
        self.before(node, function)
        await asyncio.sleep(0)
        if node in self.gone:
            raise NodeGoneError(f"the worker of {node} is gone")
        if node in self.silent:
            await asyncio.sleep(0.05)
            raise NoAnswerError(f"{node} did not answer")
        return self.lie(node, function, getattr(agent, function)(*arguments))

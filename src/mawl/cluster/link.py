"""How the controller reaches the agents: what a link must do, whatever carries it."""

from __future__ import annotations

from typing import Any, Protocol

from mawl.errors import MawlError


class NodeGoneError(MawlError):
    """The node's agent is no more, and nobody will answer."""


class NoAnswerError(MawlError):
    """The node's agent did not answer this time; it may answer the next."""


class Link(Protocol):
    """Calls functions of :mod:`mawl.cluster.agent` by their names on a node."""

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        """What the function returned.

        Raises :class:`NodeGoneError`, :class:`NoAnswerError` (also after so many ``seconds``), and MawlError
        with the sentence of what the agent raised.
        """

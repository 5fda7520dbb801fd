"""The interface between the controller and its nodes, over ssh or over Dask."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import msgspec

from mawl.base.errors import MawlError, UnsuitableMachineError


class NodeGoneError(MawlError):
    """The node's agent has ended; no later question can be answered."""


class NoAnswerError(MawlError):
    """The node's agent did not answer this time; it may answer the next."""


class Certificates(msgspec.Struct, frozen=True, kw_only=True):
    """TLS files in PEM form: the authority, this end's certificate and its key."""

    authority: Path
    certificate: Path
    key: Path


class Link(Protocol):
    """Calls functions of ``run.cluster.agent`` by their names on a node."""

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> Any:
        """What the function returned.

        Raises ``NodeGoneError``, ``NoAnswerError`` (also after so many ``seconds``), and MawlError
        with the sentence of what the agent raised.
        """


def failed_agent(node: str, kind: str, text: str, module: str | None = None) -> MawlError:
    """The sentence for what the agent raised: the ``kind`` of error, and the ``module`` it did not find."""
    if module is not None:
        return UnsuitableMachineError(
            f"{node} has no module {module}",
            cure="install this version of mawl there, with the extra 'programs', for the Python of the node",
        )
    return MawlError(f"{node}: the agent failed", why=f"{kind}: {text}")

"""A link whose scheduler is gone, or lets nobody in."""

from __future__ import annotations

import asyncio
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.run.cluster import dask_link
from mawl.run.cluster.dask_link import NO_SCHEDULER, DaskLink, connected
from mawl.run.cluster.link import NoAnswerError


@pytest.mark.parametrize("status", ["connecting", "closing", "closed"])
def test_while_the_client_has_no_scheduler_no_node_answers_and_none_is_asked(status: str) -> None:
    link = DaskLink(cast(Any, SimpleNamespace(status=status)), {"node1": "tcp://127.0.0.1:9"})
    with pytest.raises(NoAnswerError, match=NO_SCHEDULER):
        asyncio.run(link.ask("node1", "clock", seconds=5.0))


@pytest.mark.parametrize("stopped", ["the scheduler", "node1"])
def test_a_question_without_an_answer_says_which_of_the_two_is_silent(
    monkeypatch: pytest.MonkeyPatch, stopped: str
) -> None:
    async def run(*_: Any, **__: Any) -> None:
        await asyncio.sleep(60)

    async def identity(n_workers: int) -> dict[str, Any]:
        await asyncio.sleep(60 if stopped == "the scheduler" else 0)
        return {"workers": {}}

    monkeypatch.setattr(dask_link, "LOOK_SECONDS", 0.05)
    client = SimpleNamespace(status="running", run=run, scheduler=SimpleNamespace(identity=identity))
    link = DaskLink(cast(Any, client), {"node1": "tcp://127.0.0.1:9"})
    with pytest.raises(NoAnswerError, match=rf"^{stopped} did not answer within .* stopped or very busy$"):
        asyncio.run(link.ask("node1", "clock", seconds=0.05))


class Late:
    """Stands for a client whose last attempt its own time limit cancelled."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __await__(self) -> Any:
        async def cancelled() -> None:
            raise OSError("Timed out trying to connect") from asyncio.CancelledError()

        return cancelled().__await__()


@pytest.mark.parametrize(
    ("listening", "sentence"),
    [(False, "Connection refused"), (True, "something listens there, and did not answer as a scheduler")],
)
def test_an_address_says_why_where_the_last_attempt_was_cancelled(
    monkeypatch: pytest.MonkeyPatch, listening: bool, sentence: str
) -> None:
    async def connect(port: int) -> None:
        async with connected(f"tcp://127.0.0.1:{port}", None, seconds=1.0):
            raise AssertionError("nobody lets us in")

    monkeypatch.setattr("mawl.run.cluster.dask_link.Client", Late)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if listening:
            held.listen()
        with pytest.raises(UnsuitableMachineError, match=sentence):
            asyncio.run(connect(held.getsockname()[1]))

"""A link whose scheduler is gone, or lets nobody in."""

from __future__ import annotations

import asyncio
import socket
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mawl.base.errors import MawlError, UnsuitableMachineError
from mawl.run.cluster import dask_link
from mawl.run.cluster.dask_link import NO_SCHEDULER, DaskLink, connected, workers_of
from mawl.run.cluster.link import NoAnswerError, NodeGoneError


@pytest.mark.parametrize("status", ["connecting", "closing", "closed"])
def test_while_the_client_has_no_scheduler_no_node_answers_and_none_is_asked(status: str) -> None:
    link = DaskLink(cast(Any, SimpleNamespace(status=status)), {"node1": "tcp://127.0.0.1:9"})
    with pytest.raises(NoAnswerError, match=NO_SCHEDULER):
        asyncio.run(link.ask("node1", "clock", seconds=5.0))


@pytest.mark.parametrize(
    ("state", "error", "sentence"),
    [
        (
            "no scheduler",
            NoAnswerError,
            "^the scheduler did not answer within .*: it is stopped or very busy$",
        ),
        ("gone", NodeGoneError, "^the worker at tcp://127.0.0.1:[0-9]+ is gone$"),
        ("busy", NoAnswerError, "^node1 did not answer within 0.1 s: its worker is busy$"),
        ("stopped", NoAnswerError, "^node1 did not answer within 0.1 s: its worker is stopped$"),
        ("unreachable", NoAnswerError, "^node1 did not answer within 0.1 s: its worker cannot be reached$"),
    ],
)
def test_a_question_without_an_answer_says_who_is_silent_and_how(
    monkeypatch: pytest.MonkeyPatch, state: str, error: type[MawlError], sentence: str
) -> None:
    """A stopped process still listens, and one that is busy still tells the scheduler that it lives."""
    beats = count()

    async def run(*_: Any, **__: Any) -> None:
        await asyncio.sleep(60)

    async def identity(n_workers: int) -> dict[str, Any]:
        await asyncio.sleep(60 if state == "no scheduler" else 0)
        worker = {"name": "node1", "last_seen": float(next(beats) if state == "busy" else 0)}
        return {"workers": {} if state == "gone" else {address: worker}}

    monkeypatch.setattr(dask_link, "LOOK_SECONDS", 0.05)
    client = SimpleNamespace(status="running", run=run, scheduler=SimpleNamespace(identity=identity))
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if state != "unreachable":
            held.listen()
        address = f"tcp://127.0.0.1:{held.getsockname()[1]}"
        link = DaskLink(cast(Any, client), {"node1": address})
        with pytest.raises(error, match=sentence):
            asyncio.run(link.ask("node1", "clock", seconds=0.1))


def test_a_question_that_the_client_cancels_is_none_that_was_answered() -> None:
    """Dask cancels what it was asked when it loses the scheduler; the run must not end with it unseen."""

    async def run(*_: Any, **__: Any) -> None:
        raise asyncio.CancelledError

    link = DaskLink(cast(Any, SimpleNamespace(status="running", run=run)), {"node1": "tcp://127.0.0.1:9"})
    with pytest.raises(NoAnswerError, match=NO_SCHEDULER):
        asyncio.run(link.ask("node1", "clock", seconds=5.0))


def test_workers_are_in_the_order_of_their_numbers() -> None:
    async def identity(n_workers: int) -> dict[str, Any]:
        return {"workers": {f"tcp://10.0.0.{at}:9": {"name": f"node{at}"} for at in (10, 2, 1)}}

    client = cast(Any, SimpleNamespace(scheduler=SimpleNamespace(identity=identity)))
    assert list(asyncio.run(workers_of(client))) == ["node1", "node2", "node10"]


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

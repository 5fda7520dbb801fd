"""The scheduler in the controller's process, and a link whose scheduler is gone."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.run.cluster import connection
from mawl.run.cluster.connection import NO_SCHEDULER, DaskLink, NoAnswerError, connected, own_scheduler

LISTENING = "0A"


def heard_at() -> set[tuple[str, int]]:
    """The addresses and ports at which this process listens (proc_net_tcp(5))."""
    own = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            own.add(str(descriptor.readlink()))
        except FileNotFoundError:
            continue  # the directory that is just read
    found = set()
    for file, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/self/net/{file}").read_text().splitlines()[1:]:
            _, place, _, state, *words = line.split()
            if state == LISTENING and f"socket:[{words[5]}]" in own:
                address, _, port = place.partition(":")
                number = bytes.fromhex(address)
                in_order = b"".join(number[at : at + 4][::-1] for at in range(0, len(number), 4))
                found.add((socket.inet_ntop(family, in_order), int(port, 16)))
    return found


def test_a_scheduler_of_ones_own_is_heard_at_its_address_and_at_the_loopback_only() -> None:
    async def listening() -> set[tuple[str, int]]:
        async with own_scheduler("127.0.0.2", None) as address:
            assert address.startswith("tcp://127.0.0.2:")
            return heard_at()

    before = heard_at()
    assert {address for address, _ in asyncio.run(listening()) - before} == {"127.0.0.1", "127.0.0.2"}


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

    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.05)
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

    monkeypatch.setattr("mawl.run.cluster.connection.Client", Late)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if listening:
            held.listen()
        with pytest.raises(UnsuitableMachineError, match=sentence):
            asyncio.run(connect(held.getsockname()[1]))

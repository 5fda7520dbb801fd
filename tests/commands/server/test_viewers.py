"""Places for viewers of growing runs: they take turns, and no client keeps the places for itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.types import Message

from mawl.commands.server import application
from tests.fakes.served_runs import Made
from tests.fakes.stored_run import write_run


def test_one_viewer_more_than_there_are_places_takes_that_of_the_first(
    runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = write_run(runs / "one", seconds=1)
    app = application.create_app(runs, made.renderers(), failed=made.failures.append)
    viewers = app.state.site.viewers
    scope = {"type": "http", "method": "GET", "app": app, "path_params": {"name": "one"}, "headers": []}
    count = 2 * application.MOST_VIEWERS + 5
    looks = asyncio.Event()

    async def stays() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def pause() -> None:
        await looks.wait()

    async def asked() -> list[bytes]:
        """As many as never end by themselves; what each was told when the last had come."""
        said = [bytearray() for _ in range(count)]

        async def seen(number: int) -> None:
            async def send(message: Message) -> None:
                said[number] += message.get("body", b"")

            await (await application._events(Request(scope)))(scope, stays, send)

        tasks = [asyncio.create_task(seen(number)) for number in range(count)]
        while not all(b"event: sources" in one for one in said):
            await asyncio.sleep(0.001)
        assert len(viewers) == application.MOST_VIEWERS
        looks.set()
        while sum(task.done() for task in tasks) < count - application.MOST_VIEWERS:
            looks.set()
            await asyncio.sleep(0.001)
        assert [task.done() for task in tasks] == [
            number < count - application.MOST_VIEWERS for number in range(count)
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return [bytes(one) for one in said]

    monkeypatch.setattr(application, "pause", pause)
    said = asyncio.run(asked())
    ended = [one.endswith(b"event: turn\ndata: 16\n\n") for one in said]
    assert ended == [True] * (count - application.MOST_VIEWERS) + [False] * application.MOST_VIEWERS
    assert all(b"event: status" in one and b"event: sources" in one for one in said)
    assert viewers == [] and made.failures == []
    writer.close()

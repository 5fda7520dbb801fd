"""Places for viewers of growing runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.types import Message

from mawl.server import application
from tests.fakes.served_runs import Made, finished


def test_streams_asked_for_at_once_are_counted_before_they_begin(runs: Path, made: Made) -> None:
    finished(runs, "one")
    app = application.create_app(runs, made.renderers(), failed=made.failures.append)
    scope = {"type": "http", "method": "GET", "app": app, "path_params": {"name": "one"}, "headers": []}

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def unread(message: Message) -> None:
        return None

    async def asked() -> list[int]:
        answers = [await application._events(Request(scope)) for _ in range(40)]
        assert app.state.site.viewers == application.MOST_VIEWERS
        for answer in answers:
            await answer(scope, gone, unread)
        return [answer.status_code for answer in answers]

    codes = asyncio.run(asked())
    assert (codes.count(200), codes.count(503)) == (application.MOST_VIEWERS, 40 - application.MOST_VIEWERS)
    assert app.state.site.viewers == 0

"""Connections that cannot be held open for nothing, and an end that waits for nobody."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 64
LARGEST_HEAD_BYTES = 32 * 2**10
"""Request line and headers together."""

CHECK_SECONDS = 5.0
PATIENCE_SECONDS = 15.0
"""How long a visitor may take over a request, or leave an answer unread."""


class Connection(H11Protocol):
    """One visitor's connection.

    uvicorn itself waits without end for a request that never becomes whole, and for a visitor who
    does not read; both end here after :data:`PATIENCE_SECONDS`.
    """

    answers = 0
    _check: asyncio.TimerHandle | None = None
    _moved_at = 0.0
    _waiting_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the visitor in, unless there are too many."""
        super().connection_made(transport)
        self._moved_at = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS:
            self._dispensable().transport.abort()
            if transport.is_closing():
                return
        self._check = self.loop.call_later(CHECK_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """The visitor has gone."""
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def _dispensable(self) -> Connection:
        """Which connection goes, now that there is one too many.

        One that waits for its next request goes before one that is answered, and one that had many answers
        before one that had few: who keeps connections busy locks nobody else out.  Where all are being
        answered their first, the newcomer goes.
        """
        others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
        waiting = [one for one in others if not one.is_answering()]
        return max(waiting or [*others, self], key=lambda one: (one.answers, one is self, -one._moved_at))

    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def resume_writing(self) -> None:
        """The visitor has read."""
        self._moved_at = self.loop.time()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """The visitor was answered and may ask again."""
        self.answers += 1
        self._moved_at = self.loop.time()
        super().on_response_complete()

    def handle_events(self) -> None:
        """What arrived; garbage behind a request that is being answered ends the connection."""
        try:
            super().handle_events()
        except h11.LocalProtocolError:
            self.transport.abort()

    def _look(self) -> None:
        now, waiting = self.loop.time(), self.transport.get_write_buffer_size()
        if waiting < self._waiting_bytes or (self.is_answering() and not waiting):
            self._moved_at = now
        self._waiting_bytes = waiting
        if now - self._moved_at > PATIENCE_SECONDS:
            self.transport.abort()
        else:
            self._check = self.loop.call_later(CHECK_SECONDS, self._look)


class Server(uvicorn.Server):
    """Ends at the first signal, also while visitors follow a run."""

    async def shutdown(self, sockets: Any = None) -> None:
        """Let go of every visitor, then of the listening sockets."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        for task in list(self.server_state.tasks):
            task.cancel()
        await super().shutdown(sockets)


def server_of(app: Any) -> Server:
    """A server of ``app`` with every bound in force; ``run(sockets=[...])`` serves until a signal.

    asyncio's own messages (a visitor who is gone, no descriptor left) go nowhere: no page failed.
    """
    messages = logging.getLogger("asyncio")
    messages.handlers, messages.propagate = [logging.NullHandler()], False
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=LARGEST_HEAD_BYTES,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    return Server(config)

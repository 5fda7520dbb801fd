"""Connections of the server: which requests may come in, and how long they may take."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import re
import socket
from collections.abc import Callable, Iterable
from html import unescape
from typing import Any

import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mawl.base.errors import UnsuitableMachineError, UsageError

MOST_CONNECTIONS = 64
"""Served at once.  Who comes next waits in the kernel's queue of the listening socket, in turn."""
LARGEST_HEAD_BYTES = 32 * 2**10
"""Request line and headers together."""

CHECK_SECONDS = 5.0
PATIENCE_SECONDS = 15.0
"""How long a visitor may take over a request, or leave an answer unread."""

FIRST_REQUEST_SECONDS = 1.0
"""While others wait, a connection without a request lasts no longer."""
PLACE_SECONDS = 0.02
"""How often a place is looked for while others wait."""


class Connection(H11Protocol):
    """One visitor's connection.

    uvicorn itself waits without end for a request that never becomes whole, and for a visitor who
    does not read; both end here after ``PATIENCE_SECONDS``.
    """

    answers = 0
    ends_with_answer: Callable[[], bool] = staticmethod(lambda: False)
    made_at = moved_at = 0.0
    _check: asyncio.TimerHandle | None = None
    _waiting_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.made_at = self.moved_at = self.loop.time()
        self._check = self.loop.call_later(CHECK_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def resume_writing(self) -> None:
        self.moved_at = self.loop.time()
        super().resume_writing()

    def on_response_complete(self) -> None:
        self.answers += 1
        self.moved_at = self.loop.time()
        if self.ends_with_answer():
            self.transport.close()
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
            self.moved_at = now
        self._waiting_bytes = waiting
        if now - self.moved_at > PATIENCE_SECONDS:
            self.transport.abort()
        else:
            self._check = self.loop.call_later(CHECK_SECONDS, self._look)


class PageServer(uvicorn.Server):
    """Serves visitors in the order in which they came; ends at the first signal, also with open streams.

    A connection beyond the bound is not refused but waits, and those that were served make room: a client
    that keeps many connections busy slows others down and locks nobody out.
    """

    full = False
    """Whether all places are taken."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        self._accepting = [asyncio.create_task(self._accept(listener)) for listener in sockets or []]

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        while True:
            await self._place()
            try:
                visitor, _ = await loop.sock_accept(listener)
                await loop.connect_accepted_socket(self._connection, visitor)
            except OSError:
                # The visitor has gone, or no descriptor is left: one that is idle may have one.
                self._make_room()
                await asyncio.sleep(PLACE_SECONDS)

    def _connection(self) -> Connection:
        state = self.lifespan.state
        connection = Connection(self.config, self.server_state, state)
        connection.ends_with_answer = lambda: self.full
        return connection

    async def _place(self) -> None:
        while self._is_full():
            self.full = True
            self._make_room()
            await asyncio.sleep(PLACE_SECONDS)
        self.full = False

    def _is_full(self) -> bool:
        every = self.server_state.connections
        return len(self._open()) >= MOST_CONNECTIONS or len(every) >= 2 * MOST_CONNECTIONS

    def _open(self) -> list[Connection]:
        every = (
            connection for connection in self.server_state.connections if isinstance(connection, Connection)
        )
        return [one for one in every if not one.transport.is_closing()]

    def _make_room(self) -> None:
        """Let a visitor go who was served or asks for nothing, else who has been here for long."""
        now = asyncio.get_running_loop().time()
        every = self._open()
        idle = [
            one
            for one in every
            if not one.is_answering() and (one.answers or now - one.made_at > FIRST_REQUEST_SECONDS)
        ]
        if idle:
            max(idle, key=lambda one: (one.answers, -one.moved_at)).transport.close()
            return
        first = min(every, key=lambda one: one.made_at, default=None)
        if first is not None and now - first.made_at > PATIENCE_SECONDS:
            first.transport.abort()

    async def shutdown(self, sockets: Any = None) -> None:
        for accepting in self._accepting:
            accepting.cancel()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        for task in list(self.server_state.tasks):
            task.cancel()
        await super().shutdown(sockets)


def server_of(app: Any) -> PageServer:
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
    return PageServer(config)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any that is free.

    Raises ``UsageError`` for a name that is no address of this machine, and
    ``UnsuitableMachineError`` where the port is taken.
    """
    where = f"{host} port {port}"
    if not 0 <= port <= 65535:
        raise UsageError("is no port", where=where, cure="name one from 0 to 65535 with --port")
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except (socket.gaierror, UnicodeError):
        raise UsageError("is no address", where=where, cure="name one of this machine with --host") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            cure = "name another with --port, or --port 0 for any that is free"
            raise UnsuitableMachineError("is in use by another program", where=where, cure=cure) from None
        if error.errno == errno.EADDRNOTAVAIL:
            cure = "name an address of this machine with --host"
            raise UsageError("is no address of this machine", where=where, cure=cure) from None
        why = (error.strerror or str(error)).lower()
        raise UnsuitableMachineError("cannot be listened on", where=where, why=why) from None


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def address_of(listener: socket.socket) -> str:
    """The address to put into a browser on this machine."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def names_of(host: str, listener: socket.socket) -> list[str]:
    """The names that a visitor may ask for: the one given, and the machine's own where others reach it."""
    return [host] if is_loopback(listener) else [host, socket.gethostname(), socket.getfqdn()]


METHODS = ("GET", "HEAD")
LONGEST_TARGET_BYTES = 8192
LARGEST_HEADERS_BYTES = 32 * 2**10
PIECE_BYTES = 64 * 2**10
"""A body goes out in such pieces, so that a visitor who does not read holds up only one of them."""

LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})

POLICY = "default-src 'none'; frame-ancestors 'none'"
"""The content security policy of all that is no page."""

_META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


def policy_of(page: str) -> str:
    """The policy that a page states at its head, before any text of a run, for its header as well.

    ``frame-ancestors`` has force only in a header.  A page that states none may run no script.
    """
    stated = _META.search(page.partition("<title")[0])
    return f"{unescape(stated[1])}; frame-ancestors 'none'" if stated else POLICY


NO_DESCRIPTOR = frozenset({errno.EMFILE, errno.ENFILE})


class Guard:
    """Refuses what no visitor of these pages sends, and puts ``HEADERS`` on every answer.

    ``names`` are the host names it answers to beside the loopback's: a page of another site whose
    name an attacker pointed here (DNS rebinding) sends that name.  A literal address cannot be
    pointed elsewhere and is always allowed.  ``failed`` gets each error that no page expects, but
    not the want of descriptors: visitors who take all of them are no failure of a page.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str], failed: Callable[[Exception], None]) -> None:
        self._app, self._failed = app, failed
        self._names = LOOPBACK_NAMES | {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        try:
            await self._app(scope, receive, answer)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in NO_DESCRIPTOR:
                if not answer.began:
                    text = "The server has no file descriptor left; ask again in a moment.\n"
                    await PlainTextResponse(text, 503)(scope, receive, answer)
                return
            self._failed(error)
            if not answer.began:
                text = "The server failed at this page; what it said is on its terminal.\n"
                await PlainTextResponse(text, 500)(scope, receive, answer)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._is_here(headers.getlist("host")):
            text = "This server answers to its own names only; another name is given with --host.\n"
            return PlainTextResponse(text, 400)
        if scope["method"] not in METHODS:
            text = "These pages are only read: GET and HEAD.\n"
            return PlainTextResponse(text, 405, {"allow": ", ".join(METHODS)})
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > LONGEST_TARGET_BYTES:
            return PlainTextResponse("The address is longer than any of these pages.\n", 414)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LARGEST_HEADERS_BYTES:
            return PlainTextResponse("The headers are longer than any browser's.\n", 431)
        if headers.get("transfer-encoding") or headers.get("content-length", "0") != "0":
            text = "These pages take no content.\n"
            return PlainTextResponse(text, 413, {"connection": "close"})
        return None

    def _is_here(self, hosts: list[str]) -> bool:
        if len(hosts) != 1:
            return False
        name = re.sub(r":\d*$", "", hosts[0].strip().lower())
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True


class _Answer:
    """Sends an answer with the headers of all, in pieces."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.began = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.began = True
            headers = MutableHeaders(scope=message)
            for name, value in {**HEADERS, "content-security-policy": POLICY}.items():
                headers.setdefault(name, value)
            await self._send(message)
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        for start in range(0, max(1, len(body)), PIECE_BYTES):
            last = start + PIECE_BYTES >= len(body)
            piece = bytes(body[start : start + PIECE_BYTES])
            await self._send({"type": message["type"], "body": piece, "more_body": more or not last})

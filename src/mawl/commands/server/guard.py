"""Checks every request and adds the security headers to every answer (ASGI middleware)."""

from __future__ import annotations

import errno
import ipaddress
import re
from collections.abc import Callable, Iterable
from html import unescape

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

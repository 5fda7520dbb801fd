"""How fast a link is: bytes over one plain TCP connection, measured by the receiver.

``python -m mawl.lab.transfer serve ADDRESS PORT`` takes connections until it is killed; ``received`` and
``sent`` in place of ``serve`` measure one direction, as the caller sees it, and print bytes a second.
"""

from __future__ import annotations

import socket
import socketserver
import sys
import time

SECONDS = 3.0
RAMP_SECONDS = 1.0
"""Left out: the burst that a rate lets through at once, and the connection's beginning."""
CHUNK = bytes(64 * 1024)
TIMEOUT_SECONDS = 30.0


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class _Handler(socketserver.BaseRequestHandler):
    """The first byte says what the other end wants to have measured."""

    def handle(self) -> None:
        way = self.request.recv(1)
        if way == b"r":
            send(self.request)
        elif way == b"s":
            self.request.sendall(repr(receive(self.request)).encode() + b"\n")


def send(connection: socket.socket) -> None:
    """Send for the ramp, the measurement and a little more; an end that has enough closes."""
    until = time.monotonic() + RAMP_SECONDS + SECONDS + 0.5
    connection.settimeout(TIMEOUT_SECONDS)
    try:
        while time.monotonic() < until:
            connection.sendall(CHUNK)
        connection.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        return


def receive(connection: socket.socket) -> float:
    """Bytes a second after the ramp; then the rest is read and dropped."""
    began = time.monotonic()
    connection.settimeout(TIMEOUT_SECONDS)
    first = last = began
    got = 0
    while chunk := connection.recv(len(CHUNK)):
        now = time.monotonic()
        if now < began + RAMP_SECONDS:
            first = now
        elif now < began + RAMP_SECONDS + SECONDS:
            got, last = got + len(chunk), now
    return got / (last - first) if last > first else 0.0


def measure(address: str, port: int, way: str) -> float:
    """Bytes a second ``received`` from the server at an address, or ``sent`` to it."""
    with socket.create_connection((address, port), timeout=TIMEOUT_SECONDS) as connection:
        if way == "received":
            connection.sendall(b"r")
            return receive(connection)
        connection.sendall(b"s")
        send(connection)
        return float(connection.makefile().readline())


def main(words: list[str]) -> int:
    """Serve, or print what was measured."""
    way, address, port = words
    if way == "serve":
        with _Server((address, int(port)), _Handler) as server:
            server.serve_forever()
    sys.stdout.write(f"{measure(address, int(port), way)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

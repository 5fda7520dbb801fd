"""On a real socket: malformed and oversized requests, visitors who do not read or write, the end."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mawl.server import connections
from mawl.server.connections import LARGEST_HEAD_BYTES
from mawl.server.library import run_address
from tests.fakes.served_runs import Made, finished, raw, serving
from tests.fakes.stored_run import write_run

CLOSE = b"host: localhost\r\nconnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def port(shared: Path) -> Iterator[int]:
    """One server for all tests that only ask."""
    with serving(shared, Made().renderers()) as (_, number):
        yield number


def until(true: Callable[[], bool]) -> None:
    """Wait for what must come; fails after ten seconds."""
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def test_a_request_is_answered(port: int) -> None:
    answer = raw(port, b"GET / HTTP/1.1\r\n" + CLOSE)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"server:" not in answer.lower()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\r\n\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
        b"GET / HTTP/x\r\n" + CLOSE,
        b"GET /\xff\xfe HTTP/1.1\r\n" + CLOSE,
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"a" * (2 * LARGEST_HEAD_BYTES) + b"\r\n" + CLOSE,
        b"GET /" + b"a" * (2 * LARGEST_HEAD_BYTES) + b" HTTP/1.1\r\n" + CLOSE,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_and_the_next_visitor_served(port: int, request_bytes: bytes) -> None:
    answer = raw(port, request_bytes)
    assert answer == b"" or answer.split(b" ")[1] in (b"400", b"405", b"414", b"431"), answer[:200]
    assert raw(port, b"GET / HTTP/1.1\r\n" + CLOSE).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "target",
    [
        b"/runs/../../etc/passwd",
        b"//etc/passwd",
        b"/runs/..%2f..%2fetc%2fpasswd",
        b"/runs/%2e%2e",
        b"/runs/a%00b",
    ],
)
def test_a_path_out_of_the_directory_leads_nowhere(port: int, target: bytes) -> None:
    answer = raw(port, b"GET " + target + b" HTTP/1.1\r\n" + CLOSE)
    assert answer.startswith(b"HTTP/1.1 404")
    assert b"root:" not in answer


def test_a_name_that_looks_like_an_escape_has_its_page(shared: Path, port: int) -> None:
    for name in ("%2e%2e", "a%2Fb", "100%"):
        finished(shared, name)
        address = run_address(name)
        assert address is not None
        answer = raw(port, b"GET " + address.encode() + b" HTTP/1.1\r\n" + CLOSE)
        assert answer.startswith(b"HTTP/1.1 200")


def test_garbage_behind_a_request_ends_that_connection_only(shared: Path, port: int) -> None:
    writer = write_run(shared / "one")
    raw(port, b"GET /runs/one/events HTTP/1.1\r\nhost: localhost\r\n\r\n\0\0\0 garbage\r\n\r\n", most=10)
    raw(port, b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n\0\0\0 garbage\r\n\r\n")
    assert raw(port, b"GET / HTTP/1.1\r\n" + CLOSE).startswith(b"HTTP/1.1 200")
    writer.close()


def test_a_visitor_who_does_not_write_or_read_is_let_go(
    runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.02)
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 0.1)
    finished(runs, "one")
    huge = Made()
    renderers = made.renderers()
    renderers = type(renderers)(
        report=lambda run, summary: "x" * 30_000_000,
        following=huge.following,
        sources=huge.sources,
        metrics=huge.metrics,
        judged=huge.judged,
    )
    with serving(runs, renderers) as (server, number):
        assert raw(number, b"GET / HTTP/1.1\r\nhost: loc") == b""
        with socket.create_connection(("127.0.0.1", number)) as silent:
            silent.sendall(b"GET /runs/one HTTP/1.1\r\nhost: localhost\r\n\r\n")
            until(lambda: server.server_state.total_requests > 0 or not server.server_state.connections)
            until(lambda: not server.server_state.connections)
            until(lambda: not server.server_state.tasks)


def test_a_slow_reader_who_reads_is_served(runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.02)
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 5.0)
    finished(runs, "one")
    monkeypatch.setattr(made, "report", lambda run, summary: "x" * 3_000_000)
    with serving(runs, made.renderers()) as (_, number):
        answer = raw(number, b"GET /runs/one HTTP/1.1\r\n" + CLOSE, most=10_000_000)
    assert answer.endswith(b"x" * 3_000_000)


def test_who_holds_all_connections_locks_nobody_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    try:
        for number, visitor in enumerate(held):
            for _ in range(2 if number == 1 else 1):
                visitor.sendall(b"GET /favicon.ico HTTP/1.1\r\nhost: localhost\r\n\r\n")
                assert visitor.recv(1000).startswith(b"HTTP/1.1 204")
        assert raw(port, b"GET / HTTP/1.1\r\n" + CLOSE).startswith(b"HTTP/1.1 200")
        assert held[1].recv(1) == b""  # the one that had the most answers was let go
        held[0].sendall(b"GET /favicon.ico HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert held[0].recv(1000).startswith(b"HTTP/1.1 204")
    finally:
        for visitor in held:
            visitor.close()


def test_while_all_visitors_are_being_answered_a_newcomer_is_turned_away(
    runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 1)
    writer = write_run(runs / "one")
    with (
        serving(runs, made.renderers()) as (_, number),
        socket.create_connection(("127.0.0.1", number)) as viewer,
    ):
        viewer.sendall(b"GET /runs/one/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert viewer.recv(1000).startswith(b"HTTP/1.1 200")
        assert raw(number, b"GET / HTTP/1.1\r\n" + CLOSE) == b""
    writer.close()


def test_the_end_does_not_wait_for_open_streams(runs: Path, made: Made) -> None:
    writer = write_run(runs / "one")
    with (
        serving(runs, made.renderers()) as (server, number),
        socket.create_connection(("127.0.0.1", number)) as viewer,
    ):
        viewer.sendall(b"GET /runs/one/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert viewer.recv(1000).startswith(b"HTTP/1.1 200")
        server.should_exit = True
        until(lambda: not server.server_state.connections)
        until(lambda: not server.server_state.tasks)
    writer.close()

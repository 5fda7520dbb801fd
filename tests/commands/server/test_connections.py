"""On a real socket: malformed and oversized requests, visitors who do not read or write, the end."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.commands.server import connections
from mawl.commands.server.application import create_app
from mawl.commands.server.connections import (
    LARGEST_HEAD_BYTES,
    LONGEST_TARGET_BYTES,
    POLICY,
    address_of,
    is_loopback,
    listening,
    names_of,
    policy_of,
)
from mawl.commands.server.library import run_address
from tests.fakes.served_runs import Made, finished, raw, serving
from tests.fakes.stored_run import write_run

CLOSE = b"host: localhost\r\nconnection: close\r\n\r\n"
ICON = b"GET /favicon.ico HTTP/1.1\r\nhost: localhost\r\n\r\n"


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


def test_while_all_places_are_taken_who_was_served_makes_room(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    try:
        for visitor in held[:2]:
            visitor.sendall(ICON)
            assert visitor.recv(1000).startswith(b"HTTP/1.1 204")
        monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
        assert raw(port, b"GET / HTTP/1.1\r\n" + CLOSE).startswith(b"HTTP/1.1 200")
        held[2].sendall(ICON)
        assert held[2].recv(1000).startswith(b"HTTP/1.1 204")
    finally:
        for visitor in held:
            visitor.close()


def test_while_all_visitors_are_being_answered_a_newcomer_waits(
    runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 1)
    writer = write_run(runs / "one")
    with (
        serving(runs, made.renderers()) as (server, number),
        socket.create_connection(("127.0.0.1", number)) as viewer,
        socket.create_connection(("127.0.0.1", number)) as newcomer,
    ):
        viewer.sendall(b"GET /runs/one/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert viewer.recv(1000).startswith(b"HTTP/1.1 200")
        newcomer.sendall(ICON)
        newcomer.settimeout(0.2)
        with pytest.raises(TimeoutError):
            newcomer.recv(1000)
        assert len(server.server_state.connections) == 1
        viewer.close()
        newcomer.settimeout(30)
        assert newcomer.recv(1000).startswith(b"HTTP/1.1 204")
    writer.close()


def test_who_takes_the_last_place_for_long_gives_it_up(
    runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 1)
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 0.1)
    writer = write_run(runs / "one")
    with (
        serving(runs, made.renderers()) as (_, number),
        socket.create_connection(("127.0.0.1", number)) as viewer,
    ):
        viewer.sendall(b"GET /runs/one/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert viewer.recv(1000).startswith(b"HTTP/1.1 200")
        assert raw(number, b"GET / HTTP/1.1\r\n" + CLOSE).startswith(b"HTTP/1.1 200")
    writer.close()


@pytest.mark.parametrize("request_bytes", [b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", ICON, b""])
def test_a_client_with_100_looping_connections_locks_nobody_out(
    runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch, request_bytes: bytes
) -> None:
    """They ask again and again, or say nothing, and come back when they are let go."""
    monkeypatch.setattr(connections, "FIRST_REQUEST_SECONDS", 0.05)
    finished(runs, "one")
    with serving(runs, made.renderers()) as (server, number), looping(number, 100, request_bytes):
        until(lambda: len(server.server_state.connections) >= connections.MOST_CONNECTIONS)
        for _ in range(2):
            assert raw(number, b"GET / HTTP/1.1\r\n" + CLOSE).startswith(b"HTTP/1.1 200")
            assert len(server.server_state.connections) <= 2 * connections.MOST_CONNECTIONS


@contextmanager
def looping(port: int, count: int, request_bytes: bytes) -> Iterator[None]:
    """So many connections, each busy until the block ends."""
    ended = threading.Event()

    async def one() -> None:
        while not ended.is_set():
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    writer.write(request_bytes)
                    while await reader.read(65536):
                        writer.write(request_bytes)
                finally:
                    writer.transport.abort()
            await asyncio.sleep(0)

    async def every() -> None:
        loops = [asyncio.create_task(one()) for _ in range(count)]
        while not ended.is_set():
            await asyncio.sleep(0.01)
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(every()))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(10)
    assert not thread.is_alive()


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


def test_messages_of_asyncio_go_nowhere(
    capsys: pytest.CaptureFixture[str], made: Made, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody handles messages, Python prints them."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    logging.getLogger("other").error("printed")
    with serving(runs, made.renderers()):
        logging.getLogger("asyncio").error("socket.send() raised exception")
    assert capsys.readouterr() == ("", "printed\n")


def test_a_free_port_on_the_loopback_address() -> None:
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert address_of(listener) == f"http://127.0.0.1:{port}/"
        assert is_loopback(listener)
        assert names_of("127.0.0.1", listener) == ["127.0.0.1"]


def test_a_port_in_use_is_one_sentence() -> None:
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(UnsuitableMachineError) as told:
            listening("127.0.0.1", port)
    assert str(told.value) == (
        f"127.0.0.1 port {port}: is in use by another program; "
        "name another with --port, or --port 0 for any that is free"
    )


def test_all_addresses_answer_to_the_name_of_the_machine() -> None:
    with listening("0.0.0.0", 0) as listener:
        assert not is_loopback(listener)
        assert socket.gethostname() in names_of("0.0.0.0", listener)
        assert socket.gethostname() in address_of(listener)


@pytest.mark.parametrize(
    ("host", "port"), [("no such host", 0), ("192.0.2.1", 0), ("127.0.0.1", 70000), ("a" * 300, 0)]
)
def test_what_is_no_address_of_this_machine_is_said(host: str, port: int) -> None:
    with pytest.raises(UsageError, match=r"name (one|an address) "):
        listening(host, port)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
@pytest.mark.parametrize("address", ["/", "/runs/one", "/nowhere"])
def test_nothing_is_written(runs: Path, client: TestClient, method: str, address: str) -> None:
    finished(runs, "one")
    answer = client.request(method, address)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:6295", "localhost:1", "LOCALHOST", "[::1]:80", "10.1.2.3:6295", "my-host"],
)
def test_it_answers_to_its_own_names_and_to_addresses(runs: Path, host: str) -> None:
    app = create_app(runs, Made().renderers(), names=["My-Host"], failed=print)
    with TestClient(app, base_url="http://localhost") as visitor:
        assert visitor.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "localhost.attacker.example",
        "127.0.0.1.example:6295",
        "",
        "a b",
        "[::1",
        "my-host",
    ],
)
def test_a_name_pointed_here_by_others_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400


def test_a_long_address_and_a_body_are_refused(client: TestClient) -> None:
    assert client.get("/?q=" + "a" * LONGEST_TARGET_BYTES).status_code == 414
    assert client.get("/" + "a" * LONGEST_TARGET_BYTES).status_code == 414
    assert client.request("GET", "/", content=b"x").status_code == 413
    assert client.request("GET", "/", content=iter([b"x"])).status_code == 413


def test_a_page_that_states_no_policy_may_run_nothing() -> None:
    assert policy_of("<html><title>x</title></html>") == POLICY
    late = '<title>x</title><meta http-equiv="Content-Security-Policy" content="script-src *">'
    assert policy_of(late) == POLICY

"""``mawl serve`` as a process: what it says, what it refuses, how it ends."""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.fakes.served_runs import finished
from tests.fakes.stored_run import write_run


@pytest.fixture
def runs(mawl: Command) -> Path:
    place = mawl.directory / "runs"
    place.mkdir()
    return place


def address(server: subprocess.Popen[str]) -> str:
    """Where it says that it serves."""
    assert server.stdout is not None
    line = server.stdout.readline()
    assert line.endswith("; Ctrl-C ends it\n"), line
    return line.split()[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_a_signal_also_with_an_open_stream(
    mawl: Command, runs: Path, number: signal.Signals
) -> None:
    finished(runs, "ended")
    writer = write_run(runs / "growing")
    server = mawl.start("serve", "--port", "0")
    try:
        place = address(server)
        with urllib.request.urlopen(place) as page:
            assert b"ended" in page.read()
        with urllib.request.urlopen(place + "metrics") as metrics:
            assert metrics.read().endswith(b"# EOF\n")
        stream = urllib.request.urlopen(place + "runs/growing/events")
        assert stream.readline() == b"event: status\n"
        server.send_signal(number)
        said, complained = server.communicate(timeout=20)
        stream.close()
    finally:
        server.kill()
        writer.close()
    assert (server.returncode, said, complained) == (0, "", "")


def test_visitors_who_vanish_and_a_want_of_descriptors_leave_the_terminal_empty(
    mawl: Command, runs: Path
) -> None:
    finished(runs, "ended")
    writer = write_run(runs / "growing")
    server = mawl.start("serve", "--port", "0")
    try:
        port = int(address(server).split(":")[2].rstrip("/"))
        files = len(os.listdir(f"/proc/{server.pid}/fd"))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (files + 8, files + 8))
        requests = (
            b"GET /runs/growing/events HTTP/1.1\r\nhost: localhost\r\n\r\n",
            b"GET / HT",
            b"\0\r\n\r\n",
        )
        visitors = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
        for visitor, request in zip(visitors, requests * 10, strict=True):
            visitor.sendall(request)
        visitors[0].recv(1000)
        for visitor in visitors:
            visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
            visitor.close()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
            assert b"ended" in page.read()
        server.send_signal(signal.SIGINT)
        said, complained = server.communicate(timeout=20)
    finally:
        server.kill()
        writer.close()
    assert (server.returncode, said, complained) == (0, "", "")


def test_what_it_refuses_is_one_sentence(mawl: Command, runs: Path) -> None:
    folder = finished(runs, "one")
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = mawl("serve", "--port", str(other.getsockname()[1]))
    assert taken.returncode == 1
    assert "is in use by another program; name another with --port" in taken.stderr
    single = mawl("serve", "--runs", str(folder))
    assert single.returncode == 2
    assert "is one run, not a directory of runs" in single.stderr
    file = mawl("serve", "--runs", str(folder / "run.json"))
    assert (file.returncode, "run.json: is not a directory; name" in file.stderr) == (2, True)
    assert taken.stderr.count("\n") == single.stderr.count("\n") == 1


def test_a_directory_that_is_not_there_yet_is_told(mawl: Command) -> None:
    server = mawl.start("serve", "--port", "0", "--runs", "later")
    try:
        address(server)
        server.send_signal(signal.SIGINT)
        _, complained = server.communicate(timeout=20)
    finally:
        server.kill()
    assert "later does not exist yet, and the list is empty until it does" in complained


def test_an_address_that_others_reach_is_warned_of(mawl: Command) -> None:
    server = mawl.start("serve", "--port", "0", "--host", "0.0.0.0")
    try:
        address(server)
        server.send_signal(signal.SIGINT)
        _, complained = server.communicate(timeout=20)
    finally:
        server.kill()
    assert "others can reach this address" in complained


def test_without_the_extra_it_names_it() -> None:
    blocked = (
        "import sys; sys.modules['starlette'] = None\n"
        "from mawl.commands.main import main\nsys.exit(main(['serve']))"
    )
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "mawl serve: needs the package starlette, which is not installed; "
        "install it with: pip install 'mawl[server]'\n"
    )


def test_other_verbs_do_not_import_the_web_framework() -> None:
    code = (
        "import sys; from mawl.commands.verbs import build_parser; build_parser();"
        "print(sorted({'starlette', 'uvicorn', 'bokeh', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

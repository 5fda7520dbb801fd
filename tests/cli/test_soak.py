"""Many runs in a row beside a server that is browsed: nothing but the runs folder grows with their number."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Command

RUNS = int(os.environ.get("MAWL_SOAK_RUNS", "1000"))
SETTLED = min(100, 2 * RUNS // 3)
"""Runs after which nothing may grow any more; by then the server keeps as many pages as it ever does."""
GROWTH_BYTES = 16 * 2**20
"""Of the server's memory from then on: fragments, and the list of runs, 1 kB each."""

PAGES_AT_ONCE = 3
CLOSING_SECONDS = 1.0
"""For connections that a visitor has just left."""

SHARED_MEMORY, GROUPS, TEMPORARY = Path("/dev/shm"), Path("/sys/fs/cgroup"), Path("/tmp")


class Level(msgspec.Struct, frozen=True):
    """What there is after a number of runs: of files and directories the numbers by place."""

    files: dict[str, int]
    named: list[str]
    """Things of the machine that carry the name of one of the runs."""
    descriptors: int
    threads: int
    memory_bytes: int


def level(mawl: Command, server: int) -> Level:
    """What there is now."""
    names = [path.name for path in (mawl.directory / "runs").iterdir() if path.name != "latest"]
    things = [*SHARED_MEMORY.glob("mawl*"), *GROUPS.glob("**/mawl*"), *TEMPORARY.glob("*mawl*")]
    places = ("data", "work", "util", "home", "temporary")
    status = Path(f"/proc/{server}/status").read_text()
    return Level(
        files={
            **{place: len(list((mawl.directory / place).rglob("*"))) for place in places},
            "working directory": len(list(mawl.directory.iterdir())),
        },
        named=[str(thing) for thing in things if any(name in thing.name for name in names)],
        descriptors=len(os.listdir(f"/proc/{server}/fd")),
        threads=_number(status, "Threads"),
        memory_bytes=1024 * _number(status, "RssAnon"),
    )


def _number(status: str, name: str) -> int:
    [found] = re.findall(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
    return int(found)


@contextmanager
def following(port: int, run: str) -> Iterator[None]:
    """A page that follows the run, closed by its visitor in the middle of an event."""
    with socket.create_connection(("127.0.0.1", port)) as viewer:
        viewer.sendall(f"GET /runs/{run}/events HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        viewer.recv(100)
        yield


@pytest.fixture
def soaked(tmp_path: Path) -> Command:
    """The command where all that it could write to lies in the test's own directory."""
    command = Command(tmp_path, tmp_path / "data")
    (tmp_path / "runs").mkdir()
    for name, place in (("HOME", "home"), ("TMPDIR", "temporary")):
        (tmp_path / place).mkdir()
        command.environment[name] = str(tmp_path / place)
    return command


@pytest.mark.long(minutes=60)
def test_a_thousand_runs_beside_a_browsed_server_leave_nothing_but_their_folders(soaked: Command) -> None:
    """``MAWL_SOAK_RUNS`` sets another number; a run takes about 3 s of CPU.

    ``--log-cli-level INFO`` shows what there was after each fifty."""
    server = soaked.start("serve", "--port", "0")
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().split()[0].split(":")[2].rstrip("/"))
        levels = _levels(soaked, server, port)
        server.send_signal(signal.SIGINT)
        _, complained = server.communicate(timeout=20)
    finally:
        server.kill()
    for number, one in levels.items():
        logging.getLogger(__name__).info("after %d runs: %s", number, one)
    assert complained == ""
    settled, last = levels[SETTLED], levels[RUNS]
    assert last.files == settled.files == levels[1].files
    assert last.named == settled.named == []
    assert last.descriptors <= settled.descriptors
    assert last.threads <= settled.threads + PAGES_AT_ONCE
    assert last.memory_bytes <= settled.memory_bytes + GROWTH_BYTES


@pytest.mark.long(minutes=5)
def test_a_server_keeps_its_memory_over_a_thousand_stored_runs(soaked: Command) -> None:
    """The server alone: copies of one run come one after the other, and their pages are asked for."""
    assert soaked("run", "nano").returncode == 0
    first = (soaked.directory / "runs" / "latest").resolve()
    server = soaked.start("serve", "--port", "0")
    levels: dict[int, int] = {}
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline().split()[0].split(":")[2].rstrip("/"))
        for number in range(1, RUNS + 1):
            shutil.copytree(first, first.with_name(f"{first.name}-{number}"))
            for page in ("", "metrics", f"runs/{first.name}-{number}", f"?q={first.name}-{number}"):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}") as answer:
                    assert answer.status == 200 and answer.read()
            if number in (1, SETTLED, RUNS) or number % 50 == 0:
                levels[number] = level(soaked, server.pid).memory_bytes
    finally:
        server.kill()
        server.communicate()
    for number, one in levels.items():
        logging.getLogger(__name__).info("after %d runs: %d bytes", number, one)
    assert levels[RUNS] <= levels[SETTLED] + GROWTH_BYTES


def _levels(mawl: Command, server: subprocess.Popen[str], port: int) -> dict[int, Level]:
    """What there was after the first run, after so many, and at the end."""
    levels: dict[int, Level] = {}
    for number in range(1, RUNS + 1):
        running = mawl.start("run", "nano")
        _browse_growing(mawl, port, running)
        said = running.communicate()
        assert running.returncode == 0, said
        newest = (mawl.directory / "runs" / "latest").resolve().name
        for page in ("", "metrics", f"runs/{newest}", f"?q={newest}"):
            if page != f"runs/{newest}" or number <= SETTLED or number % 10 == 0:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}") as answer:
                    assert answer.status == 200 and answer.read()
        if number in (1, SETTLED, RUNS) or number % 50 == 0:
            time.sleep(CLOSING_SECONDS)
            levels[number] = level(mawl, server.pid)
    return levels


def _browse_growing(mawl: Command, port: int, running: subprocess.Popen[str]) -> None:
    """Open the stream of a run that is under way, and its page, once its folder is there."""
    while running.poll() is None:
        for journal in (mawl.directory / "runs").glob("2*/journal"):
            place = f"http://127.0.0.1:{port}/runs/{journal.parent.name}"
            with following(port, journal.parent.name), urllib.request.urlopen(place):
                return
        time.sleep(0.05)

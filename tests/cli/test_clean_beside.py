"""`mawl clean` again and again beside commands that live: it finds nothing, and they end well."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import needs
from tests.fakes.processes import ssh_here

pytestmark = [pytest.mark.lab, needs.marks(needs.ROOT)]  # without root there may be no control groups

NOTHING = {(0, "nothing to clean\n")}
MAWL = (sys.executable, "-m", "mawl")


def mawl(place: Path, *words: str, cold: Path | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "COLUMNS": "200"} | ({} if cold is None else {"XDG_CACHE_HOME": str(cold)})
    return subprocess.Popen(
        [*MAWL, *words],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )


@contextmanager
def cleaning(place: Path) -> Iterator[set[tuple[int, str]]]:
    """`mawl clean` in a loop: the exit statuses and outputs of all, complete after the block."""
    found: set[tuple[int, str]] = set()
    over = threading.Event()

    def loop() -> None:
        while not over.is_set():
            command = mawl(place, "clean")
            said = command.communicate()[0]
            found.add((command.returncode, said))

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def ended(commands: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str]]:
    return [(command.returncode, said) for command in commands for said in [command.communicate()[0]]]


def cleaned_beside_runs(place: Path, count: int, *, cold: bool) -> set[tuple[int, str]]:
    with cleaning(place) as found:
        for number in range(count):
            cache = place / f"cache-{number}" if cold else None
            ((status, said),) = ended([mawl(place, "run", "nano", "--cache", "warm", cold=cache)])
            assert status == 0, said
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    ((status, said),) = ended([mawl(tmp_path, "generate", "nano")])
    assert status == 0, said
    return tmp_path


@pytest.mark.long(minutes=1)
def test_runs_that_start_are_left_alone(place: Path) -> None:
    assert cleaned_beside_runs(place, 3, cold=True) == NOTHING


@pytest.mark.long(minutes=20)
@pytest.mark.parametrize("cold", [True, False])
def test_hundred_runs_that_start_are_left_alone(place: Path, cold: bool) -> None:
    assert cleaned_beside_runs(place, 100, cold=cold) == NOTHING


def test_two_that_make_the_same_inputs_at_once_both_end_well(tmp_path: Path) -> None:
    with cleaning(tmp_path) as found:
        for status, said in ended([mawl(tmp_path, "generate", "nano") for _ in range(2)]):
            assert status == 0, said
    assert found == NOTHING
    ((status, said),) = ended([mawl(tmp_path, "run", "nano")])
    assert status == 0, said


@pytest.mark.long(minutes=2)
def test_a_campaign_is_left_alone(place: Path) -> None:
    with cleaning(place) as found:
        ((status, said),) = ended([mawl(place, "run", "nano", "--repeat", "4")])
    assert status == 0, said
    assert found == NOTHING


@pytest.mark.long(minutes=6)
def test_two_qualifications_at_once_both_end_with_an_answer(tmp_path: Path) -> None:
    with cleaning(tmp_path) as found:
        for status, said in ended(
            [mawl(tmp_path, "qualify", "--minutes", "3", "--yes", "--anyway") for _ in range(2)]
        ):
            assert status in (0, 3, 4), said
    assert found == NOTHING


@pytest.mark.long(minutes=1)
def test_nodes_are_left_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ssh_here(place)["PATH"])
    with cleaning(place) as found:
        for _ in range(3):
            ((status, said),) = ended([mawl(place, "run", "nano", "--ssh", "alpha,beta")])
            assert status == 0, said
    assert found == NOTHING


@pytest.mark.long(minutes=1)
def test_a_server_of_run_folders_is_left_alone(place: Path) -> None:
    ((status, said),) = ended([mawl(place, "run", "nano")])
    assert status == 0, said
    server = mawl(place, "serve", "--port", "0")
    try:
        with cleaning(place) as found:
            ((status, said),) = ended([mawl(place, "run", "nano")])
    finally:
        server.terminate()
    assert status == 0, said
    assert found == NOTHING
    assert "Traceback" not in server.communicate()[0]

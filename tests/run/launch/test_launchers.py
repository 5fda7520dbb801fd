"""Two launchers as one: who gets what, one greeting, and the loss of either."""

from __future__ import annotations

import select
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from mawl.records.model.messages import FromLauncher, Hello, Release, Start, Started, Stop
from mawl.records.spec.program_options import Options
from mawl.run.launch.client import Launchers
from mawl.run.launch.setup import arrow_pool
from tests.contract.jobs import assign
from tests.fakes.launcher import FakeLauncher


def start(job: str, place: Path, *, command: list[str] | None = None, gate: str | None = None) -> Start:
    assignment = assign("wide_sort", 0.0003, Options(), {}, place / job)
    return Start(assignment=msgspec.structs.replace(assignment, job=job), command=command, gate=gate)


def names(launcher: FakeLauncher) -> list[str]:
    return [type(message).__name__ for message in launcher.sent]


def is_readable(launchers: Launchers) -> bool:
    return bool(select.select([launchers.fileno()], [], [], 0)[0])


def started(told: list[FromLauncher]) -> list[str]:
    return [message.job for message in told if isinstance(message, Started)]


@pytest.fixture
def programs() -> FakeLauncher:
    return FakeLauncher({"lost-program": "lose", "long-program": "hang"})


@pytest.fixture
def commands() -> FakeLauncher:
    return FakeLauncher({"lost-command": "lose", "long-command": "hang"}, mode="bare")


@pytest.mark.parametrize(
    ("pools", "chosen"), [("jemalloc system", "jemalloc"), ("mimalloc system", "system")]
)
def test_an_arrow_without_jemalloc_takes_memory_of_the_c_library(
    pools: str, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pa, "supported_memory_backends", pools.split)
    assert arrow_pool() == chosen


def test_both_greet_as_one_with_what_both_used(programs: FakeLauncher, commands: FakeLauncher) -> None:
    launchers = Launchers(programs, commands)
    assert is_readable(launchers)
    (hello,) = launchers.receive()
    assert isinstance(hello, Hello)
    assert (hello.mode, hello.usage.user_cpu_seconds, hello.usage.system_cpu_seconds) == ("zygote", 2.0, 1.0)
    assert not is_readable(launchers)
    assert launchers.receive() == []


def test_the_greeting_waits_for_the_slower_one(programs: FakeLauncher, commands: FakeLauncher) -> None:
    held = commands.receive()
    launchers = Launchers(programs, commands)
    assert launchers.receive() == []
    commands._tell(held[0])
    assert [type(message) for message in launchers.receive()] == [Hello]


def test_each_job_goes_to_its_launcher_and_a_release_to_both(
    programs: FakeLauncher, commands: FakeLauncher, tmp_path: Path
) -> None:
    launchers = Launchers(programs, commands)
    launchers.send(start("long-program", tmp_path, gate="together"))
    launchers.send(start("long-command", tmp_path, command=["sleep", "9"], gate="together"))
    assert (names(programs), names(commands)) == (["Start"], ["Start"])
    launchers.send(Release(gate="together"))
    assert (programs.started, commands.started) == (["long-program"], ["long-command"])
    launchers.send(Stop(job="long-command"))
    assert (names(programs), names(commands)) == (["Start", "Release"], ["Start", "Release", "Stop"])
    assert started(launchers.receive()) == ["long-program", "long-command"]


@pytest.mark.parametrize(
    ("lost", "command"), [("lost-program", None), ("lost-command", ["true"])], ids=["programs", "commands"]
)
def test_the_loss_of_one_is_the_loss_of_both_and_what_the_other_told_stays(
    programs: FakeLauncher, commands: FakeLauncher, tmp_path: Path, lost: str, command: list[str] | None
) -> None:
    launchers = Launchers(programs, commands)
    launchers.receive()
    before = launchers.lost
    other = start("well", tmp_path, command=["true"] if command is None else None)
    launchers.send(other)
    launchers.send(start(lost, tmp_path, command=command))
    assert (before, launchers.lost) == (None, "it was killed by signal 9")
    assert started(launchers.receive()) == ["well"]
    # The end of the lost one stays readable: a loop that watched it would turn for ever.
    launcher = programs if command is None else commands
    launcher._tell(Started(job=lost, at=0.0, monotonic=0.0))
    assert not is_readable(launchers)
    launchers.close()


def test_complaints_of_both_are_told(programs: FakeLauncher, commands: FakeLauncher) -> None:
    programs.complaints.append("a line of the first")
    commands.complaints.append("a line of the second")
    assert Launchers(programs, commands).complaints == ["a line of the first", "a line of the second"]

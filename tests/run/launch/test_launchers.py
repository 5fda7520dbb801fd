"""Two launchers as one: who gets what, one greeting, and the loss of either.

Bytes of a pipe become messages; the rest becomes sentences.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from mawl.records.model.messages import (
    Answered,
    Failed,
    FromLauncher,
    Hello,
    Release,
    Start,
    Started,
    Stop,
    decode_from_launcher,
    line,
)
from mawl.records.spec.program_options import Options
from mawl.run.launch.client import Launchers
from mawl.run.launch.setup import PIPE_BUF, Inbox, Reporter, arrow_pool
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


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(read, False)
    yield read, write
    for descriptor in (read, write):
        try:
            os.close(descriptor)
        except OSError:
            assert descriptor == write  # some tests close the writing end themselves


def test_a_message_in_two_pieces_is_one_message(pipe: tuple[int, int]) -> None:
    inbox, text = Inbox(pipe[0]), line(Started(job="a", at=1.0))
    os.write(pipe[1], text[:7])
    assert inbox.drain() == [] == inbox.take()
    os.write(pipe[1], text[7:] + line(Started(job="b", at=2.0)))
    assert inbox.drain() == [Started(job="a", at=1.0), Started(job="b", at=2.0)]
    assert [message.job for message in inbox.take() if isinstance(message, Started)] == ["a", "b"]
    assert inbox.take() == []
    assert not inbox.ended


@pytest.mark.parametrize(
    "garbage", [b"{}\n", b"\xff\xfe\n", b'{"type":"unheard_of"}\n', b'{"type":"started"}\n', b"\n"]
)
def test_a_line_that_is_no_message_is_left_out_with_a_sentence(pipe: tuple[int, int], garbage: bytes) -> None:
    inbox = Inbox(pipe[0])
    os.write(pipe[1], garbage + line(Started(job="a", at=1.0)))
    assert len(inbox.drain()) == 1
    assert [f"{len(garbage) - 1} bytes" in complaint for complaint in inbox.complaints] == [True]


def test_garbage_without_an_end_is_not_kept(pipe: tuple[int, int]) -> None:
    inbox = Inbox(pipe[0])
    for _ in range(3):
        os.write(pipe[1], b"x" * (PIPE_BUF + 1))
        inbox.drain()
    os.write(pipe[1], b"\n" + line(Started(job="a", at=1.0)))
    assert inbox.drain() == [Started(job="a", at=1.0)]
    assert len(inbox.complaints) == 4  # the line's end, alone, is the fourth


def test_complaints_have_a_bound(pipe: tuple[int, int]) -> None:
    inbox = Inbox(pipe[0])
    os.write(pipe[1], b"?\n" * 1000)
    inbox.drain()
    assert len(inbox.complaints) == 100


def test_the_end_is_seen_and_half_a_line_before_it_reported(pipe: tuple[int, int]) -> None:
    inbox = Inbox(pipe[0])
    os.write(pipe[1], line(Started(job="a", at=1.0)) + b'{"type":"star')
    os.close(pipe[1])
    assert inbox.drain() == [Started(job="a", at=1.0)]
    assert inbox.ended
    assert "13 bytes" in inbox.complaints[0]
    assert inbox.drain() == []


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\x01", '"', "\\"])
def test_a_long_failure_keeps_both_ends_within_one_write(pipe: tuple[int, int], letter: str) -> None:
    Reporter(pipe[1], "a")(Failed(job="a", sentence="begin " + letter * 9000 + " end"))
    text = os.read(pipe[0], 1 << 20)
    assert len(text) <= PIPE_BUF
    message = decode_from_launcher(text)
    assert isinstance(message, Failed)
    assert message.sentence.startswith("begin ")
    assert message.sentence.endswith(" end")


def test_a_long_answer_becomes_a_failure_that_says_so(pipe: tuple[int, int]) -> None:
    Reporter(pipe[1], "a")(Answered(job="a", answer={"letters": "x" * 5000}))
    message = decode_from_launcher(os.read(pipe[0], 1 << 20))
    assert isinstance(message, Failed)
    assert "Answered of 50" in message.sentence
    assert "4096 bytes" in message.sentence


def test_reporting_to_a_runner_that_is_gone_is_no_error() -> None:
    read, write = os.pipe2(os.O_CLOEXEC)
    os.close(read)
    try:
        with pytest.raises(BrokenPipeError):
            os.write(write, b"nobody reads this")
        Reporter(write, "a")(Started(job="a", at=1.0))
    finally:
        os.close(write)

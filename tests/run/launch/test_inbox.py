"""Bytes of a pipe become messages; the rest becomes sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from mawl.records.model.messages import Answered, Failed, Started, decode_from_launcher, line
from mawl.run.launch.setup import PIPE_BUF, Inbox, Reporter


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

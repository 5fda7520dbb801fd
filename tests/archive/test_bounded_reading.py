"""Each way in which reading a stranger's file may end, and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from mawl.archive.bounded_reading import ReadingBounds, read_bounded_by
from mawl.base.errors import MawlError, UnreadableRunError, UsageError
from mawl.commands.main import main
from mawl.measure.processes import children

FEW = ReadingBounds(memory_bytes=64 * 2**20, seconds=25)
SHORT = ReadingBounds(memory_bytes=64 * 2**20, seconds=1)


class Content(msgspec.Struct, frozen=True):
    """What the readers here return."""

    text: str


def read(reader: Callable[[], Content], bounds: ReadingBounds = FEW) -> Content:
    return read_bounded_by(reader, Content, "pack", bounds)


def _grown(step_bytes: int) -> Content:
    held: list[bytes] = []
    while True:
        held.append(b"x" * step_bytes)


def _looping() -> Content:
    while True:
        pass


def _asleep() -> Content:
    time.sleep(60)
    return Content("late")


def _killed() -> Content:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives")


def _raising(error: Exception) -> Callable[[], Content]:
    def reader() -> Content:
        raise error

    return reader


def test_what_was_read_comes_back_whole() -> None:
    long = Content("é" * 3_000_000)
    assert read(lambda: long) == long


@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (lambda: _grown(1_000_000), "pack: takes more than 64.0 MiB of memory to read"),
        (lambda: _grown(10**11), "pack: takes more than 64.0 MiB of memory to read"),
        (lambda: Content("x" * 70_000_000), "pack: takes more than 64.0 MiB of memory to read"),
        (_looping, "pack: takes more than 1 s to read"),
        (_asleep, "pack: takes more than 1 s to read"),
        (_killed, "the process that read it ended with signal 9"),
        (_raising(OSError(28, "No space left on device", "/tmp/x")), "/tmp/x: no space left on device"),
    ],
    ids=["memory", "a huge request", "a huge answer", "CPU", "asleep", "death", "system"],
)
def test_what_goes_beyond_a_bound_ends_in_a_sentence(reader: Callable[[], Content], words: str) -> None:
    before = children(os.getpid())
    with pytest.raises(MawlError) as caught:
        read(reader, SHORT if " s to read" in words else FEW)
    assert words in str(caught.value)
    assert children(os.getpid()) == before


def test_an_error_for_the_user_stays_what_it_is() -> None:
    with pytest.raises(UsageError, match=r"^x: is wrong: why; fix$"):
        read(_raising(UsageError("is wrong", where="x", why="why", cure="fix")))


def test_what_mawl_did_not_foresee_is_one_sentence_with_the_place_as_a_note() -> None:
    with pytest.raises(UnreadableRunError, match=r"did not foresee \(ZeroDivisionError: zero\)") as caught:
        read(_raising(ZeroDivisionError("zero")))
    assert "test_bounded_reading.py" in "".join(caught.value.__notes__)


def test_the_processes_that_reading_started_end_with_it(tmp_path: Path) -> None:
    def reader() -> Content:
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        (tmp_path / "pid").write_text(str(pid))
        return _asleep()

    with pytest.raises(UnreadableRunError, match="1 s"):
        read(reader, SHORT)
    pid = int((tmp_path / "pid").read_text())
    ends_at = time.monotonic() + 30
    while Path(f"/proc/{pid}/statm").exists() and Path(f"/proc/{pid}/statm").read_text().split()[1] != "0":
        assert time.monotonic() < ends_at
        time.sleep(0.01)


@pytest.mark.parametrize("verb", ["validate", "publish"])
def test_a_verb_says_what_its_bound_was_and_leaves_nothing(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack, temporary = tmp_path / "huge.mawl.zip", tmp_path / "temporary"
    pack.write_bytes(b"")
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr("mawl.archive.subject.Pack", lambda _: _grown(50_000_000))
    assert main([verb, str(pack), *(["--output", str(tmp_path / "site")] if verb == "publish" else [])]) == 1
    said = capsys.readouterr().err
    assert said == (
        f"mawl {verb}: {pack}: takes more than 256 MiB of memory to read: mawl reads files of others within "
        "bounds; if you trust who made it, read it with --trusted, which has no such bound\n"
    )
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("verb", ["validate", "publish"])
def test_what_is_trusted_is_read_without_bounds(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = tmp_path / "one.mawl.zip"
    pack.write_bytes(b"")
    site = ["--output", str(tmp_path / "site")] if verb == "publish" else []
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("it was read in another process"))
    assert main([verb, str(pack), "--trusted", *site]) == 1
    assert f"{pack}: is no pack of mawl" in capsys.readouterr().err

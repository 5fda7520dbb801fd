"""Files that a user names: whole or as they were, named in every sentence, with their mode, through links."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.records.store import output
from mawl.records.store.output import OutputFile, write_output
from tests import needs
from tests.fakes.full_disk import small_files

OLD = b"an older report\n"


@pytest.mark.parametrize("held", [OLD, None])
def test_a_write_that_fails_keeps_what_was_there_and_names_the_file(
    tmp_path: Path, held: bytes | None
) -> None:
    path = tmp_path / "page.html"
    if held is not None:
        path.write_bytes(held)
    with small_files(1000), pytest.raises(UnsuitableMachineError) as raised:
        write_output(path, b"x" * 5000)
    assert str(raised.value) == (
        f"{path}: cannot be written{', and what it held is kept' if held else ''}: file too large; "
        "raise the limit of a file's size (ulimit -f), or name another file with --output"
    )
    assert (path.read_bytes() if path.exists() else None) == held
    assert list(tmp_path.iterdir()) == ([] if held is None else [path]), "nothing is left beside"


def test_a_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(OLD)
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        write_output(old, b"report\n")
        write_output(new, b"report\n")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (old, new)] == [0o640, 0o640]
    assert old.read_bytes() == new.read_bytes() == b"report\n"


@pytest.mark.lab
@needs.marks(needs.ROOT)
@pytest.mark.parametrize("may_give_away", [True, False])
def test_a_file_of_another_user_keeps_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_give_away: bool
) -> None:
    path = tmp_path / "shared"
    path.write_bytes(OLD)
    path.chmod(0o664)
    os.chown(path, 12, 34)
    change = os.fchown

    def as_a_member_of_the_group(descriptor: int, user: int, group: int) -> None:
        if user != -1 and not may_give_away:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        change(descriptor, user, group)

    monkeypatch.setattr(os, "fchown", as_a_member_of_the_group)
    write_output(path, b"report\n")
    after = path.stat()
    assert (after.st_uid, after.st_gid) == (12 if may_give_away else os.getuid(), 34)
    assert stat.S_IMODE(after.st_mode) == 0o664 and path.read_bytes() == b"report\n"


def test_a_link_stays_one_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name in ("there/real", "there/none-yet"):
        link = tmp_path / Path(name).name
        link.symlink_to(name)
        write_output(link, b"report\n")
        write_output(link, b"report\n")
        assert link.is_symlink() and (tmp_path / name).read_bytes() == b"report\n"
    assert len(list((tmp_path / "there").iterdir())) == 2


@pytest.mark.parametrize("name", ["x" * 255, "\u754c" * 85, "\udcff" * 255])
def test_the_longest_names_are_written(tmp_path: Path, name: str) -> None:
    write_output(tmp_path / name, b"report\n")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    (tmp_path / "loop").symlink_to("loop")
    for name, why in (
        ("none/out", "no such file or directory"),
        ("file/out", "not a directory"),
        (".", "is a directory"),
        ("loop", "too many levels of symbolic links"),
        ("a\0b", "embedded null byte"),
        ("x" * 256, "file name too long"),
    ):
        with pytest.raises(UsageError) as raised:
            OutputFile(tmp_path / name, "--junit")
        assert str(raised.value).endswith(
            f": cannot be written: {why}; name a file in a directory that is there and that you may write "
            "to: --junit FILE"
        )
    assert (tmp_path / "file").read_bytes() == OLD


def test_trying_a_place_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(OLD)
    for name in ("old", "new"):
        with OutputFile(tmp_path / name):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == OLD


@pytest.mark.parametrize("refused", [errno.EACCES, errno.EBUSY])
def test_where_no_file_may_lie_beside_it_the_file_itself_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(refused, os.strerror(refused))

    monkeypatch.setattr(output, "_write_beside", refuse)
    path = tmp_path / "report"
    path.write_bytes(OLD)
    number = path.stat().st_ino
    with small_files(1000), pytest.raises(UnsuitableMachineError, match="what it held is kept: file too"):
        write_output(path, b"x" * 5000)
    assert path.read_bytes() == OLD
    for content in (b"a longer report than the older one\n", b"short\n"):
        write_output(path, content)
        assert path.read_bytes() == content and path.stat().st_ino == number
    with pytest.raises(
        UnsuitableMachineError, match=f"none: cannot be written: {os.strerror(refused).lower()}"
    ):
        write_output(tmp_path / "none", b"report\n")
    assert not (tmp_path / "none").exists()


def test_a_file_that_breaks_off_while_it_is_written_in_its_place_is_said_to_be_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full file system that copies on write has no room even for blocks that the file has already."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    def break_off(descriptor: int, content: bytes) -> None:
        os.write(descriptor, content[:2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output, "_write_beside", refuse)
    monkeypatch.setattr(output, "_write_all", break_off)
    path = tmp_path / "report"
    path.write_bytes(OLD)
    with pytest.raises(UnsuitableMachineError, match="what it held is damaged: no space left on device"):
        write_output(path, b"ne")
    assert path.read_bytes() == b"ne" + OLD[2:]


@needs.marks(needs.NOT_ROOT)
@pytest.mark.lab
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_bytes(OLD)
    path.chmod(0o444)
    with pytest.raises(UsageError, match="cannot be written: permission denied"):
        OutputFile(path)
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    try:
        write_output(path, b"report\n")
    finally:
        tmp_path.chmod(0o755)
    assert path.read_bytes() == b"report\n"


def test_a_pipe_gets_the_content_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_output(pipe, b"x" * 200_000)
    reader.join(60)
    assert pipe.is_fifo() and read == [b"x" * 200_000]


def test_standard_output_that_is_a_file_keeps_what_others_print_there(tmp_path: Path) -> None:
    code = "from mawl.records.store.output import write_output; write_output('/dev/stdout', b'report\\n')"
    with (tmp_path / "log").open("ab") as log:
        log.write(b"before\n")
        log.flush()
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
        log.write(b"after\n")
    assert (tmp_path / "log").read_bytes() == b"before\nreport\nafter\n"
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_full_device_is_named_and_stays() -> None:
    with pytest.raises(
        UnsuitableMachineError,
        match=r"^/dev/full: cannot be written: no space left on device; name another file with --output$",
    ):
        write_output("/dev/full", b"report\n")
    assert Path("/dev/full").is_char_device()


@pytest.mark.lab
@needs.marks(needs.ROOT)
def test_a_device_node_is_not_replaced_and_a_block_device_is_refused(tmp_path: Path) -> None:
    null, block = tmp_path / "null", tmp_path / "block"
    os.mknod(null, 0o20600, os.makedev(1, 3))
    os.mknod(block, 0o60600, os.makedev(7, 250))
    write_output(null, b"report\n")
    assert null.is_char_device()
    with pytest.raises(UsageError, match="it is a block device"):
        OutputFile(block)
    assert block.is_block_device()

"""One way to open a file of unknown origin: regular, no link below its folder, no waiting, bounded."""

from __future__ import annotations

import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from mawl.base.foreign import A_LINK, NOT_REGULAR, OUTSIDE, descriptor_of, open_regular, read_regular


def why(path: Path, inside: Path | None = None) -> str | None:
    with pytest.raises(OSError) as raised:
        read_regular(path, 10, inside=inside)
    assert raised.value.filename == str(path)
    return raised.value.strerror


def test_a_file_is_read_up_to_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert read_regular(path, 10) == read_regular(path, 10, inside=tmp_path) == b"0123456789"
    with open_regular(path, inside=tmp_path) as file:
        assert file.readline() == b"0123456789"
    path.write_bytes(b"0123456789a")
    assert why(path) == "larger than the 10 bytes that mawl reads"


def test_a_small_file_takes_no_memory_for_the_bound(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    tracemalloc.start()
    try:
        assert read_regular(tmp_path / "file", 2**30) == b"0123456789"
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("folder", [False, True])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, folder: bool) -> None:
    inside = tmp_path if folder else None
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name in ("pipe", "directory", "socket"):
            assert why(tmp_path / name, inside) == NOT_REGULAR, name
    assert why(Path("/dev/null")) == NOT_REGULAR
    assert why(tmp_path / "absent", inside) == "No such file or directory"
    assert why(tmp_path / "zero\0", inside) == "not a name of a file"


def test_a_link_is_followed_only_where_the_user_named_it(tmp_path: Path) -> None:
    run, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    (run / "logs").mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "file").write_bytes(b"secret")
    (run / "link").symlink_to(elsewhere / "file")
    (run / "journal").symlink_to(elsewhere)
    (tmp_path / "named").symlink_to(run)
    (run / "logs" / "own").write_bytes(b"own")
    assert read_regular(run / "link", 10) == b"secret"
    assert read_regular(tmp_path / "named" / "logs" / "own", 10, inside=tmp_path / "named") == b"own"
    assert why(run / "link", run) == A_LINK
    assert why(run / "journal" / "file", run) == A_LINK
    assert why(run / "logs" / "own" / "below", run) == "Not a directory"


def test_no_path_leads_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    for path in (tmp_path / "run" / ".." / "secret", tmp_path / "secret"):
        assert why(path, tmp_path / "run") == OUTSIDE


def test_a_refused_file_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("directory")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("directory", "link", "absent", "link/file"):
        with pytest.raises(OSError):
            descriptor_of(tmp_path / name, inside=tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before

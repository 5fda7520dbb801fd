"""Direct requests: the same content, each byte once, and the truth about what was direct."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.programs.tables import direct
from mawl.programs.tables.arrow import TableWriter, array, body_sum, read_batches, row_bytes
from mawl.programs.tables.direct import AlignedMemory, DirectIo, GatheredWriter
from tests import needs

BUFSIZE = 256 * 1024


def write(path: Path, batches: int = 7, rows: int = 40_000) -> list[pa.RecordBatch]:
    made = []
    for number in range(batches):
        values = np.arange(number * rows, (number + 1) * rows, dtype=np.float64)
        made.append(pa.RecordBatch.from_arrays([array(values), array(-values)], names=["a", "b"]))
    with TableWriter(path, made[0].schema, bufsize_bytes=BUFSIZE) as writer:
        for batch in made:
            writer.write(batch)
    return made


def is_direct_here(place: Path) -> bool:
    (place / "probe").write_bytes(bytes(4096))
    descriptor, found = DirectIo("auto").open(place / "probe", os.O_RDONLY)
    os.close(descriptor)
    return found


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Every request as (offset, bytes asked for)."""
    made: list[tuple[int, int]] = []
    right = os.preadv

    def note(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        made.append((offset, len(buffers[0])))
        return right(descriptor, buffers, offset)

    monkeypatch.setattr("mawl.programs.tables.direct.os.preadv", note)
    return made


@pytest.mark.parametrize("rows", [8, 1000, 40_000, 65_536])
def test_batches_are_the_same_and_all_stay_valid(tmp_path: Path, rows: int) -> None:
    made = write(tmp_path / "t", rows=rows)
    found = list(read_batches(tmp_path / "t", bufsize_bytes=BUFSIZE, direct=DirectIo("auto")))
    assert len(found) == len(made)
    assert all(one.equals(other) for one, other in zip(found, made, strict=True))


def test_sums_are_those_of_the_batches(tmp_path: Path) -> None:
    made = write(tmp_path / "t")
    sums: list[tuple[int, int]] = []
    for _ in read_batches(
        tmp_path / "t",
        bufsize_bytes=BUFSIZE,
        total=lambda rows, value: sums.append((rows, value)),
        direct=DirectIo("auto"),
    ):
        pass
    assert sums == [(batch.num_rows, body_sum(batch, row_bytes(batch.schema))) for batch in made]


def test_a_pass_asks_for_each_byte_once_in_aligned_requests_of_bufsize(
    tmp_path: Path, requests: list[tuple[int, int]]
) -> None:
    write(tmp_path / "t")
    size = (tmp_path / "t").stat().st_size
    for _ in read_batches(tmp_path / "t", bufsize_bytes=BUFSIZE, direct=DirectIo("auto")):
        pass
    assert all(offset % 4096 == 0 and asked % 4096 == 0 for offset, asked in requests)
    asked = [size for _, size in requests]
    footer = next(number for number, (offset, _) in enumerate(requests) if offset == 0)
    assert sum(asked[:footer]) <= 3 * 4096
    assert set(asked[footer:-1]) == {BUFSIZE}
    assert size - BUFSIZE <= sum(asked[footer:]) < size + 4096


def test_memory_of_batches_that_are_gone_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "t", batches=30)
    made: list[AlignedMemory] = []
    right = AlignedMemory.__init__

    def note(self: AlignedMemory) -> None:
        right(self)
        made.append(self)

    monkeypatch.setattr(AlignedMemory, "__init__", note)
    for _ in read_batches(tmp_path / "t", bufsize_bytes=BUFSIZE, direct=DirectIo("auto")):
        pass
    assert len(made) == 1
    assert len(made[0]._pieces) <= 3


def test_what_was_direct_is_counted_and_only_that(tmp_path: Path) -> None:
    write(tmp_path / "t")
    size = (tmp_path / "t").stat().st_size
    counts = {}
    for mode in direct.DirectMode.__args__:  # type: ignore[attr-defined]
        if mode == "yes" and not is_direct_here(tmp_path):
            continue
        io = DirectIo(mode)
        for _ in read_batches(tmp_path / "t", bufsize_bytes=BUFSIZE, direct=io):
            pass
        counts[mode] = io.read_bytes
    assert counts["no"] == 0
    assert counts["auto"] >= size if is_direct_here(tmp_path) else counts["auto"] == 0
    assert counts.get("yes", counts["auto"]) == counts["auto"]


def refuse_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    right = os.open

    def refuse(name: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument", str(name))
        return right(name, flags, mode)

    monkeypatch.setattr("mawl.programs.tables.direct.os.open", refuse)


def refuse_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a device with blocks of 16 KiB does: it may be opened, and then refuses."""
    right = os.preadv

    def refuse(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return right(descriptor, buffers, offset)

    monkeypatch.setattr("mawl.programs.tables.direct.os.preadv", refuse)


def lie_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "mawl.programs.tables.direct._why_not", lambda _: "tmpfs lies in memory and has no device"
    )


@pytest.mark.parametrize("refusal", [refuse_opening, refuse_requests, lie_in_memory])
def test_a_refusal_goes_through_the_cache_and_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Callable[[pytest.MonkeyPatch], None]
) -> None:
    made = write(tmp_path / "t")
    if refusal is refuse_requests and not is_direct_here(tmp_path):
        needs.skip("the file system of the tests refuses direct I/O by itself")
    refusal(monkeypatch)
    io = DirectIo("auto")
    found = list(read_batches(tmp_path / "t", bufsize_bytes=BUFSIZE, direct=io))
    assert all(one.equals(other) for one, other in zip(found, made, strict=True))
    assert io.read_bytes == 0
    with pytest.raises(UnsuitableMachineError, match="direct I/O is refused here"):
        list(read_batches(tmp_path / "t", bufsize_bytes=BUFSIZE, direct=DirectIo("yes")))


@needs.marks(needs.directory("/dev/shm"))
def test_memory_is_no_device(tmp_path_factory: pytest.TempPathFactory) -> None:
    reason = direct._why_not("/dev/shm")
    assert reason is not None
    assert "lies in memory" in reason


SCHEMA = pa.schema(
    [
        pa.field("number", pa.float64(), nullable=False),
        pa.field("text", pa.binary(24), nullable=False),
        pa.field("other", pa.float64(), nullable=False),
    ]
)


def columns(rows: int) -> list[np.ndarray]:
    texts = np.array([f"row {row}".ljust(24) for row in range(rows)], dtype="S24")
    return [np.arange(rows) * 1.5, texts, np.arange(rows) - 7.0]


def write_gathered(path: Path, rows: int, *, chunk: int = 64, bufsize_bytes: int = 700) -> GatheredWriter:
    writer = GatheredWriter(path, SCHEMA, rows=rows, rows_per_batch=16, bufsize_bytes=bufsize_bytes)
    for start in range(0, rows, chunk):
        writer.write([column[start : start + chunk] for column in columns(rows)])
    writer.close()
    return writer


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 32, 64, 129, 200])
def test_bytes_are_those_that_arrow_writes(rows: int, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    writer = write_gathered(ours, rows)
    batch = pa.RecordBatch.from_arrays([array(column) for column in columns(rows)], schema=SCHEMA)
    with TableWriter(theirs, SCHEMA, bufsize_bytes=4096) as arrow:
        for start in range(0, rows, 16):
            arrow.write(batch.slice(start, 16))
    assert ours.read_bytes() == theirs.read_bytes()
    assert writer.bytes == arrow.bytes
    assert pa.Table.from_batches(read_batches(ours, bufsize_bytes=4096)) == pa.Table.from_batches([batch])


def test_requests_are_of_the_size_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    original = os.writev

    def noting(descriptor: int, pieces: Sequence[memoryview]) -> int:
        sizes.append(sum(len(piece) for piece in pieces))
        return original(descriptor, pieces)

    monkeypatch.setattr(os, "writev", noting)
    writer = write_gathered(tmp_path / "table", 640, chunk=640, bufsize_bytes=2048)
    assert max(sizes) == 2048
    assert sizes.count(2048) >= len(sizes) - 2
    assert sum(sizes) == writer.bytes


def test_requests_of_a_later_chunk_end_where_requests_of_the_first_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[int] = []
    original = os.writev

    def noting(descriptor: int, pieces: Sequence[memoryview]) -> int:
        written = original(descriptor, pieces)
        ends.append(os.lseek(descriptor, 0, os.SEEK_CUR))
        return written

    monkeypatch.setattr(os, "writev", noting)
    write_gathered(tmp_path / "table", 640, chunk=160, bufsize_bytes=2048)
    # Each of four chunks, and the footer, may end elsewhere.
    assert sum(end % 2048 != 0 for end in ends) <= 5
    assert len(ends) >= 15


def test_no_process_that_makes_tables_imports_pandas(tmp_path: Path) -> None:
    make = (
        "import pathlib, sys\n"
        "import numpy as np, pyarrow as pa\n"
        "from mawl.programs.tables.direct import GatheredWriter\n"
        "schema = pa.schema([pa.field('number', pa.float64()), pa.field('text', pa.binary(8))])\n"
        "writer = GatheredWriter(\n"
        "    pathlib.Path(sys.argv[1]), schema, rows=8, rows_per_batch=8, bufsize_bytes=4096\n"
        ")\n"
        "writer.write([np.zeros(8), np.zeros(8, 'S8')])\n"
        "writer.close()\n"
        "print('pandas' in sys.modules)\n"
    )
    command = [sys.executable, "-c", make, str(tmp_path / "table")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "False\n"


def test_a_short_write_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_gathered(tmp_path / "whole", 64)
    original = os.writev
    monkeypatch.setattr(os, "writev", lambda descriptor, pieces: original(descriptor, [pieces[0][:5]]))
    write_gathered(tmp_path / "short", 64)
    assert (tmp_path / "short").read_bytes() == (tmp_path / "whole").read_bytes()


def test_rows_that_do_not_fit_the_batches_are_refused(tmp_path: Path) -> None:
    writer = GatheredWriter(tmp_path / "table", SCHEMA, rows=40, rows_per_batch=16, bufsize_bytes=4096)
    with pytest.raises(ValueError, match="4 rows do not fit the batches, 20 are left"):
        writer.write([column[:20] for column in columns(40)])
    writer.abandon()

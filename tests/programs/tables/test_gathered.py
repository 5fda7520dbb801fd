"""The gathered writer against Arrow's own: the same bytes, in requests of the size asked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mawl.programs.tables.arrow import TableWriter, array, read_batches
from mawl.programs.tables.direct import GatheredWriter

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


def write(path: Path, rows: int, *, chunk: int = 64, bufsize_bytes: int = 700) -> GatheredWriter:
    writer = GatheredWriter(path, SCHEMA, rows=rows, rows_per_batch=16, bufsize_bytes=bufsize_bytes)
    for start in range(0, rows, chunk):
        writer.write([column[start : start + chunk] for column in columns(rows)])
    writer.close()
    return writer


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 32, 64, 129, 200])
def test_bytes_are_those_that_arrow_writes(rows: int, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    writer = write(ours, rows)
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
    writer = write(tmp_path / "table", 640, chunk=640, bufsize_bytes=2048)
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
    write(tmp_path / "table", 640, chunk=160, bufsize_bytes=2048)
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
    write(tmp_path / "whole", 64)
    original = os.writev
    monkeypatch.setattr(os, "writev", lambda descriptor, pieces: original(descriptor, [pieces[0][:5]]))
    write(tmp_path / "short", 64)
    assert (tmp_path / "short").read_bytes() == (tmp_path / "whole").read_bytes()


def test_rows_that_do_not_fit_the_batches_are_refused(tmp_path: Path) -> None:
    writer = GatheredWriter(tmp_path / "table", SCHEMA, rows=40, rows_per_batch=16, bufsize_bytes=4096)
    with pytest.raises(ValueError, match="4 rows do not fit the batches, 20 are left"):
        writer.write([column[:20] for column in columns(40)])
    writer.abandon()

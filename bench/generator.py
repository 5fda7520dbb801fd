"""Generator rows: against a compiled generator at the same sink, and against bare NumPy.

``python -m bench.generator SIDE ROWS DIRECTORY`` makes one side alone and prints the CPU seconds of its
work without the interpreter's start and imports.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.harness import Result, alternate, at_least, at_most, cpu_seconds, ratio, sized, spread
from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import Code, Column, InputTable, RowNumber, Uniform, lay_out
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.programs.datagen.parts import chunk_rows, slots
from mawl.programs.datagen.text import filled_bytes, fills
from mawl.programs.datagen.values import column_values

NAME = "generator"

_RECORD_BYTES = 152
_RUNS = sized(5, 1)
_PEER_SCALE, _PEER_ROWS = sized(("0.2", 1_199_969), ("0.001", 6005))
"""Rows of lineitem at that scale factor, as tpchgen-cli 4.0 makes it."""
_BARE_ROWS = sized(2_400_000, 20_000)
_SAVING = 0.90
_BUFSIZE = 256 * 1024

LINES = InputTable(
    name="lines",
    full_bytes=_PEER_ROWS * _RECORD_BYTES,
    layout="text",
    record_bytes=_RECORD_BYTES,
    unfilled_bytes=0.0,
    records=(
        lay_out(
            "L",
            1,
            _RECORD_BYTES,
            (
                (Column("order", RowNumber()), 9),
                (Column("part", Uniform(1, 40_000)), 8),
                (Column("supplier", Uniform(1, 2_000)), 6),
                (Column("line", Uniform(1, 7)), 1),
                (Column("quantity", Uniform(1, 50)), 2),
                (Column("price_cents", Uniform(90_000, 10_000_000)), 8),
                (Column("discount", Uniform(0, 10)), 2),
                (Column("tax", Uniform(0, 8)), 1),
                (Column("shipped", Uniform(2_448_000, 2_451_000)), 7),
                (Column("committed", Uniform(2_448_000, 2_451_000)), 7),
                (Column("received", Uniform(2_448_000, 2_451_000)), 7),
                (Column("flag", Code(("R", "A", "N")), 8), 8),
                (Column("status", Code(("O", "F")), 8), 8),
                (
                    Column(
                        "instruction",
                        Code(("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")),
                        24,
                    ),
                    24,
                ),
                (Column("mode", Code(("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")), 8), 8),
            ),
            "comment",
        ),
    ),
)
"""Sixteen columns as lineitem has, 15 fields and a comment, of fixed width."""

_COMMENT_BYTES = 27
"""Filled bytes of the comment: the mean of lineitem's (10 to 43)."""


def run() -> list[Result]:
    """Rows per CPU second beside tpchgen-cli, CPU beside bare NumPy, and the rate."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        directory = Path(place)
        return [_against_peer(directory), *_against_bare(directory)]


def _against_peer(directory: Path) -> Result:
    peer_command = [
        str(Path(sys.executable).with_name("tpchgen-cli")),
        *("-s", _PEER_SCALE, "--tables", "lineitem", "--num-threads", "1", "--output-dir", str(directory)),
    ]
    our_command = [sys.executable, "-m", "bench.generator", "lines", str(_PEER_ROWS), str(directory)]
    ours, peer = alternate(
        _clean(directory, lambda: _PEER_ROWS / cpu_seconds(our_command)),
        _clean(directory, lambda: _PEER_ROWS / cpu_seconds(peer_command)),
        _RUNS,
    )
    value, pairs = ratio(ours, peer)
    return at_least(
        "rows per CPU second against tpchgen-cli lineitem",
        value,
        "x",
        1.0,
        f"16 columns, {_PEER_ROWS} text rows into one directory, start-up included; "
        f"ours {spread(ours, 'rows/s')}, tpchgen-cli {spread(peer, 'rows/s')}; {pairs}",
    )


def _against_bare(directory: Path) -> list[Result]:
    def side(name: str) -> Callable[[], float]:
        command = [sys.executable, "-m", "bench.generator", name, str(_BARE_ROWS), str(directory)]
        return _clean(
            directory,
            lambda: float(subprocess.run(command, check=True, capture_output=True, text=True).stdout),
        )

    ours, bare = alternate(side("transactions"), side("bare"), _RUNS)
    value, pairs = ratio(ours, bare)
    size = _BARE_ROWS * INPUTS["transactions"].row_bytes
    rates = [size / seconds / 1e6 for seconds in ours]
    what = f"{_BARE_ROWS} rows of transactions ({size / 1e6:.0f} MB), imports left out on both sides"
    return [
        at_most(
            "generator CPU against bare NumPy with plain writes",
            value,
            "x",
            1.1,
            f"{what}; ours {spread(ours, 's')}, bare {spread(bare, 's')}; {pairs}",
        ),
        at_least(
            "generated per CPU second", statistics.median(rates), "MB/s", 400.0, f"{what}; {spread(rates)}"
        ),
    ]


def _clean(directory: Path, measure: Callable[[], float]) -> Callable[[], float]:
    """Measure, then empty the directory, so that every run writes new files."""

    def run() -> float:
        figure = measure()
        for path in directory.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return figure

    return run


def _generate(table: InputTable, rows: int, saving: float, directory: Path) -> None:
    generate(
        [
            TableRequest(
                table=table.name, scale=rows * table.row_bytes / table.full_bytes, seed=1, saving=saving
            )
        ],
        directory,
        processes=1,
        bufsize_bytes=_BUFSIZE,
        tables={table.name: table},
    )


def _bare(table: InputTable, rows: int, directory: Path) -> None:
    """The same columns, each computed and written plainly; no sums, no format, no checks."""
    filled = fills(table, filled_bytes(table, _SAVING))
    step = chunk_rows(table)
    for slot in slots(table, rows):
        descriptor = os.open(directory / f"{slot.file}.bare", os.O_WRONLY | os.O_CREAT, 0o600)
        for start in range(slot.start, slot.start + slot.rows, step):
            count = min(step, slot.start + slot.rows - start)
            for column in table.columns:
                values = column_values(
                    table,
                    column,
                    seed=1,
                    replica=0,
                    start=start,
                    count=count,
                    filled=filled.get(column.name, 0),
                )
                os.write(descriptor, values.view("u1").data)
        os.close(descriptor)


def main(arguments: list[str]) -> None:
    """One side alone."""
    side, rows, directory = arguments[0], int(arguments[1]), Path(arguments[2])
    before = time.process_time()
    if side == "bare":
        _bare(INPUTS["transactions"], rows, directory)
    elif side == "lines":
        _generate(LINES, rows, 1.0 - _COMMENT_BYTES * 7 / 8 / _RECORD_BYTES, directory)
    else:
        _generate(INPUTS["transactions"], rows, _SAVING, directory)
    print(time.process_time() - before)


if __name__ == "__main__":
    main(sys.argv[1:])

"""One change to one file of a folder, chosen at random."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

MOST_COPIES = 8_000
TEXTS = (
    "",
    " ",
    "\x1b]0;owned\x07",
    "$$x$$",
    "../../etc",
    "\u202e",
    "x" * 5000,
    "<script>",
    "nan",
    "latest",
    "-1",
)
NUMBERS = (0, -1, 1, 2**31, 2**53, 2**63 - 1, -(2**63), 1e-300, 1e29, 1e308, -1e18, 0.5)
JSON_VALUES: tuple[Any, ...] = (None, True, [], {}, [[]], {"a": 1}, *TEXTS, *NUMBERS)


def mutate(folder: Path, random: Random) -> str:
    """Change one file below the folder; what was done."""
    files = _own_files(folder.rglob("*"))
    if not files:
        return "nothing left"
    path = random.choice(files)
    by_kind: dict[str, list[Callable[[Path, Random], None]]] = {
        ".parquet": [_column_values, _column_kind, _column_gone, _rows],
        ".json": [_json_value, _json_value, _json_gone, _json_deep],
        ".jsonl": [_line_value, _lines],
        ".toml": [_words, _lines],
    }
    every: list[Callable[[Path, Random], None]] = [_bytes, _cut, _swapped, _special, _words, _lines, _zipped]
    own = by_kind.get(path.suffix, [_words, _lines])
    chosen = random.choice(own * 3 + every)
    try:
        chosen(path, random)
    except Exception:
        _bytes(path, random)  # an earlier change left nothing that this one could change
    return f"{path.relative_to(folder)}: {chosen.__name__}"


def _own_files(paths: Iterable[Path]) -> list[Path]:
    """Regular files; a change may follow no link that an earlier one made, out of the folder."""
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def _bytes(path: Path, random: Random) -> None:
    content = bytearray(path.read_bytes()) or bytearray(b"\0")
    for _ in range(random.choice((1, 3, 30))):
        content[random.randrange(len(content))] = random.randrange(256)
    path.write_bytes(content)


def _cut(path: Path, random: Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(len(content) + 1)])


def _swapped(path: Path, random: Random) -> None:
    other = random.choice(_own_files(path.parent.iterdir()))
    content, own = other.read_bytes(), path.read_bytes()
    path.write_bytes(content)
    other.write_bytes(own)


def _special(path: Path, random: Random) -> None:
    """Something else in the place of the file."""
    path.unlink()
    kind = random.randrange(7)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to("/proc/version")  # a file outside that nobody, not even root, can write
    elif kind == 3:
        path.symlink_to(path.name)
    elif kind == 4:
        path.symlink_to("/dev/zero")
    elif kind == 5 and len(str(path)) < 100:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    # else it is gone


def _words(path: Path, random: Random) -> None:
    """Numbers and words of a text replaced."""
    text = path.read_bytes().decode("latin-1")
    words = text.split(" ")
    for _ in range(random.choice((1, 2, 10))):
        words[random.randrange(len(words))] = str(random.choice((*NUMBERS, *TEXTS, "nan", "inf", "1e999")))
    path.write_bytes(" ".join(words).encode("utf-8", "replace"))


def _lines(path: Path, random: Random) -> None:
    """Lines left out, doubled, mixed."""
    lines = path.read_bytes().splitlines(keepends=True)
    kind = random.randrange(4)
    if kind == 0:
        lines = [line for line in lines if random.random() < 0.8]
    elif kind == 1:
        lines = [line for line in lines for _ in range(random.choice((1, 1, 2)))]
    elif kind == 2:
        random.shuffle(lines)
    else:
        lines = lines * random.choice((2, 20))
    path.write_bytes(b"".join(lines))


def _zipped(path: Path, random: Random) -> None:
    content = path.read_bytes()
    path.write_bytes(gzip.compress(content * random.choice((1, 1, 50)))[: random.choice((None, None, -5))])


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every list or object with each of its keys."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else []
        found += [(one, key) for key in keys]
        waiting += [one[key] for key in keys]
    return found


def _changed(value: Any, random: Random) -> None:
    for _ in range(random.choice((1, 1, 3))):
        at, key = random.choice(_places(value))
        at[key] = random.choice(JSON_VALUES)


def _json_value(path: Path, random: Random) -> None:
    value = json.loads(path.read_bytes())
    _changed(value, random)
    path.write_text(json.dumps(value), errors="replace")


def _json_gone(path: Path, random: Random) -> None:
    value = json.loads(path.read_bytes())
    at, key = random.choice(_places(value))
    del at[key]
    path.write_text(json.dumps(value))


def _json_deep(path: Path, random: Random) -> None:
    value = json.loads(path.read_bytes())
    at, key = random.choice(_places(value))
    at[key] = "DEEP"
    depth = random.choice((100, 900, 20_000))
    path.write_text(json.dumps(value).replace('"DEEP"', "[" * depth + "]" * depth, 1))


def _line_value(path: Path, random: Random) -> None:
    lines = path.read_bytes().splitlines()
    at = random.randrange(len(lines))
    value = json.loads(lines[at])
    _changed(value, random)
    lines[at] = json.dumps(value).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")


def _column_values(path: Path, random: Random) -> None:
    """Values of one column replaced by what its type can hold."""
    table = parquet.read_table(path)
    place = random.randrange(table.num_columns)
    field = table.schema.field(place)
    values = table.column(place).to_pylist()
    choices: tuple[Any, ...] = (None,)
    if pa.types.is_floating(field.type):
        choices = (float("nan"), float("inf"), -float("inf"), *map(float, NUMBERS), None)
    elif pa.types.is_integer(field.type):
        choices = (0, -1, 1, 2**31, 2**53, 2**63 - 1, -(2**63), None)
    elif pa.types.is_string(field.type):
        choices = (*TEXTS, None)
    elif pa.types.is_boolean(field.type):
        choices = (True, False, None)
    elif pa.types.is_timestamp(field.type):
        column = table.column(place).cast(pa.int64())
        values = column.to_pylist()
        choices = (0, -1, 2**60, 1, 4 * 10**15, None)
    elif pa.types.is_map(field.type):
        choices = ([], [(0, 0)], [(-1, 2**62), (5, -5)], None)
    new, share = random.choice(choices), random.choice((0.1, 1.0))
    at = random.randrange(max(len(values), 1))
    values = [
        new if number == at or random.random() < share else value for number, value in enumerate(values)
    ]
    made = (
        pa.array(values, pa.int64()).cast(field.type)
        if pa.types.is_timestamp(field.type)
        else pa.array(values, field.type)
    )
    _write(path, table.set_column(place, pa.field(field.name, field.type), made))


def _column_kind(path: Path, random: Random) -> None:
    table = parquet.read_table(path)
    place = random.randrange(table.num_columns)
    kind = random.choice((pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.list_(pa.int64())))
    new = pa.nulls(table.num_rows, kind) if random.random() < 0.5 else table.column(place).cast(kind)
    _write(path, table.set_column(place, table.schema.field(place).name, new))


def _column_gone(path: Path, random: Random) -> None:
    table = parquet.read_table(path)
    place = random.randrange(table.num_columns)
    _write(path, table.remove_column(place))


def _rows(path: Path, random: Random) -> None:
    """No rows, few, in another order, or many copies of some."""
    table = parquet.read_table(path)
    if not table.num_rows or random.random() < 0.2:
        _write(path, table.slice(0, 0))
        return
    count = random.choice((1, table.num_rows, 2 * table.num_rows, MOST_COPIES))
    indices = np.random.default_rng(random.randrange(2**32)).integers(
        0, random.choice((1, table.num_rows)), count
    )
    _write(path, table.take(pa.array(indices)))


def _write(path: Path, table: pa.Table) -> None:
    parquet.write_table(table, path, compression="zstd")


def copy_of(base: Path, to: Path) -> Path:
    """A fresh copy of a base folder."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(base, to, symlinks=True))

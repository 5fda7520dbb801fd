"""Packs that somebody altered: a bit, a row, a figure, a timestamp, a file, with and without a new manifest.

Every case comes from its number, so that a failure can be made again.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from mawl.archive.container import MANIFEST, read_member, read_members, write_pack
from mawl.archive.manifest import MemberSum, decode_manifest, encode_manifest

Members = dict[str, bytes]
MOST = 2**31
START = datetime(2026, 1, 1, tzinfo=UTC)


def members_of(path: Path) -> Members:
    """The members of a pack with their content."""
    return {member.name: read_member(path, member, MOST) for member in read_members(path)}


def packed(members: Members) -> bytes:
    """A pack of members, whatever they are."""
    file = io.BytesIO()
    write_pack(file, members)
    return file.getvalue()


def with_new_manifest(members: Members) -> Members:
    """The members with a manifest that sums them up: what a forger does who knows the format."""
    manifest = decode_manifest(members[MANIFEST], "")
    others = {name: content for name, content in members.items() if name != MANIFEST}
    summed = {
        name: MemberSum(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        for name, content in others.items()
    }
    return {MANIFEST: encode_manifest(msgspec.structs.replace(manifest, members=summed)), **others}


# Without a new manifest: the file as bytes.


def _bit(pack: bytes, draw: random.Random) -> bytes:
    changed = bytearray(pack)
    changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(pack: bytes, draw: random.Random) -> bytes:
    return pack[: draw.randrange(len(pack))]


def _longer(pack: bytes, draw: random.Random) -> bytes:
    place = draw.choice((0, len(pack), draw.randrange(len(pack))))
    return pack[:place] + draw.randbytes(draw.randrange(1, 200)) + pack[place:]


OUTSIDE: tuple[Callable[[bytes, random.Random], bytes], ...] = (_bit, _cut, _longer)


# A member altered, the manifest new or old.


def _figure(members: Members, draw: random.Random) -> str:
    """One digit of what was printed."""
    name = draw.choice([name for name in members if name.startswith("printed/")])
    _digit(members, name, draw)
    return name


def _log(members: Members, draw: random.Random) -> str:
    """One digit of a log or of the plan."""
    texts = [name for name in members if name.endswith((".saslog", ".toml")) and members[name]]
    name = draw.choice(texts)
    _digit(members, name, draw)
    return name


def _digit(members: Members, name: str, draw: random.Random) -> None:
    places = [found.start() for found in re.finditer(rb"\d", members[name])]
    place = draw.choice(places)
    old = members[name][place : place + 1]
    new = draw.choice([b"%d" % digit for digit in range(10) if b"%d" % digit != old])
    members[name] = members[name][:place] + new + members[name][place + 1 :]


def _fact(members: Members, draw: random.Random) -> str:
    """One leaf of run.json or of the campaign's record."""
    name = draw.choice([name for name in members if name.endswith(("run.json", "campaign.json"))])
    plain = json.loads(members[name])
    leaves = list(_leaves(plain))
    holder, key = draw.choice(leaves)
    value = holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int | float):
        holder[key] = value + draw.choice((1, -1, value or 7, 1000))
    elif isinstance(value, str) and value:
        place = draw.randrange(len(value))
        holder[key] = value[:place] + ("7" if value[place] != "7" else "3") + value[place + 1 :]
    else:
        holder[key] = "x"
    members[name] = (json.dumps(plain, indent=2) + "\n").encode()
    return name


def _leaves(plain: Any) -> Any:
    pairs = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in pairs:
        if isinstance(value, dict | list) and value:
            yield from _leaves(value)
        else:
            yield plain, key


def _cell(members: Members, draw: random.Random) -> str:
    """One value of one table: a count, seconds, a moment or a text."""
    name, table = _table(members, draw)
    row, column = draw.randrange(table.num_rows), draw.choice(table.column_names)
    rows = table.column(column).to_pylist()
    rows[row] = _other(rows[row], table.schema.field(column).type, draw)
    place = table.schema.get_field_index(column)
    field = table.schema.field(column)
    members[name] = _parquet(table.set_column(place, field, pa.array(rows, field.type)))
    return f"{name} {column}"


def _other(value: Any, kind: pa.DataType, draw: random.Random) -> Any:
    if pa.types.is_timestamp(kind):
        return START if value is None else _moved(value, draw)
    if pa.types.is_map(kind):
        return [*(value or []), (12_345, 1)]
    if pa.types.is_boolean(kind):
        return not value
    if pa.types.is_string(kind):
        return f"{value or ''}x"
    if pa.types.is_integer(kind):
        return (value or 0) + draw.choice((1, -1, 1000))
    return draw.choice((float(np.nextafter(value or 1.0, 9e9)), (value or 1.0) * 0.9, (value or 0.0) + 1.0))


def _moved(value: Any, draw: random.Random) -> Any:
    return value + timedelta(microseconds=draw.choice((1, -1, 1_000_000, -60_000_000)))


def _row(members: Members, draw: random.Random) -> str:
    """A row left out, doubled, or in another place."""
    name, table = _table(members, draw)
    rows = list(range(table.num_rows))
    row = draw.randrange(len(rows))
    kind = draw.randrange(3)
    if kind == 0:
        rows.pop(row)
    elif kind == 1:
        rows.insert(row, row)
    else:
        rows.append(rows.pop(row) if row < len(rows) - 1 else rows.pop(0))
    members[name] = _parquet(table.take(pa.array(rows)))
    return name


def _table(members: Members, draw: random.Random) -> tuple[str, pa.Table]:
    name = draw.choice([name for name in members if name.endswith(".parquet")])
    return name, parquet.read_table(io.BytesIO(members[name]))


def _parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file, compression="zstd")
    return file.getvalue()


def _swapped(members: Members, draw: random.Random) -> str:
    """Two files with each other's content: of two runs, two jobs, or of nothing alike."""
    while True:
        one, other = draw.sample([name for name in members if name != MANIFEST], 2)
        if members[one] != members[other]:
            members[one], members[other] = members[other], members[one]
            return f"{one} and {other}"


def _missing(members: Members, draw: random.Random) -> str:
    """A file left out."""
    name = draw.choice([name for name in members if name != MANIFEST])
    del members[name]
    return name


INSIDE: tuple[Callable[[Members, random.Random], str], ...] = (
    _figure,
    _log,
    _fact,
    _cell,
    _row,
    _swapped,
    _missing,
)


def altered(pack: bytes, members: Members, number: int) -> tuple[str, bytes]:
    """The altered pack of a number, and what was done to it."""
    draw = random.Random(number)
    if draw.random() < 0.25:
        change = draw.choice(OUTSIDE)
        return change.__name__.strip("_"), change(pack, draw)
    own = dict(members)
    inside = draw.choice(INSIDE)
    what = f"{inside.__name__.strip('_')}: {inside(own, draw)}"
    if draw.random() < 0.2:
        return f"{what}, old manifest", packed(own)
    return f"{what}, new manifest", packed(with_new_manifest(own))

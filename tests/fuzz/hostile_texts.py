"""Hostile TOML, JSON, zip, Parquet and logs: functions of a draw and of an honest content, by their kind."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

import pyarrow as pa
from pyarrow import parquet

Made = Callable[[Random, bytes], bytes]
MEBIBYTE = 2**20
VALUES = ("1", "-1", '"x"', "true", "[]", "{}", "[[1]]", "1e308", "1" * 300, '""', '"\\u0000"', "0.1", "[{}]")


def _cut(random: Random, content: bytes) -> bytes:
    return content[: random.randrange(len(content))]


def _flipped(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 3, 40))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _encoded(random: Random, content: bytes) -> bytes:
    """Another encoding, a byte order mark, bytes that are no text, halves of a pair."""
    text = content.decode(errors="replace")
    return random.choice(
        (
            b"\xef\xbb\xbf" + content,
            text.encode("utf-16"),
            text.encode("utf-32"),
            content[:50] + b"\xff\xfe\x80" + content[50:],
            content.replace(b'"', b'"\xed\xa0\x80', 1),
            content.replace(b'"', b'"\\ud800', 1),
        )
    )


def _zeros(random: Random, content: bytes) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + b"\0" * random.choice((1, 10, MEBIBYTE)) + content[place:]


def _replaced_value(random: Random, content: bytes, value: str) -> bytes:
    """Another value behind one of the equal signs or colons."""
    text = content.decode(errors="replace")
    values = list(re.finditer(r"(?:= ?|: ?)((?:\"[^\"\n]*\"|[^\s,\]}]+))", text))
    if not values:
        return value.encode()
    found = random.choice(values)
    return (text[: found.start(1)] + value + text[found.end(1) :]).encode()


def _wrong_type(random: Random, content: bytes) -> bytes:
    return _replaced_value(random, content, random.choice(VALUES))


def _long_number(random: Random, content: bytes) -> bytes:
    digits = random.choice((301, 4299, 5000, 200_000, MEBIBYTE))
    number = random.choice(("{}", "-{}", "0.{}", "{}e5", "1e{}", "1e-{}", "0x{}")).format("1" * digits)
    return _replaced_value(random, content, number)


def _exponent(random: Random, content: bytes) -> bytes:
    return _replaced_value(random, content, random.choice(("1e400", "1e999999999", "-1e309", "1e-999999")))


def _not_finite(random: Random, content: bytes) -> bytes:
    words = ("nan", "inf", "-inf", "+nan", "NaN", "Infinity", "-Infinity", "null")
    return _replaced_value(random, content, random.choice(words))


def _huge_text(random: Random, content: bytes) -> bytes:
    letters = random.choice(("a", "é", "\\\\n", "[", "\\\\u0041"))
    text = letters.replace("\\\\", "\\") * (random.choice((4000, 400_000, 3 * MEBIBYTE)) // len(letters))
    return _replaced_value(random, content, f'"{text}"')


def _huge_list(random: Random, content: bytes) -> bytes:
    member = random.choice(("0", "{}", "[]", '""', "[0]", "1.5", '"a"'))
    return _replaced_value(random, content, f"[{f'{member},' * random.choice((1000, 100_000, MEBIBYTE))}0]")


def _nested(random: Random, content: bytes) -> bytes:
    depth = random.choice((63, 65, 500, 3000, 100_000))
    opened, closed = random.choice((("[", "]"), ('{"a":', "}"), ("{a=", "}"), ('[{"a":', "}]")))
    tail = closed * depth * random.choice((0, 1))
    return _replaced_value(random, content, f"{opened * depth}1{tail}")


def _long_key(random: Random, content: bytes) -> bytes:
    key = random.choice(("a", "é", "\\u0041")) * random.choice((300, 5000, 300_000))
    head = b'{"' + key.encode() + b'": 1, '
    toml = b'"' + key.encode() + b'" = 1\n'
    return head + content.lstrip()[1:] if content.lstrip()[:1] == b"{" else toml + content


def _repeated_key(random: Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    place = random.randrange(len(lines))
    return b"".join([*lines[: place + 1], lines[place] * random.choice((1, 1, 20_000)), *lines[place + 1 :]])


def _dotted(random: Random, content: bytes) -> bytes:
    parts = random.choice((16, 17, 1000, 43_000))
    part = random.choice(("a", '"a"', "'a b'"))
    key = random.choice((".", " . ")).join([part] * parts)
    return content + f"\n{random.choice((f'[{key}]', f'[[{key}]]', f'{key} = 1'))}\n".encode()


def _headers(random: Random, content: bytes) -> bytes:
    line = random.choice(
        ("[[a]]", "[a{}]", "[a{}.b.c.d.e.f.g.h.i.j.k.l.m.n.o]", "a{}.b.c.d = 1", "a{} = {{}}")
    )
    lines = (line.format(number) for number in range(random.choice((1000, 30_000, 90_000))))
    return content + b"\n" + "\n".join(lines).encode()


def _many_jobs(random: Random, content: bytes) -> bytes:
    stage = '"wide_sort",' * random.choice((5000, 30_000))
    return content + f'\n[[sessions]]\nname = "many"\nstages = [[{stage}]]\n'.encode()


def _open_text(random: Random, content: bytes) -> bytes:
    text = random.choice(('"""', "'''", '"', "'", '"""\\"""')) * random.choice((1, 3, 100_000))
    return _replaced_value(random, content, text)


def _random_tree(random: Random, depth: int) -> Any:
    kind = random.choice("nbifslo" if depth else "nbifs")
    return {
        "n": None,
        "b": True,
        "i": random.choice((0, -1, 2**63, 2**64, -(2**63))),
        "f": random.choice((0.1, 1e29, 1e308, -1e-300)),
        "s": random.choice(
            ("", "x" * 3000, "\u202e", "\x1b[2J", "../../etc", "<script>", "2026-01-01T00:00:00Z")
        ),
        "l": [_random_tree(random, depth - 1) for _ in range(random.randrange(4))] if kind == "l" else [],
        "o": {
            random.choice(("jobs", "name", "format_version", "a", "", "workload")): _random_tree(
                random, depth - 1
            )
            for _ in range(random.randrange(4))
        }
        if kind == "o"
        else {},
    }[kind]


def _every_field(random: Random, content: bytes) -> bytes:
    """Some of all values of a JSON text replaced, and some members gone."""
    try:
        tree = json.loads(content)
    except ValueError:
        return _wrong_type(random, content)
    share = random.choice((0.01, 0.05, 0.3))

    def changed(value: Any) -> Any:
        if random.random() < share:
            return _random_tree(random, 3)
        if isinstance(value, dict):
            return {key: changed(part) for key, part in value.items() if random.random() > share / 3}
        return [changed(part) for part in value] if isinstance(value, list) else value

    return json.dumps(changed(tree)).encode()


EITHER: dict[str, Made] = {
    "cut": _cut,
    "flipped": _flipped,
    "encoding": _encoded,
    "zeros": _zeros,
    "wrong type": _wrong_type,
    "long number": _long_number,
    "exponent": _exponent,
    "not finite": _not_finite,
    "huge text": _huge_text,
    "huge list": _huge_list,
    "nested": _nested,
    "long key": _long_key,
    "repeated key": _repeated_key,
}
TOML = {
    **EITHER,
    "dotted key": _dotted,
    "headers": _headers,
    "open text": _open_text,
    "many jobs": _many_jobs,
}
JSON = {**EITHER, "every field": _every_field}


def _zip(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


def _bomb(random: Random, content: bytes) -> bytes:
    """Zeros that deflate a thousandfold, once or in layers."""
    inner = _zip([("manifest.json", bytes(random.choice((1, 50)) * MEBIBYTE))], zipfile.ZIP_DEFLATED)
    for _ in range(random.randrange(3)):
        inner = _zip([("manifest.json", inner), ("runs/a/run.json", inner)], zipfile.ZIP_DEFLATED)
    return inner


def _overlapping(random: Random, content: bytes) -> bytes:
    """Many entries of the directory with the content of one member."""
    whole = _zip([("manifest.json", b"x" * 10_000)], zipfile.ZIP_DEFLATED)
    start = struct.unpack("<I", whole[-6:-2])[0]
    entry = whole[start:-22]
    count = random.choice((2, 1000, 60_000))
    end = struct.pack(
        "<4s4H2IH", b"PK\x05\x06", 0, 0, *(min(count, 65535),) * 2, len(entry) * count, start, 0
    )
    return whole[:start] + entry * count + end


def _names(random: Random, content: bytes) -> bytes:
    names = (
        "../x",
        "/etc/passwd",
        "runs/../../x",
        "a\\b",
        "con",
        "x" * 300,
        "runs/\x00",
        "runs//a",
        "é",
        ".git/x",
    )
    return content.replace(
        b"run.json", random.choice(names).encode()[:8].ljust(8, b"x"), random.choice((1, 2))
    )


def _declared(random: Random, content: bytes) -> bytes:
    """Other sizes, checksums, flags and methods in the head of a member, or in its line of the directory."""
    mark, fields = random.choice(
        ((b"PK\x03\x04", (4, 6, 8, 14, 18, 22, 26, 28)), (b"PK\x01\x02", (8, 10, 20, 24, 28, 38, 42)))
    )
    places = [found.start() for found in re.finditer(re.escape(mark), content)]
    changed = bytearray(content)
    at = random.choice(places) + random.choice(fields)
    value = random.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 0x10000, 0xA1FF0000))
    changed[at : at + 4] = struct.pack("<I", value)
    return bytes(changed)


def _around(random: Random, content: bytes) -> bytes:
    more = random.choice(
        (b"\0", b"PK\x05\x06" + bytes(18), content, bytes(MEBIBYTE), b"PK\x06\x06" + b"\xff" * 52)
    )
    return random.choice((content + more, more + content, content[:-22] + more + content[-22:]))


def _many(random: Random, content: bytes) -> bytes:
    return _zip([(f"runs/a/{number}", b"") for number in range(random.choice((100, 51_000)))])


def _other_zip(random: Random, content: bytes) -> bytes:
    """The members in another zip: twice, compressed, in another order, as links."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    random.shuffle(members)
    made = _zip(members, random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)))
    return made.replace(b"\xa4\x81", random.choice((b"\xff\xa1", b"\xb6\x21")))  # links, devices


def _quine(random: Random, content: bytes) -> bytes:
    """A member whose content is the beginning of its own archive."""
    made = content
    for _ in range(random.choice((1, 4))):
        made = _zip([("manifest.json", made[: 3 * MEBIBYTE]), ("runs/a/run.json", made[: 3 * MEBIBYTE])])
    return made


ZIP: dict[str, Made] = {
    "zip cut": _cut,
    "zip flipped": _flipped,
    "zip bomb": _bomb,
    "zip overlapping": _overlapping,
    "zip names": _names,
    "zip declared": _declared,
    "zip around": _around,
    "zip many": _many,
    "zip of another form": _other_zip,
    "zip quine": _quine,
}


def _written(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, **{"compression": "zstd", **options})
    return sink.getvalue()


def _footer(random: Random, content: bytes) -> bytes:
    """Bits of what the file declares: numbers of rows, sizes, offsets, types."""
    (length,) = struct.unpack("<I", content[-8:-4])
    start = max(4, len(content) - 8 - length)
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8))):
        changed[random.randrange(start, len(content) - 8)] = random.choice(
            (0, 0x7F, 0x80, 0xFF, random.randrange(256))
        )
    return bytes(changed)


def _footer_length(random: Random, content: bytes) -> bytes:
    return content[:-8] + struct.pack("<I", random.choice((0, 1, 2**31, 2**32 - 1, len(content)))) + b"PAR1"


def _equal_rows(random: Random, content: bytes) -> bytes:
    """Very many rows that are equal, which cost a file nothing."""
    table = parquet.read_table(io.BytesIO(content))
    if not table.num_rows:
        return content
    count = random.choice((10_000, 200_000, 1_000_000))
    rows = table.slice(random.randrange(table.num_rows), 1)
    return _written(pa.concat_tables([rows.take(pa.array([0] * 10_000))] * (count // 10_000)))


def _long_cells(random: Random, content: bytes) -> bytes:
    table = parquet.read_table(io.BytesIO(content)).slice(0, 300)
    texts = [place for place, field in enumerate(table.schema) if pa.types.is_string(field.type)]
    place = random.choice(texts)
    text = random.choice(("x", "[", '{"a":', "1")) * random.choice((4000, MEBIBYTE))
    column = pa.array([text] * table.num_rows)
    return _written(table.set_column(place, table.schema.field(place).name, column))


def _other_columns(random: Random, content: bytes) -> bytes:
    """A column of another type, deep types, very many columns."""
    table = parquet.read_table(io.BytesIO(content))
    kind = pa.int64()
    for _ in range(random.choice((1, 5, 60))):
        kind = random.choice((pa.list_(kind), pa.struct([("a", kind)])))
    place = random.randrange(table.num_columns)
    changed = table.set_column(place, table.schema.field(place).name, pa.nulls(table.num_rows, kind))
    for number in range(random.choice((0, 3000))):
        changed = changed.append_column(f"c{number}", pa.nulls(table.num_rows, pa.int8()))
    return _written(changed)


def _expanding(random: Random, content: bytes) -> bytes:
    """A page that gzip expands a thousandfold."""
    table = parquet.read_table(io.BytesIO(content))
    count = max(table.num_rows, 1)
    text = pa.array(["\0" * (random.choice((1, 200)) * MEBIBYTE // count)] * count)
    names = [field.name for field in table.schema if pa.types.is_string(field.type)]
    place = table.schema.get_field_index(random.choice(names))
    changed = (table if table.num_rows else table.slice(0, 0)).set_column(
        place, table.schema.field(place).name, text[: table.num_rows]
    )
    return _written(changed, compression="gzip", use_dictionary=random.random() < 0.5)


PARQUET: dict[str, Made] = {
    "table cut": _cut,
    "table flipped": _flipped,
    "table footer": _footer,
    "table footer length": _footer_length,
    "table of equal rows": _equal_rows,
    "table with long cells": _long_cells,
    "table of other columns": _other_columns,
    "table that expands": _expanding,
}


def _gzip(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(content) + packer.flush()


def _gzip_bomb(random: Random, content: bytes) -> bytes:
    unit = random.choice(
        (bytes(MEBIBYTE), content * (MEBIBYTE // len(content) + 1), b"\n" * MEBIBYTE, b"[" * MEBIBYTE)
    )
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(unit) for _ in range(random.choice((5, 60)))]
    return b"".join([*parts, packer.flush()])


LOG: dict[str, Made] = {
    "log cut": _cut,
    "log flipped": _flipped,
    "log encoding": _encoded,
    "log with zeros": _zeros,
    "log in gzip, cut": lambda random, content: _cut(random, _gzip(content)),
    "log in gzip, flipped": lambda random, content: _flipped(random, _gzip(content)),
    "log in gzip that expands": _gzip_bomb,
    "log of a long line": lambda random, content: content + b"x" * random.choice((MEBIBYTE, 20 * MEBIBYTE)),
}

"""Lines of text out of bytes of unknown origin: encodings, line ends and lines without end.

A line longer than LONGEST_LINE_BYTES is cut there, and the rest of it is not read into memory.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

LONGEST_LINE_BYTES = 64 * 1024
CHUNK_BYTES = 256 * 1024

Skip = Callable[[int, str, str], None]
"""Told of a line that was cut or left out: number from 1, reason, text."""


def encoding_of(first: bytes) -> str:
    """``utf-16``, ``utf-8`` or ``cp1252``, by the mark at the start or what the first bytes can be.

    UTF-16 without a byte order mark is recognised by the zero bytes of its ASCII letters: nearly all are at
    odd places, or nearly all at even ones (letters such as U+4E00 have theirs at the others).  Text that is
    not UTF-8 is cp1252, in which every byte is some letter.
    """
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = first[:4096]
    if len(head) >= 16 and b"\0" in head:
        odd, even = head[1::2].count(0) / len(head), head[::2].count(0) / len(head)
        if odd > 0.4 and even < 0.1:
            return "utf-16-le"
        if even > 0.4 and odd < 0.1:
            return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def byte_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in chunks, as UTF-8 or cp1252 bytes without a mark, with ``\\n`` for every line end."""
    first = stream.read(CHUNK_BYTES)
    encoding = encoding_of(first)
    recode = codecs.getincrementaldecoder(encoding)(errors="replace") if "16" in encoding else None
    chunk = first.removeprefix(codecs.BOM_UTF8)
    pending_return = False
    while chunk:
        text = recode.decode(chunk).encode("utf-8", "replace") if recode else chunk
        if pending_return:
            text = b"\r" + text
        pending_return = text.endswith(b"\r")
        if pending_return:
            text = text[:-1]
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield text
        chunk = stream.read(CHUNK_BYTES)
    if pending_return:
        yield b"\n"


def whole_of(chunks: Iterable[bytes], most_bytes: int) -> bytearray | None:
    """The chunks as one document; None, without reading on, if they are more than ``most_bytes``."""
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > most_bytes:
            return None
    return content


def text_of(line: bytes) -> str:
    """A line as text: UTF-8, or cp1252 where it is none."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def numbered_lines(stream: BinaryIO, skip: Skip) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line, without its end; a line too long is cut and told ``skip``."""
    rest, number, dropping = b"", 1, False
    for chunk in byte_chunks(stream):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            if not dropping:
                yield number, text_of(line[:LONGEST_LINE_BYTES])
                if len(line) > LONGEST_LINE_BYTES:
                    skip(number, f"longer than {LONGEST_LINE_BYTES} bytes: the rest of it is not read", "")
            dropping = False
            number += 1
        if len(rest) > LONGEST_LINE_BYTES:
            if not dropping:
                skip(number, f"longer than {LONGEST_LINE_BYTES} bytes: the rest of it is not read", "")
                yield number, text_of(rest[:LONGEST_LINE_BYTES])
            dropping, rest = True, b""
    if rest and not dropping:
        yield number, text_of(rest)

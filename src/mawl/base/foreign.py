"""Opening a file that somebody else may have made: a regular file, without waiting, up to a bound of bytes.

A run folder, a log or a recording may come from anywhere.  A named pipe instead of a file would block its
reader, a symbolic link would lead out of the folder, and a device would never end
(docs/design/foreign-files.md).

TOML and JSON of strangers: one pass checks their bounds before a parser runs.

A parser's time and memory grow with depth, parts of keys and digits, partly with their square.  The check is
linear, and a text within the bounds is cheap to parse (docs/design/foreign-files.md).
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
NOT_REGULAR = "not a regular file"
A_LINK = "a symbolic link, which mawl does not follow here"
OUTSIDE = "outside of its folder"
_PART_BYTES = 2**20
_REASONS = {errno.ENXIO: NOT_REGULAR, errno.ELOOP: A_LINK, errno.EXDEV: OUTSIDE}


def descriptor_of(path: Path, *, inside: Path | None = None) -> int:
    """A descriptor of a regular file, for reading.

    A path that the user named may be a link.  Of a file ``inside`` a folder no part below that folder may
    be one.  Raises OSError, whose ``strerror`` also says what is no regular file or a link.
    """
    try:
        descriptor = os.open(path, _FLAGS) if inside is None else _below(inside, path)
    except OSError as error:
        reasons = {errno.ENXIO: NOT_REGULAR} if inside is None else _REASONS
        why = reasons.get(error.errno or 0, error.strerror)
        raise OSError(error.errno, why, str(path)) from None
    except ValueError:  # a byte 0 in its name
        raise OSError(errno.EINVAL, "not a name of a file", str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
    return descriptor


def open_regular(path: Path, *, inside: Path | None = None) -> BinaryIO:
    """As ``descriptor_of``, as a file of bytes."""
    return os.fdopen(descriptor_of(path, inside=inside), "rb")


def read_regular(path: Path, most_bytes: int, *, inside: Path | None = None) -> bytes:
    """The whole content; OSError as ``descriptor_of``, and EOVERFLOW for more than ``most_bytes``."""
    content = bytearray()
    with open_regular(path, inside=inside) as file:
        # In parts: one read of the most would take that much memory first, however small the file is.
        while len(content) <= most_bytes and (part := file.read(_PART_BYTES)):
            content += part
    if len(content) > most_bytes:
        raise OSError(errno.EOVERFLOW, f"larger than the {most_bytes} bytes that mawl reads", str(path))
    return bytes(content)


def _below(folder: Path, path: Path) -> int:
    """Open each part in the one before it, so that nobody can put a link there meanwhile."""
    if not path.is_relative_to(folder) or ".." in path.relative_to(folder).parts:
        raise OSError(errno.EXDEV, OUTSIDE)
    relative = path.relative_to(folder)
    *folders, name = relative.parts
    at = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            below = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=at)
    except NotADirectoryError as error:
        # With O_DIRECTORY a link is said to be no directory.
        raise OSError(errno.ELOOP if _is_link(at, relative) else error.errno, error.strerror) from None
    finally:
        os.close(at)


def _is_link(at: int, relative: Path) -> bool:
    for part in relative.parts:
        try:
            if stat.S_ISLNK(os.lstat(part, dir_fd=at).st_mode):
                return True
        except OSError:
            continue
    return False


Record = TypeVar("Record")

LARGEST_TOML_BYTES = 2 * 2**20
"""The plan of 1,511 jobs takes 0.5 MB."""
LARGEST_JSON_BYTES = 32 * 2**20
"""The facts of a run of 100,000 jobs take 17 MB and a million parts."""
MOST_TOML_PARTS = 200_000
"""Words and texts, and each part of a key: one of a table's header takes up to 1 kB of memory."""
MOST_JSON_PARTS = 1_500_000
"""Lists, objects and members: one takes up to 150 bytes of memory, whatever its text takes."""
DEEPEST = 64
MOST_KEY_PARTS = 16
LONGEST_KEY = 4096
"""As long as a path may be, which keys of a run's facts are."""
MOST_DIGITS = 400
"""The smallest positive number (5e-324) has 324 digits after its point if it has no exponent."""

_TOML_TOKEN = re.compile(
    r"""(?P<text>\"\"\"|\'\'\'|"|')
      | (?P<word>[^\s\[\]{}"'\#,=]+)
      | \#[^\n]*+
      | (?P<sign>[\[\]{},=\n])""",
    re.VERBOSE,
)
_ENDS = {
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"['\n]"),
    '"""': re.compile(r'\\.|"{3,5}', re.DOTALL),  # one or two quotes before the end are of the text
    "'''": re.compile(r"'{3,5}"),
}
"""What may end a text of TOML, and the escapes that do not, by the quotes that begin it."""
_JSON_TEXT = re.compile(rb'"[^"]*+"?')
_COLON = re.compile(rb"\s*:")
_LONG_TEXT = re.compile(rb'"[^"]{%d}' % LONGEST_KEY)
"""Of a longer text, or of what lies between two texts."""
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(_STEPS))
_AS_ONE_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)


class BeyondBoundError(ValueError):
    """A text that mawl does not give to a parser, with the bound in its sentence."""


def too_large(language: str, most_bytes: int) -> str:
    """Why a text of a language is not read."""
    return f"larger than the {most_bytes // 2**20} MiB that mawl reads of {language}"


def toml_tree(text: str) -> dict[str, Any]:
    """The tables of a TOML text; ValueError names the fault, or the bound that the text exceeds."""
    check_toml(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BeyondBoundError("its lists and tables lie too deep in one another") from None


def json_tree(content: bytes | str) -> Any:
    """What a JSON text holds, as plain data; ValueError as ``toml_tree``."""
    found: Any = json_record(content, object)
    return found


def json_record(
    content: bytes | bytearray | str,
    kind: type[Record],
    *,
    most_bytes: int = LARGEST_JSON_BYTES,
    most_parts: int = MOST_JSON_PARTS,
) -> Record:
    """What a JSON text holds, as a record of ``kind``; ValueError otherwise.

    ``msgspec.ValidationError``, which is one, says that it holds something else than ``kind``.
    """
    raw = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    check_json(raw, most_bytes, most_parts)
    try:
        return msgspec.json.decode(raw, type=kind)
    except RecursionError:
        raise BeyondBoundError("its lists and objects lie too deep in one another") from None


def check_toml(text: str) -> None:
    """Refuse a TOML text beyond a bound; ``BeyondBoundError`` names the line."""
    if len(text) > LARGEST_TOML_BYTES:
        raise BeyondBoundError(too_large("TOML", LARGEST_TOML_BYTES))
    depth = parts = dots = longest = 0
    for kind, found, end in _toml_tokens(text):
        if kind == "sign":
            if longest > LONGEST_KEY and found == "=":
                raise _beyond(f"a key of at most {LONGEST_KEY:,} characters", text, end)
            depth += _STEPS.get(ord(found), 0)
            dots = longest = 0
        elif kind is not None:
            inner = found.count(".") if kind == "word" else 0
            length = len(found) if kind == "word" else len(found) - 2
            dots, parts, longest = dots + inner, parts + inner + 1, max(longest, length)
            if kind == "word" and len(found) > MOST_DIGITS and found.lstrip("+-")[:1].isdigit():
                raise _beyond(f"a number of at most {MOST_DIGITS} digits", text, end)
        if dots >= MOST_KEY_PARTS:
            raise _beyond(f"a key of at most {MOST_KEY_PARTS} parts", text, end)
        if parts > MOST_TOML_PARTS:
            raise _beyond(f"at most {MOST_TOML_PARTS:,} keys and values", text, end)
        if depth > DEEPEST:
            raise _beyond(f"lists and tables at most {DEEPEST} deep in one another", text, end)


def _beyond(expected: str, text: str, at: int) -> BeyondBoundError:
    line = text.count("\n", 0, at) + 1
    return BeyondBoundError(f"line {line}: expected {expected}, found more")


def _toml_tokens(text: str) -> Iterator[tuple[str | None, str, int]]:
    """Kind, content and end of each token; it stops at a text without an end, as the parser does."""
    at = 0
    while (token := _TOML_TOKEN.search(text, at)) is not None:
        kind, at = token.lastgroup, token.end()
        if kind == "text":
            ends = (found for found in _ENDS[token[0]].finditer(text, at) if found[0][0] != "\\")
            end = next(ends, None)
            if end is None or end[0] == "\n":
                return
            at = end.end()
        yield kind, text[token.start() : at], at


def check_json(
    content: bytes | bytearray, most_bytes: int = LARGEST_JSON_BYTES, most_parts: int = MOST_JSON_PARTS
) -> None:
    """Refuse a JSON text beyond a bound; raises ``BeyondBoundError``."""
    if len(content) > most_bytes:
        raise BeyondBoundError(too_large("JSON", most_bytes))
    parts = sum(content.count(sign) for sign in b",[{")
    if parts > most_parts:
        raise BeyondBoundError(f"it has {parts:,} lists, objects and members; mawl reads {most_parts:,}")
    # A line of a journal, of which there are millions: too short to cost a parser anything.
    if len(content) <= LONGEST_KEY and content.count(b"[") + content.count(b"{") <= DEEPEST:
        return
    depth = 0
    if b"\\" in content:
        content = content.replace(rb"\\", b"")
        content = content.replace(rb"\"", b"")
    for part, colon_follows in _json_parts(content):
        bare = _JSON_TEXT.sub(b"", part)
        if _LONG_TEXT.search(part) and _has_long_key(part, colon_follows):
            raise BeyondBoundError(f"a key has more than the {LONGEST_KEY:,} bytes that mawl reads")
        if b"0" * (MOST_DIGITS + 1) in bare.translate(_AS_ONE_DIGIT):
            raise BeyondBoundError(f"a number has more than the {MOST_DIGITS} digits that mawl reads")
        steps = map(_STEPS.__getitem__, bare.translate(None, _ALL_BUT_BRACKETS))
        depths = list(accumulate(steps, initial=depth))
        if max(depths) > DEEPEST:
            raise BeyondBoundError(f"its lists and objects lie more than {DEEPEST} deep in one another")
        depth = depths[-1]


def _json_parts(content: bytes | bytearray) -> Iterator[tuple[bytes | bytearray, bool]]:
    """Parts, each with whole texts, and whether a colon follows it; no text has an escaped quote.

    To take the texts out of a part takes memory by their number.
    """
    start = 0
    while start < len(content):
        end = min(start + _PART_BYTES, len(content))
        if content.count(b'"', start, end) % 2:  # within a text
            end = content.find(b'"', end) + 1 or len(content)
        yield content[start:end], _COLON.match(content, end) is not None
        start = end


def _has_long_key(part: bytes | bytearray, colon_follows: bool) -> bool:
    for text in _JSON_TEXT.finditer(part):
        is_key = _COLON.match(part, text.end()) or (colon_follows and text.end() == len(part))
        if is_key and text.end() - text.start() > LONGEST_KEY + 2:
            return True
    return False

"""The file of a pack: a zip of one form only, the names in it, its version and its bounds.

The format is in docs/design/archive.md.  Equal contents are equal bytes everywhere.  Members are stored, not
compressed: tables are compressed already, another version of zlib would give other bytes, and a file that
expands to nothing but itself is no zip bomb.  Times, permissions and order are fixed.  The reader takes
exactly what the writer writes: a byte before, between or behind the members is refused, as is a second name
for a member.  (The zip format: PKWARE APPNOTE.TXT 6.3.3, sections 4.3 and 4.4.)

History of the format
  1.0  first: manifest, statement, runs, and what was printed of them
  1.1  packs of qualifications
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.base.foreign import open_regular
from mawl.base.units import format_bytes
from mawl.records.model.derived import FILE as DERIVED
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import CAMPAIGN
from mawl.records.store.files import (
    ARRAYS,
    FACTS,
    LARGEST_FACTS_BYTES,
    LOGS,
    NODES,
    PLAN,
    PROBE,
    QUALIFICATION,
    TABLES,
)

PACK_VERSION = "1.1"
SUFFIX = ".mawl.zip"

MANIFEST = "manifest.json"
SSH_SIGNATURE, MINISIGN_SIGNATURE = "manifest.json.sig", "manifest.json.minisig"
SIGNATURES = (SSH_SIGNATURE, MINISIGN_SIGNATURE)
RUNS, PRINTED = "runs", "printed"
"""Folders of the runs, and of what was printed of each."""

PackKind = Literal["run", "campaign", "qualification"]
RECORDS: dict[PackKind, str] = {"run": "", "campaign": CAMPAIGN, "qualification": QUALIFICATION}
"""The member that says which runs there are, by the kind of the pack; a pack of one run has none."""

SUMMARY, REPORT, DISCLOSURE, CONTENTS = "summary.json", "report.md", "disclosure.md", "contents.json"
PRINTED_FILES = (CONTENTS, DISCLOSURE, REPORT, SUMMARY)
"""What every run of a pack has under ``printed/NAME``."""

LARGEST_PACK_BYTES = 2**32 - 2**20
"""Offsets of a plain zip have 32 bits; beyond, every reader would need the 64-bit form."""
LARGEST_MEMBER_BYTES = 2 * 2**30
LARGEST_TEXT_BYTES = LARGEST_FACTS_BYTES
"""Of a member that is read whole: the manifest, a signature, a printed page."""
MOST_MEMBERS = 50_000
LONGEST_NAME = 240
MOST_FOLDERS = 6

_PART = re.compile(r"[A-Za-z0-9_+-][A-Za-z0-9._+-]*")


def is_name(name: str) -> bool:
    """Whether a member may have this name: plain letters, relative, without ``..`` and hidden files."""
    parts = name.split("/")
    return len(name) <= LONGEST_NAME and len(parts) <= MOST_FOLDERS and all(map(_PART.fullmatch, parts))


_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_LOCAL_MARK, _CENTRAL_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_VERSION, _MADE_BY = 20, 3 << 8 | 20
_NAMES_ARE_UTF8, _STORED = 0x800, 0
_MIDNIGHT, _FIRST_DAY = 0, 1 << 5 | 1
"""1980-01-01 00:00, where the times of a zip begin."""
_MODE = 0o100644 << 16
_PART_BYTES = 2**20


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a pack; ``offset`` is where its content begins."""

    name: str
    size: int
    crc: int
    sha256: str
    offset: int


def in_order(names: Iterator[str] | Sequence[str]) -> list[str]:
    """The order of members: the manifest first, its signature last, the others by name."""
    return sorted(names, key=lambda name: (name != MANIFEST, name in SIGNATURES, name))


def write_pack(file: BinaryIO, members: Mapping[str, bytes | Path]) -> None:
    """Write members, given as content or as files, to a file; raises OSError.

    Raises ``UsageError`` where a pack cannot hold them.
    """
    if len(members) > MOST_MEMBERS:
        raise _too_large(f"{len(members)} files; a pack holds {MOST_MEMBERS}")
    written: list[Member] = []
    offset = 0
    for name in in_order(list(members)):
        if not is_name(name):
            raise UsageError(
                "cannot be put into a pack",
                where=name,
                why=f"names there have letters, digits, -, _, + and ., and at most {LONGEST_NAME} characters",
                cure="rename the run folder, or the session of the workload that has that name",
            )
        content = members[name]
        size, crc, sha256 = summed(content)
        head = _local(name, size, crc)
        member = Member(name=name, size=size, crc=crc, sha256=sha256, offset=offset + len(head))
        offset = member.offset + size
        if size > LARGEST_MEMBER_BYTES or offset > LARGEST_PACK_BYTES:
            raise _too_large(f"more than {format_bytes(LARGEST_PACK_BYTES)}")
        file.write(head)
        for part in _parts_of(content):
            file.write(part)
        written.append(member)
    file.write(_directory(written, offset))


def read_members(path: Path) -> list[Member]:
    """The members of a pack, their content read once and summed up.

    Raises ``UnreadableRunError`` where the file is not byte for byte a pack: not a regular
    file, too large, another zip, changed, cut, or with anything but its members in it.
    """
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_PACK_BYTES:
                raise ValueError(f"larger than the {format_bytes(LARGEST_PACK_BYTES)} of a pack")
            return list(_walk(file))
    except OSError as error:
        raise _no_pack(path, (error.strerror or str(error)).lower()) from None
    except ValueError as error:
        raise _no_pack(path, str(error)) from None


def read_member(path: Path, member: Member, most_bytes: int) -> bytes:
    """The content of a member of at most ``most_bytes``; UnreadableRunError where it is larger."""
    if member.size > most_bytes:
        raise _no_pack(path, f"{member.name} is larger than the {format_bytes(most_bytes)} that mawl reads")
    with open_regular(path) as file:
        file.seek(member.offset)
        return file.read(member.size)


def extract(path: Path, members: Sequence[Member], folder: Path, place: Callable[[str], str | None]) -> None:
    """Write members as regular files below a folder of ours, at the names that ``place`` gives.

    A member without a place is left out.  Raises OSError where the folder cannot be written.
    """
    paths: set[Path] = set()
    with open_regular(path) as file:
        for member in members:
            name = place(member.name)
            if name is None:
                continue
            target = folder / name
            if target.parent not in paths:
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                paths.add(target.parent)
            file.seek(member.offset)
            left = member.size
            with target.open("xb") as into:
                while left and (part := file.read(min(_PART_BYTES, left))):
                    into.write(part)
                    left -= len(part)


def summed(content: bytes | Path) -> tuple[int, int, str]:
    """Length in bytes, CRC-32 and SHA-256 of a content, or of the file that holds it; raises OSError."""
    return _summed(_parts_of(content))


def _walk(file: BinaryIO) -> Iterator[Member]:
    members: list[Member] = []
    offset = 0
    while True:
        head = file.read(_LOCAL.size)
        if head[:4] != _LOCAL_MARK or len(head) < _LOCAL.size:
            break
        *_, crc, _, size, length, _ = _LOCAL.unpack(head)
        if length > LONGEST_NAME or len(members) == MOST_MEMBERS or size > LARGEST_MEMBER_BYTES:
            raise ValueError("a member with a name or a size that no pack has, or too many members")
        raw = file.read(length)
        name = raw.decode("ascii", errors="replace")
        if head + raw != _local(name, size, crc) or not is_name(name):
            raise ValueError(
                f"member {len(members) + 1} ({name[:80]!r}) is not written as mawl writes one: stored, "
                "with a plain relative name and fixed times"
            )
        begins = offset + len(head) + length
        read, summed, sha256 = _summed(_part(file, size))
        if read < size:
            raise ValueError(f"ends in the middle of {name}")
        if summed != crc:
            raise ValueError(f"{name} was changed: its content does not have the checksum of the zip")
        member = Member(name=name, size=size, crc=crc, sha256=sha256, offset=begins)
        offset = begins + size
        members.append(member)
        yield member
    names = [member.name for member in members]
    if not members or names[0] != MANIFEST:
        raise ValueError(f"does not begin with {MANIFEST}")
    if names != in_order(names) or len(set(names)) < len(names):
        raise ValueError("its members are not in order, or one is there twice")
    folders = {name[:place] for name in names for place, letter in enumerate(name) if letter == "/"}
    if folders & set(names):
        raise ValueError("a name is that of a file and of a folder")
    directory = _directory(members, offset)
    if head + file.read(len(directory) - len(head) + 1) != directory:
        raise ValueError("its list of members does not agree with them, or there is something behind it")


def _local(name: str, size: int, crc: int) -> bytes:
    encoded = name.encode()
    times = (_STORED, _MIDNIGHT, _FIRST_DAY)
    return (
        _LOCAL.pack(_LOCAL_MARK, _VERSION, _NAMES_ARE_UTF8, *times, crc, size, size, len(encoded), 0)
        + encoded
    )


def _directory(members: Sequence[Member], offset: int) -> bytes:
    rows = []
    for member in members:
        name = member.name.encode()
        times = (_STORED, _MIDNIGHT, _FIRST_DAY)
        sizes = (member.crc, member.size, member.size, len(name), 0, 0, 0, 0, _MODE)
        begins = member.offset - _LOCAL.size - len(name)
        rows.append(
            _CENTRAL.pack(_CENTRAL_MARK, _MADE_BY, _VERSION, _NAMES_ARE_UTF8, *times, *sizes, begins) + name
        )
    whole = b"".join(rows)
    return whole + _END.pack(_END_MARK, 0, 0, len(members), len(members), len(whole), offset, 0)


def _parts_of(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with open_regular(content) as file:
        while part := file.read(_PART_BYTES):
            yield part


def _part(file: BinaryIO, size: int) -> Iterator[bytes]:
    while size and (part := file.read(min(_PART_BYTES, size))):
        size -= len(part)
        yield part


def _summed(parts: Iterator[bytes]) -> tuple[int, int, str]:
    """Length, CRC-32 and SHA-256 of a content."""
    size, crc, sha256 = 0, 0, hashlib.sha256()
    for part in parts:
        size += len(part)
        crc = zlib.crc32(part, crc)
        sha256.update(part)
    return size, crc, sha256.hexdigest()


def _too_large(why: str) -> UsageError:
    return UsageError("is too large for one pack", why=why, cure="pack single runs, or fewer of them")


def _no_pack(path: Path, why: str) -> UnreadableRunError:
    return UnreadableRunError(
        "is no pack of mawl, or was altered",
        where=str(path),
        why=why,
        cure="copy it again from where it was made; a pack that another program unpacked and zipped again "
        "is another file",
    )


NEEDED = (FACTS, PLAN, *(f"{name}.parquet" for name in TABLES))
"""Files that every finished run has."""


def files_of(folder: Path) -> Iterator[str]:
    """Names of the files below a run folder, ``/`` between folders; those of each node's run folder, too.

    Left out: pages, which the tables give again, links, and what is not mawl's.
    """
    for name in (*NEEDED, DERIVED, PROBE, ARRAYS):
        if (folder / name).is_file() and not (folder / name).is_symlink():
            yield name
    for name in _names(folder / LOGS):
        path = folder / LOGS / name
        if path.is_file() and not path.is_symlink():
            yield f"{LOGS}/{name}"
    for node in _names(folder / NODES):
        if (folder / NODES / node / FACTS).is_file():
            yield from (f"{NODES}/{node}/{name}" for name in files_of(folder / NODES / node))


def node_runs(folder: Path) -> dict[str, Run]:
    """The runs of the nodes of a cluster's run, by their place below its folder; of another run none.

    Raises ``UnreadableRunError`` where one cannot be read.
    """
    places = [f"{NODES}/{node}" for node in _names(folder / NODES)]
    return {
        place: open_run(folder / place, compacting=False)
        for place in places
        if (folder / place / FACTS).is_file()
    }


def content_of(folder: Path, name: str) -> bytes:
    """A file's bytes; OSError where it is none, or a link leads out of the folder."""
    with open_regular(folder / name, inside=folder) as file:
        return file.read()


def _names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.is_dir() and not folder.is_symlink() else []

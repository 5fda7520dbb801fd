"""The manifest of an input table, which lies in the directory with its parts.

An Arrow table has one part a file.  A file of a text table holds several parts one behind the
other, so that one large file can be made by several processes and continued after a kill.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.errors import DamagedTableError
from mawl.plan.columns import InputTable

MANIFEST = "manifest.json"
SCHEMA_VERSION = 1
CURE = "run mawl generate"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Rows ``start`` to ``start + rows`` of a table: ``bytes`` of ``file`` from ``offset`` on.

    ``sums`` are word sums by column, modulo 2**64 (``column_sums``).  In a text
    table the keys are ``KIND.column`` (``P.age``), and numerics are summed as the whole numbers they
    are; ``words`` is then the sum of the part's bytes as eight-byte little-endian words, the last
    one zero-padded, and None in an Arrow table.
    """

    file: str
    start: int
    rows: int
    bytes: int
    sums: dict[str, int]
    offset: int = 0
    words: int | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A finished input table; ``sums`` are over all parts, ``bytes`` what the files hold together.

    ``declaration`` tells the columns and the generator's version apart: a table whose declaration is
    another is stale, and is made anew.
    """

    table: str
    layout: Literal["arrow", "text"]
    seed: int
    replica: int
    scale: float
    saving: float
    declaration: str
    rows: int
    bytes: int
    row_bytes: int
    sums: dict[str, int]
    parts: tuple[Part, ...]
    schema_version: int = SCHEMA_VERSION

    @property
    def files(self) -> dict[str, int]:
        """Bytes of each file, in the order of rows."""
        sizes: dict[str, int] = {}
        for part in self.parts:
            sizes[part.file] = max(sizes.get(part.file, 0), part.offset + part.bytes)
        return sizes


def table_directory(
    inputs: Path, table: InputTable, *, scale: float, seed: int, replica: int, saving: float
) -> Path:
    """Where a table of these options lies under the directory of input tables."""
    percent = f"{saving * 100:g}"
    return inputs / f"{table.name}-rows{table.rows(scale)}-seed{seed}-replica{replica}-saving{percent}"


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a table.

    Raises ``DamagedTableError`` where it is missing, unreadable or of another
    version.
    """
    path = directory / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise DamagedTableError(
            "no finished input table here", where=str(directory), why=f"there is no {MANIFEST}", cure=CURE
        ) from None
    except OSError as error:
        raise DamagedTableError(
            "the manifest of an input table cannot be read",
            where=str(path),
            why=(error.strerror or str(error)).lower(),
            cure="fix what refuses it, or name another directory with --data",
        ) from None
    except msgspec.DecodeError as error:
        raise DamagedTableError(
            "the manifest of an input table cannot be read", where=str(path), why=str(error), cure=CURE
        ) from None
    if manifest.schema_version != SCHEMA_VERSION:
        raise DamagedTableError(
            "the manifest of an input table is of another version",
            where=str(path),
            why=f"expected {SCHEMA_VERSION}, found {manifest.schema_version}",
            cure=CURE,
        )
    return manifest


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest under a temporary name and rename it: it is there whole or not at all."""
    path = directory / MANIFEST
    draft = path.with_suffix(".partial")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    draft.rename(path)


def check_sizes(directory: Path) -> Manifest:
    """Whether each file of a table is there with the size the manifest says; reads no data.

    Returns the manifest.  Raises ``DamagedTableError`` for the first file that is
    missing or of another size.
    """
    manifest = read_manifest(directory)
    for name, expected in manifest.files.items():
        path = directory / name
        try:
            found = path.stat().st_size
        except FileNotFoundError:
            raise DamagedTableError(
                "a file of an input table is missing", where=str(path), cure=CURE
            ) from None
        if found != expected:
            raise DamagedTableError(
                "a file of an input table has the wrong size",
                where=str(path),
                why=f"expected {expected} bytes, found {found}",
                cure=CURE,
            )
    return manifest

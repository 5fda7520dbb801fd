"""Lines of JSON that long tests wrote, kept beside the page of docs/reference that is printed from them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

Line = TypeVar("Line")


def print_page(
    doc: str | None,
    page: Path,
    stored: Callable[[Sequence[bytes]], list[Line]],
    text: Callable[[Sequence[Line]], str],
) -> None:
    """Add the lines of the files on the command line to those beside ``page``, and print it.

    ``stored`` reads lines, the newest last, and says which count; ``text`` is the page of these.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    lines = page.with_suffix(".jsonl")
    sources = [*([lines] if lines.exists() else []), *parser.parse_args().files]
    found = stored([line for path in sources for line in path.read_bytes().splitlines()])
    lines.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in found))
    page.write_text(text(found))

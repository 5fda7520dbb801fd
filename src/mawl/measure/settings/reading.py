"""One subject's figures, read from small files; what cannot be read is None, with the reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from mawl.records.model.node import Figures, Value
from mawl.records.model.series_metrics import MACHINE

Parse = Callable[[str], Value]

KIB = 1024
MIB = 1024 * KIB


class Subject:
    """What is read of one device, mount or machine."""

    def __init__(self, family: str, name: str = MACHINE) -> None:
        self.family, self.name = family, name
        self.figures: Figures = {}
        self.missing: dict[str, str] = {}

    def put(self, figure: str, value: Value, reason: str = "the kernel does not say") -> None:
        self.figures[figure] = value
        if value is None:
            self.missing[f"{self.family}.{self.name}.{figure}"] = reason

    def read(self, figure: str, path: Path, parse: Parse) -> None:
        try:
            text = _text(path)
            self.put(figure, parse(text), f"{path}: not in the form that mawl knows ({text[:40]!r})")
        except OSError as error:
            self.put(figure, None, f"{path}: {(error.strerror or str(error)).lower()}")
        except (ValueError, IndexError):
            self.put(figure, None, f"{path}: not in the form that mawl knows ({text[:40]!r})")

    def text(self, figure: str, path: Path) -> None:
        """A word or line; None where the file is empty."""
        self.read(figure, path, lambda text: text or None)

    def number(self, figure: str, path: Path, factor: int = 1) -> None:
        self.read(figure, path, lambda text: int(text) * factor)

    def seconds(self, figure: str, path: Path, per_second: int) -> None:
        """A whole number of parts of a second."""
        self.read(figure, path, lambda text: int(text) / per_second)

    def flag(self, figure: str, path: Path) -> None:
        """0 or 1 (N or Y) as false or true."""
        self.read(figure, path, _flag)

    def chosen(self, figure: str, path: Path) -> None:
        """The word in brackets of a list of choices, or the only word."""
        self.read(figure, path, in_brackets)


LARGEST_FILE_BYTES = 65536


def _text(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.read(descriptor, LARGEST_FILE_BYTES).decode(errors="replace").strip()
    finally:
        os.close(descriptor)


def known_text(path: Path) -> str | None:
    """The file's text, None where it cannot be read or is empty."""
    try:
        return _text(path) or None
    except OSError:
        return None


def in_brackets(text: str) -> str | None:
    """``none [mq-deadline] kyber``: mq-deadline; a single word stands for itself."""
    words = text.split()
    chosen = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
    return chosen[0] if chosen else text if len(words) == 1 else None


def _flag(text: str) -> bool | None:
    return {"0": False, "1": True, "N": False, "Y": True}.get(text)


def names_in(directory: Path) -> list[str]:
    """The entries of a directory in order; none where it is not there."""
    try:
        return sorted(entry.name for entry in directory.iterdir())
    except OSError:
        return []

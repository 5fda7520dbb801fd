"""One subject's figures, read from small files; what cannot be read is None, with the reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from mawl.importers.formats.settings.linux import SYSCTLS, chosen
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
        """Note a value, in the place of one that was not known, or the reason why it is not."""
        self.figures[figure] = value
        path = f"{self.family}.{self.name}.{figure}"
        self.missing.pop(path, None)
        if value is None:
            self.missing[path] = reason

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

    def chosen(self, figure: str, path: Path) -> None:
        """The word in brackets of a list of choices, or the only word."""
        self.read(figure, path, chosen)

    def sysctls(self, proc: Path) -> None:
        """All files below ``/proc/sys`` of the family."""
        for name, (family, figure, parse) in SYSCTLS.items():
            if family == self.family:
                self.read(figure, proc / "sys" / name.replace(".", "/"), parse)


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


def names_in(directory: Path) -> list[str]:
    """The entries of a directory in order; none where it is not there."""
    try:
        return sorted(entry.name for entry in directory.iterdir())
    except OSError:
        return []

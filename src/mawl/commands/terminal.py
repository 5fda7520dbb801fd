"""Terminals (colours, width), where the text of a verb goes, and checks for missing packages."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, TextIO

from mawl.base.errors import UnsuitableMachineError
from mawl.base.printable import printable
from mawl.records.store.output import OutputFile
from mawl.reports.layout import BLOCKS, CODES, LEAST_WIDTH, LINE_WIDTH, Style

COLOUR_CHOICES = ("auto", "always", "never")


_OURS = re.compile(rf"(\x1b\[(?:{'|'.join(['0', *CODES.values()])})m|\r\x1b\[K)")
"""The sequences that mawl itself writes: colours, and the return to the begin of a line, which it clears."""


def escape_controls(text: str) -> str:
    """The text with each control character as its escape; the sequences that mawl writes stay."""
    parts = _OURS.split(text)
    parts[::2] = [printable(part, "\n\t") for part in parts[::2]]
    return "".join(parts)


class Printing:
    """A stream for people; a control character that reaches it in a name is written as its escape."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(escape_controls(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Within it, standard output and standard error are ``Printing``."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (Printing(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def style_of(stream: TextIO, choice: str = "auto", environment: Mapping[str, str] | None = None) -> Style:
    """Colours as chosen; by themselves only on a terminal, and not where NO_COLOR is set or TERM is dumb."""
    variables = os.environ if environment is None else environment
    plain = bool(variables.get("NO_COLOR")) or variables.get("TERM") == "dumb"
    colour = choice == "always" or (choice == "auto" and stream.isatty() and not plain)
    return Style(colour=colour, blocks=shows_blocks(stream), width=width_of(stream))


def width_of(stream: TextIO, of_file: int = LINE_WIDTH) -> int:
    """Characters in the longest line: a terminal's columns, at least LEAST_WIDTH; in a file ``of_file``."""
    with contextlib.suppress(OSError):  # of a stream that is no terminal
        columns = os.get_terminal_size(stream.fileno()).columns
        return max(columns, LEAST_WIDTH) if columns else of_file
    return of_file


def width_for(output: str | None, of_file: int = LINE_WIDTH) -> int:
    """``width_of`` standard output, or of the file that ``output`` names."""
    return width_of(sys.stdout, of_file) if output is None else of_file


def shows_blocks(stream: TextIO) -> bool:
    try:
        BLOCKS.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


PROGRAMS = ("duckdb", "scipy", "sklearn", "statsmodels", "threadpoolctl")
"""What the programs are written with: the extra ``programs``."""

CLUSTER = ("dask", "distributed")
"""What reaches other nodes: the extra ``cluster``."""


def installing(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'mawl[{extra}]'"


def missing_package(error: ModuleNotFoundError, extra: str) -> UnsuitableMachineError:
    """The error of a verb whose package is missing, with its cure."""
    return UnsuitableMachineError(
        f"needs the package {(error.name or str(error)).partition('.')[0]}, which is not installed",
        cure=f"install it with: {installing(extra)}",
    )


def require_programs() -> None:
    """Raise where a package of the programs is missing, too old or too new: jobs would fail one by one."""
    for name in PROGRAMS:
        if find_spec(name) is None:
            raise missing_package(ModuleNotFoundError(name=name), "programs")
    from mawl.measure.suitability import unfit_libraries  # reading verbs do without it

    for check in unfit_libraries():
        raise UnsuitableMachineError(check.text, cure=check.cure)


def require_cluster() -> None:
    """Raise where a package that reaches other nodes is not installed."""
    for name in CLUSTER:
        if find_spec(name) is None:
            raise missing_package(ModuleNotFoundError(name=name), "cluster")


def write_text(output: str | None, made: Callable[[], str], option: str = "--output") -> None:
    """Write what ``made`` returns to the file ``output``, or to the terminal if ``output`` is None.

    ``option`` is the option that named the file.  The file is tried first, so that a bad path fails before
    any work (``UsageError``).  If the work or the writing fails
    (``UnsuitableMachineError``), an old file keeps its content, and no new file is left.
    """
    if output is None:
        sys.stdout.write(made())
        return
    with OutputFile(output, option) as file:
        file.write(encoded(made()))


def encoded(text: str) -> bytes:
    """Text for a file, with the escapes that a terminal gets, because a file may be shown on one."""
    return escape_controls(text).encode()

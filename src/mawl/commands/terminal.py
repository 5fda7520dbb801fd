"""What a terminal can show (colours, width), ``--help`` by groups, and checks for missing packages."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, TextIO

from mawl.base.errors import UnsuitableMachineError
from mawl.base.printable import printable
from mawl.records.spec.forms import Option
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


Groups = Mapping[str, Mapping[str, str | None]]
"""By title of a group the arguments that ``--help`` shows; each with a shorter text, or None for its own."""


def groups_of(options: Iterable[Option], further: Groups) -> Groups:
    """The groups that options declare, each with those that a verb has ``further``."""
    found: dict[str, dict[str, str | None]] = {title: dict(flags) for title, flags in further.items()}
    for option in options:
        if option.group is not None:
            found.setdefault(option.group, {})[option.flag] = option.brief or None
    return found


OWN = frozenset(("--help", "--help-all", "--debug"))


class VerbParser(argparse.ArgumentParser):
    """The parser of a verb.  With ``groups``, ``--help`` shows their arguments and no others, unless
    ``everything`` is to be shown: then the others make a group of their own."""

    def __init__(
        self, *arguments: Any, groups: Groups | None = None, everything: bool = True, **named: Any
    ) -> None:
        self._texts = {flag: text for flags in (groups or {}).values() for flag, text in flags.items()}
        self._everything = everything
        super().__init__(*arguments, **named)
        self._sections: dict[str, argparse._ArgumentGroup] = {}
        for title, flags in (groups or {}).items():
            self._sections |= dict.fromkeys(flags, self.add_argument_group(title))
        if groups:
            self._others = self.add_argument_group("other options")
            self.usage = (
                f"{self.prog} [options]{''.join(f' [{flag}]' for flag in self._texts if flag.isupper())}"
            )
            self.add_argument("--help-all", action="help", help="show this and all other options")

    def add_argument(self, *flags: Any, **named: Any) -> argparse.Action:
        """As ``add_argument``; the argument goes to its group."""
        name = flags[0] if flags[0].startswith("-") else named.get("metavar", flags[0])
        name = next((flag for flag in flags if flag.startswith("--")), name)
        if not self._texts or name in OWN:
            return super().add_argument(*flags, **named)
        if not self._everything:
            named["help"] = (self._texts[name] or named["help"]) if name in self._texts else argparse.SUPPRESS
        return self._sections.get(name, self._others).add_argument(*flags, **named)


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

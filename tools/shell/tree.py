"""The command line as plain records, read off the parser, so that no shell's file knows argparse."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mawl.commands.verbs import build_parser
from mawl.lab.bed import shipped as shipped_beds
from mawl.plan.spec import SCALES
from mawl.plan.workload import shipped as shipped_workloads
from mawl.records.model.published import published
from mawl.tuning.profile_files import profiles

Place = Literal["", "file", "directory"]

DIRECTORIES = frozenset(("AFTER", "BEFORE", "CAMPAIGN", "DIR", "FOLDER", "RUN", "SIDE", "SYSTEM"))
FILES = frozenset(
    (
        "A.toml",
        "B.toml",
        "COMMAND",
        "FILE",
        "FILE.toml",
        "KEY",
        "LOGS",
        "PACK",
        "PACK|RUN",
        "PATH",
        "PROBE.json",
    )
)
"""Metavars of arguments that are paths.  A file is completed through directories, so it covers both."""

WORDS_AND_FILES = frozenset(("PROFILE", "WORKLOAD"))
"""Metavars whose argument is the name of something shipped, or a file of the user's own."""

_ALTERNATIVES = re.compile(r"[a-z-]+(\|[a-z-]+)+")


@dataclass(frozen=True)
class Values:
    """What an argument may be: some words, and a file or a directory or neither."""

    words: tuple[str, ...] = ()
    place: Place = ""


@dataclass(frozen=True)
class Argument:
    """An option with its ``flags``, or without flags a positional argument, which may be ``required``.

    ``values`` is None for a flag that takes nothing; ``several`` says that it takes more than one value;
    ``again`` that the option may be given again."""

    flags: tuple[str, ...]
    metavar: str
    help: str
    values: Values | None
    several: bool = False
    again: bool = False
    required: bool = False

    @property
    def value(self) -> str:
        """Its value as a page shows it: nothing for a flag, and ``...`` where more values may follow."""
        named = " " in self.metavar  # A.toml B.toml: each value has its name, so no more follow
        return f"{self.metavar} ..." if self.several and not named else self.metavar


@dataclass(frozen=True)
class Verb:
    """``mawl`` itself (no ``words``), a verb, or a verb of a verb (two words), with its own ``verbs``."""

    words: tuple[str, ...]
    help: str
    description: str
    exit_status: str
    arguments: tuple[Argument, ...]
    verbs: tuple[Verb, ...] = ()

    @property
    def options(self) -> tuple[Argument, ...]:
        """Those with flags."""
        return tuple(one for one in self.arguments if one.flags)

    @property
    def positionals(self) -> tuple[Argument, ...]:
        """Those without flags."""
        return tuple(one for one in self.arguments if not one.flags)

    @property
    def usage(self) -> str:
        """How it is called, on one line."""
        parts = [" ".join(("mawl", *self.words)), "[options]", *(["VERB"] if self.verbs else [])]
        for one in self.positionals:
            name = f"{one.metavar}{'...' if one.several else ''}"
            parts.append(name if one.required else f"[{name}]")
        return " ".join(parts)

    def all(self) -> Iterator[Verb]:
        """Itself and every verb below it."""
        yield self
        for one in self.verbs:
            yield from one.all()


def tree() -> Verb:
    """The whole command line."""
    return _verb(build_parser(), (), "")


def _verb(parser: argparse.ArgumentParser, words: tuple[str, ...], about: str) -> Verb:
    groups = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    verbs: list[Verb] = []
    for group in groups:
        helps = {one.dest: one.help or "" for one in group._choices_actions}
        verbs += [_verb(below, (*words, name), helps.get(name, "")) for name, below in group.choices.items()]
    shown = [
        action for action in parser._actions if action not in groups and action.help != argparse.SUPPRESS
    ]
    return Verb(
        words=words,
        help=about,
        description=(parser.description or "").strip(),
        exit_status=(parser.epilog or "").strip(),
        arguments=tuple(map(_argument, shown)),
        verbs=tuple(verbs),
    )


def _argument(action: argparse.Action) -> Argument:
    takes = action.nargs != 0
    metavar = " ".join(action.metavar) if isinstance(action.metavar, tuple) else action.metavar
    if metavar is None and takes:
        metavar = "|".join(map(str, action.choices)) if action.choices else action.dest.upper()
    return Argument(
        flags=tuple(action.option_strings),
        metavar=metavar or "",
        help=" ".join((action.help or "").replace("%%", "%").split()),
        values=_values(action, (metavar or "").split(" ")[0]) if takes else None,
        several=action.nargs in ("+", "*", argparse.REMAINDER) or action.nargs == 2,
        again=isinstance(action, argparse._AppendAction),
        required=action.required,
    )


def _values(action: argparse.Action, metavar: str) -> Values:
    if action.choices:
        return Values(tuple(map(str, action.choices)))
    if _ALTERNATIVES.fullmatch(metavar):
        return Values(tuple(metavar.split("|")))
    if action.dest == "scale":
        return Values(tuple(SCALES))
    words: dict[str, tuple[str, ...]] = {
        "BED": tuple(shipped_beds()),
        "ID": tuple(published()),
        "PROFILE": tuple(profiles()),
        "WORKLOAD": tuple(shipped_workloads()),
    }
    return Values(words.get(metavar, ()), _place(metavar))


def _place(metavar: str) -> Place:
    if metavar in DIRECTORIES:
        return "directory"
    return "file" if metavar in FILES | WORDS_AND_FILES else ""


def brief(text: str, longest: int = 70) -> str:
    """The beginning of a help text, for a menu: at most ``longest`` characters, and up to its first ``;``.

    A ``;`` in parentheses ends nothing.
    """
    first = re.split(r";(?![^(]*\))", text)[0]
    return first if len(first) <= longest else first[: longest - 1].rsplit(" ", 1)[0] + " …"

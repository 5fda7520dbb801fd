"""What a verb is: the record of its arguments, the function that runs it, and its place in ``mawl --help``.

A verb declares its arguments as the fields of a class, each with ``option`` or ``operand``.  The type of the
field says what is read: ``bool`` is given or not, ``int`` and ``float`` are numbers, ``Literal`` is one of
its words.  Command line, completion scripts, manual page and docs/reference/commands.md follow from these
records.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from mawl.base.process import importing
from mawl.commands.terminal import installing, missing_package
from mawl.records.spec.campaign import CAMPAIGN_OPTIONS
from mawl.records.spec.forms import Form, Group, Option
from mawl.records.spec.sources import OPTIONS
from mawl.version import __version__

HEADS: dict[str, dict[str, str]] = {
    "answer": {
        "demo": "a first look at mawl: one small run, and what to type next",
        "qualify": "does this system carry the load, and what limits it",
    },
    "run": {
        "run": "run a workload once or as a campaign, into a run folder",
        "plan": "what a workload will need: bytes, space, memory, time",
        "generate": "make or check the input tables of a workload",
        "measure": "run one command of yours: its CPU, memory, I/O and waits",
        "probe": "what the storage itself can do (fio)",
        "compressibility": "what compression would save on files, folders or devices",
        "lab": "test beds that repeat the papers' experiments (root)",
    },
    "read": {
        "report": "a run or campaign as text, HTML, JSON, CSV or Markdown",
        "steps": "the steps that cost most: time, CPU, waiting, bytes, rows",
        "compare": "did jobs become faster or slower, and is it only noise",
        "history": "runs over time: what became slower or faster, and when",
        "serve": "browse and compare runs in a browser, follow a live one",
        "published": "results of the papers, with source and caveats",
        "pack": "make one file of a run, for others to check",
        "validate": "check a pack, run or campaign: is it whole and unaltered",
        "publish": "make a web site of packs",
    },
    "choose": {
        "size": "what to buy: the cheapest of your price list that carries",
        "rank": "qualified systems next to each other, with their cost",
        "simulate": "what if: other cores, memory, devices, nodes, sessions",
        "placement": "on which storage data, work and util should lie",
        "tune": "what is set, what is recommended, and how to change it",
    },
    "your own files": {
        "import": "make a run of SAS logs, nmon, sar, iostat or fio files",
        "derive": "make a workload of your SAS logs, to run without SAS",
        "attach": "add statistics of a storage array to a run",
    },
    "system": {
        "help": "a guide of this version on the terminal; without a name the list",
        "doctor": "can this machine run mawl, and if not, what to do",
        "collect": "join what a lost node kept to its run",
        "clean": "remove what interrupted runs left behind",
        "completion": "print the completion script of bash, zsh or fish",
        "schema": "print the JSON Schema of what a verb prints as JSON",
    },
}
"""By the heads of ``mawl --help``: each verb with what it is for, on one line."""

HELP_OF = {verb: text for verbs in HEADS.values() for verb, text in verbs.items()}
VERBS = tuple(HELP_OF)
MODULES = {
    **dict.fromkeys(("pack", "validate", "publish"), "packs"),
    **dict.fromkeys(("size", "rank", "placement", "simulate"), "choose"),
    **dict.fromkeys(("import", "derive"), "logs"),
    **dict.fromkeys(("attach", "collect"), "join"),
    "generate": "plan",
    "published": "compare",
    "steps": "report",
    "completion": "schema",
}
"""Verbs whose module in this package has another name."""

EXIT_STATUS = "exit status: 0 all well, 1 a run or a check failed, 2 wrong use, 130 interrupted"
EVERY_EXIT_STATUS = (
    "exit status: 0 all well, 1 a run or a check failed, 2 wrong use, 3 not carried or a condition of "
    "--fail-on is met, 4 not known, 130 interrupted"
)


class Argument(Option, frozen=True, kw_only=True):
    """An option, or an operand: an argument without a name of its own, which ``metavar`` names."""

    form: Form | None = None  # type: ignore[assignment]
    """Reads and checks the value; None: what the type of the field says."""
    default: Any = None
    words: Mapping[str, Any] = {}
    """Further words for ``argparse``."""
    operand: bool = False


class SharedOptions(NamedTuple):
    """Options that a run, its nodes or a campaign declare, by their fields; ``RunSpec`` reads them."""

    fields: tuple[str, ...]
    briefs: Mapping[str, str] | None
    """What ``--help`` of a verb with groups shows of them, with its text; None: what they declare."""

    def arguments(self) -> Iterator[Argument]:
        for field in self.fields:
            shared = OPTIONS[field] if field in OPTIONS else CAMPAIGN_OPTIONS[field]
            brief = shared.brief if self.briefs is None else self.briefs.get(shared.name, "")
            yield Argument(
                name=shared.name,
                metavar=shared.metavar,
                help=shared.help,
                words=shared.form.arguments,
                group=shared.group if self.briefs is None or brief else None,
                brief=brief,
            )


def option(metavar: str | tuple[str, ...] | None, text: str, *, default: Any = None, **named: Any) -> Any:
    """A field that is an option: ``--memory-limit`` for ``memory_limit``, unless it has a ``name``.

    ``named``: ``name``, ``form``, ``group`` and ``brief`` are those of ``Option``; the others, such as
    ``choices``, ``required`` and ``nargs``, go to ``argparse``.
    """
    own = {key: named.pop(key) for key in ("name", "form", "group", "brief") if key in named}
    return Argument(metavar=metavar, help=text, default=default, words=named, **own)


def switch(text: str, **named: Any) -> Any:
    """An option without a value: given or not."""
    return option(None, text, **named)


def repeated(metavar: str | None, text: str, **named: Any) -> Any:
    """An option that may be given again: a list, empty unless ``default`` says otherwise."""
    return option(metavar, text, **({"default": []} | named | {"action": "append"}))


def operand(metavar: str | None, text: str, **named: Any) -> Any:
    """A field that is an operand; it may be left out where ``nargs`` or a ``default`` says so."""
    group, brief = named.pop("group", None), named.pop("brief", "")
    default = named.pop("default", None)
    words = ({"nargs": "?"} if default is not None else {}) | named
    return Argument(
        metavar=metavar, help=text, default=default, words=words, operand=True, group=group, brief=brief
    )


def options_of_run(*fields: str, briefs: Mapping[str, str] | None = None) -> Any:
    """A field that stands for these options of a run, of its nodes or of a campaign, as they are declared."""
    return SharedOptions(fields, briefs)


class Arguments(argparse.Namespace):
    """The values of a verb's arguments; subclasses declare them."""

    debug: bool
    verb: str

    @classmethod
    @cache
    def declared(cls) -> dict[str, Argument]:
        """The arguments by their fields, in the order of the help."""
        arguments: dict[str, Argument] = {}
        for field, kind in get_type_hints(cls).items():
            declared = getattr(cls, field, None)
            if isinstance(declared, SharedOptions):
                arguments |= {argument.name: argument for argument in declared.arguments()}
            elif isinstance(declared, Argument):
                words = dict(declared.form.arguments if declared.form else _words(kind))
                arguments[field] = msgspec.structs.replace(
                    declared, name=declared.name or field, words=words | dict(declared.words)
                )
        return arguments

    @classmethod
    def read(cls, values: argparse.Namespace) -> Arguments:
        """The arguments of what ``argparse`` read; ``UsageError`` where a value cannot be."""
        arguments = cls(**vars(values))
        for field, argument in cls.declared().items():
            given = getattr(values, field, None)
            if argument.form and given not in (None, argument.default):
                setattr(arguments, field, argument.form.read(given, argument.flag))
        return arguments

    def changed(self) -> dict[str, str]:
        """Field to flag (``--nodes``), or name of an operand (``RUN``), of what is not as by default."""
        return {
            field: str(argument.metavar) if argument.operand else argument.flag
            for field, argument in self.declared().items()
            if getattr(self, field) not in (None, False, [], argument.default)
        }


def _words(kind: Any) -> dict[str, Any]:
    """What the type of a field says to ``argparse``."""
    kinds = set(get_args(kind)) - {NoneType} if get_origin(kind) in (Union, UnionType) else {kind}
    (only,) = kinds
    if only is bool:
        return {"action": "store_true"}
    if get_origin(only) is Literal:
        return {"choices": get_args(only)}
    return {"type": only} if only in (int, float) else {}


class Verb(NamedTuple):
    """A verb by its arguments and by what runs it; a module names its verbs in ``VERBS``.

    The documentation of ``arguments``, or else of the module, is the description of the verb.  With
    ``grouped``, ``--help`` shows the arguments that have a group, and ``--help-all`` all of them.
    """

    arguments: type[Arguments]
    run: Callable[[Any], int]
    exit_status: str = EXIT_STATUS
    grouped: bool = False
    help: str = ""
    """Of a verb below another, ``tune show``; ``HEADS`` has those of the others."""


class Screen(argparse.ArgumentParser):
    """The parser of ``mawl`` itself, whose help is one screen: the verbs under their heads."""

    def format_help(self) -> str:
        width = shutil.get_terminal_size().columns - 2  # as argparse has it
        lines = [
            "usage: mawl VERB [options]     To begin: mawl demo. A guide: mawl help VERB",
            "",
            *textwrap.wrap(self.description or "", width),
        ]
        for head, verbs in HEADS.items():
            lines += ["", f"{head}:"] if head == "answer" else [f"{head}:"]
            lines += [f"  {verb:<16}{text}" for verb, text in verbs.items()]
        lines += ["", "options: --version, --debug (show a traceback with an error), -h or --help"]
        return "\n".join([*lines, *textwrap.wrap(self.epilog or "", width)]) + "\n"


def build_parser(wanted: Sequence[str] = VERBS, *, everything: bool = True) -> argparse.ArgumentParser:
    """The command line of the verbs ``wanted``, by default the whole of it; only their modules are loaded.

    Without ``everything`` the help of a verb that is ``grouped`` leaves out what has no group.
    """
    parser = Screen(
        prog="mawl",
        description="Mixed Analytics WorkLoad: can this system carry an analytics shop's mixed load, "
        "what limits it, and what would change that?",
        epilog=EVERY_EXIT_STATUS,
    )
    parser.add_argument("--version", action="version", version=f"mawl {__version__}")
    parser.add_argument("--debug", action="store_true", help="show a traceback with an error")
    verbs = parser.add_subparsers(
        dest="verb", metavar="VERB", required=True, parser_class=argparse.ArgumentParser
    )
    for name in wanted:
        try:
            with importing():
                module = importlib.import_module(f"mawl.commands.{MODULES.get(name, name)}")
        except ModuleNotFoundError as error:
            # The base install reads and reports; what measures needs the extra.
            _refuse(verbs.add_parser(name, help=f"needs {installing('programs')}"), error)
            continue
        if name in module.VERBS:
            _add_verb(verbs, name, module.VERBS[name], module.__doc__, everything=everything)
            continue
        below = {key.split()[1]: verb for key, verb in module.VERBS.items() if key.split()[0] == name}
        page = verbs.add_parser(name, help=HELP_OF[name], description=module.__doc__, epilog=EXIT_STATUS)
        _add_debug(page)
        parts = page.add_subparsers(dest="part", metavar="|".join(below), required=True)
        for key, verb in below.items():
            _add_verb(parts, key, verb, None, everything=everything)
    return parser


def _add_verb(verbs: Any, name: str, verb: Verb, description: str | None, *, everything: bool) -> None:
    parser = verbs.add_parser(
        name,
        help=verb.help or HELP_OF[name],
        description=verb.arguments.__doc__ or description,
        epilog=None if verb.help else verb.exit_status,
    )
    if not verb.help:
        _add_debug(parser)
    parser.set_defaults(called=verb)
    declared = verb.arguments.declared()
    sections: dict[str | None, Any] = {}
    others = parser
    if verb.grouped:
        used = {argument.group for argument in declared.values()}
        sections = {title: parser.add_argument_group(title) for title in get_args(Group) if title in used}
        others = parser.add_argument_group("other options")
        operands = (f" [{argument.metavar}]" for argument in declared.values() if argument.operand)
        parser.usage = f"{parser.prog} [options]{''.join(operands)}"
        parser.add_argument("--help-all", action="help", help="show this and all other options")
    for field, argument in declared.items():
        text = argument.help
        if verb.grouped and not everything:
            text = (argument.brief or argument.help) if argument.group else argparse.SUPPRESS
        words: dict[str, Any] = {"metavar": argument.metavar} if argument.metavar else {}
        words |= {} if argument.default is None else {"default": argument.default}
        words |= {} if argument.operand else {"dest": field}
        place = sections.get(argument.group, others)
        place.add_argument(
            field if argument.operand else argument.flag, help=text, **(words | dict(argument.words))
        )


def _add_debug(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _refuse(parser: argparse.ArgumentParser, error: ModuleNotFoundError) -> None:
    """Make a verb whose packages are missing say so, whatever its arguments."""

    def run(_: Arguments) -> int:
        raise missing_package(error, "programs")

    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(called=Verb(Arguments, run))


def actions_of(parser: argparse.ArgumentParser, values: argparse.Namespace) -> Iterator[argparse.Action]:
    """The arguments of the parser and of the verb that was chosen."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from actions_of(action.choices[getattr(values, action.dest)], values)
        else:
            yield action

"""The ``mawl`` command: finds the verb, runs it, and turns an error into one sentence and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from mawl.base.errors import LIMITS, MawlError, UnsuitableMachineError, UsageError, meant
from mawl.base.process import end_with
from mawl.commands.terminal import printing
from mawl.commands.verbs import VERBS, Verb, actions_of, build_parser
from mawl.records.store.without_pandas import arrow_alone

PROC = Path("/proc")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_TEXT = re.compile("[\ud800-\udfff]")
"""Bytes of a name that are not UTF-8, as Python holds them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit status and never raises for an error a user can meet."""
    with printing():
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    arguments = argparse.Namespace(debug=False, verb="")
    try:
        words = sys.argv[1:] if argv is None else argv
        first = next((word for word in words if not word.startswith("-")), None)
        if first is not None and first not in VERBS:
            raise UsageError(
                f"no verb is called {first!r}", cure=f"{meant(first, VERBS)}choose one of {', '.join(VERBS)}"
            )
        # Of the others nothing is said once the verb is known, and to load them takes longer than most verbs.
        wanted = () if first is None else (first,)
        parser = build_parser(wanted, everything="--help-all" in words)
        parser.parse_args(words, arguments)
        _refuse_empty(parser, arguments)
        arrow_alone()
        verb: Verb = arguments.called
        status = verb.run(verb.arguments.read(arguments))
        sys.stdout.flush()
        return status
    except MawlError as error:
        if arguments.debug:
            raise
        return _say(arguments, str(error), error.exit_code)
    except KeyboardInterrupt:
        return _say(arguments, "interrupted", 130)
    except BrokenPipeError:
        # The reader of our output is gone (`mawl report | head`): not an error, and nothing to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, UnicodeEncodeError) as error:
        if arguments.debug:
            raise
        failure = as_error(error) if isinstance(error, OSError) else _not_text(error)
        return _say(arguments, str(failure), failure.exit_code)
    except (MemoryError, ImportError, SystemError) as error:
        if arguments.debug or not (isinstance(error, MemoryError) or _address_space_is_limited()):
            raise
        # Under such a limit a library that finds no memory cannot be loaded, or fails without saying why.
        why = str(error) if isinstance(error, ImportError) else "no memory is left"
        return _say(arguments, f"{why}; {LIMITS[errno.ENOMEM]}", 1)


def _address_space_is_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _refuse_empty(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Refuse an option or argument without a character: the command of ``measure`` alone may have some."""
    for action in actions_of(parser, arguments):
        value = getattr(arguments, action.dest, None)
        if action.dest != "command" and "" in (value if isinstance(value, list) else [value]):
            raise UsageError(
                f"{action.option_strings[-1] if action.option_strings else f'the argument {action.metavar}'} "
                "is empty",
                why="a shell variable that is not set reads like that",
                cure="give it a value, or leave it out",
            )


def as_error(error: OSError) -> UnsuitableMachineError:
    """An error of the operating system with its place and what to do about it, where that is clear."""
    if error.errno == errno.ENOENT and error.filename is None and _is_nowhere():
        return UnsuitableMachineError(
            "the current directory no longer exists",
            cure="change to a directory that exists, and repeat the command",
        )
    # Streams do not know their file; a print that fails for want of room has none to name.
    unnamed = "cannot write output" if error.errno in NO_ROOM else None
    return UnsuitableMachineError(
        (error.strerror or str(error)).lower(),
        where=str(error.filename) if error.filename else unnamed,
        cure=_cure_of(error),
    )


def _is_nowhere() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _not_text(error: UnicodeEncodeError) -> MawlError:
    """The error of a name that is not UTF-8, or of a letter that the terminal's encoding does not have."""
    if NO_TEXT.search(error.object):
        return UsageError(
            "is not UTF-8, and mawl keeps names as text",
            where=error.object,
            cure="give this file or directory another name",
        )
    return UnsuitableMachineError(
        "cannot write output",
        why=f"its encoding, {error.encoding}, does not have {error.object[error.start]!a}",
        cure="set PYTHONUTF8=1 or a locale with UTF-8, or write to a file with --output",
    )


def _cure_of(error: OSError) -> str | None:
    if str(error.filename).startswith(f"{PROC}/") and not (PROC / "self").exists():
        return f"mawl reads the kernel's figures there: mount -t proc proc {PROC}"
    limit = LIMITS.get(error.errno or 0)
    return limit if error.errno not in (errno.ENOENT, errno.EACCES) else None


def _say(arguments: argparse.Namespace, sentence: str, status: int) -> int:
    with contextlib.suppress(OSError):  # the terminal is gone: the exit status still says it
        print(" ".join(f"mawl {arguments.verb}".split()) + f": {sentence}", file=sys.stderr, flush=True)
    return status


def terminated(number: int, _: FrameType | None) -> NoReturn:
    """SIGTERM and SIGHUP end a verb as Ctrl-C does.

    A terminal that closes sends SIGHUP twice: the shell does, and so does the kernel.  The second one is
    ignored, so that it does not interrupt the end.
    """
    if number == signal.SIGHUP:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt(signal.Signals(number).name)


def _open_standard_streams() -> None:
    """Where a caller closed one of them, a file that is opened next would take its number, and what is
    printed."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))  # noqa: SIM115


def entry() -> NoReturn:
    """The console script; SIGTERM, and a terminal that closes, end a verb as Ctrl-C does."""
    _open_standard_streams()
    signal.signal(signal.SIGTERM, terminated)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup
        signal.signal(signal.SIGHUP, terminated)
    end_with(main)

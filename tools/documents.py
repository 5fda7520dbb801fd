"""Run every command that the documents show, so that no document promises what does not work.

In a fence that opens with ```` ```console ```` each line that begins with ``$ `` is run by bash, with
``.venv/bin`` first on PATH, in one scratch directory for each document, in order; it must end with
status 0.  The directory has the folder ``examples``.
Two documents are run side by side.  ``make TARGET`` is only looked up in the Makefile, and
what changes the machine or needs a network (``git``, ``cd``, package managers) is not run.  A fence that
opens with ```` ```toml NAME.toml ```` is that file in the scratch directory.  ```` ```console ignore ````
switches a fence off; ``mawl`` commands of such a fence, and of ```` ```text ```` and ```` ```sh ````, are not
run, but mawl's own parser has to take them.  Those of ```` ```console long ```` take minutes: a long test
runs them among the others of their page (tests/project/test_long_documents.py), and keeps a row of each.

``python -m tools.documents [FILE...]``; without arguments those of the top and docs/**/*.md.
``python -m tools.documents --rows [FILE...]`` adds lines of the long test beside ``PAGE``, and prints
it.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec

from mawl.commands.verbs import build_parser
from tools.kept_lines import print_page
from tools.markdown import table

ROOT = Path(__file__).resolve().parent.parent
NOT_RUN = ("git", "cd", "sudo", "apt-get", "pip")
LONGEST_SECONDS = 300
AT_ONCE = 2
"""Documents whose commands run side by side."""


LONG = "console long"
NOT_RUN_FENCES = ("console ignore", LONG, "text", "sh")
_SHOWN = re.compile(r"(?:[$#] )?(?=mawl )")
"""What is before a command in a fence that is not run."""


PAGE = Path("docs/reference/long-commands.md")
_PLACE = re.compile(r"(?<=[\s=])/(?=(?:mnt|san|flash|srv|local|new|old)/)")
"""Where a path begins that is a file system of the reader; a long test takes one below its scratch."""
ANSWERS = (0, 3, 4)
"""Exit statuses of a qualification that went through."""


@dataclass(frozen=True)
class Command:
    """A command as a document shows it; ``line`` counts from 1."""

    line: int
    text: str
    fence: str = "console"


class LongCommand(msgspec.Struct, frozen=True, kw_only=True):
    """What a long test found of one command; ``minutes``: those that it put in place of the shown ones.

    ``beside_others``: the machine had other work, so a qualification or simulation also got ``--anyway``.
    """

    measured_at: str
    commit: str
    page: str
    command: str
    minutes: int | None
    beside_others: bool
    status: int
    said: str


def commands(text: str, *, long: bool = False) -> Iterator[Command]:
    """The commands in the console fences of a document; a trailing backslash continues a line.

    ``long``: those that take minutes, too.
    """
    return _commands(text, ("console", LONG) if long else ("console",), re.compile(r"\$ "))


def not_run(text: str) -> list[Command]:
    """The commands that a document shows and no test runs: ``make`` and what changes the machine, too."""
    looked_up = [one for one in commands(text, long=True) if one.text.split()[0] in (*NOT_RUN, "make")]
    shown = _commands(text, ("console ignore",), re.compile(r"\$ "))
    return [*looked_up, *shown, *_commands(text, ("text", "sh"), _SHOWN)]


def mawl_commands_not_run(text: str) -> Iterator[Command]:
    """The ``mawl`` commands that a document only shows."""
    return _commands(text, NOT_RUN_FENCES, _SHOWN)


def _commands(text: str, fences: tuple[str, ...], prompt: re.Pattern[str]) -> Iterator[Command]:
    fence: str | None = None
    pending: Command | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            fence = line[3:].strip() if fence is None else None
        elif fence in fences:
            if pending is not None:
                pending = Command(pending.line, pending.text + line.strip(), fence)
            elif (begins := prompt.match(line)) is not None:
                pending = Command(number, line[begins.end() :].strip(), fence)
            if pending is not None and pending.text.endswith("\\"):
                pending = Command(pending.line, pending.text[:-1], fence)
            elif pending is not None:
                yield pending
                pending = None


def files(text: str) -> dict[str, str]:
    """Files that a document shows under their name."""
    return dict(re.findall(r"^```toml (\S+\.toml)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def make_targets(makefile: str) -> set[str]:
    """Names of the targets of a Makefile."""
    return set(re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE))


def check(command: Command, directory: Path, environment: dict[str, str]) -> str | None:
    """Run or look up one command; a sentence when it does not work, None when it does."""
    words = shlex.split(command.text, comments=True)
    if not words or words[0] in NOT_RUN:
        return None
    if words[0] == "make":
        known = make_targets((ROOT / "Makefile").read_text())
        unknown = [word for word in words[1:] if "=" not in word and word not in known]
        return f"the Makefile has no target {unknown[0]}" if unknown else None
    try:
        ended = subprocess.run(
            ["bash", "-c", command.text],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {LONGEST_SECONDS} s"
    if ended.returncode == 0:
        return None
    last = (ended.stderr or ended.stdout).strip().splitlines()[-1:] or ["it said nothing"]
    return f"exit status {ended.returncode}: {last[0]}"


SHELL_WORDS = frozenset({"&", "&&", "|", ">", ";"})
"""Where a command ends and what the shell does with it begins."""


def parse(command: Command) -> str | None:
    """A sentence where mawl's own parser refuses a command, None where it takes it."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            words = itertools.takewhile(
                lambda word: word not in SHELL_WORDS, shlex.split(command.text, comments=True)
            )
            build_parser().parse_args(list(words)[1:])
    except SystemExit as ended:
        return f"not run, and refused: {said.getvalue().strip().splitlines()[-1]}" if ended.code else None
    return None


def check_shown(file: Path) -> tuple[int, list[str]]:
    """How many ``mawl`` commands a document only shows, and a line for each that mawl would refuse.

    It redirects standard error for the whole process: not for several threads.
    """
    found = [(command, parse(command)) for command in mawl_commands_not_run(file.read_text())]
    return len(found), [f"{file}:{one.line}: {one.text}: {problem}" for one, problem in found if problem]


def run_long(
    file: Path, scratch: Path, environment: dict[str, str], minutes: int | None, *, beside: bool = False
) -> list[LongCommand]:
    """Run all commands of a document in order, in ``scratch``; a row of each that takes minutes.

    Paths such as /mnt/data lie below ``scratch``.  ``AssertionError`` names a command that failed; what a
    qualification answers is no failure.
    """
    text = file.read_text()
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    for name, content in files(text).items():
        (scratch / name).write_text(content)
    rows = []
    for command in commands(text, long=True):
        if command.text.split()[0] in (*NOT_RUN, "make"):
            continue
        words = _PLACE.sub(f"{scratch}/", command.text)
        replaced = minutes if minutes is not None and "--minutes" in words else None
        if beside and words.startswith(("mawl qualify", "mawl simulate")):
            words += " --anyway"
        if replaced is not None:
            words = re.sub(r"--minutes \d+", f"--minutes {replaced}", words)
        began = datetime.now(UTC)
        done = subprocess.run(
            ["bash", "-c", words],
            cwd=scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        answers = ANSWERS if command.text.startswith("mawl qualify") else (0,)
        assert done.returncode in answers, f"{file.name}: {words}: {done.stderr[-2000:]}"
        if command.fence == LONG:
            first = next(iter(done.stdout.strip().splitlines()), "")
            rows.append(
                LongCommand(
                    measured_at=began.strftime("%Y-%m-%d"),
                    commit=commit.strip()[:12],
                    page=str(file.relative_to(ROOT)),
                    command=command.text,
                    minutes=replaced,
                    beside_others=beside,
                    status=done.returncode,
                    said=first.replace(f"{scratch}/", "/"),
                )
            )
    return rows


def stored(lines: Iterable[bytes]) -> list[LongCommand]:
    """The newest row of each command that a page shows today, by page."""
    rows = {
        (one.page, one.command): one
        for one in (msgspec.json.decode(line, type=LongCommand) for line in lines)
    }
    shown = {
        (name, command.text)
        for name in {page for page, _ in rows}
        if (ROOT / name).is_file()
        for command in commands((ROOT / name).read_text(), long=True)
        if command.fence == LONG
    }
    return [rows[key] for key in sorted(rows) if key in shown]


def long_page(rows: Sequence[LongCommand]) -> str:
    """The page of the rows."""
    cells = [
        (
            one.measured_at,
            one.page,
            f"`{one.command}`",
            one.minutes or "as shown",
            "yes" if one.beside_others else "no",
            one.status,
            one.said,
        )
        for one in rows
    ]
    head = ("day", "page", "command", "minutes", "beside others", "exit status", "first line")
    lines = [
        "# Long commands of the guides",
        "",
        "Tests run the commands of README and guides.",
        "Those that take minutes run in the long tests; here is the last time that each was run.",
        "Where *minutes* has a number, it was in place of that of `--minutes`.",
        "*Beside others*: other work used the machine, so `qualify` and `simulate` also got `--anyway`.",
        "Of `mawl qualify` the exit status is the answer: 0 yes, 3 no, 4 not known.",
        "",
        *table(head, cells),
    ]
    return "\n".join(lines).rstrip() + "\n"


def check_document(file: Path, environment: dict[str, str]) -> tuple[int, list[str]]:
    """How many commands of a document were checked, and a line for each that does not work."""
    ran, problems = 0, []
    text = file.read_text()
    with tempfile.TemporaryDirectory(prefix="mawl-documents-") as scratch:
        Path(scratch, "examples").symlink_to(ROOT / "examples")
        for name, content in files(text).items():
            Path(scratch, name).write_text(content)
        for command in commands(text):
            ran += 1
            problem = check(command, Path(scratch), environment)
            if problem is not None:
                problems.append(f"{file}:{command.line}: {command.text}: {problem}")
    return ran, problems


def main(arguments: list[str]) -> int:
    """Check documents; 1 when a command in one of them does not work."""
    if arguments[:1] == ["--rows"]:
        sys.argv.pop(1)
        print_page(__doc__, PAGE, stored, long_page)
        return 0
    documents = [Path(name).resolve() for name in arguments]
    documents = documents or [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAWL_")}
    environment["PATH"] = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"
    ran = failed = 0
    shown = [check_shown(document) for document in documents]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for count, problems in chain(
            shown, pool.map(partial(check_document, environment=environment), documents)
        ):
            ran, failed = ran + count, failed + len(problems)
            for problem in problems:
                print(f"documents: {problem}", file=sys.stderr)
    parsed = sum(count for count, _ in shown)
    print(
        f"documents: {len(documents)} read, {ran} commands checked ({parsed} of them parsed, not run), "
        f"{failed} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

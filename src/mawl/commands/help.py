"""Guides on the terminal: the package holds those of docs/guides, by a link or as it was built."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.resources import files

from mawl.base.errors import UsageError, meant
from mawl.commands.terminal import width_of
from mawl.commands.verbs import VERBS as EVERY
from mawl.commands.verbs import Arguments, Verb, build_parser, operand
from mawl.reports.layout import wrapped

ELSEWHERE = {
    "attach": "arrays",
    "demo": "first-run",
    "doctor": "first-run",
    "generate": "workload-files",
    "measure": "your-own-programs",
    "pack": "pack-and-validate",
    "plan": "first-run",
    "published": "compare",
    "rank": "read-an-answer",
    "report": "html-report",
    "run": "run-options",
    "steps": "import",
    "tune": "tuning",
    "validate": "pack-and-validate",
}
"""Verbs whose guide has another name; those without a guide have their options alone."""
_LINK = re.compile(r"!?\[([^]]*)\]\(([^)\s]*?)(?:#[^)\s]*)?\)")


class HelpArguments(Arguments):
    """Print a guide of this version, or list them all; of a verb its guide, or else its options.

    The guides are in the package, so this needs no network.
    """

    topic: str | None = operand("TOPIC", "a guide of the list, or a verb (default: the list)", nargs="?")


def guides() -> dict[str, str]:
    """The guides by their topics, as Markdown."""
    folder = files("mawl") / "guides"
    pages = sorted(folder.iterdir(), key=lambda page: page.name) if folder.is_dir() else []
    return {page.name.removesuffix(".md"): page.read_text() for page in pages if page.name.endswith(".md")}


def run(arguments: HelpArguments) -> int:
    texts = guides()
    topic = arguments.topic
    name = topic if topic is None or topic in texts else ELSEWHERE.get(topic, topic)
    if name is None:
        lines = [f"  {one:<19}{text.splitlines()[0].lstrip('# ')}" for one, text in texts.items()]
        print("\n".join(["mawl help TOPIC prints one of these guides:", *lines]))
    elif name in texts:
        print("\n".join(shown(texts[name], texts, width_of(sys.stdout))))
    elif name in EVERY:
        build_parser((name,)).parse_args([name, "--help"])
    else:
        known = [*texts, *EVERY]
        raise UsageError(
            f"no guide and no verb is called {name!r}", cure=f"{meant(name, known)}mawl help lists the guides"
        )
    return 0


def shown(text: str, topics: dict[str, str], width: int) -> Iterator[str]:
    """Lines of a guide for a terminal: without pictures, with the command that prints a linked guide."""
    fenced, rows = False, list[list[str]]()
    text = re.sub(r"^!\[.*\n\n?", "", text, flags=re.MULTILINE)  # a terminal shows no pictures
    for line in [*text.splitlines(), ""]:
        if rows and not line.startswith("|"):
            yield from _table(rows, width)
            rows = []
        fenced ^= line.startswith("```")
        if fenced or line.startswith("```"):
            yield from [] if line.startswith("```") else [f"    {line}"]
            continue
        plain = _LINK.sub(lambda link: _words(link, topics), line).replace("**", "")
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", plain.strip("|"))])
        else:
            yield from wrapped(plain, width, "  " if line.startswith("- ") else "") or [""]


def _words(link: re.Match[str], topics: dict[str, str]) -> str:
    words, target = link.groups()
    topic = target.removesuffix(".md")
    if "://" in target:
        return f"{words} ({target})"
    return f"{words} (mawl help {topic})" if topic in topics else words


def _table(rows: list[list[str]], width: int) -> Iterator[str]:
    """Rows as columns where they fit, or else each row's cells one below another."""
    kept = [row for row in rows if set("".join(row)) - set("-: ")]
    widths = [max(len(row[index]) for row in kept) for index in range(len(kept[0]) - 1)]
    room = width - sum(widths) - 2 * len(widths)
    if room < 30:
        for row in kept[1:]:
            yield from wrapped("- " + "; ".join(filter(None, row)), width, "  ")
        return
    for row in kept:
        before = "".join(cell.ljust(size + 2) for cell, size in zip(row[:-1], widths, strict=True))
        lines = wrapped(row[-1], room, "") or [""]
        yield (before + lines[0]).rstrip()
        yield from (" " * (width - room) + line for line in lines[1:])


VERBS = {"help": Verb(HelpArguments, run)}

"""A static site of packs: a table, a page for each with its rules, the data to download, and a feed.

The pages work without a web server. Only filters and the page of two results need scripts. mawl checks every
pack first, and refuses one whose figures cannot be relied on. docs/guides/publish.md shows it.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from mawl.archive.bounded_reading import TRUSTED_HELP
from mawl.archive.site.build import build_site
from mawl.base.units import counted_noun
from mawl.commands.verbs import Arguments, Verb, operand, option, switch


class PublishArguments(Arguments):
    packs: list[str] = operand("PACK", "files that mawl pack wrote", nargs="+")
    output: str = option("DIR", "the site's directory (default: site)", default="site")
    address: str = option(
        "URL",
        "where the site will be, with a slash at its end, for the names in its feed",
        default="urn:mawl:site:",
    )
    trusted: bool = switch(TRUSTED_HELP)


def run(arguments: PublishArguments) -> int:
    output = Path(arguments.output)
    packs = [Path(name) for name in arguments.packs]
    entries = build_site(packs, output, arguments.address, trusted=arguments.trusted)
    accepted = sum(entry.validation.accepted for entry in entries)
    page = shlex.quote(str(output / "index.html"))
    print(f"site: {page} ({counted_noun(len(entries), 'pack')}, {accepted} accepted)")
    return 0


VERBS = {"publish": Verb(PublishArguments, run)}

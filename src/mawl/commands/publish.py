"""A static site of packs: a table, a page for each with its rules, the data to download, and a feed.

The pages work without a web server. Only filters and the page of two results need scripts. mawl checks every
pack first, and refuses one whose figures cannot be relied on. docs/guides/publish.md shows it.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from mawl.archive.bounded_reading import TRUSTED_HELP
from mawl.archive.site.build import build_site
from mawl.base.units import counted_noun

NAME = "publish"
HELP = "a static site of packs: a table, a page for each, their data, a feed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packs", nargs="+", metavar="PACK", help="files that mawl pack wrote")
    parser.add_argument(
        "--output", metavar="DIR", default="site", help="the site's directory (default: site)"
    )
    parser.add_argument(
        "--address",
        metavar="URL",
        default="urn:mawl:site:",
        help="where the site will be, with a slash at its end, for the names in its feed",
    )
    parser.add_argument("--trusted", action="store_true", help=TRUSTED_HELP)


def run(arguments: argparse.Namespace) -> int:
    output = Path(arguments.output)
    packs = [Path(name) for name in arguments.packs]
    entries = build_site(packs, output, arguments.address, trusted=arguments.trusted)
    accepted = sum(entry.validation.accepted for entry in entries)
    page = shlex.quote(str(output / "index.html"))
    print(f"site: {page} ({counted_noun(len(entries), 'pack')}, {accepted} accepted)")
    return 0

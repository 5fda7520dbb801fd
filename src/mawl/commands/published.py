"""The figures that papers published of this kind of workload: a list, or one result with its caveats.

A figure that a paper does not give is blank. Totals of different machines are no comparison; what may
be compared is per core and in shape (mawl compare ID RUN).
"""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from mawl.analysis.published import published_block, published_input_bytes
from mawl.config.published import paper_of, papers, published, published_result, thread_shares
from mawl.model.published import Paper, PublishedResult
from mawl.model.published_figures import PublishedFigures
from mawl.reporters.json import render
from mawl.reporters.published import listing, page

NAME = "published"
HELP = "list the papers' results, or show one with its source and caveats"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl published [ID]``."""
    parser.add_argument("id", nargs="?", metavar="ID", help="one result (default: the list)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="--format json")


def run(arguments: argparse.Namespace) -> int:
    """Print the list or the page."""
    if arguments.id is not None:
        one = as_block(published_result(arguments.id))
        print(render(one) if arguments.format == "json" else page(one))
        return 0
    blocks = [as_block(result) for result in published().values()]
    if arguments.format == "json":
        print(render({"results": blocks, "papers": [_paper(paper) for paper in papers()]}))
    else:
        print(listing(blocks))
    return 0


def as_block(result: PublishedResult) -> PublishedFigures:
    """A result as what reports and comparisons read."""
    return published_block(
        result,
        paper_of(result),
        input_bytes=published_input_bytes(papers()),
        thread_shares=thread_shares(),
    )


def _paper(paper: Paper) -> dict[str, Any]:
    """What a paper says beside its results."""
    held: dict[str, Any] = msgspec.to_builtins(paper)
    return {name: value for name, value in held.items() if name != "results"}

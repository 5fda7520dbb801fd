"""The figures that papers published of this kind of workload: a list, or one result with its caveats.

A figure that a paper does not give is blank. Do not compare totals of different
machines: mawl compare ID RUN compares what may be compared, per core and as shares.
"""

from __future__ import annotations

import argparse

import msgspec

from mawl.base.errors import UsageError
from mawl.commands.arguments import RUNS, bounds_of, formats, settings
from mawl.commands.compare import Reader
from mawl.commands.terminal import width_for
from mawl.commands.verbs import Arguments, Verb, operand, repeated, switch
from mawl.figures.published import published_block, published_input_bytes
from mawl.figures.published_tables import FilledTable, fill_tables
from mawl.records.model.published import Citation, Paper, PaperFacts, PublishedFigures, PublishedResult
from mawl.records.papers import paper_named, paper_of, papers, published, published_result, thread_shares
from mawl.reports.json import render
from mawl.reports.published import listing, markdown, page, text


class PublishedList(msgspec.Struct, frozen=True, kw_only=True):
    """All results as ``--json`` prints them without an ID, and what their papers say besides them."""

    results: list[PublishedFigures]
    papers: list[PaperFacts]


class PaperTables(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of a paper as ``--tables --json`` prints them."""

    source: Citation
    tables: list[FilledTable]


class PublishedArguments(Arguments):
    id: str | None = operand("ID", "one result, or with --tables a paper (default: the list)", nargs="?")
    tables: bool = switch("the tables of the paper, with the figures of --run in them")
    run: list[str] | None = repeated(
        "RUN",
        "with --tables: a run, or a folder of repeats; may be repeated: the first run goes next to the "
        "first column",
        default=None,
    )
    runs: str | None = RUNS
    format: str = formats("text", "json", "markdown", text="default: text; markdown is for --tables")
    json: bool = switch("--format json", action="store_const", const="json", dest="format")


def run(arguments: PublishedArguments) -> int:
    if arguments.tables:
        return _tables(arguments)
    if arguments.run or arguments.format == "markdown":
        given = "--run" if arguments.run else "--format markdown"
        raise UsageError(f"{given} goes with --tables", cure="add --tables, or leave it out")
    if arguments.id is not None:
        one = as_block(published_result(arguments.id))
        print(render(one) if arguments.format == "json" else page(one, width_for(None)))
        return 0
    blocks = [as_block(result) for result in published().values()]
    if arguments.format == "json":
        print(render(PublishedList(results=blocks, papers=[_facts(paper) for paper in papers()])))
    else:
        print(listing(blocks, width_for(None)))
    return 0


def _tables(arguments: argparse.Namespace) -> int:
    """Every table of a paper, with runs in the same rows."""
    if arguments.id is None:
        names = ", ".join(paper.source.key for paper in papers())
        raise UsageError("--tables needs a paper, or a result of it", cure=f"choose from: {names}")
    paper = paper_named(arguments.id)
    chosen = settings()
    reader = Reader(chosen.runs(arguments.runs), bounds_of(chosen))
    sides = [reader.side(word, [word]) for word in arguments.run or ()]
    for side in sides:
        if not side.runs:
            raise UsageError("is a published result", where=side.label, cure="--run takes runs of yours")
    results = {result.id: as_block(result) for result in paper.results}
    tables = fill_tables(paper, results, sides)
    if arguments.format == "json":
        print(render(PaperTables(source=paper.source, tables=tables)))
    else:
        shown = (
            markdown(paper, tables)
            if arguments.format == "markdown"
            else text(paper, tables, width_for(None))
        )
        print(shown)
    return 0


def as_block(result: PublishedResult) -> PublishedFigures:
    """A result as what reports and comparisons read."""
    return published_block(
        result,
        paper_of(result),
        input_bytes=published_input_bytes(papers()),
        thread_shares=thread_shares(),
    )


def _facts(paper: Paper) -> PaperFacts:
    return PaperFacts(**{name: getattr(paper, name) for name in PaperFacts.__struct_fields__})


VERBS = {"published": Verb(PublishedArguments, run)}

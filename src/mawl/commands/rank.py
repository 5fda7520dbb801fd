"""Qualified systems side by side: sessions that fit, slowdown, delivered cores, limit, cost of 1000 jobs.

Each SYSTEM is a folder that mawl qualify wrote; the system has the name of that folder. Prices are yours:
--price, or a file with per_hour. Systems that share a place are a tie: their ranges overlap.
docs/guides/read-an-answer.md shows it.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.advice.rank import Ranking, rank
from mawl.base.errors import UsageError
from mawl.commands.arguments import OUTPUT, formats
from mawl.commands.output import write_text
from mawl.commands.terminal import width_for
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated
from mawl.records.model.qualification import Qualification
from mawl.records.papers import PriceBook, load_prices, with_prices
from mawl.records.store.campaign import read_qualification
from mawl.reports import json
from mawl.reports.document import rendered
from mawl.reports.layout import LEAST_WIDTH
from mawl.reports.rank import document

FORMATS = ("text", "markdown", "json")


class RankArguments(Arguments):
    systems: list[str] = operand("SYSTEM", "folders that mawl qualify wrote", nargs="+")
    price: list[str] = repeated(
        "NAME=PRICE", "what an hour of a system costs, such as A=1.20/h; may be repeated"
    )
    prices: str | None = option(
        "FILE.toml", "a price book: currency, and per_hour with a price for each name"
    )
    format: str = formats(*FORMATS)
    output: str | None = OUTPUT


def run(arguments: RankArguments) -> int:
    book = with_prices(
        load_prices(Path(arguments.prices)) if arguments.prices else PriceBook(), arguments.price
    )
    records = _records(arguments.systems)
    known = set(records)
    given = {text.rpartition("=")[0] for text in arguments.price}
    prices = {name: price for name, price in book.per_hour.items() if name in known or name in given}
    if arguments.prices and not prices:
        raise UsageError(
            f"has no price for {' or '.join(records)}",
            where=arguments.prices,
            cure="give per_hour the names of the folders as keys",
        )
    width = width_for(arguments.output, LEAST_WIDTH)
    write_text(
        arguments.output, lambda: _rendered(rank(records, prices, book.currency), arguments.format, width)
    )
    return 0


def _records(folders: list[str]) -> dict[str, Qualification]:
    """Each record by the last part of its folder's name, or by the folder where two have the same."""
    if len(folders) < 2:
        raise UsageError(
            f"a ranking takes at least two systems, found {len(folders)}", cure="mawl rank A B [C...]"
        )
    paths = [Path(folder) for folder in folders]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a system is named twice", cure="name each folder once")
    names = [path.absolute().name for path in paths]
    if len(set(names)) < len(names):
        names = folders
    return {name: read_qualification(path) for name, path in zip(names, paths, strict=True)}


def _rendered(found: Ranking, form: str, width: int) -> str:
    if form == "json":
        return json.render(msgspec.to_builtins(found)) + "\n"
    return rendered(document(found), form, width) + "\n"


VERBS = {"rank": Verb(RankArguments, run)}

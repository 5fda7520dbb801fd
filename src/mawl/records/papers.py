"""Published results and their papers (``mawl/published``), and a user's price book of systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.model.published import Paper, PublishedResult, ThreadShare
from mawl.records.spec import toml

SHIPPED = Path(__file__).parent / "published"


@cache
def papers() -> tuple[Paper, ...]:
    """Every paper, oldest first, those without a date last."""
    read = [toml.load(path, Paper) for path in sorted(SHIPPED.glob("*.toml"))]
    return tuple(sorted(read, key=lambda paper: (paper.source.published or "9999", paper.source.key)))


def published() -> dict[str, PublishedResult]:
    """Every result by its id, paper by paper."""
    return {result.id: result for paper in papers() for result in paper.results}


def published_result(name: str) -> PublishedResult:
    """The result of that id; ``UsageError`` where there is none."""
    known = published()
    if name not in known:
        raise UsageError(f"{name} is no published result", cure=f"choose from: {', '.join(known)}")
    return known[name]


def paper_of(result: PublishedResult) -> Paper:
    """The paper that a result stands in."""
    return next(paper for paper in papers() if paper.source.key == result.source)


def paper_named(name: str) -> Paper:
    """The paper of that key, or that holds the result of that id.

    ``UsageError`` where there is none.
    """
    for paper in papers():
        if name in (paper.source.key, *(result.id for result in paper.results)):
            return paper
    keys = ", ".join(paper.source.key for paper in papers())
    raise UsageError(f"{name} is no paper and no result of one", cure=f"choose from: {keys}")


def thread_shares() -> dict[str, ThreadShare]:
    """Processor to what one of its hardware threads can use of a core."""
    return {paper.thread_share.processor: paper.thread_share for paper in papers() if paper.thread_share}


MOST_PRICE = 1e15
"""A higher price is most likely a typing error; sums and ratios of lower ones are exact enough."""


class PriceBook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``per_hour`` by the name of a system, in ``currency``; mawl knows no prices of its own."""

    currency: str = ""
    per_hour: dict[str, float] = {}


def load_prices(path: Path) -> PriceBook:
    """The file, checked; ``InvalidFileError`` names the key that is wrong."""
    book = toml.load(path, PriceBook)
    for name, price in book.per_hour.items():
        check_price(price, f"{path}: per_hour.{name}")
    return book


def check_price(price: float, where: str) -> None:
    """Raise ``InvalidFileError`` for a price of a file that nobody can pay or add up."""
    if not 0.0 < price <= MOST_PRICE:
        raise InvalidFileError(
            f"expected a price above 0 and up to {MOST_PRICE:g}, found {price}", where=where
        )


def with_prices(book: PriceBook, given: Sequence[str]) -> PriceBook:
    """The book with the prices of the command line (``NAME=1.20/h``) over its own."""
    return msgspec.structs.replace(book, per_hour={**book.per_hour, **dict(map(_price, given))})


def _price(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        price = float(value.strip().removesuffix("/h"))
    except ValueError:
        price = 0.0
    if not name or not 0.0 < price <= MOST_PRICE:
        raise UsageError(f"--price {text}: expected NAME=PRICE, such as A=1.20/h")
    return name, price

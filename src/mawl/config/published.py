"""The published results that come with mawl: one TOML file per paper under ``mawl/published``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mawl.errors import UsageError
from mawl.model.published import Paper, PublishedResult, ThreadShare
from mawl.spec import toml

SHIPPED = Path(__file__).parent.parent / "published"


@cache
def papers() -> tuple[Paper, ...]:
    """Every paper, oldest first, those without a date last."""
    read = [toml.load(path, Paper) for path in sorted(SHIPPED.glob("*.toml"))]
    return tuple(sorted(read, key=lambda paper: (paper.source.published or "9999", paper.source.key)))


def published() -> dict[str, PublishedResult]:
    """Every result by its id, paper by paper."""
    return {result.id: result for paper in papers() for result in paper.results}


def published_result(name: str) -> PublishedResult:
    """The result of that id; :class:`~mawl.errors.UsageError` where there is none."""
    known = published()
    if name not in known:
        raise UsageError(f"{name} is no published result", cure=f"choose from: {', '.join(known)}")
    return known[name]


def paper_of(result: PublishedResult) -> Paper:
    """The paper that a result stands in."""
    return next(paper for paper in papers() if paper.source.key == result.source)


def paper_named(name: str) -> Paper:
    """The paper of that key, or that holds the result of that id.

    :class:`~mawl.errors.UsageError` where there is none.
    """
    for paper in papers():
        if name in (paper.source.key, *(result.id for result in paper.results)):
            return paper
    keys = ", ".join(paper.source.key for paper in papers())
    raise UsageError(f"{name} is no paper and no result of one", cure=f"choose from: {keys}")


def thread_shares() -> dict[str, ThreadShare]:
    """Processor to what one of its hardware threads can use of a core."""
    return {paper.thread_share.processor: paper.thread_share for paper in papers() if paper.thread_share}

"""A summary of a run beside its figures computed a second time from the stored tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.second_formula import Folder, course_of, figures
from tests.fakes.second_host import host_figures
from tests.fakes.second_limit import evidence, headroom, shares
from tests.fakes.second_slowdown import slowdowns

BUCKET_RATIO = 1 / 16
WITHHELD_ABOVE_RATIO = 0.1
"""Others' part of the devices' bytes: above it the headroom of storage is null (figures.md, Bytes)."""
WITHHELD_FROM_BYTES_PER_SECOND = 5e6
"""A slower rate of others' bytes withholds nothing."""
STORAGE_HEADROOM = "limit.headroom.storage_ratio"


def of(summary: Any, path: str) -> float | None:
    """A figure of the summary by its dotted name."""
    for name in path.split("."):
        summary = summary[name]
    value: float | None = summary
    return value


def _reason(summary: Any, path: str) -> bool:
    """Whether the summary says why a figure, or what it is in, is missing."""
    parts = path.split(".")
    return any(".".join(parts[:length]) in summary["missing"] for length in range(1, len(parts) + 1))


def _withheld(summary: Any, second: dict[str, float]) -> bool:
    """Whether others moved so much that the headroom of storage is null.

    The second computation has no bytes of others where the kernel does not count dirty pages by file: then
    the summary's own ratio decides.
    """
    block = summary["io"]["foreign"]
    if block is None or block["ratio"] is None:
        return False
    ratio: float = second.get("io.foreign.ratio", block["ratio"])
    rate: float = block["total_bytes_per_second"]
    return ratio > WITHHELD_ABOVE_RATIO and rate >= WITHHELD_FROM_BYTES_PER_SECOND


def compare(summary: Any, folder: Path, fewest: int = 120) -> None:
    """Every figure of the second computation is the summary's; quantiles within their bucket.

    ``fewest`` of them are wanted at least.
    """
    second, wrong = {**figures(folder), **host_figures(folder), **slowdowns(folder)}, {}
    tables = Folder(folder)
    if summary["kind"] == "measured":
        second |= shares(tables)
    if (limit := summary["limit"]) is not None and summary["kind"] == "measured":
        second |= headroom(tables, course_of(tables), limit)
        lines = [line["sentence"] for line in limit["evidence"]]
        for sentence, (quoted, again) in evidence(tables, course_of(tables), lines).items():
            assert quoted == pytest.approx(again, rel=0.006, abs=0.0051), sentence
    if limit is not None and _withheld(summary, second) and of(summary, STORAGE_HEADROOM) is None:
        assert "other programs moved" in summary["missing"][STORAGE_HEADROOM]
        second.pop(STORAGE_HEADROOM, None)
    for path, value in second.items():
        ours = of(summary, path)
        above = BUCKET_RATIO if path.endswith(("_seconds.p50", "_seconds.p99")) else 0.0
        slack = 1e-6 * abs(value) + 2e-6
        if ours is None or not value - slack <= ours <= value * (1 + above) + slack:
            # A quantile is at most the longest call.  A sum with an unknown part is null on both sides.
            if ours is None and value != value and _reason(summary, path):
                continue
            wrong[path] = (ours, value)
    assert not wrong, str(wrong)
    assert len(second) >= fewest, len(second)

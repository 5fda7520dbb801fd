"""What the server shows of a run, made elsewhere and handed to it: pages, chart data, metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from mawl.advice.judge import judged
from mawl.analysis.blocks import Block
from mawl.analysis.view import StoredView

Columns = Mapping[str, Any]
"""Name of a column to its values: a list, or what has ``tolist``."""


class Renderers(msgspec.Struct, frozen=True, kw_only=True):
    """Functions of the view of a run and its judged summary.

    ``report`` is a whole page; ``following`` the same with the script that follows a growing run;
    ``cards`` its first screen as HTML; ``sources`` the data of its charts by name; ``metrics`` OpenMetrics
    text of several summaries;
    ``comparison`` a whole page of sides, each of one run or several, None where there is none.
    """

    report: Callable[[StoredView, Block], str]
    following: Callable[[StoredView, Block], str]
    sources: Callable[[StoredView, Block], Mapping[str, Columns]]
    metrics: Callable[[Sequence[Block]], str]
    comparison: Callable[[Sequence[Sequence[StoredView]]], str] | None = None
    cards: Callable[[Block], str] = lambda _: ""
    judged: Callable[[StoredView], Block] = judged

"""What the server shows of a run, made elsewhere and handed to it: pages, chart data, metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mawl.advice.judge import judged
from mawl.analysis.view import StoredView
from mawl.model.summary.summary import Judged
from mawl.store import Run

Columns = Mapping[str, Any]
"""Name of a column to its values: a list, or what has ``tolist``."""


class Renderers(msgspec.Struct, frozen=True, kw_only=True):
    """Functions of the view of a run and its judged summary.

    ``report`` is a whole page; ``following`` the same with the script that follows a growing run;
    ``sources`` the data of its charts by name; ``metrics`` OpenMetrics text of several summaries;
    ``comparison`` a whole page of sides, each of one run or several, None where there is none; ``campaign`` a
    whole page of the folder of a campaign, whose runs it opens by the function that it is given.
    """

    report: Callable[[StoredView, Judged], str]
    following: Callable[[StoredView, Judged], str]
    sources: Callable[[StoredView, Judged], Mapping[str, Columns]]
    metrics: Callable[[Sequence[Judged]], str]
    comparison: Callable[[Sequence[Sequence[StoredView]]], str] | None = None
    campaign: Callable[[Path, Callable[[Path], Run]], str] | None = None
    judged: Callable[[StoredView], Judged] = judged

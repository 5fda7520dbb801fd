"""A plateau with growing waits: throughput stays at its top while more jobs are blocked in I/O."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from mawl.advice.limit.rule import RuleEvidence
from mawl.analysis.moments import Moment
from mawl.analysis.view import RunView
from mawl.model.thresholds import count_of, value_of
from mawl.spec.program_options import ROLES
from mawl.units import format_percent, format_rate, format_ratio

NEAR_TOP_RATIO = value_of("limit.plateau.near_top_ratio")
"""A window is at the top when it moves this share of the highest one's bytes."""

FEWEST_WINDOWS = count_of("limit.plateau.fewest_windows")
MORE_RATIO = value_of("limit.plateau.more_ratio")
"""Waits grew when at least this many times as many jobs were blocked."""


def plateau_lines(reading: RunView, totals: Sequence[float | None]) -> list[RuleEvidence]:
    """The plateau as evidence, ``totals`` being the bytes per second of each active window.

    The windows at the top are taken by how many jobs were blocked, half against half.
    Without waits that grow at the same throughput there is no line: a high window by itself shows
    only what was asked for.
    """
    known = [
        (total, blocked)
        for moment, total in zip(reading.active, totals, strict=False)
        if total is not None and (blocked := _blocked(moment)) is not None
    ]
    if not known:
        return []
    highest = max(total for total, _ in known)
    top = sorted((pair for pair in known if pair[0] >= NEAR_TOP_RATIO * highest), key=lambda pair: pair[1])
    if len(top) < FEWEST_WINDOWS or highest <= 0:
        return []
    half = len(top) // 2
    fewer, more = (statistics.fmean(blocked for _, blocked in part) for part in (top[:half], top[-half:]))
    if more < MORE_RATIO * fewer or more <= 0:
        return []
    return [
        RuleEvidence(
            kind="evidence",
            sentence=f"plateau: {len(top)} of {len(known)} windows moved at least "
            f"{format_percent(NEAR_TOP_RATIO)} of the highest, {format_rate(highest)}, "
            f"whether {format_ratio(fewer)} or {format_ratio(more)} jobs were blocked in I/O",
        )
    ]


def _blocked(moment: Moment) -> float | None:
    if moment.jobs_blocked is None:
        return None
    return sum(moment.jobs_blocked[role] for role in ROLES)

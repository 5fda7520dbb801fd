"""What the library shows of a run beside its facts: the answer, what limits, trust, throughput as a line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mawl.model.summary.summary import Judged
from mawl.reporters.html.spark import spark
from mawl.reporters.judgement import place_of, word_of

MOST_POINTS = 40
"""Of the line of throughput; of more windows, each point is the highest of several that follow each other."""
TONES = {"carried": "good", "not carried": "bad", "publishable": "good", "invalid": "bad"}
SIDES = ("device", "application")
WORDS = "throughput over time, from zero"


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one judged summary, under the definitions that they have there.

    ``slowdown`` is ``capacity.slowdown.median``, ``sustained_bytes_per_second`` that of ``io.SIDE.sustained``
    for the ``side`` that is known (the device's first), ``line`` the windows' totals of that side,
    drawn once.
    """

    answer: str
    preliminary: bool
    limit: str | None
    validity: str
    finished: int
    jobs: int
    slowdown: float | None
    side: str | None
    sustained_bytes_per_second: float | None
    line: str

    @property
    def answer_tone(self) -> str:
        """The tone of a tag: ``good``, ``warn`` or ``bad``."""
        tone = TONES.get(self.answer, "warn")
        return "warn" if self.preliminary and tone == "good" else tone

    @property
    def validity_tone(self) -> str:
        """The same of the validity."""
        return TONES.get(self.validity, "warn")

    @property
    def answer_words(self) -> str:
        """``carried (preliminary)``."""
        return self.answer + (" (preliminary)" if self.preliminary else "")


def overview_of(summary: Judged) -> Overview:
    """The overview of a judged summary."""
    capacity = summary.capacity
    side = next((name for name in SIDES if _sustained(summary, name) is not None), None)
    return Overview(
        answer=capacity.answer,
        preliminary=word_of(capacity) != capacity.answer,
        limit=None if summary.limit is None else place_of(summary.limit),
        validity=summary.validity.status,
        finished=summary.jobs.finished,
        jobs=max(summary.jobs.total, summary.workload.jobs),
        slowdown=capacity.slowdown.median,
        side=side,
        sustained_bytes_per_second=None if side is None else _sustained(summary, side),
        line="" if side is None else str(spark(_thinned(_rates(summary, side)), WORDS, from_zero=True)),
    )


def _sustained(summary: Judged, side: str) -> float | None:
    found: float | None = getattr(summary.io, side).sustained.total_bytes_per_second
    return found


def _rates(summary: Judged, side: str) -> list[float | None]:
    ways = [
        [getattr(window, f"{side}_{way}_bytes_per_second") for way in ("read", "write")]
        for window in summary.windows
    ]
    return [None if None in both else sum(both) for both in ways]


def _thinned(rates: Sequence[float | None]) -> tuple[float | None, ...]:
    size = max(-(-len(rates) // MOST_POINTS), 1)
    parts = (rates[at : at + size] for at in range(0, len(rates), size))
    return tuple(max((one for one in part if one is not None), default=None) for part in parts)

"""What the rules of the resources have in common: the losses of a window, and lines of evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from mawl.base.units import format_percent
from mawl.figures.view import RunView
from mawl.figures.window_states import Moment
from mawl.records.model.thresholds import value_of

Resource = Literal["storage", "cpu", "memory", "network"]

LEAST_LOSS_RATIO = value_of("limit.least_loss_ratio")
"""A window is limited by what costs its jobs at least this share of their time: relieving it altogether
would shorten the window by as much."""


class RuleEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One line of evidence.  ``kind`` support means: it never decides, it only agrees or does not."""

    kind: Literal["evidence", "support"]
    sentence: str


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that may limit a run.

    ``loss`` is the share (0 to 1) of the jobs' time in a window that waiting for the resource cost;
    None where the window does not tell.  ``evidence`` quotes the figures when it is named.
    """

    resource: Resource
    loss: Callable[[Moment, RunView], float | None]
    evidence: Callable[[RunView], list[RuleEvidence]]


def share_of_time(reading: RunView, part: str) -> float | None:
    """What the jobs did as a share of their real time, as each part of a report has it."""
    wait = reading.summary.wait
    return None if wait is None else getattr(wait.shares, f"{part}_ratio")


def pressure_line(reading: RunView, name: str, words: str) -> list[RuleEvidence]:
    """The pressure of a resource over the active phase as evidence, where the kernel told."""
    value = reading.mean(lambda moment: moment.pressure[name])
    if value is None:
        return []
    return [RuleEvidence(kind="evidence", sentence=f"pressure: {words} {format_percent(value)} of the time")]

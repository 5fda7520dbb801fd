"""What ``mawl tune search`` keeps (``search.json`` beside ``campaign.json``) and what it found.

Ratios are of the objective's figure: candidate over baseline less 1 (-0.1: a tenth less).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

SEARCH_FORMAT_VERSION = "1.0"

SearchOutcome = Literal["gain", "excluded", "open", "nothing better", "failed"]
Point = dict[str, int | str]
"""A value of each dimension; directories have ``:`` between them."""


class SearchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked, and how long each run took; the campaign's record has the runs.

    ``unchanged`` are the values of each dimension that the baseline has, ``directories`` the baseline's
    by role; ``seconds`` are those of the finished runs in their order.
    """

    format_version: str = SEARCH_FORMAT_VERSION
    workload: str
    objective: str
    seed: int
    budget_seconds: float
    confidence_ratio: float
    smallest_gain_ratio: float
    dimensions: dict[str, list[int | str]]
    unchanged: dict[str, list[int | str]]
    directories: dict[str, list[str]]
    profile: str
    """The profile's file."""
    seconds: list[float] = []


class SearchTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A point that was explored; ``change_ratio`` is None where a run of it failed."""

    setting: Point
    change_ratio: float | None
    repeats: int
    pruned: bool


class SearchLook(msgspec.Struct, frozen=True, kw_only=True):
    """What the confirming blocks said at a look; ``low_ratio`` to ``high_ratio`` holds at all looks."""

    blocks: int
    change_ratio: float
    low_ratio: float
    high_ratio: float
    decision: Literal["gain", "excluded", "open"]


class ProgramCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Programs by what the confirming runs say of their real time, judged together (Holm)."""

    faster: int
    slower: int
    not_told_apart: int


class SearchFound(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found, as ``--json`` prints it.

    ``setting`` is the point that was tested, None where none looked better; ``change_ratio`` and its
    interval are those of the last look, None without one.
    """

    campaign: str
    workload: str
    objective: str
    figure: str
    outcome: SearchOutcome
    statement: str
    setting: Point | None
    confidence_ratio: float
    smallest_gain_ratio: float
    change_ratio: float | None
    low_ratio: float | None
    high_ratio: float | None
    blocks: int
    looks: list[SearchLook]
    trials: list[SearchTrial]
    points: int
    explored_all: bool
    runs: int
    spent_seconds: float
    budget_seconds: float
    programs: ProgramCounts | None
    programs_reason: str | None
    profile: str | None
    """The file that was written, None without a gain."""
    proposed: list[dict[str, Any]]
    """Rows of ``mawl tune check`` that differ: kernel and device settings, none of which was applied."""
    proposed_reason: str | None

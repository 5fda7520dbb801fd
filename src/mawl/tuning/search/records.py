"""What ``mawl tune search`` keeps (``search.json`` beside ``campaign.json``) and what it found.

Ratios are of the objective's figure: candidate over baseline less 1 (-0.1: a tenth less).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from mawl.tuning.records import SettingFound

SEARCH_FORMAT_VERSION = "1.0"

SearchOutcome = Literal["gain", "excluded", "open", "nothing better", "failed"]
"""``open``: the budget or the looks ended first; ``nothing better``: no point looked better while exploring;
``failed``: the chosen point's runs fail or lack the figure."""

Decision = Literal["gain", "excluded", "open"]
"""Of a look; ``excluded``: a gain of at least the least worth having is; ``open``: neither was shown."""

Value = int | str
"""A size as it was written, a count, or directories with ``:`` between them."""

Point = dict[str, Value]
"""A value of each dimension."""

ObjectiveName = Literal["response-time", "elapsed", "sustained", "cpu-real"]


class Objective(msgspec.Struct, frozen=True, kw_only=True):
    """What a search makes better: a figure of the summary (dotted path) with its title."""

    name: ObjectiveName
    title: str
    figure: str
    more_is_better: bool
    any_sessions: bool
    """Whether runs of other numbers of sessions, and so of other work, may be compared with each other."""


OBJECTIVES: dict[ObjectiveName, Objective] = {
    one.name: one
    for one in (
        Objective(
            name="response-time",
            title="response time",
            figure="time.real_time_seconds",
            more_is_better=False,
            any_sessions=False,
        ),
        Objective(
            name="elapsed",
            title="elapsed time",
            figure="time.elapsed_seconds",
            more_is_better=False,
            any_sessions=False,
        ),
        Objective(
            name="sustained",
            title="sustained throughput",
            figure="io.application.sustained.total_bytes_per_second",
            more_is_better=True,
            any_sessions=True,
        ),
        Objective(
            name="cpu-real",
            title="CPU/real",
            figure="cpu_real_ratio.of_sums",
            more_is_better=True,
            any_sessions=True,
        ),
    )
}


def point_words(point: Mapping[str, Value]) -> str:
    """``sortsize=64MiB, cpucount=2``."""
    return ", ".join(f"{name}={value}" for name, value in point.items())


class SearchRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked; the campaign's record has the runs.

    ``unchanged`` are the values of each dimension that the baseline has, ``directories`` the baseline's
    by role.
    """

    format_version: str = SEARCH_FORMAT_VERSION
    workload: str
    objective: ObjectiveName
    seed: int
    budget_seconds: float
    confidence_ratio: float
    smallest_gain_ratio: float
    dimensions: dict[str, list[Value]]
    unchanged: dict[str, list[Value]]
    directories: dict[str, list[str]]
    profile: str
    """The profile's file."""


class SearchTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A point that was explored; ``change_ratio`` is None where a run of it failed."""

    setting: Point
    change_ratio: float | None
    repeats: int
    pruned: bool


class SearchLook(msgspec.Struct, frozen=True, kw_only=True):
    """What the confirming blocks said at a look; ``low_ratio`` and ``high_ratio`` each hold at all looks with
    the search's confidence."""

    blocks: int
    change_ratio: float
    low_ratio: float
    high_ratio: float
    decision: Decision


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
    objective: ObjectiveName
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
    proposed: list[SettingFound]
    """Rows of ``mawl tune check`` that differ: kernel and device settings, none of which was applied."""
    proposed_reason: str | None

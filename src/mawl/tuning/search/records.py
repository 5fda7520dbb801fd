"""Records of ``mawl tune search``: what was asked (``search.json`` beside ``campaign.json``) and the result.

Ratios are of the objective's figure: candidate over baseline less 1 (-0.1: a tenth less).  Names of figures
of ``mawl tune search --json`` begin with ``search.`` here.

The cost of a run for an objective: a logarithm, less is better.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import expm1, log, log1p
from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.records.definitions import (
    Metric,
    count_metric,
    flag_metric,
    object_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)
from mawl.records.store.files import major, read_bounded, replace_file
from mawl.records.store.plain_data import decoded
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


PAGE = "docs/design/search.md"
EXPLORING = f"{PAGE}, Exploring"
TEST = f"{PAGE}, The test"
RECORD_METRICS = f"{PAGE}, The record"

SEARCH_METRICS: tuple[Metric, ...] = (
    text_metric("search.campaign", "Name of the campaign.", RECORD_METRICS),
    text_metric("search.workload", "Workload, as it was named.", RECORD_METRICS),
    text_metric("search.objective", "response-time, elapsed, sustained or cpu-real.", PAGE),
    text_metric("search.figure", "The objective's figure of a run's summary.", PAGE),
    text_metric("search.outcome", "gain, excluded, open, nothing better or failed.", TEST),
    text_metric("search.statement", "The outcome in a sentence.", TEST),
    object_metric("search.setting", "The point that was tested; null where none looked better.", TEST),
    ratio_metric("search.confidence_ratio", "Confidence level for reporting a gain or ruling one out.", TEST),
    ratio_metric("search.smallest_gain_ratio", "The smallest gain worth having.", TEST),
    ratio_metric(
        "search.change_ratio",
        "Of the figure at the last look: setting over baseline less 1, of geometric means; null without one.",
        TEST,
    ),
    ratio_metric(
        "search.low_ratio",
        "Lower end of the interval of change_ratio; holds at all looks with confidence_ratio, and together "
        "with high_ratio with 2*confidence_ratio - 1.",
        TEST,
    ),
    ratio_metric(
        "search.high_ratio", "Upper end of it; holds at all looks with confidence_ratio, too.", TEST
    ),
    count_metric("search.blocks", "Confirming blocks, two runs a side each.", TEST),
    count_metric("search.looks.*.blocks", "Blocks at the look.", TEST),
    ratio_metric("search.looks.*.change_ratio", "As search.change_ratio, at the look.", TEST),
    ratio_metric("search.looks.*.low_ratio", "Lower end of its interval, as search.low_ratio.", TEST),
    ratio_metric("search.looks.*.high_ratio", "Upper end of it, as search.high_ratio.", TEST),
    text_metric("search.looks.*.decision", "gain, excluded or open.", TEST),
    object_metric("search.trials.*.setting", "The point that was tried.", EXPLORING),
    ratio_metric(
        "search.trials.*.change_ratio", "As search.change_ratio, of the trial; null: a run failed.", EXPLORING
    ),
    count_metric("search.trials.*.repeats", "Pairs of runs of the trial.", EXPLORING),
    flag_metric(
        "search.trials.*.pruned", "Whether it ended after its first repeat, clearly worse.", EXPLORING
    ),
    count_metric("search.points", "Points of the space.", EXPLORING),
    flag_metric("search.explored_all", "Whether every point was tried or is the baseline.", EXPLORING),
    count_metric("search.runs", "Finished runs of the search.", RECORD_METRICS),
    seconds_metric(
        "search.spent_seconds",
        "Wall time of these runs: the sum of ended_at less started_at of each.",
        RECORD_METRICS,
    ),
    seconds_metric("search.budget_seconds", "Wall time that they might take.", RECORD_METRICS),
    count_metric("search.programs.faster", "Programs that the confirming runs show to be faster.", TEST),
    count_metric("search.programs.slower", "Programs that they show to be slower.", TEST),
    count_metric("search.programs.not_told_apart", "Programs of which they show neither.", TEST),
    text_metric("search.programs_reason", "Why programs is null.", TEST),
    text_metric("search.profile", "The profile that was written; null without a gain.", RECORD_METRICS),
    Metric(
        "search.proposed",
        "-",
        "list",
        "Rows of tune.settings of kernel and devices that differ.",
        RECORD_METRICS,
    ),
    text_metric("search.proposed_reason", "Why proposed is empty without being known.", RECORD_METRICS),
)


RECORD = "search.json"


def write_search(folder: Path, record: SearchRecord) -> None:
    """Replace the record, whole."""
    replace_file(folder / RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def read_search(folder: Path) -> SearchRecord:
    """The record of a search's folder.

    Raises ``UsageError`` where there is none,
    ``UnreadableRunError`` naming the file and what is wrong with it.
    """
    path = folder / RECORD
    if not os.path.lexists(path):
        raise UsageError(
            "is no search",
            where=str(folder),
            why=f"it has no {RECORD}",
            cure="name the folder that mawl tune search made",
        )
    content = read_bounded(path, "name the folder that mawl tune search made", inside=folder)
    try:
        record = msgspec.convert(decoded(content), SearchRecord)
        other = major(record.format_version) != major(SEARCH_FORMAT_VERSION)
    except ValueError as error:
        raise UnreadableRunError(
            "is no record of a search", where=str(path), why=str(error), cure="start the search again"
        ) from None
    if other:
        raise UnreadableRunError(
            f"was written in format {record.format_version[:40]}, this mawl knows {SEARCH_FORMAT_VERSION}",
            where=str(path),
            cure="continue it with the mawl that began it",
        )
    return record


def cost_of(objective: Objective, value: float | None) -> float | None:
    """The logarithm of the figure, with its sign turned where more is better; None where it is none."""
    if value is None or not value > 0:
        return None
    return -log(value) if objective.more_is_better else log(value)


def change_ratio(objective: Objective, difference: float) -> float:
    """Candidate over baseline less 1, of the figure, from a difference of costs."""
    return expm1(-difference if objective.more_is_better else difference)


def least_difference(objective: Objective, gain_ratio: float) -> float:
    """The difference of costs, above 0, of a gain: the figure less, or more, by that share."""
    return log1p(gain_ratio) if objective.more_is_better else -log1p(-gain_ratio)

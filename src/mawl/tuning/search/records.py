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
from typing import Annotated, Literal

import msgspec

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.records.definitions import Metric, block, count, flag, listing, seconds, share, text
from mawl.records.model.fields import metrics_of
from mawl.records.store.facts import decoded
from mawl.records.store.files import major, read_bounded, replace_file
from mawl.tuning.records import CheckedSetting

PAGE = "docs/design/search.md"
EXPLORING = f"{PAGE}, Exploring"
TEST = f"{PAGE}, The test"
RECORD_METRICS = f"{PAGE}, The record"

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

    setting: Annotated[Point, block("The point that was tried.", EXPLORING)]
    change_ratio: Annotated[
        float | None, share("As search.change_ratio, of the trial; null: a run failed.", EXPLORING)
    ]
    repeats: Annotated[int, count("Pairs of runs of the trial.", EXPLORING)]
    pruned: Annotated[bool, flag("Whether it ended after its first repeat, clearly worse.", EXPLORING)]


class SearchLook(msgspec.Struct, frozen=True, kw_only=True):
    """What the confirming blocks said at a look; ``low_ratio`` and ``high_ratio`` each hold at all looks with
    the search's confidence."""

    blocks: Annotated[int, count("Blocks at the look.", TEST)]
    change_ratio: Annotated[float, share("As search.change_ratio, at the look.", TEST)]
    low_ratio: Annotated[float, share("Lower end of its interval, as search.low_ratio.", TEST)]
    high_ratio: Annotated[float, share("Upper end of it, as search.high_ratio.", TEST)]
    decision: Annotated[Decision, text("gain, excluded or open.", TEST)]


class ProgramCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Programs by what the confirming runs say of their real time, judged together (Holm)."""

    faster: Annotated[int, count("Programs that the confirming runs show to be faster.", TEST)]
    slower: Annotated[int, count("Programs that they show to be slower.", TEST)]
    not_told_apart: Annotated[int, count("Programs of which they show neither.", TEST)]


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found, as ``--json`` prints it.

    ``setting`` is the point that was tested, None where none looked better; ``change_ratio`` and its
    interval are those of the last look, None without one.
    """

    campaign: Annotated[str, text("Name of the campaign.", RECORD_METRICS)]
    workload: Annotated[str, text("Workload, as it was named.", RECORD_METRICS)]
    objective: Annotated[ObjectiveName, text("response-time, elapsed, sustained or cpu-real.", PAGE)]
    figure: Annotated[str, text("The objective's figure of a run's summary.", PAGE)]
    outcome: Annotated[SearchOutcome, text("gain, excluded, open, nothing better or failed.", TEST)]
    statement: Annotated[str, text("The outcome in a sentence.", TEST)]
    setting: Annotated[Point | None, block("The point that was tested; null where none looked better.", TEST)]
    confidence_ratio: Annotated[
        float, share("Confidence level for reporting a gain or ruling one out.", TEST)
    ]
    smallest_gain_ratio: Annotated[float, share("The smallest gain worth having.", TEST)]
    change_ratio: Annotated[
        float | None,
        share(
            "Of the figure at the last look: setting over baseline less 1, of geometric means; null "
            "without one.",
            TEST,
        ),
    ]
    low_ratio: Annotated[
        float | None,
        share(
            "Lower end of the interval of change_ratio; holds at all looks with confidence_ratio, and "
            "together with high_ratio with 2*confidence_ratio - 1.",
            TEST,
        ),
    ]
    high_ratio: Annotated[
        float | None, share("Upper end of it; holds at all looks with confidence_ratio, too.", TEST)
    ]
    blocks: Annotated[int, count("Confirming blocks, two runs a side each.", TEST)]
    looks: list[SearchLook]
    trials: list[SearchTrial]
    points: Annotated[int, count("Points of the space.", EXPLORING)]
    explored_all: Annotated[bool, flag("Whether every point was tried or is the baseline.", EXPLORING)]
    runs: Annotated[int, count("Finished runs of the search.", RECORD_METRICS)]
    spent_seconds: Annotated[
        float,
        seconds("Wall time of these runs: the sum of ended_at less started_at of each.", RECORD_METRICS),
    ]
    budget_seconds: Annotated[float, seconds("Wall time that they might take.", RECORD_METRICS)]
    programs: ProgramCounts | None
    programs_reason: Annotated[str | None, text("Why programs is null.", TEST)]
    profile: Annotated[str | None, text("The profile that was written; null without a gain.", RECORD_METRICS)]
    proposed: Annotated[
        list[CheckedSetting],
        listing(
            "Rows of tune.settings of kernel and devices that differ; none of them was applied.",
            RECORD_METRICS,
        ),
    ]
    proposed_reason: Annotated[str | None, text("Why proposed is empty without being known.", RECORD_METRICS)]


SEARCH_METRICS: tuple[Metric, ...] = metrics_of(SearchAnswer, ("search",))


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

"""The result of a search as plain records: the change with its interval, its programs, its profile."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, cast

import msgspec
import tomli_w

from mawl.base.errors import UsageError
from mawl.base.units import format_instant
from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.sides import Side
from mawl.records.spec.program_options import Role
from mawl.records.spec.sources import PROFILE_FORMAT_VERSION, Origin
from mawl.records.store.output import write_output
from mawl.tuning.records import CheckedSetting
from mawl.tuning.search.records import (
    OBJECTIVES,
    Objective,
    ProgramCounts,
    SearchAnswer,
    SearchLook,
    SearchRecord,
    SearchTrial,
    change_ratio,
)
from mawl.tuning.search.search import SearchCampaign, SearchResult, SequentialLook
from mawl.tuning.search.space import setup_of


class Proposals(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of kernel and devices that differ from what is recommended, or why they are not known."""

    rows: list[CheckedSetting]
    reason: str | None = None


def search_answer(
    campaign: SearchCampaign,
    found: SearchResult,
    sides: tuple[Side, Side] | None,
    proposals: Proposals,
) -> SearchAnswer:
    """The record that is printed; ``sides`` are the confirming runs, None where there are none.

    The statement is empty here: it is the reporter's.
    """
    record = campaign.record
    chosen = OBJECTIVES[record.objective]
    looks = [_look(chosen, one) for one in found.looks]
    counts, reason = _programs(found, sides)
    last = looks[-1] if looks else None
    return SearchAnswer(
        campaign=campaign.series.record.name,
        workload=record.workload,
        objective=record.objective,
        figure=chosen.figure,
        outcome=found.outcome,
        statement="",
        setting=found.point,
        confidence_ratio=record.confidence_ratio,
        smallest_gain_ratio=record.smallest_gain_ratio,
        change_ratio=last.change_ratio if last else None,
        low_ratio=last.low_ratio if last else None,
        high_ratio=last.high_ratio if last else None,
        blocks=len(found.differences),
        looks=looks,
        trials=[
            SearchTrial(
                setting=trial.point,
                change_ratio=None if trial.difference is None else change_ratio(chosen, trial.difference),
                repeats=trial.repeats,
                pruned=trial.pruned,
            )
            for trial in found.trials
        ],
        points=prod(len(values) for values in record.dimensions.values()),
        explored_all=found.explored_all,
        runs=sum(slot.state == "finished" for slot in campaign.series.record.slots),
        spent_seconds=found.spent_seconds,
        budget_seconds=record.budget_seconds,
        programs=counts,
        programs_reason=reason,
        profile=record.profile if found.outcome == "gain" else None,
        proposed=proposals.rows,
        proposed_reason=proposals.reason,
    )


def _look(objective: Objective, one: SequentialLook) -> SearchLook:
    """A look by the figure; where more of it is better, the ends of the interval change places."""
    ends = sorted(change_ratio(objective, end) for end in (one.low, one.high))
    return SearchLook(
        blocks=one.blocks,
        change_ratio=change_ratio(objective, one.difference),
        low_ratio=ends[0],
        high_ratio=ends[1],
        decision=one.decision,
    )


def _programs(
    found: SearchResult, sides: tuple[Side, Side] | None
) -> tuple[ProgramCounts | None, str | None]:
    """How many programs the candidate makes faster and slower; without a gain it is not asked."""
    if found.outcome != "gain" or sides is None:
        return None, "no gain was established"
    try:
        compared = compare(*sides, anyway=True)
    except UsageError as error:
        return None, str(error)
    programs, statement = compared.programs, compared.statement
    if programs is None or statement is None or not programs.changes:
        return None, "the runs have no programs in common"
    if statement.not_judged is not None:
        return None, statement.not_judged.reason
    return (
        ProgramCounts(faster=programs.faster, slower=programs.slower, not_told_apart=programs.no_difference),
        None,
    )


def write_profile(found: SearchAnswer, record: SearchRecord, created_at: float) -> None:
    """Write the profile of a gain where the record says: what ``mawl run --profile`` applies, and whence."""
    assert found.setting is not None and found.change_ratio is not None, "a gain has both"
    assert found.low_ratio is not None and found.high_ratio is not None, "and an interval"
    setup = setup_of(found.setting, cast(Mapping[Role, list[str]], record.directories))
    origin = Origin(
        campaign=found.campaign,
        created_at=format_instant(created_at),
        workload=found.workload,
        objective=found.objective,
        statement=found.statement,
        change_ratio=found.change_ratio,
        low_ratio=found.low_ratio,
        high_ratio=found.high_ratio,
        confidence=found.confidence_ratio,
        pairs=2 * found.blocks,
    )
    profile: dict[str, Any] = {
        "format_version": PROFILE_FORMAT_VERSION,
        "title": f"What mawl tune search found for {found.workload}",
        "sessions": setup.sessions,
        "volume_order": setup.volume_order,
        "options": setup.options,
        **{role: _absolute(places) for role, places in setup.directories.items()},
        "origin": msgspec.to_builtins(origin),
    }
    plain = {name: value for name, value in profile.items() if value not in (None, {})}
    write_output(record.profile, tomli_w.dumps(plain).encode(), "--write-profile")


def _absolute(places: list[str]) -> list[str]:
    return [str(Path(place).absolute()) for place in places]

"""The result of a search: as plain records with the change, its interval and its profile, and as text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from math import log, prod
from pathlib import Path
from typing import Any, cast

import msgspec
import tomli_w

from mawl.base.errors import UsageError
from mawl.base.units import counted_noun, format_change, format_instant, format_ratio, format_seconds
from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.sides import Side
from mawl.records.spec.program_options import Role
from mawl.records.spec.sources import PROFILE_FORMAT_VERSION, Origin
from mawl.records.store.output import write_output
from mawl.reports.document import Block, Commands, Part, Sentences, Table, each
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
    point_words,
)
from mawl.tuning.search.search import SearchCampaign, SearchResult, SequentialLook
from mawl.tuning.search.space import setup_of
from mawl.tuning.text import compared


class Proposals(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of kernel and devices that differ from what is recommended, or why they are not known."""

    rows: list[CheckedSetting]
    reason: str | None = None


def search_answer(
    campaign: SearchCampaign,
    result: SearchResult,
    sides: tuple[Side, Side] | None,
    proposals: Proposals,
) -> SearchAnswer:
    """The record that is printed; ``sides`` are the confirming runs, None where there are none.

    The statement is empty here: it is the reporter's.
    """
    record = campaign.record
    chosen = OBJECTIVES[record.objective]
    looks = [_look(chosen, look) for look in result.looks]
    counts, reason = _programs(result, sides)
    last = looks[-1] if looks else None
    return SearchAnswer(
        campaign=campaign.series.record.name,
        workload=record.workload,
        objective=record.objective,
        figure=chosen.figure,
        outcome=result.outcome,
        statement="",
        setting=result.point,
        confidence_ratio=record.confidence_ratio,
        smallest_gain_ratio=record.smallest_gain_ratio,
        change_ratio=last.change_ratio if last else None,
        low_ratio=last.low_ratio if last else None,
        high_ratio=last.high_ratio if last else None,
        blocks=len(result.differences),
        looks=looks,
        trials=[
            SearchTrial(
                setting=trial.point,
                change_ratio=None if trial.difference is None else change_ratio(chosen, trial.difference),
                repeats=trial.repeats,
                pruned=trial.pruned,
            )
            for trial in result.trials
        ],
        points=prod(len(values) for values in record.dimensions.values()),
        explored_all=result.explored_all,
        runs=sum(slot.state == "finished" for slot in campaign.series.record.slots),
        spent_seconds=result.spent_seconds,
        budget_seconds=record.budget_seconds,
        programs=counts,
        programs_reason=reason,
        profile=record.profile if result.outcome == "gain" else None,
        proposed=proposals.rows,
        proposed_reason=proposals.reason,
    )


def _look(objective: Objective, look: SequentialLook) -> SearchLook:
    """A look by the figure; where more of it is better, the ends of the interval change places."""
    ends = sorted(change_ratio(objective, end) for end in (look.low, look.high))
    return SearchLook(
        blocks=look.blocks,
        change_ratio=change_ratio(objective, look.difference),
        low_ratio=ends[0],
        high_ratio=ends[1],
        decision=look.decision,
    )


def _programs(
    result: SearchResult, sides: tuple[Side, Side] | None
) -> tuple[ProgramCounts | None, str | None]:
    """How many programs the candidate makes faster and slower; without a gain it is not asked."""
    if result.outcome != "gain" or sides is None:
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


def write_profile(answer: SearchAnswer, record: SearchRecord, created_at: float) -> None:
    """Write the profile of a gain where the record says: what ``mawl run --profile`` applies, and whence."""
    assert answer.setting is not None and answer.change_ratio is not None, "a gain has both"
    assert answer.low_ratio is not None and answer.high_ratio is not None, "and an interval"
    setup = setup_of(answer.setting, cast(Mapping[Role, list[str]], record.directories))
    origin = Origin(
        campaign=answer.campaign,
        created_at=format_instant(created_at),
        workload=answer.workload,
        objective=answer.objective,
        statement=answer.statement,
        change_ratio=answer.change_ratio,
        low_ratio=answer.low_ratio,
        high_ratio=answer.high_ratio,
        confidence=answer.confidence_ratio,
        pairs=2 * answer.blocks,
    )
    profile: dict[str, Any] = {
        "format_version": PROFILE_FORMAT_VERSION,
        "title": f"What mawl tune search found for {answer.workload}",
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


MOST_TRIALS = 10
MOST_PROPOSED = 5
NOT_APPLIED = "proposed, not applied: settings of kernel and devices that differ from what is recommended"


def with_statement(answer: SearchAnswer) -> SearchAnswer:
    """The record with its statement."""
    return msgspec.structs.replace(answer, statement=statement(answer))


def statement(answer: SearchAnswer) -> str:
    """What the search says, in one sentence."""
    title, tried = OBJECTIVES[answer.objective].title, counted_noun(len(answer.trials), "setting")
    confidence = f"{format_ratio(100 * answer.confidence_ratio)} % confidence".replace(".0 %", " %")
    if answer.outcome == "nothing better":
        return f"no gain: none of the {tried} tried looked better than the baseline"
    setting = point_words(answer.setting or {})
    if answer.outcome == "failed":
        return f"no gain: runs of the setting that looked best of {tried}, {setting}, failed"
    pairs = counted_noun(2 * answer.blocks, "fresh pair")
    if answer.change_ratio is None or answer.low_ratio is None or answer.high_ratio is None:
        return (
            f"no gain was established: the budget ended before {setting}, which looked best of {tried}, "
            "could be tested"
        )
    change = (
        f"{title} {format_change(answer.change_ratio)} "
        f"({format_change(answer.low_ratio)} to {format_change(answer.high_ratio)})"
    )
    if answer.outcome == "gain":
        return f"gain established with {confidence}: {setting}: {change}, {pairs} of runs"
    if answer.outcome == "excluded":
        least = f"{100 * answer.smallest_gain_ratio:g} %"
        return (
            f"no gain: {setting} looked best of {tried}, and a gain of {least} or more by it is excluded "
            f"with {confidence}: {change}, {pairs} of runs"
        )
    return (
        f"no gain was established, and none excluded: {setting} looked best of {tried}: {change}, {pairs} of "
        "runs; a larger budget would show more"
    )


def parts(answer: SearchAnswer) -> list[Part]:
    """The statement, what was tried, what is proposed, and how to apply it."""
    run = shlex.join(["mawl", "run", answer.workload, "--profile", answer.profile or ""])
    apply = Commands([f"profile: {answer.profile}", f"to apply it: {run}"], indent="")
    return [
        Part([Sentences([answer.statement, *_program_lines(answer)])]),
        Part([Sentences([_spent(answer)]), *_trials(answer)]),
        Part([*_proposed(answer)]),
        *(each(apply) if answer.profile is not None else []),
    ]


def _program_lines(answer: SearchAnswer) -> list[str]:
    if answer.programs is None:
        reason = answer.programs_reason
        return [f"programs are not compared: {reason}"] if answer.outcome == "gain" and reason else []
    counts = answer.programs
    return [
        f"{counted_noun(counts.faster, 'program')} faster, {counts.slower} slower, "
        f"{counts.not_told_apart} without a difference"
    ]


def _spent(answer: SearchAnswer) -> str:
    share = "all" if answer.explored_all else str(len(answer.trials))
    tried = f"tried {share} of {counted_noun(answer.points, 'setting')}"
    return (
        f"{counted_noun(answer.runs, 'run')} in {format_seconds(answer.spent_seconds)} of "
        f"{format_seconds(answer.budget_seconds)}; {tried}"
    )


def _trials(answer: SearchAnswer) -> list[Block]:
    """The best trials while exploring, whose best looks better than it is."""
    if not answer.trials:
        return []
    objective = OBJECTIVES[answer.objective]
    sign = -1.0 if objective.more_is_better else 1.0

    def cost(trial: SearchTrial) -> float:
        known = trial.change_ratio is not None
        return sign * log(1.0 + (trial.change_ratio or 0.0)) if known else float("inf")

    best = sorted(answer.trials, key=cost)
    head = ("while exploring (the best looks better than it is)", objective.title, "")
    rows = [
        (
            f"  {point_words(trial.setting)}",
            "failed" if trial.change_ratio is None else format_change(trial.change_ratio),
            "given up after one repeat" if trial.pruned else "",
        )
        for trial in best[:MOST_TRIALS]
    ]
    more = len(best) - MOST_TRIALS
    left_out = [f"and {more} more (--json has them)"] if more > 0 else []
    return [Table(head=head, rows=rows), Sentences(left_out, indent="  ")]


def _proposed(answer: SearchAnswer) -> Iterator[Block]:
    if answer.proposed_reason is not None:
        yield Sentences([f"settings of kernel and devices are not known: {answer.proposed_reason}"])
    elif not answer.proposed:
        yield Sentences(["settings of kernel and devices: none differs from what is recommended"])
    else:
        yield Sentences([f"{NOT_APPLIED} ({len(answer.proposed)})"])
        for row in answer.proposed[:MOST_PROPOSED]:
            yield Sentences([compared(row, several=False)], indent="  ")
            yield Commands([row.change] if row.change else [], indent="    ")
        if len(answer.proposed) > MOST_PROPOSED:
            yield Sentences(["mawl tune check lists all, with reasons"], indent="  ")

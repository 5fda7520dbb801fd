"""The result of a search as text for a terminal: the statement, what was tried, what is proposed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from math import log

import msgspec

from mawl.base.units import counted_noun, format_change, format_ratio, format_seconds
from mawl.reports.document import Block, Commands, Part, Sentences, Table, each
from mawl.tuning.search.records import OBJECTIVES, SearchAnswer, SearchTrial, point_words
from mawl.tuning.text import compared

MOST_TRIALS = 10
MOST_PROPOSED = 5
NOT_APPLIED = "proposed, not applied: settings of kernel and devices that differ from what is recommended"


def with_statement(found: SearchAnswer) -> SearchAnswer:
    """The record with its statement."""
    return msgspec.structs.replace(found, statement=statement(found))


def statement(found: SearchAnswer) -> str:
    """What the search says, in one sentence."""
    title, tried = OBJECTIVES[found.objective].title, counted_noun(len(found.trials), "setting")
    confidence = f"{format_ratio(100 * found.confidence_ratio)} % confidence".replace(".0 %", " %")
    if found.outcome == "nothing better":
        return f"no gain: none of the {tried} tried looked better than the baseline"
    setting = point_words(found.setting or {})
    if found.outcome == "failed":
        return f"no gain: runs of the setting that looked best of {tried}, {setting}, failed"
    pairs = counted_noun(2 * found.blocks, "fresh pair")
    if found.change_ratio is None or found.low_ratio is None or found.high_ratio is None:
        return (
            f"no gain was established: the budget ended before {setting}, which looked best of {tried}, "
            "could be tested"
        )
    change = (
        f"{title} {format_change(found.change_ratio)} "
        f"({format_change(found.low_ratio)} to {format_change(found.high_ratio)})"
    )
    if found.outcome == "gain":
        return f"gain established with {confidence}: {setting}: {change}, {pairs} of runs"
    if found.outcome == "excluded":
        least = f"{100 * found.smallest_gain_ratio:g} %"
        return (
            f"no gain: {setting} looked best of {tried}, and a gain of {least} or more by it is excluded "
            f"with {confidence}: {change}, {pairs} of runs"
        )
    return (
        f"no gain was established, and none excluded: {setting} looked best of {tried}: {change}, {pairs} of "
        "runs; a larger budget would show more"
    )


def parts(found: SearchAnswer) -> list[Part]:
    """The statement, what was tried, what is proposed, and how to apply it."""
    run = shlex.join(["mawl", "run", found.workload, "--profile", found.profile or ""])
    apply = Commands([f"profile: {found.profile}", f"to apply it: {run}"], indent="")
    return [
        Part([Sentences([found.statement, *_programs(found)])]),
        Part([Sentences([_spent(found)]), *_trials(found)]),
        Part([*_proposed(found)]),
        *(each(apply) if found.profile is not None else []),
    ]


def _programs(found: SearchAnswer) -> list[str]:
    if found.programs is None:
        reason = found.programs_reason
        return [f"programs are not compared: {reason}"] if found.outcome == "gain" and reason else []
    counts = found.programs
    return [
        f"{counted_noun(counts.faster, 'program')} faster, {counts.slower} slower, "
        f"{counts.not_told_apart} without a difference"
    ]


def _spent(found: SearchAnswer) -> str:
    share = "all" if found.explored_all else str(len(found.trials))
    tried = f"tried {share} of {counted_noun(found.points, 'setting')}"
    return (
        f"{counted_noun(found.runs, 'run')} in {format_seconds(found.spent_seconds)} of "
        f"{format_seconds(found.budget_seconds)}; {tried}"
    )


def _trials(found: SearchAnswer) -> list[Block]:
    """The best trials while exploring, whose best looks better than it is."""
    if not found.trials:
        return []
    objective = OBJECTIVES[found.objective]
    sign = -1.0 if objective.more_is_better else 1.0

    def cost(trial: SearchTrial) -> float:
        known = trial.change_ratio is not None
        return sign * log(1.0 + (trial.change_ratio or 0.0)) if known else float("inf")

    best = sorted(found.trials, key=cost)
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


def _proposed(found: SearchAnswer) -> Iterator[Block]:
    if found.proposed_reason is not None:
        yield Sentences([f"settings of kernel and devices are not known: {found.proposed_reason}"])
    elif not found.proposed:
        yield Sentences(["settings of kernel and devices: none differs from what is recommended"])
    else:
        yield Sentences([f"{NOT_APPLIED} ({len(found.proposed)})"])
        for row in found.proposed[:MOST_PROPOSED]:
            yield Sentences([compared(row, several=False)], indent="  ")
            yield Commands([row.change] if row.change else [], indent="    ")
        if len(found.proposed) > MOST_PROPOSED:
            yield Sentences(["mawl tune check lists all, with reasons"], indent="  ")

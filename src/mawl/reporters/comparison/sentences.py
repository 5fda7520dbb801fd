"""What a comparison says, in sentences: the lines at its head."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.comparison.compare import ComparedPair, Comparison, SideFacts
from mawl.analysis.comparison.configuration import ARM_SETTING, OPTION
from mawl.analysis.comparison.places import LEAST_SHARE_RATIO
from mawl.analysis.comparison.programs import ComparedPrograms, Statement
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.reporters.comparison.cells import verdict_words
from mawl.reporters.comparison.finding import SUM, Headline, finding, margin_of, runs_of, verdict
from mawl.units import counted_noun, format_change, format_percent

Line = tuple[str, str]
"""A short name and a sentence."""

HEADLINE = frozenset({"finding", "next", "publish"})
"""Names of the lines that a page shows in other places, as its title and below the cards."""

MOST_DIFFERENCES = 12
MOST_CHANGED = 4
"""Settings and options in the head; the list of other facts has all of them."""


def head(comparison: Comparison) -> list[Line]:
    """The lines at the top: the finding, what it rests on, who, what differs, what is doubtful, what next."""
    found = finding(comparison)
    lines = [
        ("finding", found.sentence),
        ("basis", _basis(comparison)),
        ("reference", _side(comparison.reference)),
        ("candidate", _side(comparison.candidate)),
    ]
    lines += changed_on_purpose(comparison)
    if comparison.programs is not None and comparison.programs.changes:
        lines.append(("programs", programs(comparison.programs)))
    if comparison.basis == "runs":
        if comparison.statement is not None and comparison.statement.verdict != "not judged":
            lines.append(("differs", _named(comparison)))
        limits = dict.fromkeys(counts(side.limits) for side in comparison.sides)
        lines.append(("limit", " -> ".join(limits)))
    if comparison.links is not None:
        lines.append(("links", comparison.links.sentence))
    lines += [(obstacle.severity, obstacle.sentence) for obstacle in comparison.obstacles]
    return [*lines, *next_lines(found)]


def next_lines(found: Headline) -> list[Line]:
    """What to do next, and before the runs are published, as far as there is something."""
    said = {"next": found.next_step, "publish": found.to_publish}
    return [(name, sentence) for name, sentence in said.items() if sentence is not None]


def changed_on_purpose(comparison: Comparison) -> list[Line]:
    """Settings of the arms and options of the runs that differ: ``setting``, ``readahead: 128 -> 4096``."""
    kinds = {"setting": ARM_SETTING, "option": f"{OPTION} "}
    found = [
        (kind, f"{fact.name.removeprefix(begin).strip()}: {fact.reference} -> {fact.candidate}")
        for kind, begin in kinds.items()
        for fact in comparison.differences
        if fact.name.startswith(begin)
    ]
    return found[:MOST_CHANGED]


def unlike(comparison: Comparison) -> list[str]:
    """The facts in which the sides differ, each as ``name: one -> other``."""
    found = [f"{fact.name}: {fact.reference} -> {fact.candidate}" for fact in comparison.differences]
    more = len(found) - MOST_DIFFERENCES
    return found if more <= 0 else [*found[:MOST_DIFFERENCES], f"and {more} more (--format json lists all)"]


def programs(found: ComparedPrograms) -> str:
    """``3 programs faster, 1 slower, 16 without a difference``; plain counts where runs were too few."""
    if all(change.verdict == "not judged" for change in found.changes):
        return f"{found.ran_shorter} took less time, {found.ran_longer} more; too few runs to decide"
    return (
        f"{counted_noun(found.faster, 'program')} faster, {found.slower} slower, "
        f"{found.no_difference} without a difference"
    )


def against(pair: ComparedPair) -> str:
    """One of many sides against the first, in a sentence."""
    if pair.comparison is None:
        return pair.reason or "not compared"
    sign, said = verdict(pair.comparison)
    if pair.comparison.statement is not None:
        return f"{sign}: {said}; {basis(pair.comparison.statement)}"
    return f"{sign}: {said}; compare the two for the table"


def basis(some: Statement) -> str:
    """What the finding rests on: the mean, jobs and runs, and what would have been seen."""
    runs = f"geometric mean over {counted_noun(some.jobs, 'job')}, {runs_of(some)}"
    if some.jobs_left_out:
        runs += f"; {counted_noun(some.jobs_left_out, 'job')} left out, not counted in every run"
    if some.change_ratio is None:
        return runs
    if some.verdict == "not judged":
        needed = counted_noun(some.more_runs_needed, "more run")
        return f"{runs}; a statement needs {FEWEST_RUNS} runs a side, {needed} in all"
    if some.alike:
        also = "" if some.verdict == "not told apart" else f"; {some.verdict} nevertheless, by less than that"
        return f"{runs}; no change larger than {margin_of(some)}{also}"
    if some.verdict != "not told apart":
        return runs
    return f"{runs}; {verdict_words(some.verdict)}: {_power(some)}"


def _basis(comparison: Comparison) -> str:
    if comparison.statement is not None:
        return basis(comparison.statement) + _of_the_sum(comparison)
    return "one run a side says nothing about noise"


def _of_the_sum(comparison: Comparison) -> str:
    """Why the sum over all jobs went the other way, where it did: it is another figure."""
    change = comparison.statement.change_ratio if comparison.statement else None
    sums = next((one.change_ratio for one in comparison.figures if one.name == SUM), None)
    if change is None or sums is None or change * sums >= 0 or format_change(sums) == format_change(0.0):
        return ""
    return f"; the sum over all jobs, in which long jobs weigh more, changed by {format_change(sums)}"


def _power(some: Statement) -> str:
    if some.smallest_effect_ratio is None:
        return "the smallest change that would show is not known"
    least = format_change(some.smallest_effect_ratio).lstrip("+")
    more = "more than 200 runs" if some.runs_for_tenth is None else counted_noun(some.runs_for_tenth, "run")
    return (
        f"only changes above {least} would show, in four of five such comparisons; 10 % takes {more} a side"
    )


def _named(comparison: Comparison) -> str:
    if comparison.named is not None:
        return comparison.named.sentence
    if not comparison.places:
        return "not known: waits were not recorded in every run"
    before = sum(place.reference_seconds for place in comparison.places)
    change = sum(place.change_seconds for place in comparison.places)
    together = f"; together they changed by {format_change(change / before)}" if before > 0 else ""
    return (
        "no part of the jobs' time changed by more than chance "
        f"and by {format_percent(LEAST_SHARE_RATIO)} of all{together}"
    )


def _side(side: SideFacts) -> str:
    if not side.run_ids:
        return f"{side.label} ({side.kind}): {side.title}"
    runs = counted_noun(len(side.run_ids), "run")
    states = counts(side.validity)
    return f"{side.label} ({runs}, {side.kind}, {states}): {side.title}"


def counts(pairs: Sequence[tuple[str, int]]) -> str:
    """``storage in 3 of 5, cpu in 2 of 5``; the word alone where every run has it."""
    whole = sum(count for _, count in pairs)
    if len(pairs) == 1:
        return pairs[0][0]
    return ", ".join(f"{word} in {count} of {whole}" for word, count in pairs)

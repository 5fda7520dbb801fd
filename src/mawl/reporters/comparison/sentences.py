"""What a comparison says, in sentences: the lines at its head."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.comparison.compare import ComparedPair, Comparison, SideFacts
from mawl.analysis.comparison.configuration import ARM_SETTING
from mawl.analysis.comparison.programs import ComparedPrograms, Statement
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.reporters.comparison.cells import interval, verdict_words
from mawl.units import counted_noun, format_change

Line = tuple[str, str]
"""A short name and a sentence."""

ONE_PAPER = "two results of one paper, on equal servers: its own table; one run a side, too few to decide"
SHAPE_ONLY = (
    "a published result is compared per core and in shape only: its machines are not yours, "
    "and one run says nothing about noise"
)
MOST_DIFFERENCES = 12
SUM = "time.real_time_seconds"


def head(comparison: Comparison) -> list[Line]:
    """The lines at the top: who, the statement, what differs, and what stands in the way."""
    lines = [
        ("reference", _side(comparison.reference)),
        ("candidate", _side(comparison.candidate)),
        ("result", _result(comparison)),
    ]
    lines += [
        ("setting", f"{fact.name.removeprefix(ARM_SETTING).strip()}: {fact.reference} -> {fact.candidate}")
        for fact in comparison.differences
        if fact.name.startswith(ARM_SETTING)
    ]
    if comparison.programs is not None and comparison.programs.changes:
        lines.append(("programs", programs(comparison.programs)))
    if comparison.basis == "runs":
        if comparison.statement is not None and comparison.statement.verdict != "not judged":
            lines.append(("differs", _named(comparison)))
        lines.append(
            ("limit", f"{_counts(comparison.reference.limits)} -> {_counts(comparison.candidate.limits)}")
        )
    if comparison.links is not None:
        lines.append(("links", comparison.links.sentence))
    lines += [(obstacle.severity, obstacle.sentence) for obstacle in comparison.obstacles]
    return lines


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
    if pair.comparison.statement is not None:
        return result(pair.comparison.statement)
    return f"{pair.comparison.basis} only: compare the two for the table"


def result(some: Statement) -> str:
    """The statement on real time per job."""
    if some.change_ratio is None:
        return "not known: no job counts in every run of both sides"
    runs = f"{counted_noun(some.jobs, 'job')}, {_against(some)}"
    if some.jobs_left_out:
        runs += f"; {counted_noun(some.jobs_left_out, 'job')} left out, not counted in every run"
    took = f"a job took {_took(some.change_ratio)}"
    if some.verdict == "not judged":
        return (
            f"too few runs to decide: {took} (geometric mean, {runs}); a statement needs {FEWEST_RUNS} "
            "runs a side, "
            f"{counted_noun(some.more_runs_needed, 'more run')} in all"
        )
    if some.alike:
        narrow = (
            f"geometric mean, 90 % interval {interval(some.narrow_low_ratio, some.narrow_high_ratio)}; {runs}"
        )
        also = "" if some.verdict == "not told apart" else f"; {some.verdict} nevertheless, by less than that"
        return f"no change larger than {margin_of(some)}: {took} ({narrow}){also}"
    between = f"geometric mean, 95 % interval {interval(some.low_ratio, some.high_ratio)}; {runs}"
    if some.verdict != "not told apart":
        return f"{some.verdict}: {took} ({between})"
    return f"{verdict_words(some.verdict)}: {took} ({between}); {_power(some)}"


def _result(comparison: Comparison) -> str:
    if comparison.statement is not None:
        return result(comparison.statement) + _of_the_sum(comparison)
    return ONE_PAPER if comparison.basis == "one paper" else SHAPE_ONLY


def _of_the_sum(comparison: Comparison) -> str:
    """Why the sum over all jobs went the other way, where it did: it is another figure."""
    change = comparison.statement.change_ratio if comparison.statement else None
    sums = next((one.change_ratio for one in comparison.figures if one.name == SUM), None)
    if change is None or sums is None or change * sums >= 0 or _took(sums) == _took(0.0):
        return ""
    return f"; the sum over all jobs, in which long jobs weigh more, changed by {format_change(sums)}"


def margin_of(some: Statement) -> str:
    """The margin of a statement in percent."""
    return f"{100 * some.margin_ratio:g} %"


def _against(some: Statement) -> str:
    return f"{some.reference_runs} against {counted_noun(some.candidate_runs, 'run')}"


def _power(some: Statement) -> str:
    if some.smallest_effect_ratio is None:
        return "the smallest change that would show is not known"
    least = format_change(some.smallest_effect_ratio).lstrip("+")
    more = "more than 200 runs" if some.runs_for_tenth is None else counted_noun(some.runs_for_tenth, "run")
    return (
        f"only changes above {least} would show, in four of five such comparisons; 10 % takes {more} a side"
    )


def _took(ratio: float) -> str:
    if format_change(ratio) == format_change(0.0):
        return "as long"
    word = "longer" if ratio > 0 else "less time"
    return f"{format_change(ratio).lstrip('+-')} {word}"


def _named(comparison: Comparison) -> str:
    if comparison.named is not None:
        return comparison.named.sentence
    if not comparison.places:
        return "not known: waits were not measured in every run"
    return "no place of the jobs' time by more than chance"


def _side(side: SideFacts) -> str:
    if not side.run_ids:
        return f"{side.label} ({side.kind}): {side.title}"
    runs = counted_noun(len(side.run_ids), "run")
    states = _counts(side.validity)
    return f"{side.label} ({runs}, {side.kind}, {states}): {side.title}"


def _counts(pairs: Sequence[tuple[str, int]]) -> str:
    whole = sum(count for _, count in pairs)
    if len(pairs) == 1:
        return pairs[0][0]
    return ", ".join(f"{word} in {count} of {whole}" for word, count in pairs)

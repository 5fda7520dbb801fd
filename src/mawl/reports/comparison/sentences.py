"""A comparison in sentences: its headline, the lines at its head, and why runs were judged as they were.

Text, Markdown, JSON and HTML use the same words.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from mawl.base.units import counted_noun, format_change, format_percent
from mawl.figures.comparison.comparability import ARM_SETTING, CAP, OPTION
from mawl.figures.comparison.compare import ComparedPair, Comparison, SideFacts
from mawl.figures.comparison.programs import ComparedPrograms, ProgramChange, Statement
from mawl.figures.comparison.rows import AnswerChange
from mawl.figures.comparison.sides import About, Reason, merge_reasons
from mawl.figures.comparison.waits import LEAST_SHARE_RATIO
from mawl.figures.statistics import FEWEST_RUNS
from mawl.reports.comparison.tables import changed_caps, interval, ranged, verdict_words
from mawl.reports.document import Headline, Line, Sign, capital
from mawl.reports.layout import by_reason


def why(reasons: Iterable[Reason], about: About, runs: int) -> str | None:
    """``10 of 10 runs: no job finished``, the commonest of ``runs`` runs; None without a reason."""
    found = _of(reasons, about)
    return with_count(found[0], runs) if found else None


def why_lines(reasons: Iterable[Reason], runs: int) -> list[tuple[str, str]]:
    """Why the load is not known to be carried, and why the limit is not known, as far as runs say so."""
    some = list(reasons)
    names: dict[About, str] = {"answer": "load carried?", "limit": "limit not known"}
    return [(name, said) for about, name in names.items() if (said := why(some, about, runs))]


def checks(reasons: Iterable[Reason]) -> list[Reason]:
    """The checks that runs do not pass, the gravest and commonest first."""
    return _of(reasons, "validity")


def with_count(reason: Reason, runs: int) -> str:
    """``10 of 10 runs: SENTENCE``, with the words of ``sentence_of``."""
    count = f"{reason.runs} of {counted_noun(runs, 'run')}"
    return f"{count}: {sentence_of(reason)}"


def to_publish(statuses: Iterable[str], reasons: Iterable[Reason], runs: int, which: str = "") -> str | None:
    """The check to fix first before runs are published, with its fix; None if all are publishable.

    ``which`` says which runs these are if they are not all, for example ``with 3 sessions``.
    """
    if not set(statuses) - {"publishable"}:
        return None
    failed = checks(reasons)
    if not failed:
        return "not every run is publishable by its own report"
    first, *more = failed
    others = f" ({counted_noun(len(more), 'other check')} failed)" if more else ""
    among = f"{counted_noun(runs, 'run')} {which}".rstrip()
    return f"check {first.rule} failed in {first.runs} of {among}{others}{_fix(first)}"


def listed(reasons: Iterable[Reason], runs: int) -> list[str]:
    """Every check that failed, with its count and fix; those with the same reason together."""
    failed = by_reason((one.rule or "", with_count(one, runs) + _fix(one)) for one in checks(reasons))
    return [f"{', '.join(rules)}, {said}" for said, rules in failed.items()]


def sentence_of(reason: Reason) -> str:
    """The reason; if its figures differ between runs, also the name of the run that has these figures."""
    return reason.sentence if reason.alike else f"{reason.sentence} (in {reason.run})"


def _fix(reason: Reason) -> str:
    return f"; fix: {reason.cure}" if reason.cure else ""


def _of(reasons: Iterable[Reason], about: About) -> list[Reason]:
    return [one for one in merge_reasons(reasons) if one.about == about]


SUM = "time.real_time_seconds"
ONE_PAPER = "one run a side, on equal servers of one paper"
SHAPE_ONLY = "per core and in shape only; the machines of a published result are not yours"
MOST_NAMED = 2
"""Programs that the next step names."""


def finding(comparison: Comparison) -> Headline:
    """The headline of candidate against reference."""
    sign, said = verdict(comparison)
    sides = f'"{comparison.candidate.label}" against "{comparison.reference.label}"'
    return Headline(
        sign=sign,
        sentence=f"{capital(sign)}: {sides}, {said}",
        next_step=_next_step(comparison),
        to_publish=_to_publish(comparison),
    )


def verdict(comparison: Comparison) -> tuple[Sign, str]:
    """The sign, and what was found without the names of the sides."""
    some = comparison.statement
    if comparison.basis == "one paper":
        sums = next((one.change_ratio for one in comparison.figures if one.name == SUM), None)
        changed = f"real time of all jobs {format_change(sums)}, " if sums is not None else ""
        return "undecided", f"{changed}{ONE_PAPER}"
    if some is None:
        return "undecided", SHAPE_ONLY
    if some.change_ratio is None:
        return "undecided", "no job counts in every run of both sides"
    apart = programs_apart(comparison)
    return sign_of(some, apart), "; ".join([f"{change_of(some)} ({span_of(some)})", *apart])


def sign_of(some: Statement, apart: list[str]) -> Sign:
    """The sign of a statement; ``apart`` are the programs that went another way."""
    if apart:
        return "mixed"
    if some.alike:
        return "no change"
    words: dict[str, Sign] = {"faster": "better", "slower": "worse"}
    return words.get(some.verdict, "undecided")


def change_of(some: Statement) -> str:
    """``real time per job +20 %``: below 0 is less time, as in every table and chart."""
    assert some.change_ratio is not None, "a change that is known"
    return f"real time per job {format_change(some.change_ratio)}"


def span_of(some: Statement) -> str:
    """The interval that the sign rests on, or why there is none."""
    if some.not_judged is not None:
        few = some.not_judged.rule == "runs"
        return some.not_judged.reason if few else f"not judged: {some.not_judged.reason}"
    if without_spread(some):
        return f"{runs_of(some)}, those of each side alike"
    if some.alike:
        narrow = interval(some.narrow_low_ratio, some.narrow_high_ratio)
        return f"90 % interval {narrow}, within {margin_of(some)}"
    found = interval(some.low_ratio, some.high_ratio)
    return f"95 % interval {found}" if " to " in found else f"95 % interval {found} at both ends"


def without_spread(some: Statement) -> bool:
    """Whether the runs of each side are all alike, so that an interval has no width."""
    return some.smallest_effect_ratio == 0.0


def programs_apart(comparison: Comparison) -> list[str]:
    """Programs that are established to be slower or faster where all jobs together are not."""
    some, programs = comparison.statement, comparison.programs
    if some is None or programs is None:
        return []
    counts = {"slower": programs.slower, "faster": programs.faster}
    return [
        f"{counted_noun(count, 'program')} {word}"
        for word, count in counts.items()
        if count and word != some.verdict
    ]


def margin_of(some: Statement) -> str:
    """The margin of a statement in percent."""
    return f"{100 * some.margin_ratio:g} %"


def runs_of(some: Statement) -> str:
    """``5 against 5 runs``."""
    return f"{some.reference_runs} against {counted_noun(some.candidate_runs, 'run')}"


def _next_step(comparison: Comparison) -> str | None:
    """What to do after the result, with the command that reports a run if there is something to look for."""
    some = comparison.statement
    if some is None or some.change_ratio is None:
        return None
    if some.not_judged is not None:
        return _repair(comparison) or some.not_judged.fix
    candidate = f'"{comparison.candidate.label}"'
    match sign_of(some, programs_apart(comparison)):
        case "worse":
            why = f"see why {_changed_most(comparison)} became slower"
            return f"do not adopt {candidate}; {why}{_read(comparison)}"
        case "better":
            return f"adopt {candidate}: real time per job is shorter by more than chance"
        case "mixed":
            return f"decide by the programs that you need: {_apart(comparison)}"
        case "no change":
            return f"choose by cost or effort: no change larger than {margin_of(some)} was found"
    if some.runs_for_tenth is None:
        return "use a larger scale or a quieter machine; 200 runs a side would not show a change of 10 %"
    if some.runs_for_tenth <= min(some.reference_runs, some.candidate_runs):
        return "make more runs a side; these would show a change of 10 %, and a smaller one takes more"
    return f"make {some.runs_for_tenth} runs a side to show a change of 10 %"


def _to_publish(comparison: Comparison) -> str | None:
    """The check to fix first before this is published; None for sides without runs, or fit runs."""
    return to_publish(comparison.statuses, comparison.reasons, comparison.runs)


def _repair(comparison: Comparison) -> str | None:
    """The check that makes most of the invalid runs so, and one of them to read; None without one."""
    failed = checks(one for one in comparison.reasons if one.severity == "invalid")
    if not failed:
        return None
    why = with_count(failed[0], comparison.runs)
    return f"fix what makes runs invalid, {why}{report_of(failed[0].run)}"


def _changed_most(comparison: Comparison) -> str:
    """The two programs that were established to slow most, ``wide_sort (+20 %)``; else the jobs."""
    changes = comparison.programs.changes if comparison.programs is not None else []
    slower = [one for one in changes if one.verdict == "slower"]
    return " and ".join(map(_program, slower[:MOST_NAMED])) or "the jobs"


def _apart(comparison: Comparison) -> str:
    """Programs that were established to be slower and faster, the most changed of each."""
    changes = comparison.programs.changes if comparison.programs is not None else []
    slower = [one for one in changes if one.verdict == "slower"][:MOST_NAMED]
    faster = [one for one in changes[::-1] if one.verdict == "faster"][:MOST_NAMED]
    sides = (("slower", slower), ("faster", faster))
    return "; ".join(f"{word} {' and '.join(map(_program, some))}" for word, some in sides if some)


def _program(change: ProgramChange) -> str:
    return f"{change.program} ({format_change(change.change_ratio)})"


def _read(comparison: Comparison) -> str:
    """The command that reports the candidate's run of median time, at the end of a sentence."""
    seconds = comparison.statement.candidate_run_seconds if comparison.statement is not None else []
    names = comparison.candidate.names
    if not names or len(names) != len(seconds):
        return ""
    middle = sorted(range(len(seconds)), key=seconds.__getitem__)[len(seconds) // 2]
    return report_of(names[middle])


def report_of(run: str) -> str:
    """The command that reports a run, as the end of a sentence."""
    return f": mawl report {shlex.quote(run)}"


ANSWERS = {"slowdown": "slowdown", "delivered_cores": "delivered"}
HEADLINE = frozenset({"finding", "next", "publish"})
"""Names of the lines that a page shows in other places, as its title and below the cards."""

MOST_DIFFERENCES = 12
MOST_CHANGED = 4
"""Settings and options in the head; the list of other facts has all of them."""


def head(comparison: Comparison) -> list[Line]:
    """The lines at the top: W and delivered cores, the finding and what it rests on, who, what differs, what
    is doubtful, what next."""
    found = finding(comparison)
    lines = [
        *answers(comparison),
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


def answers(comparison: Comparison) -> list[Line]:
    """W and the delivered cores of both sides, which come first."""
    return [(ANSWERS[one.name], _answer_words(one)) for one in comparison.answer]


def _answer_words(one: AnswerChange) -> str:
    """``1.21 (1.18 to 1.24) -> 2.02 (1.95 to 2.10): higher (+67 %, 95 % interval +61 % to +73 %)``."""
    sides = " -> ".join(map(ranged, (one.reference, one.candidate)))
    if one.name == "delivered_cores":
        sides = f"{sides} cores"
    if one.reason is not None or one.change_ratio is None:
        return f"{sides}: not compared, {one.reason}"
    ends = interval(one.low_ratio, one.high_ratio)
    sure = f", 95 % interval {ends}" if " to " in ends else ""
    return f"{sides}: {one.verdict} ({format_change(one.change_ratio)}{sure})"


def next_lines(found: Headline) -> list[Line]:
    """What to do next, and before the runs are published, as far as there is something."""
    said = {"next": found.next_step, "publish": found.to_publish}
    return [(name, sentence) for name, sentence in said.items() if sentence is not None]


def changed_on_purpose(comparison: Comparison) -> list[Line]:
    """Caps, settings of the arms and options that differ: ``setting``, ``readahead: 128 -> 4096``."""
    kinds = {"setting": ARM_SETTING, "option": f"{OPTION} "}
    found = [
        ("cap", f"{fact.name.removeprefix(CAP)}: {fact.reference} -> {fact.candidate}")
        for fact in changed_caps(comparison)
    ]
    found += [
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
    """``3 programs faster, 1 slower, 16 without a difference``; plain counts where nothing is judged."""
    if all(change.verdict == "not judged" for change in found.changes):
        return f"{found.ran_shorter} took less time, {found.ran_longer} more; not judged"
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
    if some.not_judged is not None:
        needed = counted_noun(some.more_runs_needed, "more run")
        few = f"; a statement needs {FEWEST_RUNS} runs a side, {needed} in all"
        return runs + (few if some.more_runs_needed else "")
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

"""What a comparison found, in one headline with one sign: the same words in text, Markdown, JSON and HTML."""

from __future__ import annotations

import shlex
from typing import Literal

import msgspec

from mawl.analysis.comparison.compare import Comparison, why_uncounted
from mawl.analysis.comparison.programs import ProgramChange, Statement
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.reporters.comparison import reasons
from mawl.reporters.comparison.cells import interval
from mawl.units import counted_noun, format_change

Sign = Literal["better", "worse", "mixed", "no change", "undecided", "measured"]
"""``better`` and ``worse``: the candidate's real time per job, established.  ``mixed``: programs were
established to go another way than all jobs together.  ``no change``: none larger than the margin is
established.  ``measured``: a campaign that compares nothing has its number.  ``undecided`` is also what runs
say that are invalid by their own checks."""

SUM = "time.real_time_seconds"
ONE_PAPER = "one run a side, on equal servers of one paper"
SHAPE_ONLY = "per core and in shape only; the machines of a published result are not yours"
MOST_NAMED = 2
"""Programs that the next step names."""


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The headline: its sign, a sentence that begins with it, what to do next (None: nothing), and which
    check to fix before the runs are published (None: they are fit for it)."""

    sign: Sign
    sentence: str
    next_step: str | None = None
    to_publish: str | None = None


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
    said = "; ".join([f"{change_of(some)} ({span_of(some)})", *apart])
    why = why_uncounted(comparison)
    if why is not None:
        return "undecided", f"{said}; it does not count: {why}"
    return sign_of(some, apart), said


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
    if some.verdict == "not judged":
        return f"{runs_of(some)}: too few for an interval"
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


def capital(text: str) -> str:
    """The text with a large first letter."""
    return text[:1].upper() + text[1:]


def _next_step(comparison: Comparison) -> str | None:
    """What to do after the result, with the command that reports a run if there is something to look for."""
    some = comparison.statement
    if some is None or some.change_ratio is None:
        return None
    if why_uncounted(comparison) is not None:
        return _repair(comparison)
    if some.verdict == "not judged":
        return (
            f"make {counted_noun(some.more_runs_needed, 'more run')}, the sides in turns; a statement needs "
            f"{FEWEST_RUNS} a side"
        )
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
    return reasons.to_publish(comparison.statuses, comparison.reasons, comparison.runs)


def _repair(comparison: Comparison) -> str:
    """The check that makes most of the invalid runs so, and one of them to read."""
    failed = reasons.checks(one for one in comparison.reasons if one.severity == "invalid")
    if not failed:
        return "fix what makes runs invalid; the report of each such run names it"
    why = reasons.with_count(failed[0], comparison.runs)
    return f"fix what makes runs invalid, {why}{report_of(failed[0].run)}"


def _changed_most(comparison: Comparison) -> str:
    """The two programs that slowed most, those that are established first: ``wide_sort (+20 %)``."""
    changes = comparison.programs.changes if comparison.programs is not None else []
    established = [one for one in changes if one.verdict == "slower"]
    slower = established or [one for one in changes if one.change_ratio > 0]
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

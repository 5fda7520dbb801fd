"""What a campaign over numbers of sessions, or over modes of hardware threads, found.

The number to try next and the knee follow from the runs made so far and from nothing else, so a search
that was killed goes on where it was (docs/design/campaigns.md, The knee).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Annotated, Literal

import msgspec

from mawl.base.units import format_percent
from mawl.figures.comparison.compare import Comparison
from mawl.figures.comparison.sides import ComparedRun, Side, at
from mawl.figures.statistics import LEVEL, quantile
from mawl.plan.mix import FEWEST_FULL_SESSIONS, MIX_CHANGES, SessionRange
from mawl.records.definitions import count, flag, rate, seconds, share
from mawl.records.model.campaign import KNEE, SMT, Campaign, SessionSearch
from mawl.records.model.thresholds import value_of

RunVerdict = Literal["carried", "too many", "refused"]
"""What one run says: nothing speaks against it; jobs failed or took too long; the machine cannot start it."""

Beyond = Literal["", "at least", "fewer than"]
"""Whether the knee is a number, or the search ended at a bound first."""

NEAR = 2.0
"""Runs within this factor of the knee tell where the slowdown crosses its bound."""

FEWEST_POINTS = 4
"""A line and its spread take more than three runs."""


class SessionRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a run with so many sessions says; ``answer_slowdown`` is W, ``answer_bound`` its bound."""

    sessions: Annotated[int, count("Sessions of a run.", KNEE)]
    verdict: RunVerdict
    answer_slowdown: Annotated[float | None, share("W of the run (answer.slowdown).", KNEE)] = None
    answer_bound: Annotated[float | None, share("The bound of that.", KNEE)] = None
    bytes_per_second_per_core: Annotated[
        float | None, rate("Throughput per core of the run (guideline); it decides nothing.", KNEE)
    ] = None
    reasons: list[str] = []


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one number of sessions: how many, how many said what the majority did, and that."""

    sessions: Annotated[int, count("A number of sessions that was tried.", KNEE)]
    runs: Annotated[int, count("Runs with so many sessions.", KNEE)]
    agreeing: Annotated[int, count("Of these, the runs that said what the number was judged.", KNEE)]
    carried: Annotated[bool, flag("Whether so many sessions are carried, by most of the runs.", KNEE)]
    refused: Annotated[bool, flag("Whether the machine cannot start so many.", KNEE)]
    answer_slowdown: Annotated[float | None, share("W of the middle run, of an even number the lower.", KNEE)]


class Knee(msgspec.Struct, frozen=True, kw_only=True):
    """The most sessions that are carried; ``low`` to ``high`` is the 95 % interval, None with a reason.

    A ``low`` without ``high`` is one that the runs do not bound from above: they spread too much.
    """

    sessions: Annotated[
        int | None,
        count(
            "The most sessions that are carried; where beyond is fewer than, the least that were tried "
            "and are not; null where no number is carried.",
            KNEE,
        ),
    ]
    beyond: Beyond
    low: Annotated[
        int | None, count("Lower end of the 95 % interval of knee.sessions; null with a reason.", KNEE)
    ] = None
    high: Annotated[
        int | None, count("Upper end of the 95 % interval of knee.sessions; null with a reason.", KNEE)
    ] = None
    interval_reason: str | None = None
    reason: str
    """What speaks against more, or why there is no number."""


def sessions_tried(runs: Sequence[SessionRun]) -> list[Tried]:
    """Each number of sessions, ascending, judged by the majority of its runs; a tie counts as not carried."""
    found: list[Tried] = []
    for sessions in sorted({run.sessions for run in runs}):
        own = [run for run in runs if run.sessions == sessions]
        verdicts = [run.verdict for run in own]
        well = verdicts.count("carried")
        carried = 2 * well > len(own)
        slowdowns = sorted(run.answer_slowdown for run in own if run.answer_slowdown is not None)
        found.append(
            Tried(
                sessions=sessions,
                runs=len(own),
                agreeing=well if carried else len(own) - well,
                carried=carried,
                refused="refused" in verdicts,
                answer_slowdown=slowdowns[(len(slowdowns) - 1) // 2] if slowdowns else None,
            )
        )
    return found


def on_the_line(runs: Sequence[SessionRun], low: int, high: int) -> int | None:
    """Where the line through the slowdowns of two numbers crosses the bound, on logarithmic axes.

    None where one of them has no slowdown, or they do not lie on both sides of the bound.
    """
    below, above, bound = slowdown_of(runs, low), slowdown_of(runs, high), bound_of(runs)
    if below is None or above is None or not below < bound < above:
        return None
    share = math.log(bound / below) / math.log(above / below)
    return math.floor(low * math.exp(share * math.log(high / low)))


def bound_of(runs: Sequence[SessionRun]) -> float:
    """The bound of the slowdown; 0 where no run has one."""
    return next((run.answer_bound for run in runs if run.answer_bound), 0.0)


def slowdown_of(runs: Sequence[SessionRun], sessions: int) -> float | None:
    """The slowdown of the middle run with so many sessions."""
    found = sorted(run.answer_slowdown for run in runs if run.sessions == sessions and run.answer_slowdown)
    return found[(len(found) - 1) // 2] if found else None


def next_sessions(runs: Sequence[SessionRun], search: SessionSearch) -> int | None:
    """The number of sessions to try next; None where the knee is found.

    Doubling until a number is not carried, halving the gap until it is one session, then both numbers at
    the gap again until each has ``runs_each`` runs; a number that falls over by that opens the gap anew.
    """
    found = {one.sessions: one for one in sessions_tried(runs)}
    if not found:
        return search.first
    low, high = _gap(list(found.values()))
    if high is None:
        assert low is not None
        if low < search.most:
            return min(2 * low, search.most)
        return low if found[low].runs < search.runs_each else None
    if low is None and high > search.first:
        return search.first + (high - search.first) // 2 if high - search.first > 1 else search.first
    if low is not None and high - low > 1:
        return low + (high - low) // 2
    for sessions in (high, low):
        if sessions is not None and not _settled(found[sessions], search):
            return sessions
    return None


def knee_of(
    runs: Sequence[SessionRun], search: SessionSearch, mix: SessionRange | None = None
) -> Knee | None:
    """The knee as far as the runs tell; None before the first.

    ``mix`` are the numbers of sessions that have the mix of the runs: the interval stays in it.
    """
    found = {one.sessions: one for one in sessions_tried(runs)}
    if not found:
        return None
    low, high = _gap(list(found.values()))
    against = "" if high is None else _against(runs, high)
    if low is None:
        assert high is not None
        return Knee(
            sessions=high, beyond="fewer than", reason=against, interval_reason="no number was carried"
        )
    if high is None or found[high].refused:
        why = against or f"the search was to go no further than {search.most} sessions"
        if not against and mix is not None and search.most == mix.most < FEWEST_FULL_SESSIONS:
            why = f"{MIX_CHANGES}: for more, search with --sessions {FEWEST_FULL_SESSIONS}"
        return Knee(sessions=low, beyond="at least", reason=why, interval_reason="no number was too many")
    interval, reason = crossing(runs, low, high)
    if interval is not None and mix is not None:
        least, most = interval
        if most is not None and most > mix.most:
            most, reason = None, f"the runs spread so much that {mix.most} sessions might fit, or more"
        interval = max(least, mix.fewest), most
    return Knee(
        sessions=low,
        beyond="",
        low=min(interval[0], low) if interval else None,
        high=max(interval[1], low) if interval and interval[1] is not None else None,
        interval_reason=reason,
        reason=against,
    )


def crossing(
    runs: Sequence[SessionRun], low: int, high: int
) -> tuple[tuple[int, int | None] | None, str | None]:
    """The 95 % interval of the knee between ``low`` and ``high``, or None with the reason.

    Log slowdown is taken for straight in log sessions near the knee, and the numbers whose 95 % band of
    the line leaves the bound inside are those that may be the knee: inverse regression (Draper and Smith
    1998, section 3.2; Fieller 1954), read at whole numbers of sessions.

    Where the band still holds the bound at twice ``high``, the upper end is None with the reason; where it
    does at half of ``low``, the lower end is one session.
    """
    points = [
        (math.log(run.sessions), math.log(run.answer_slowdown))
        for run in runs
        if run.answer_slowdown is not None
        and run.answer_slowdown > 0
        and low / NEAR <= run.sessions <= high * NEAR
    ]
    bounds = {run.answer_bound for run in runs if run.sessions == high and run.verdict == "too many"}
    bound = next((bound for bound in bounds if bound is not None), None)
    beyond = [run.answer_slowdown for run in runs if run.sessions == high and run.answer_slowdown is not None]
    if bound is None or not beyond or max(beyond) <= bound:
        return None, "only the slowdown has a spread to compute one from, and it did not end the search"
    if len(points) < FEWEST_POINTS or len({at for at, _ in points}) < 2:
        return (
            None,
            f"it takes {FEWEST_POINTS} runs near the largest number that fits, and {len(points)} were made",
        )
    centre, level = fmean(at for at, _ in points), fmean(value for _, value in points)
    spread = sum((at - centre) ** 2 for at, _ in points)
    slope = sum((at - centre) * (value - level) for at, value in points) / spread
    left = sum((value - level - slope * (at - centre)) ** 2 for at, value in points)
    degrees = len(points) - 2
    reach = quantile(1 - LEVEL / 2, degrees) * math.sqrt(left / degrees)

    def band(sessions: int) -> tuple[float, float]:
        away = math.log(sessions) - centre
        middle = level + slope * away
        half = reach * math.sqrt(1 / len(points) + away**2 / spread)
        return middle - half, middle + half

    numbers = range(max(1, math.floor(low / NEAR)), math.ceil(high * NEAR) + 1)
    surely = [band(sessions)[1] <= math.log(bound) for sessions in numbers]
    least = next((place for place, carried in enumerate(surely) if not carried), len(surely))
    too_many = [band(sessions)[0] > math.log(bound) for sessions in numbers]
    lower = numbers[0] + least - 1 if least > 0 else 1
    if True not in too_many:
        return (lower, None), f"the runs spread so much that {numbers[-1]} sessions might fit, or more"
    return (lower, numbers[0] + too_many.index(True) - 1), None


def _gap(found: Sequence[Tried]) -> tuple[int | None, int | None]:
    """The largest number carried below the smallest that is not, and the latter; None where there is none."""
    refused = [one.sessions for one in found if not one.carried]
    high = min(refused, default=None)
    carried = [one.sessions for one in found if one.carried and (high is None or one.sessions < high)]
    return max(carried, default=None), high


def _settled(one: Tried, search: SessionSearch) -> bool:
    """Whether more runs would change nothing: enough were made, or the machine refuses."""
    return one.refused or one.runs >= search.runs_each


def _against(runs: Sequence[SessionRun], sessions: int) -> str:
    own = [run for run in runs if run.sessions == sessions and run.verdict != "carried"]
    return f"with {sessions}: {'; '.join(own[0].reasons)}" if own and own[0].reasons else ""


PAPER = "REDP-5288, SMT8 considerations"


class SmtRow(msgspec.Struct, frozen=True, kw_only=True):
    """A mode; medians over its finished runs.  ``core_busy_basis`` says how busy cores are known."""

    arm: str
    title: str
    threads: Annotated[int | None, count("Hardware threads of a core in this mode.", SMT)]
    runs: Annotated[int, count("Finished runs in this mode.", SMT)]
    real_time_seconds: Annotated[float | None, seconds("Median over runs of time.real_time_seconds.", SMT)]
    elapsed_seconds: Annotated[float | None, seconds("Median over runs of time.elapsed_seconds.", SMT)]
    bytes_per_second: Annotated[
        float | None, rate("Median over runs of io.application.run_mean.total_bytes_per_second.", SMT)
    ]
    core_busy_ratio: Annotated[float | None, share("Median over runs of host.core_busy_ratio.", SMT)]
    core_busy_basis: str | None
    cpu_busy_ratio: Annotated[float | None, share("Median over runs of host.cpu_busy_ratio.", SMT)]


def smt_rows(record: Campaign, by_arm: Mapping[str, Sequence[ComparedRun]]) -> list[SmtRow]:
    """A row for each mode, fewest threads first."""
    rows = []
    for arm in record.arms:
        side = Side(label=arm.name, runs=tuple(by_arm[arm.name]))
        bases = {at(run.summary, "host.core_busy_basis") for run in side.runs} - {None}
        rows.append(
            SmtRow(
                arm=arm.name,
                title=arm.title,
                threads=arm.size,
                runs=len(side.runs),
                real_time_seconds=_median(side.values("time.real_time_seconds")),
                elapsed_seconds=_median(side.values("time.elapsed_seconds")),
                bytes_per_second=_median(side.values("io.application.run_mean.total_bytes_per_second")),
                core_busy_ratio=_median(side.values("host.core_busy_ratio")),
                core_busy_basis=", ".join(sorted(str(basis) for basis in bases)) or None,
                cpu_busy_ratio=_median(side.values("host.cpu_busy_ratio")),
            )
        )
    return rows


def smt_sentence(rows: Sequence[SmtRow], comparison: Comparison | None) -> str:
    """Whether more threads a core helped, and what the paper found, in a sentence.

    ``comparison`` is of the mode with the fewest threads against that with the most.
    """
    statement = comparison.statement if comparison is not None else None
    if statement is None or statement.verdict == "not judged" or len(rows) < 2:
        if statement is not None and not statement.jobs:
            return "not decided: no job counts in every run of both modes"
        unjudged = statement.not_judged if statement is not None else None
        if unjudged is not None and unjudged.rule != "runs":
            return f"not decided: {unjudged.reason}"
        return "not decided: it takes five finished runs of each mode"
    fewest, most = rows[0], rows[-1]
    known = [
        f"{format_percent(row.cpu_busy_ratio)} with {row.title}"
        for row in rows
        if row.cpu_busy_ratio is not None
    ]
    busy = f"; processors were busy {' and '.join(known)}" if known else ""
    if statement.alike:
        return (
            f"as in the paper, {fewest.title} and {most.title} perform alike (no change larger than "
            f"{format_percent(statement.margin_ratio)}){busy}; the paper measured 20 sessions on 16 cores "
            f"with SMT4 and SMT8 ({PAPER})"
        )
    if statement.verdict == "not told apart":
        least = statement.smallest_effect_ratio
        shown = "" if least is None else f", and only changes above {format_percent(least)} would show"
        return (
            f"not decided: no difference between {fewest.title} and {most.title} was found{shown}{busy}; the "
            f"paper found similar performance with 20 sessions ({PAPER})"
        )
    if statement.verdict == "faster":
        return (
            f"contrary to what the paper measured with 20 sessions (similar performance), jobs were faster "
            f"with {most.title} than with {fewest.title}{_load(fewest.cpu_busy_ratio)}{busy} ({PAPER})"
        )
    return (
        f"contrary to the paper, jobs were slower with {most.title} than with {fewest.title}{busy}; "
        f"the paper found similar performance with 20 sessions, and advises more above 70 % busy ({PAPER})"
    )


def _load(busy_ratio: float | None) -> str:
    if busy_ratio is None:
        return ""
    least = value_of("smt.least_busy_ratio")
    if busy_ratio > least:
        return f", as the paper suggests above {format_percent(least)} busy"
    return f", although processors were not above {format_percent(least)} busy"


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None

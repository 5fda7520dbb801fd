"""What a campaign found, in one headline: the same words in text, Markdown, JSON and HTML."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from math import expm1
from statistics import stdev

from mawl.base.units import counted_noun, format_change, format_percent, format_ratio, format_seconds
from mawl.figures.campaign import ELAPSED, ArmFound, CampaignFound, FigureSpread, ScalingRow
from mawl.figures.comparison.sides import logs
from mawl.figures.knee import Knee, Tried
from mawl.figures.statistics import FEWEST_RUNS, smallest_effect
from mawl.reports.comparison.sentences import finding as comparison_finding
from mawl.reports.comparison.sentences import report_of, to_publish
from mawl.reports.document import Headline, capital

FIT = "fit this machine"
NO_OTHER = "the 95 % interval holds no other number"
UNCHANGED = format_change(0.0)
GROWS = "Each node runs the whole workload, so the load grows with the nodes."
REPEAT_NODES = "repeat each number of nodes (--repeat 3) to see the noise"


def finding(found: CampaignFound) -> Headline:
    """The headline; of a campaign that is not whole it begins with how far it came."""
    said = _whole(found)
    if found.outcome == "completed":
        return said
    runs = counted_noun(found.finished, "run")
    if found.kind != "find-sessions":
        runs = f"{found.finished} of {counted_noun(len(found.slots), 'run')}"
    made = f"{capital(found.outcome)} after {runs}"
    step = said.next_step
    if found.outcome == "interrupted":
        verb = "tune search" if found.kind == "search" else "run"
        step = f"go on with it: mawl {verb} --continue {shlex.quote(found.called)}"
    sentence = f"{made}: {said.sentence[:1].lower()}{said.sentence[1:]}"
    return Headline(sign=said.sign, sentence=sentence, next_step=step, to_publish=said.to_publish)


def elapsed_of(arm: ArmFound) -> FigureSpread | None:
    """Elapsed time over the runs of an arm; None where no run has it."""
    return next((figure for figure in arm.figures if figure.name == ELAPSED), None)


def range_of(elapsed: FigureSpread) -> str:
    """``range 59.8 s to 61.0 s``, or that the runs took the same time; of two runs and more."""
    low, high = format_seconds(elapsed.lowest), format_seconds(elapsed.highest)
    if low == high:
        return f"all {counted_noun(elapsed.runs, 'run')} alike"
    return f"range {low} to {high}"


def interval_of(knee: Knee) -> str:
    """The interval of the largest number that fits, or that it holds no other; empty if there is none."""
    if knee.low is None or knee.high is None:
        return ""
    return NO_OTHER if knee.low == knee.high else f"95 % interval {knee.low} to {knee.high}"


def compared_nodes(found: CampaignFound) -> tuple[ScalingRow, ScalingRow] | None:
    """The fewest nodes and the most that have a throughput; None if only one number of nodes has."""
    rows = [row for row in found.scaling if row.speedup is not None]
    return (rows[0], rows[-1]) if len(rows) > 1 else None


def gains(row: ScalingRow) -> bool:
    """Whether so many nodes move more than the fewest, in the digits that are printed."""
    return round(row.speedup or 0.0, 2) > 1.0


def shared_machines(row: ScalingRow) -> str | None:
    """That several of so many nodes are on one machine; None where each has its own, or no run is known."""
    if row.machines is None or row.machines >= row.nodes:
        return None
    if row.machines == 1:
        return f"{row.nodes} nodes on one machine: they share its processors and disks"
    return (
        f"{row.nodes} nodes on {row.machines} machines: those of one machine share its processors and disks"
    )


def too_many(found: CampaignFound) -> Tried | None:
    """The least number of sessions that is not carried; None if all that were tried are."""
    return next((session for session in found.sessions if not session.carried), None)


def _whole(found: CampaignFound) -> Headline:
    if found.comparison is not None:
        return comparison_finding(found.comparison)
    if found.kind in ("ab", "smt"):
        why = found.smt_sentence or found.comparison_reason or "the arms are not compared"
        return Headline(sign="undecided", sentence=f"Undecided: {why}")
    if found.kind == "find-sessions":
        return _sessions(found)
    if found.kind == "scaling":
        return _scaling(found)
    if found.kind == "search":
        arms = counted_noun(len(found.arms), "arm")
        return Headline(sign="undecided", sentence=f"Undecided here: figures of {arms} of a search")
    return _repeats(found.arms[0])


def _repeats(arm: ArmFound) -> Headline:
    elapsed = elapsed_of(arm)
    if elapsed is None:
        return Headline(sign="undecided", sentence="Undecided: no run has an elapsed time")
    runs, median = counted_noun(elapsed.runs, "run"), format_seconds(elapsed.median)
    said = (
        f"elapsed {median}, median of {runs} ({range_of(elapsed)})"
        if elapsed.runs > 1
        else f"elapsed {median}"
    )
    if elapsed.runs < FEWEST_RUNS:
        return Headline(
            sign="undecided",
            sentence=f"Undecided: {said}; {FEWEST_RUNS} runs are needed to judge the scatter",
            next_step=f"make {FEWEST_RUNS} runs (--repeat {FEWEST_RUNS})",
            to_publish=_to_publish([arm]),
        )
    return Headline(
        sign="measured",
        sentence=f"Measured: {said}",
        next_step=_smallest_change(elapsed),
        to_publish=_to_publish([arm]),
    )


def _smallest_change(elapsed: FigureSpread) -> str | None:
    scaled = logs(elapsed.values)
    if not scaled:
        return None
    least = expm1(smallest_effect(stdev(scaled), elapsed.runs))
    change = format_change(least).lstrip("+")
    shows = "any change" if change == UNCHANGED else f"a change of {change}, in four of five comparisons"
    return (
        f"change one thing and compare (mawl run --ab): {elapsed.runs} runs a side that scatter like these "
        f"would show {shows}"
    )


def _to_publish(arms: Sequence[ArmFound], which: str = "") -> str | None:
    return to_publish(
        [word for arm in arms for word, _ in arm.validity],
        [reason for arm in arms for reason in arm.reasons],
        sum(arm.runs for arm in arms),
        which,
    )


def _sessions(found: CampaignFound) -> Headline:
    knee = found.knee
    if knee is None:
        return Headline(sign="undecided", sentence="Undecided: no run is finished")
    if knee.sessions is None:
        return Headline(
            sign="undecided", sentence=f"Undecided: no number of sessions is carried, {knee.reason}"
        )
    sessions = counted_noun(knee.sessions, "session")
    # A run with too many sessions may be invalid: that is why it does not fit.
    check = _to_publish([arm for arm in found.arms if arm.size == knee.sessions], f"with {sessions}")
    if knee.beyond == "fewer than":
        return Headline(
            sign="undecided",
            sentence=f"Undecided: fewer than {sessions} are carried",
            next_step="search again from a smaller number (--sessions)",
            to_publish=check,
        )
    if knee.beyond:
        return Headline(
            sign="undecided",
            sentence=f"Undecided: {knee.beyond} {sessions} are carried",
            next_step=f"plan for {knee.sessions}: {knee.reason}" if knee.reason else None,
            to_publish=check,
        )
    between = interval_of(knee) or "no interval"
    return Headline(
        sign="measured",
        sentence=f"Measured: {sessions} {FIT} ({between})",
        next_step=_plan(found, knee.sessions),
        to_publish=check,
    )


def _plan(found: CampaignFound, sessions: int) -> str:
    slowdown = next(
        (session.answer_slowdown for session in found.sessions if session.sessions == sessions), None
    )
    bound = next((run.answer_bound for run in found.session_runs if run.sessions == sessions), None)
    knee = found.knee
    low = None if knee is None or knee.high is None else knee.low
    said = f"plan for {counted_noun(sessions, 'session')}"
    if low is not None and low < sessions:
        said += f", or {low} to be sure"
    if slowdown is not None and bound:
        left = format_percent(max(1.0 - slowdown / bound, 0.0))
        said += f": the slowdown there, {format_ratio(slowdown)}, is {left} below the bound"
        said += f" of {format_ratio(bound)}"
    beyond = too_many(found)
    runs = next((arm.names for arm in found.arms if beyond is not None and arm.size == beyond.sessions), [])
    if beyond is None or not runs:
        return said
    return f"{said}; for more, see what limits a run with {beyond.sessions}{report_of(runs[0])}"


def _scaling(found: CampaignFound) -> Headline:
    ends = compared_nodes(found)
    if ends is None:
        return Headline(sign="undecided", sentence="Undecided: finished runs on two node counts are required")
    first, last = ends
    said = (
        f"Measured: {last.nodes} nodes give {format_ratio(last.speedup or 0.0)} times the throughput of "
        f"{first.nodes}"
    )
    notes = []
    if last.efficiency_ratio is not None:
        notes.append(f"efficiency {100 * last.efficiency_ratio:.0f} %")
    if last.elapsed_ratio is not None:
        change = format_change(last.elapsed_ratio - 1.0)
        notes.append(f"elapsed time {'unchanged' if change == UNCHANGED else change}")
    few = max(row.runs for row in found.scaling if row.speedup is not None) == 1
    whole = ", ".join([said, *notes, *(["noise unknown (one run each)"] if few else [])])
    return Headline(
        sign="measured",
        sentence="; ".join(filter(None, [whole, shared_machines(last)])),
        next_step=REPEAT_NODES if few else _shared(found, first, last),
        to_publish=_to_publish(found.arms),
    )


def _shared(found: CampaignFound, first: ScalingRow, last: ScalingRow) -> str | None:
    if last.efficiency_ratio is None or round(100 * last.efficiency_ratio) >= 100:
        return None
    run = next((arm.names[0] for arm in found.arms if arm.size == last.nodes and arm.names), None)
    read = report_of(run) if run is not None else ""
    little = f"each of {last.nodes} nodes moves less than each of {first.nodes} does"
    said = little if gains(last) else "more nodes gave no more throughput"
    shared = "storage and network" if shared_machines(last) is None else "processors and disks"
    return f"{said}; see what limits a run on {last.nodes}, first the {shared} they share{read}"

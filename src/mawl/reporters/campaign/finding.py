"""What a campaign found, in one headline: the same words in text, Markdown, JSON and HTML."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.campaign.results import ELAPSED, ArmFound, CampaignFound, FigureSpread
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.reporters.comparison.finding import UNFIT, Headline, capital
from mawl.reporters.comparison.finding import finding as comparison_finding
from mawl.units import counted_noun, format_change, format_ratio, format_seconds

FIT = "fit this machine"


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
        step = f"go on with it: mawl {verb} --continue FOLDER"
    sentence = f"{made}: {said.sentence[:1].lower()}{said.sentence[1:]}"
    return Headline(sign=said.sign, sentence=sentence, next_step=step)


def elapsed_of(arm: ArmFound) -> FigureSpread | None:
    """Elapsed time over the runs of an arm; None where no run has it."""
    return next((one for one in arm.figures if one.name == ELAPSED), None)


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
    runs = counted_noun(elapsed.runs, "run")
    if elapsed.low is None or elapsed.high is None:
        between = f"{format_seconds(elapsed.lowest)} to {format_seconds(elapsed.highest)}"
        return Headline(
            sign="undecided",
            sentence=f"Undecided: elapsed {between} in {runs}, too few for an interval",
            next_step=f"make {FEWEST_RUNS} runs (--repeat {FEWEST_RUNS})",
        )
    ends = f"{format_seconds(elapsed.low)} to {format_seconds(elapsed.high)}"
    return Headline(
        sign="measured",
        sentence=f"Measured: elapsed {format_seconds(elapsed.mean)} (95 % interval {ends}), mean of {runs}",
        next_step=_unfit([arm]),
    )


def _unfit(arms: Sequence[ArmFound]) -> str | None:
    """What to do before publishing; None if every run is fit for it."""
    statuses = {word for arm in arms for word, _ in arm.validity}
    return None if statuses == {"publishable"} else UNFIT


def _sessions(found: CampaignFound) -> Headline:
    knee = found.knee
    if knee is None:
        return Headline(sign="undecided", sentence="Undecided: no run is finished")
    if knee.sessions is None:
        return Headline(
            sign="undecided", sentence=f"Undecided: no number of sessions is carried, {knee.reason}"
        )
    sessions = counted_noun(knee.sessions, "session")
    if knee.beyond:
        return Headline(sign="undecided", sentence=f"Undecided: {knee.beyond} {sessions} are carried")
    if knee.low is None or knee.high is None:
        between = "no interval"
    else:
        between = f"95 % interval {knee.low} to {knee.high}"
    said = f"Measured: {sessions} {FIT} ({between})"
    # A run with too many sessions may be invalid: that is why it does not fit.
    step = _unfit([arm for arm in found.arms if arm.size == knee.sessions])
    return Headline(sign="measured", sentence=said, next_step=step)


def _scaling(found: CampaignFound) -> Headline:
    rows = [row for row in found.scaling if row.speedup is not None]
    if len(rows) < 2:
        return Headline(sign="undecided", sentence="Undecided: finished runs on two node counts are required")
    first, last = rows[0], rows[-1]
    said = (
        f"Measured: {last.nodes} nodes give {format_ratio(last.speedup or 0.0)} times the throughput of "
        f"{first.nodes}"
    )
    notes = []
    if last.efficiency_ratio is not None:
        notes.append(f"efficiency {100 * last.efficiency_ratio:.0f} %")
    if last.elapsed_ratio is not None:
        notes.append(f"elapsed time {format_change(last.elapsed_ratio - 1.0)}")
    few = max(row.runs for row in rows) == 1
    return Headline(
        sign="measured",
        sentence=", ".join([said, *notes, *(["noise unknown (one run each)"] if few else [])]),
        next_step="repeat each number of nodes (--repeat 3) to see the noise" if few else _unfit(found.arms),
    )

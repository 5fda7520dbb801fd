"""What a comparison of a run with the logs says, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from mawl.derive.replay.records import NightOfSide, Replay
from mawl.reporters.night import held_said, night_clock
from mawl.units import counted_noun, format_change, format_percent, format_plain, format_seconds

Line = tuple[str, str]
"""A short name and a sentence."""

NOT_A_FINDING = (
    "the difference also contains that between SAS and mawl's kernels, and that of the two machines, so it "
    "does not say whether storage is better or worse; compare runs with runs for that"
)
CLOSE_AREA_RATIO = 0.1
"""The goal for jobs that were derived from the logs of a mawl run: areas differ by at most this."""
MOST_OF_CHAIN = 4
"""A line names at most so many jobs of a chain, the last ones."""


def sentence(replay: Replay) -> str:
    """The answer: time of the steps on both sides, and whether the night was held."""
    real, counted = replay.total.real_seconds, replay.counted
    failed = f"{counted.not_finished} of {counted_noun(counted.matched, 'job')} did not finish; "
    where = f"{counted_noun(counted.steps, 'step')} of {counted_noun(counted.jobs, 'job')}"
    if real.run is None or real.logs is None:
        said = f"{replay.run} ran {where} of the logs, and one side has no real time of them"
    else:
        change = "" if real.ratio is None else f", {format_change(real.ratio - 1.0)}"
        scaled = "" if replay.scale == 1.0 else f" (times {format_plain(replay.scale)})"
        said = (
            f"{where} took {format_seconds(real.run)} in {replay.run}{change} against the "
            f"{format_seconds(real.logs)} of the logs{scaled}"
        )
    said = failed + said if counted.not_finished else said
    night = night_said(replay.run_night)
    if night is None:
        return said
    before = night_said(replay.logs_night)
    return f"{said}; the night was {night}" + (f", in the logs {before}" if before is not None else "")


def night_said(night: NightOfSide | None) -> str | None:
    """``held with 12 min to spare``; None if no window was named or the night is not judged."""
    if night is None or night.spare_seconds is None:
        return None
    if night.not_finished:
        return f"missed, as {counted_noun(night.not_finished, 'job')} did not finish"
    return held_said(night.spare_seconds)


def remarks(replay: Replay, not_judged: str | None, core_speed: bool) -> list[str]:
    """What a reader must know of the jobs that are compared and of the figures of the logs."""
    return [*_of_jobs(replay), *_of_figures(replay, core_speed), *_of_night(replay, not_judged)]


def _of_jobs(replay: Replay) -> Iterator[str]:
    counted = replay.counted
    if counted.matched < counted.run_jobs:
        yield (
            f"{counted.run_jobs - counted.matched} of {counted_noun(counted.run_jobs, 'job')} of the run are "
            "left out: no job of the logs has their steps, times and rows"
        )
    if counted.matched < counted.logs_jobs:
        yield (
            f"{counted.logs_jobs - counted.matched} of {counted_noun(counted.logs_jobs, 'job')} of the logs "
            "are left out: no job of the run was derived from them (--night, --only, --without)"
        )
    if counted.by_order:
        yield (
            f"{counted_noun(counted.by_order, 'job')} were matched by their order: others have the same "
            "steps and times"
        )
    if counted.not_finished:
        yield (
            f"{counted.not_finished} of {counted_noun(counted.matched, 'job')} did not finish with a right "
            "answer and are left out of steps, programs and jobs at a time"
        )
    if counted.steps_missing:
        yield f"the run has no record of {counted_noun(counted.steps_missing, 'step')}"


def _of_figures(replay: Replay, core_speed: bool) -> Iterator[str]:
    if replay.scale != 1.0:
        yield (
            f"figures of the logs are shown times {format_plain(replay.scale)}, the scale of the run; caches "
            "and fixed costs do not shrink with it"
        )
    if replay.growth != 1.0:
        yield (
            f"CPU time, bytes, and memory that grows with rows are those of the logs times "
            f"{format_plain(replay.growth)} (mawl derive --growth); real time is not, so the run has more to "
            "do in that time"
        )
    if core_speed:
        yield "CPU time of the run is that of its own cores, as mawl derive --core-speed asked"
    if replay.total.moved_bytes.run is None:
        yield "bytes are not compared: the run did not count I/O by role"


def _of_night(replay: Replay, not_judged: str | None) -> Iterator[str]:
    if not_judged is not None:
        yield f"the night and the jobs at a time are not compared: {not_judged}"
    elif replay.due_seconds is None:
        yield "no window was named (mawl derive --night), so no night is held or missed"
    elif replay.run_night is None:
        yield "no job of the run has ended, so the night is not judged"


def lines(replay: Replay) -> list[Line]:
    """The lines at the head of every form."""
    found = [("measured", replay.sentence), ("no finding", replay.not_a_finding)]
    for name, night in (("logs", replay.logs_night), ("run", replay.run_night)):
        if night is not None:
            found.append((name, _night(night)))
    at_once = replay.jobs_at_once
    if at_once is not None and at_once.area_difference_ratio is not None:
        near = "within" if at_once.area_difference_ratio <= CLOSE_AREA_RATIO else "more than"
        between = at_once.area_between_ratio or 0.0
        most = counted_noun(at_once.run_peak, "job")
        found.append(
            (
                "at a time",
                f"at most {most} in the run, {at_once.logs_peak} in the logs; "
                f"the areas under the two curves ({format_plain(at_once.run_job_seconds)} and "
                f"{format_plain(at_once.logs_job_seconds)} job seconds) differ by "
                f"{format_percent(at_once.area_difference_ratio)} of that of the logs ({near} "
                f"{format_percent(CLOSE_AREA_RATIO)}), and the area between the curves is "
                f"{format_percent(between)} of it",
            )
        )
    return [*found, *(("remark", text) for text in replay.remarks)]


def _night(night: NightOfSide) -> str:
    """Start, last end and chain of a side."""
    held = night_said(night)
    chain = ", then ".join(one.program for one in night.chain[-MOST_OF_CHAIN:])
    more = "..., then " if len(night.chain) > MOST_OF_CHAIN else ""
    return (
        f"{night_clock(night.started_seconds)} to {night_clock(night.ended_seconds)} on the night's clock"
        f"{'' if held is None else f', {held}'}; the chain that ended last: {more}{chain}"
    )

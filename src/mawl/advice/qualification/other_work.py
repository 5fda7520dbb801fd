"""How much of the processors other work used during the calibration and the measured runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from mawl.advice.validity.host import MOST_FOREIGN_RATIO, foreign_cpu_ratio
from mawl.base.units import counted_noun, format_percent
from mawl.figures.campaign.knee import SessionRun
from mawl.figures.others import other_programs_of
from mawl.figures.view import RunView
from mawl.records.model.node import notable
from mawl.records.model.qualification import QualifyRun


class Others(msgspec.Struct, frozen=True, kw_only=True):
    """The share in the busiest run, None with ``reason``; ``names`` are the processes that used most."""

    ratio: float | None = None
    reason: str = "no run of this kind was read"
    names: tuple[str, ...] = ()

    @property
    def busy(self) -> bool:
        return self.ratio is not None and self.ratio > MOST_FOREIGN_RATIO


def others_of(views: Iterable[RunView]) -> Others:
    """Of the run in which others used most."""
    found = Others()
    for view in views:
        ratio = foreign_cpu_ratio(view)
        if ratio is not None and (found.ratio is None or ratio > found.ratio):
            programs = notable(other_programs_of(view.facts)[0])
            found = Others(ratio=ratio, names=tuple(f"{one.name}, pid {one.pid}" for one in programs))
        elif found.ratio is None:
            found = Others(reason=view.why_not_drawn or "the samples do not say who used the processors")
    return found


def shows_nothing(run: QualifyRun, found: SessionRun, bad_jobs: int) -> bool:
    """Whether a run is too slow and other work may be the reason: then its sessions may still fit.

    A run that is fast enough beside other work shows that they fit.  A failed job shows that they do not.
    """
    return found.verdict == "too many" and not bad_jobs and run.disturbance is not None


def uncounted(runs: Sequence[QualifyRun]) -> list[str]:
    """A caution that runs do not count for the number that fits, and why; empty where all count."""
    numbers = " and ".join(counted_noun(one, "session") for one in sorted({run.sessions for run in runs}))
    return _not_counted(runs, f"with {numbers}", " for the number that fits")


def left_out(runs: Iterable[QualifyRun]) -> list[str]:
    """The same of further runs that are left out."""
    found = [run for run in runs if run.state == "left out"]
    return _not_counted(found, "beyond the planned ones")


def _not_counted(runs: Sequence[QualifyRun], which: str, for_what: str = "") -> list[str]:
    if not runs:
        return []
    do = "does" if len(runs) == 1 else "do"
    worst = max(runs, key=lambda run: run.others_cpu_ratio or 0.0)
    return [f"{counted_noun(len(runs), 'run')} {which} {do} not count{for_what}: {worst.disturbance}."]


def busy_words(measured: Others) -> str | None:
    """That the measured runs ran beside too much other work; None where they did not."""
    if not measured.busy or measured.ratio is None:
        return None
    return f"other work used {format_percent(measured.ratio)} of the processors during the measured runs"

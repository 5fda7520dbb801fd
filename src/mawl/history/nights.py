"""Runs put together to nights: what is followed over time is a night's mean, of one run or several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from mawl.analysis.comparison.sides import ComparedRun
from mawl.errors import UsageError
from mawl.model.thresholds import value_of

LEAST_GAP_SECONDS = value_of("history.least_gap_seconds")


class RunsOfNight(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of one night, in order of their start."""

    runs: tuple[ComparedRun, ...]

    @property
    def started_at(self) -> float:
        """Start of the first run, seconds since the epoch."""
        return self.runs[0].facts.started_at

    @property
    def label(self) -> str:
        """The first run's id."""
        return self.runs[0].facts.run_id


def nights_of(
    runs: Iterable[ComparedRun], *, each: bool = False, whole: Collection[str] = ()
) -> list[RunsOfNight]:
    """Nights in order of time.  With ``each`` every run is a night, else every run with an id in ``whole``.

    Raises :class:`~mawl.errors.UsageError` where a run is given twice, or runs are not of one workload.
    """
    ordered = sorted(runs, key=lambda run: (run.facts.started_at, run.facts.run_id))
    ids = [run.facts.run_id for run in ordered]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError("is given twice", where=twice, cure="name each run once")
    _check_alike(ordered)
    groups: list[list[ComparedRun]] = []
    for run in ordered:
        last = groups[-1][-1] if groups else None
        apart = each or run.facts.run_id in whole or (last is not None and last.facts.run_id in whole)
        if last is not None and not apart and _one_night(last, run):
            groups[-1].append(run)
        else:
            groups.append([run])
    return [RunsOfNight(runs=tuple(group)) for group in groups]


def _one_night(before: ComparedRun, run: ComparedRun) -> bool:
    if before.facts.campaign is not None and run.facts.campaign is not None:
        return before.facts.campaign.name == run.facts.campaign.name
    ended = before.facts.ended_at or before.facts.started_at
    return run.facts.started_at - ended < LEAST_GAP_SECONDS


def _check_alike(runs: Sequence[ComparedRun]) -> None:
    kinds: dict[str, str] = {}
    for run in runs:
        workload = run.facts.workload
        scale = "" if workload.scale is None else f" at scale {workload.scale:g}"
        kinds.setdefault(f"{run.facts.kind} {workload.name}{scale}", run.facts.run_id)
    if len(kinds) > 1:
        named = ", ".join(f"{kind} ({one})" for kind, one in kinds.items())
        raise UsageError(
            f"these are runs of {len(kinds)} kinds: {named}",
            why="a history follows one workload at one scale",
            cure="name the runs of one of them",
        )

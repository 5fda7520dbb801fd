"""A few of many nights that represent all of them, with the error of their sums."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from datetime import UTC, tzinfo

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.base.errors import UsageError
from mawl.base.units import counted_noun
from mawl.derive.derive import Derivation, DeriveRequest, chosen_jobs, derive, unsized_nodes
from mawl.figures.nights import DailyWindow, Night, NightLoad, by_night, load_of
from mawl.records.model.records import JobRecord
from mawl.records.store import Run

MOST_NIGHTS = 1000
"""The most nights to choose from: nearly three years."""

_DAILY = re.compile(r"([0-9]{2}):([0-9]{2})/([0-9]{2}):([0-9]{2})")


FIGURES = NightLoad.__struct_fields__


class ChosenNight(msgspec.Struct, frozen=True, kw_only=True):
    """A night that represents ``nights`` nights, itself included; its number is that of its folder."""

    number: int
    nights: int
    load: NightLoad


class Thinning(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of ``nights.json``.

    ``errors`` compares the chosen nights with all nights: the sum of a figure over the chosen nights, each
    multiplied by its ``nights``, divided by the sum over all nights, minus 1.  For ``peak_jobs`` it compares
    the largest.  None: the sum is 0, or some night lacks the figure.
    """

    format: int = 1
    nights: int
    chosen: tuple[ChosenNight, ...]
    errors: dict[str, float | None]


def derive_nights(
    run: Run, request: DeriveRequest, window: DailyWindow, count: int
) -> tuple[Thinning, list[Derivation]]:
    """The nights that represent all of a run, each derived; their jobs have the nights as ``weight``.

    Raises ``UsageError`` as ``thinned`` and ``derive`` do.
    """
    found, nights = thinned(chosen_jobs(run, request), window, count, unsized_nodes(run))
    return found, [
        _weighted(derive(run, msgspec.structs.replace(request, night=night)), one.nights)
        for night, one in zip(nights, found.chosen, strict=True)
    ]


def _weighted(derived: Derivation, nights: int) -> Derivation:
    jobs = tuple(msgspec.structs.replace(job, weight=float(nights)) for job in derived.workload.jobs)
    return Derivation(msgspec.structs.replace(derived.workload, jobs=jobs), derived.evidence)


def parse_daily(text: str, zone: tzinfo | None = None) -> DailyWindow:
    """``20:00/06:00``; ``UsageError`` for anything else."""
    match = _DAILY.fullmatch(text)
    hours = [int(part) for part in match.groups()] if match else [99] * 4
    start, end = (hours[0] * 60 + hours[1], hours[2] * 60 + hours[3])
    if max(hours[0], hours[2]) > 23 or max(hours[1], hours[3]) > 59 or start == end:
        raise UsageError(
            f"--night {text}: expected a window of every day with --nights",
            cure="write two clock times: 20:00/06:00",
        )
    return DailyWindow(start, end, zone or UTC)


def thinned(
    jobs: Sequence[JobRecord], window: DailyWindow, count: int, unsized: Collection[str] = ()
) -> tuple[Thinning, list[Night]]:
    """The nights that stand for all, the one with the most CPU time first, and when they were.

    Nights are grouped by k-medoids (Kaufman and Rousseeuw, Finding Groups in Data, 1990, chapter 2: BUILD and
    SWAP) over the logarithms of their figures, each divided by its standard deviation.
    On the nodes ``unsized`` the size of a block operation is unknown.
    Raises ``UsageError`` where fewer nights have jobs than are asked for.
    """
    nights = by_night(jobs, window)
    if not count <= len(nights) <= MOST_NIGHTS:
        raise UsageError(
            f"--nights {count}: the logs have {counted_noun(len(nights), 'such night')} with jobs",
            cure=f"ask for at most as many, and give logs of at most {MOST_NIGHTS} nights",
        )
    order = list(nights)
    loads = [load_of(nights[night], unsized) for night in order]
    medoids, nearest = _medoids(_distances(loads), count)
    medoids.sort(key=lambda place: -(loads[place].cpu_seconds or 0.0))
    stands = [sum(one == place for one in nearest) for place in medoids]
    chosen = tuple(
        ChosenNight(number=number, nights=many, load=loads[place])
        for number, (place, many) in enumerate(zip(medoids, stands, strict=True), 1)
    )
    thinning = Thinning(nights=len(loads), chosen=chosen, errors=_errors(loads, chosen))
    return thinning, [order[place] for place in medoids]


def _distances(loads: Sequence[NightLoad]) -> NDArray[np.float64]:
    """Between each two nights, (nights, nights); a figure that some night lacks does not count."""
    values = [[getattr(load, name) for load in loads] for name in FIGURES]
    figures = np.log1p([column for column in values if None not in column]).T
    spread = figures.std(axis=0)
    scaled = figures / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.sqrt(((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(axis=2)))


def _medoids(distances: NDArray[np.float64], count: int) -> tuple[list[int], list[int]]:
    """The places of the medoids, and for each night that of the nearest one."""
    medoids: list[int] = []
    closest = np.full(len(distances), np.inf)
    for _ in range(count):
        costs = np.minimum(closest[None, :], distances).sum(axis=1)
        costs[medoids] = np.inf
        medoids.append(int(costs.argmin()))
        closest = np.minimum(closest, distances[medoids[-1]])
    better = True
    while better:
        better = False
        for place in range(count):
            others = [one for number, one in enumerate(medoids) if number != place]
            rest = distances[others].min(axis=0) if others else np.full(len(distances), np.inf)
            costs = np.minimum(rest[None, :], distances).sum(axis=1)
            costs[others] = np.inf
            best = int(costs.argmin())
            if costs[best] < costs[medoids[place]] * (1 - 1e-12):
                medoids[place], better = best, True
    nearest = distances[medoids].argmin(axis=0)
    nearest[medoids] = np.arange(count)
    return medoids, [medoids[place] for place in nearest]


def _errors(loads: Sequence[NightLoad], chosen: Sequence[ChosenNight]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in FIGURES:
        if any(getattr(load, name) is None for load in loads):
            found[name] = None
            continue
        if name == "peak_jobs":
            true = float(max(load.peak_jobs for load in loads))
            mine = float(max(one.load.peak_jobs for one in chosen))
        else:
            true = math.fsum(getattr(load, name) for load in loads)
            mine = math.fsum(getattr(one.load, name) * one.nights for one in chosen)
        found[name] = mine / true - 1 if true else None
    return found

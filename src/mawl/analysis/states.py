"""What jobs did in each window of a run, as numbers of jobs that add up to those that ran.

The first thread of each job is followed, and while it sleeps the threads beside it are asked
(:mod:`mawl.model.followed`, docs/design/waits.md).  An older run has sums over all threads alone: they
are taken for those of one thread where they fit into the jobs' time, and tell nothing where they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from mawl.analysis.carried import carried_back
from mawl.analysis.windows import Rates
from mawl.model.followed import BOUNDED, STATES
from mawl.spec.program_options import ROLES

FITS_RATIO = 1.01
"""Sums over threads above the jobs' time by more than this are those of several threads."""

Rate = Callable[[str], Rates]
"""The rate of a series in each window."""

_Key = TypeVar("_Key")

_SLEEPS = ("data", "work", "util", "other")


class States(msgspec.Struct, frozen=True, kw_only=True):
    """Mean numbers of jobs in one window; they add up to ``running``.

    ``bounds`` are the least and the most of the jobs in each of
    :data:`~mawl.model.followed.BOUNDED`; where they are one number nothing is open.
    """

    running: float
    on_cpu: float
    run_queue: float
    blocked: dict[str, float]
    bounds: dict[str, tuple[float, float]]


def states(running: Rates, rate: Rate, seconds: Sequence[float]) -> list[States | None]:
    """The states of each window (``seconds`` long); None where a part is missing or does not fit."""
    first = {state: rate(f"jobs.followed.{state}_seconds") for state in STATES}
    joined = {state: rate(f"jobs.joined.{state}_seconds") for state in STATES}
    bounds = {
        (name, end): rate(f"jobs.joined.{name}_{end}_seconds")
        for name in BOUNDED
        for end in ("least", "most")
    }
    followed = any(value is not None for value in first["on_cpu"])
    if not followed:
        nothing: Rates = [0.0] * len(running)
        first = {state: rate(f"jobs.{state}_seconds") for state in ("on_cpu", "run_queue")}
        first |= {role: rate(f"role.{role}.waited_seconds") for role in ROLES} | {"other": nothing}
        joined, bounds = dict.fromkeys(STATES, nothing), dict.fromkeys(bounds, nothing)
    room = [_room(*three) for three in zip(running, first["on_cpu"], first["run_queue"], strict=True)]
    first |= carried_back({state: first[state] for state in _SLEEPS}, room, seconds)
    return [
        _states(running[at], _at(first, at), _at(joined, at), _at(bounds, at), followed)
        for at in range(len(running))
    ]


def _room(running: float | None, on_cpu: float | None, queued: float | None) -> float | None:
    if running is None or on_cpu is None or queued is None:
        return None
    return max(running - on_cpu - queued, 0.0)


def _at(rates: Mapping[_Key, Rates], at: int) -> dict[_Key, float | None]:
    return {name: values[at] for name, values in rates.items()}


def _states(
    running: float | None,
    first: dict[str, float | None],
    joined: dict[str, float | None],
    bounds: dict[tuple[str, str], float | None],
    followed: bool,
) -> States | None:
    if running is None:
        return None
    own = {state: value for state, value in first.items() if value is not None}
    others = {state: value for state, value in joined.items() if value is not None}
    ends = {key: value for key, value in bounds.items() if value is not None}
    if len(own) < len(first) or len(others) < len(joined) or len(ends) < len(bounds):
        return None
    whole = sum(own.values())
    if not followed and whole > FITS_RATIO * running:
        return None
    # Looks at jobs lie a little beside the edges of windows: what is too much is of the neighbour.
    fits = min(running / whole, 1.0) if whole > 0.0 else 1.0
    own = {state: value * fits for state, value in own.items()}
    asleep = max(running - sum(own.values()), 0.0)
    busy = sum(others.values())
    part = min(asleep / busy, 1.0) if busy > 0.0 else 0.0
    found = {state: own[state] + others[state] * part for state in STATES}
    blocked: dict[str, float] = {role: found[role] for role in ROLES}
    awake = found["on_cpu"] + found["run_queue"] + sum(blocked.values())
    return States(
        running=running,
        on_cpu=found["on_cpu"],
        run_queue=found["run_queue"],
        blocked={**blocked, "other": max(running - awake, 0.0)},
        bounds={
            name: _bounds(sum(own[state] for state in parts), ends[name, "least"], ends[name, "most"], asleep)
            for name, parts in BOUNDED.items()
        },
    )


def _bounds(own: float, least: float, most: float, asleep: float) -> tuple[float, float]:
    return own + min(least, asleep), own + min(most, asleep)

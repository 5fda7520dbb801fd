"""What a job did, as the thread did on which its end depends (docs/design/waits.md).

Followed is the first thread of a job's first process.  While it sleeps outside I/O, the threads and
processes beside it that are not asleep are asked.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mawl.model.role_io import FILE_ROLES, FileRole, Waits

STATES: tuple[str, ...] = ("on_cpu", "run_queue", *FILE_ROLES)
"""On a CPU, waiting for one, inside I/O of a role's files; what is left is sleep elsewhere."""

Spent = Mapping[str, float]
"""Seconds by :data:`STATES`."""

BOUNDED: dict[str, tuple[str, ...]] = {"run_queue": ("run_queue",), "io": ("data", "work", "util")}
"""States that a verdict weighs, for which helpers at work side by side leave only bounds."""

CLOCKS_RATIO = 0.01
"""The clocks of a thread may run ahead of real time by this share; more is a fault of the sources."""

TICK_SECONDS = 0.01
"""CPU time that a process's own reading of its clocks takes at most."""


def spent(on_cpu: float, run_queue: float, waited: Mapping[FileRole, float]) -> dict[str, float]:
    """The seconds of one thread, or of all threads of a tree together."""
    return {"on_cpu": on_cpu, "run_queue": run_queue, **{role: waited.get(role, 0.0) for role in FILE_ROLES}}


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Sums of a job so far: of its first thread, and of all its threads.  ``at`` is monotonic seconds;
    ``helpers`` is how many other threads ran since the look before."""

    at: float
    first: Spent
    tree: Spent
    helpers: int = 1


class FollowedInterval(msgspec.Struct, frozen=True, kw_only=True):
    """An interval of a job: what its first thread did, and what others did while it slept.

    ``bounds`` are the least and the most that ``joined`` can hold of each of :data:`BOUNDED`.
    """

    first: Spent
    joined: Spent
    bounds: dict[str, tuple[float, float]]


def share_of(real_seconds: float, first: Spent, tree: Spent, helpers: int = 1) -> FollowedInterval:
    """Ask the others for the time that the first thread slept, in proportion, and for no more of it."""
    asleep = max(real_seconds - sum(first.values()), 0.0)
    others = _gained(first, tree)
    busy = sum(others.values())
    part = min(asleep / busy, 1.0) if busy > 0.0 else 0.0
    bounds = {}
    for name, states in BOUNDED.items():
        here = sum([others[state] for state in states])
        bounds[name] = (_least(here, busy - here, asleep, helpers), min(here, asleep))
    return FollowedInterval(
        first=first, joined={state: value * part for state, value in others.items()}, bounds=bounds
    )


def _least(here: float, elsewhere: float, asleep: float, helpers: int) -> float:
    """The least time in which all helpers that were not asleep were in a state (as PSI's "full").

    One helper does one thing at a time.  Of several the one that was longest in the state was there for
    the mean at least, and all others may have done something else meanwhile.
    """
    if helpers <= 1:
        return max(min(asleep, here + elsewhere) - elsewhere, 0.0)
    return max(
        min(asleep, here / helpers) - elsewhere, min(here, helpers * asleep) - (helpers - 1) * asleep, 0.0
    )


def between(before: Look, after: Look) -> FollowedInterval:
    """What a job did between two looks."""
    first, tree = _gained(before.first, after.first), _gained(before.tree, after.tree)
    return share_of(after.at - before.at, first, tree, after.helpers)


def _gained(less: Spent, more: Spent) -> Spent:
    """Seconds of each state in ``more`` beyond those in ``less``; 0 if a counter fell."""
    return {state: gained if (gained := now - less[state]) > 0.0 else 0.0 for state, now in more.items()}


def waits_without_io(first: tuple[float, float] | None, cpu: float | None, run_delay: float | None) -> Waits:
    """Where calls were not counted: on CPU and run queue of a job whose first thread did all of the work.

    Of several threads at work nothing is said: whether the first slept in I/O is not known.
    """
    if first is None or cpu is None or run_delay is None:
        return Waits()
    if cpu + run_delay > (1.0 + CLOCKS_RATIO) * sum(first) + TICK_SECONDS:
        return Waits()
    return Waits(on_cpu_seconds=first[0], run_queue_seconds=first[1])


def waits_of(real_seconds: float | None, first: Spent | None, tree: Spent | None) -> Waits:
    """The time of a job or step by state; it adds up to ``real_seconds``.

    All are None where a part is not known, or where the thread's clocks ran ahead of real time by more
    than :data:`CLOCKS_RATIO`.
    """
    if real_seconds is None or real_seconds <= 0.0 or first is None or tree is None:
        return Waits()
    ahead = sum(first.values()) / real_seconds
    if ahead > 1.0 + CLOCKS_RATIO:
        return Waits()
    if ahead > 1.0:
        first = {state: value / ahead for state, value in first.items()}
    share = share_of(real_seconds, first, tree)
    states = {state: share.first[state] + share.joined[state] for state in STATES}
    known = sum(states[state] for state in STATES if state != "other")
    return Waits(
        on_cpu_seconds=states["on_cpu"],
        run_queue_seconds=states["run_queue"],
        blocked_data_seconds=states["data"],
        blocked_work_seconds=states["work"],
        blocked_util_seconds=states["util"],
        blocked_other_seconds=max(real_seconds - known, 0.0),
    )

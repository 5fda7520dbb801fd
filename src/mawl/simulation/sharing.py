"""Sharing of several resources between activities that use them side by side, in equal turns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

OWN = -1
"""In place of a resource: the activity runs as fast as it can by itself."""

NEARLY = 1e-12
ROOM = 1e-9
"""Of a resource: less than this of it left is none."""


ALIKE = 1e-6
"""Resources whose levels differ by less are equally full: what is left of a resource is a difference."""

MOST_ROUNDS = 20
"""Of filling up what a round left over; each uses up a resource."""


def shares(
    uses: Floats, turns: Floats, weighted: Floats, fastest: Floats, capacity: Floats
) -> tuple[Floats, Whole]:
    """Rates of the activities by progressive filling, and what bounds each.

    ``uses`` (activities, resources) is what one unit of an activity takes of each resource, ``turns`` how
    often it waits for it, and ``weighted`` what all alike activities behind the row take.  ``fastest``
    (units a second) is an activity's rate alone, ``capacity`` a second's worth of each resource.

    A queue is served in the order of arrival, so every turn waits equally long.  Users of a resource
    therefore get equal numbers of turns a second.  An activity takes the least of what its resources offer,
    and no more than ``fastest``; the others get what it leaves.

    First the activities are settled that take less than they are offered.  Then come all users of a resource
    that bounds each of them that wants more.  What they leave is offered again.

    With equal amounts a turn this is max-min fair.  No work is lost: an activity that is slower than alone
    uses a resource of which nothing is left.
    """
    bound = np.full(len(fastest), OWN, dtype=np.int64)
    if np.isfinite(fastest).all() and (fastest @ weighted <= capacity * (1 + NEARLY)).all():
        return fastest.copy(), bound
    used = turns > 0
    held = np.divide(uses, turns, out=np.full_like(turns, np.inf), where=used)
    rates, left = np.zeros(len(fastest)), capacity.copy()
    waiting = np.arange(len(fastest))
    for _ in range(MOST_ROUNDS):
        more, at = _filled(
            turns[waiting],
            held[waiting],
            weighted[waiting],
            fastest[waiting] - rates[waiting],
            left,
        )
        rates[waiting] += more
        bound[waiting] = at
        left = np.maximum(capacity - rates @ weighted, 0.0)
        room = np.where(used, left / capacity, np.inf).min(axis=1)
        waiting = np.flatnonzero((rates < fastest * (1 - NEARLY)) & (room > ROOM))
        if not waiting.size:
            break
    slower = rates < fastest * (1 - NEARLY)
    empty = (left / capacity)[bound] <= ROOM
    rest = np.where(used, left / capacity, np.inf).argmin(axis=1)
    return rates, np.where(slower, np.where(empty, bound, rest), OWN)


def _filled(
    turns: Floats, held: Floats, weighted: Floats, fastest: Floats, capacity: Floats
) -> tuple[Floats, Whole]:
    """Rates of one filling, of what is left, and which resource settled each.

    ``held`` is what a user takes with one turn.
    """
    rates, bound = np.zeros(len(fastest)), np.zeros(len(fastest), dtype=np.int64)
    used = turns > 0
    inverse = np.divide(1.0, turns, out=np.zeros_like(turns), where=used)
    taken = weighted * inverse
    left = capacity.copy()
    waiting = np.arange(len(fastest))
    while waiting.size:
        here = used[waiting]
        wanted = np.where(here, turns[waiting] * np.where(here, fastest[waiting, None], 0.0), 0.0)
        level = _levels(wanted, taken[waiting], left)
        offers = np.where(here, np.where(here, level, 0.0) * inverse[waiting], np.inf)
        which = offers.argmin(axis=1)
        best = offers[np.arange(len(waiting)), which]
        settled = fastest[waiting] <= best * (1 + NEARLY)
        rate = fastest[waiting]
        if not settled.any():
            offered = level * held[waiting].min(axis=0)
            settled, rate = _whole(which, here & (wanted > level * (1 - ALIKE)), offered), best
        chosen = waiting[settled]
        rates[chosen], bound[chosen] = rate[settled], which[settled]
        left = np.maximum(left - rates[chosen] @ weighted[chosen], 0.0)
        waiting = waiting[~settled]
    return rates, bound


def _levels(wanted: Floats, taken: Floats, left: Floats) -> Floats:
    """The most turns a second that each resource gives to one user.

    Users get equal numbers, but none gets more than is ``wanted``.  ``taken`` is what a turn takes.  Infinite
    where all can have what they want.
    """
    levels = np.full(len(left), np.inf)
    for column in np.flatnonzero((wanted * taken).sum(axis=0) > left):
        users = np.flatnonzero(taken[:, column])
        order = users[np.argsort(wanted[users, column])]
        turns, each = wanted[order, column], taken[order, column]
        before = np.concatenate([[0.0], np.cumsum(turns * each)[:-1]])
        behind = np.cumsum(each[::-1])[::-1]
        # The first user whose wish exceeds its share of what those with smaller wishes leave.
        share = (left[column] - before) / behind
        levels[column] = share[np.argmax(turns > share * (1 - NEARLY))]
    return levels


def _whole(which: Whole, wanting: NDArray[np.bool_], offered: Floats) -> NDArray[np.bool_]:
    """Which activities are settled next.

    They are the users of resources that bound all who want more of them.  If there is none, they are the
    users of the fullest resource, which offers least to one of its users.
    """
    bounded = np.bincount(which, minlength=wanting.shape[1])
    whole = (bounded == wanting.sum(axis=0)) & (bounded > 0)
    settled: NDArray[np.bool_] = whole[which]
    if not settled.any():
        candidates = np.where(bounded > 0, offered, np.inf)
        # All that are equally full: alike nodes are settled together.
        settled = (candidates <= candidates.min() * (1 + ALIKE))[which]
    return settled

"""Waiting inside calls that last longer than a window.

A call's waiting is known when the call ends: a sync of 20 s shows all of its waiting in the window in
which it ended, more than the jobs of that window can have waited, and none in those before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.figures.windows import Rates


def carried_back(
    waited: Mapping[str, Rates], room: Sequence[float | None], seconds: Sequence[float]
) -> dict[str, Rates]:
    """Waiting by role (job-seconds per second), what does not fit into a window moved into those before.

    ``room`` is how many jobs were neither on CPU nor in the run queue, ``seconds`` how long the windows
    are.  A window that is not known keeps what it has, and nothing is moved past it; what
    does not fit into the first window stays there.
    """
    found = {role: list(rates) for role, rates in waited.items()}
    carried = dict.fromkeys(found, 0.0)
    for at in range(len(seconds) - 1, -1, -1):
        there, known = room[at], {role: rates[at] for role, rates in found.items()}
        if there is None or None in known.values():
            carried = dict.fromkeys(found, 0.0)
            continue
        have = {role: (rate or 0.0) * seconds[at] + carried[role] for role, rate in known.items()}
        whole = sum(have.values())
        fits = 1.0 if at == 0 or whole <= there * seconds[at] else there * seconds[at] / whole
        for role, value in have.items():
            found[role][at] = value * fits / seconds[at]
            carried[role] = value * (1.0 - fits)
    return found

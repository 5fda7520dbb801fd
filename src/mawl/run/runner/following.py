"""1 Hz series of what jobs spend their time on, by each job's first thread and by its whole tree."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from mawl.records.model.records import BOUNDED, STATES, FollowedInterval, Look, between

FOLLOWED = tuple(f"jobs.followed.{state}_seconds" for state in STATES)
JOINED = tuple(f"jobs.joined.{state}_seconds" for state in STATES)
BOUNDS = tuple(f"jobs.joined.{name}_{end}_seconds" for name in BOUNDED for end in ("least", "most"))


class Following:
    """Sums over all jobs so far, which only grow."""

    def __init__(self) -> None:
        self._last: dict[str, Look] = {}
        self._sums = dict.fromkeys((*FOLLOWED, *JOINED, *BOUNDS), 0.0)

    def last(self, job: str) -> Look | None:
        return self._last.get(job)

    def look(self, job: str, now: Look) -> None:
        """Add what a job did since its last look; one at the same moment adds nothing."""
        before = self._last.get(job)
        if before is None:
            # All that it did came before its first look, and how long it has run is not known here.
            nothing = dict.fromkeys(STATES, 0.0)
            whole = max(sum(now.tree.values()), sum(now.first.values()))
            before = Look(at=now.at - whole, first=nothing, tree=nothing)
        if now.at <= before.at:
            return
        self._last[job] = now
        self._add(between(before, now))

    def ended(self, job: str, last: Look | None) -> None:
        """Add a job's last stretch, where it is known, and forget the job."""
        if last is not None:
            self.look(job, last)
        self._last.pop(job, None)

    def series(self) -> Iterable[tuple[str, float]]:
        return self._sums.items()

    def _add(self, share: FollowedInterval) -> None:
        for state, followed, joined in zip(STATES, FOLLOWED, JOINED, strict=True):
            self._sums[followed] += share.first[state]
            self._sums[joined] += share.joined[state]
        ends = chain.from_iterable(share.bounds[name] for name in BOUNDED)
        for series, seconds in zip(BOUNDS, ends, strict=True):
            self._sums[series] += seconds

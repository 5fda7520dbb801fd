"""The search for the most sessions that are carried: what each run says, and which number comes next."""

from __future__ import annotations

from collections.abc import Callable

from mawl.analysis.campaign.knee import SessionRun, next_sessions
from mawl.analysis.campaign.session_run import refused_run
from mawl.campaigns.series import Following, Series
from mawl.errors import UnsuitableMachineError
from mawl.model.campaign import Arm, SessionSearch, Slot
from mawl.units import counted_noun

ReadRun = Callable[[Series, Slot], SessionRun]
"""What a finished slot's run says."""


def following(search: SessionSearch, arm_of: Callable[[int], Arm], read: ReadRun) -> Following:
    """What a search makes next, of everything that was made before; each run is read once.

    Raises :class:`~mawl.errors.UnsuitableMachineError` where not even the first number can be started.
    """
    known: dict[int, SessionRun] = {}

    def ask(series: Series) -> Arm | None:
        for slot in series.record.slots:
            if slot.position not in known:
                sessions = series.record.arm(slot.arm).size or 0
                refused = slot.state == "refused"
                known[slot.position] = refused_run(sessions, slot) if refused else read(series, slot)
        first = [run for run in known.values() if run.sessions == search.first]
        if first and first[0].verdict == "refused":
            raise UnsuitableMachineError(
                f"not even {counted_noun(search.first, 'session')} can be started", why=first[0].reasons[0]
            )
        wanted = next_sessions([known[position] for position in sorted(known)], search)
        return None if wanted is None else arm_of(wanted)

    return ask

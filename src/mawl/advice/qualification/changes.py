"""Single changes of the system, simulated: how many sessions would then fit, with the range that is known."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mawl.records.model.qualification import QualificationChange
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES
from mawl.simulation.error_range import TimeFigure, error_range_of
from mawl.simulation.forecast import (
    Base,
    Fitting,
    Question,
    blocked_in,
    changed_roles,
    doubled_systems,
    scenario_of,
)
from mawl.simulation.system import System

LEAST_GAIN_RATIO = value_of("qualification.least_gain_ratio")
MOST_CHANGES = 3
SLOWDOWN: TimeFigure = "time.real_time_seconds"
"""Its error is that of a slowdown, since the reference time is the same on both sides."""
MORE_MEMORY = QualificationChange(
    text="Twice the memory",
    reason="memory is not simulated, because the model of the page cache takes too long for such a run",
)


def changes_of(fitting: Fitting, answer_bound: float) -> list[QualificationChange]:
    """The changes that help by at least a twentieth, the one with most sessions first.

    Memory is not simulated (docs/design/qualify-answer.md); where it limits, twice as much is named.
    """
    base, sessions = fitting.base, fitting.sessions
    before = fitting.slowdown(base.own, sessions)
    found = []
    real = base.summary.time.real_time_seconds or 0.0
    for text, system in _doubled_resources(base):
        gain = 1.0 - fitting.slowdown(system, sessions) / before
        if (roles := changed_roles(base.own, system)) and real:
            # Faster devices save no more than jobs were blocked in their roles.
            gain = min(gain, blocked_in(base, roles) / real)
        if gain >= LEAST_GAIN_RATIO:
            found.append(_change(text, system, gain, fitting, answer_bound))
    found.sort(key=lambda change: (-(change.sessions or 0), -(change.gain_ratio or 0.0)))
    limit = fitting.base.summary.limit
    by_memory = limit is not None and limit.is_of("memory")
    return [*([MORE_MEMORY] if by_memory else []), *found][:MOST_CHANGES]


def _change(
    text: str, system: System, gain: float, fitting: Fitting, answer_bound: float
) -> QualificationChange:
    """The range of slowdowns is that in which measured times lay where such forecasts were checked.

    It begins no lower than what fits now by the same simulation: a change only adds.
    """
    question = Question(system=system)
    error = error_range_of(fitting.base, question, scenario_of(fitting.base, question), SLOWDOWN)
    change = QualificationChange(
        text=text, sessions=fitting.most_sessions(system, answer_bound), gain_ratio=gain
    )
    few = f"even so, fewer than {fitting.fewest} sessions may fit"
    few += ", and fewer have another mix" if fitting.fewest > 1 else ""
    if isinstance(error, str):
        reason = error if change.sessions is not None else f"{few}; {error}"
        return msgspec.structs.replace(change, reason=reason)
    least = (
        fitting.most_sessions(system, answer_bound / error.high_ratio),
        fitting.most_sessions(fitting.base.own, answer_bound),
    )
    low = max((number for number in least if number and number <= (change.sessions or 0)), default=None)
    high = fitting.most_sessions(system, answer_bound / error.low_ratio)
    return msgspec.structs.replace(
        change,
        sessions_low=low,
        sessions_high=high,
        range_basis=error.basis,
        reason=few if low is None else None,
    )


def _doubled_resources(base: Base) -> Iterator[tuple[str, System]]:
    node = base.own.nodes[0]
    for name, system in doubled_systems(base.own):
        if name in base.unknown:
            continue
        roles = [role for role in ROLES if name in node.roles.get(role, ())]
        if name in ("cores", "core_speed"):
            yield {"cores": "Twice the cores", "core_speed": "Cores twice as fast"}[name], system
        elif roles:
            yield f"Twice the devices under {' and '.join(roles)}", system
        else:
            yield f"Twice the {name}", system

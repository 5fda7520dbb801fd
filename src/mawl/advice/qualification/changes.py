"""Single changes of the system, simulated: how many sessions would then fit, with the range that is known."""

from __future__ import annotations

from collections.abc import Iterator

from mawl.model.qualification import QualificationChange
from mawl.model.thresholds import value_of
from mawl.simulation.fitting import Fitting
from mawl.simulation.forecast import Base, Question, doubled_systems, predict
from mawl.simulation.system import System
from mawl.simulation.validity import HIGH_RATIO, LOW_RATIO, validity_of
from mawl.spec.program_options import ROLES

LEAST_GAIN_RATIO = value_of("qualification.least_gain_ratio")
MOST_CHANGES = 3
MORE_MEMORY = QualificationChange(
    text="Twice the memory",
    reason="not simulated: the model of the page cache takes too long for a run of this size",
)


def changes_of(fitting: Fitting, most_slowdown: float) -> list[QualificationChange]:
    """The changes that help by at least a twentieth, the one with most sessions first.

    Memory is not simulated (docs/design/qualify-answer.md); where it limits, twice as much is named.
    """
    base, sessions = fitting.base, fitting.sessions
    before = fitting.slowdown(base.own, sessions)
    found = []
    for text, system in _candidates(base):
        gain = 1.0 - fitting.slowdown(system, sessions) / before
        if gain >= LEAST_GAIN_RATIO:
            found.append(_change(text, system, gain, fitting, most_slowdown))
    found.sort(key=lambda change: (-(change.sessions or 0), -(change.gain_ratio or 0.0)))
    limit = fitting.base.summary.limit
    by_memory = limit is not None and limit.verdict == "memory"
    return [*([MORE_MEMORY] if by_memory else []), *found][:MOST_CHANGES]


def _change(
    text: str, system: System, gain: float, fitting: Fitting, most_slowdown: float
) -> QualificationChange:
    """The range of slowdowns is that in which measured runs lay where forecasts were checked."""
    question = Question(system=system)
    scenario, outcome = predict(fitting.base, question)
    valid = validity_of(fitting.base, question, scenario, outcome.elapsed_seconds)
    sessions = fitting.most_sessions(system, most_slowdown)
    low = high = None
    reason = "; ".join(valid["reasons"]) or None
    if reason is None:
        low = fitting.most_sessions(system, most_slowdown / HIGH_RATIO)
        high = fitting.most_sessions(system, most_slowdown / LOW_RATIO)
    if sessions is None or (reason is None and low is None):
        few = "with this change, too, fewer sessions fit than the mix can have"
        reason = few if reason is None else f"{few}; {reason}"
    return QualificationChange(
        text=text, sessions=sessions, sessions_low=low, sessions_high=high, gain_ratio=gain, reason=reason
    )


def _candidates(base: Base) -> Iterator[tuple[str, System]]:
    """Twice of each resource, by what a buyer would call it."""
    node = base.own.nodes[0]
    for name, system in doubled_systems(base.own):
        roles = [role for role in ROLES if name in node.roles.get(role, ())]
        if name in ("cores", "core_speed"):
            yield {"cores": "Twice the cores", "core_speed": "Cores twice as fast"}[name], system
        elif roles:
            yield f"Twice the devices under {' and '.join(roles)}", system
        else:
            yield f"Twice the {name}", system

"""How far a prediction lies from what was measured, and what limits it in each phase."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.simulation.error_range import (
    MOST_CALIBRATION_ERROR_RATIO,
    bed_kind_of,
    doubts_of,
    factors_of,
    unchecked_of,
)
from mawl.simulation.forecast import Base, Question
from mawl.simulation.measured_errors import bed_ratios, central_range
from mawl.simulation.scenario import Scenario
from mawl.whatif.logs import OF_DERIVED_JOBS, OF_LOGS, LogsBasis
from mawl.whatif.metrics import ElapsedRange, ForecastValidity, PhaseLimit


def validity_of(
    base: Base,
    question: Question,
    scenario: Scenario,
    elapsed_seconds: float,
    doubt: str | None = None,
    logs: LogsBasis | None = None,
) -> ForecastValidity:
    """How far the question lies from the measured run, and the range of the elapsed time where one is known.

    The range is that of the beds that are like it (:func:`~mawl.simulation.error_range.bed_kind_of`).  It is
    null, with the reasons, where something differs in a way that no checked forecast did
    (:func:`~mawl.simulation.error_range.unchecked_of`).  ``doubt`` is what speaks against the run itself,
    ``logs`` what the forecast of a run of logs rests on.
    """
    factors = factors_of(base, question, scenario)
    reasons = [] if doubt is None else [doubt]
    reasons += [] if logs is None else [OF_LOGS]
    reasons += unchecked_of(base, question, scenario)
    reasons += doubts_of(base, scenario, factors, MOST_CALIBRATION_ERROR_RATIO)
    known = not reasons
    low, high = central_range(bed_ratios(bed_kind_of(base, factors), "time.elapsed_seconds"))
    return ForecastValidity(
        calibration_error_ratio=base.error_ratio,
        alone_ratio=base.calibration.alone_ratio,
        seek_ratio=base.calibration.seek_ratio,
        factors=factors,
        range=ElapsedRange(
            low_seconds=elapsed_seconds * low if known else None,
            high_seconds=elapsed_seconds * high if known else None,
        ),
        logs_range=ElapsedRange(low_seconds=None, high_seconds=None) if logs is None else logs.range,
        assumptions=[*(logs.assumptions if logs else ()), *([OF_DERIVED_JOBS] if base.facts.derived else ())],
        reasons=reasons,
        lacks=list(base.demand.lacks),
    )


def phases_of(limits: Mapping[str, Mapping[str, float]]) -> list[PhaseLimit]:
    """Shares of the job-seconds of each phase, and the one name above half, else ``mixed``."""
    rows = []
    for phase, seconds in limits.items():
        total = sum(seconds.values())
        shares = {name: value / total for name, value in sorted(seconds.items())} if total else {}
        waits = {name: share for name, share in shares.items() if name != "cpu"}
        rows.append(PhaseLimit(phase=phase, shares=shares, limit=named(shares, waits)))
    return rows


NONE = "none"


def named(shares: Mapping[str, float], waits: Mapping[str, float]) -> str:
    """What most waiting was for: a name above half, ``none`` where jobs mostly computed, else ``mixed``."""
    waited = sum(waits.values())
    if not shares or waited < shares.get("cpu", 0.0) / 4.0:
        return NONE
    best = max(waits, key=lambda name: waits[name])
    return best if waits[best] > waited / 2.0 else "mixed"

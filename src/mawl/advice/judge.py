"""The whole summary of a run: its figures, and what they mean."""

from __future__ import annotations

import msgspec

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.capacity.carried import capacity_of
from mawl.advice.capacity.slowdown import by_program, slowdowns
from mawl.advice.deciding import deciding
from mawl.advice.limit.verdict import limit_of
from mawl.advice.smt import smt_of
from mawl.advice.validity.status import validity_of
from mawl.analysis.blocks import Missing
from mawl.analysis.missing import reasons
from mawl.analysis.view import RunView
from mawl.model.summary.programs import ProgramFigures
from mawl.model.summary.summary import Judged


def judged(view: RunView, bounds: CapacityBounds | None = None) -> Judged:
    """The summary of a run with ``capacity``, ``limit``, ``smt`` and ``validity`` filled.

    ``bounds`` are those of the capacity; None for the defaults.
    """
    summary = view.summary
    found: Missing = dict(summary.missing)
    probe = None if isinstance(view.probe, str) else view.probe
    limit = limit_of(view, found)
    capacity = capacity_of(view, bounds or CapacityBounds(), found, limit, probe)
    validity = validity_of(view)
    whole = msgspec.structs.replace(
        summary,
        limit=limit,
        capacity=capacity,
        smt=smt_of(view, found),
        programs=_slowed(summary.programs, view),
        validity=validity,
    )
    whole.thresholds = deciding(whole, validity, bounds or CapacityBounds())
    whole.missing = reasons(whole, found, view.facts.missing)
    return Judged(**msgspec.structs.asdict(whole))


def _slowed(programs: dict[str, ProgramFigures], view: RunView) -> dict[str, ProgramFigures]:
    """The programs with their slowdown, where they were run alone."""
    found = by_program(slowdowns(view.jobs, view.facts.alone))
    return {
        name: msgspec.structs.replace(program, slowdown=found.get(name)) for name, program in programs.items()
    }

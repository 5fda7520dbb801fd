"""The whole summary of a run: its figures, and what they mean."""

from __future__ import annotations

from typing import Any

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.capacity.carried import capacity_block
from mawl.advice.capacity.slowdown import by_program, slowdowns
from mawl.advice.deciding import deciding
from mawl.advice.limit.verdict import limit_block
from mawl.advice.smt import smt_block
from mawl.advice.validity.status import validity_block
from mawl.analysis.blocks import Missing
from mawl.analysis.missing import reasons
from mawl.analysis.view import RunView


def judged(view: RunView, bounds: Bounds | None = None) -> dict[str, Any]:
    """The summary of a run with ``capacity``, ``limit``, ``smt`` and ``validity`` filled.

    ``bounds`` are those of the capacity; None for the defaults.
    """
    found: Missing = dict(view.summary["missing"])
    probe = None if isinstance(view.probe, str) else view.probe
    whole = {name: value for name, value in view.summary.items() if name != "missing"}
    whole["limit"] = limit_block(view, found)
    whole["capacity"] = capacity_block(view, bounds or Bounds(), found, whole["limit"], probe)
    whole["smt"] = smt_block(view, found)
    whole["programs"] = _slowed(whole["programs"], view)
    whole["validity"] = validity_block(view)
    whole["thresholds"] = deciding(whole, bounds or Bounds())
    whole["missing"] = reasons(whole, found, view.facts.missing)
    return whole


def _slowed(programs: dict[str, Any], view: RunView) -> dict[str, Any]:
    """The programs with their slowdown, where they were run alone."""
    found = by_program(slowdowns(view.jobs, view.facts.alone))
    return {name: {**program, "slowdown": found.get(name)} for name, program in programs.items()}

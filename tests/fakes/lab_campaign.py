"""Sides of a lab campaign, by the few figures that its judgement reads."""

from __future__ import annotations

from typing import Any

from mawl.figures.comparison.sides import ComparedRun, Side
from mawl.records.model.run import RunFacts
from tests.fakes.stored_run import facts
from tests.fakes.views import partly


def arm_side(name: str, seconds: float, verdict: str | None = None, *, work: float = 5.0) -> Side:
    """An arm of one run: real time, verdict, seconds blocked in work (10 s elsewhere in I/O)."""
    waits = {"data": 10.0, "work": work, "util": 0.0, "other": 0.0}
    summary: dict[str, Any] = {
        "time": {"real_time_seconds": seconds, "elapsed_seconds": seconds},
        "limit": None if verdict is None else {"verdict": verdict, "role": None, "device": None},
        "wait": {"on_cpu_seconds": 30.0, "run_queue_seconds": 0.0, "blocked_seconds": waits},
        "signature": {"work_util_ratio": {"value": 0.9}},
    }
    run: RunFacts = facts()
    return Side(label=name, runs=(ComparedRun(facts=run, summary=partly(summary), jobs={}),))

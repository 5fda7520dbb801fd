"""The course of both sides, laid over each other: throughput over time since the first start."""

from __future__ import annotations

import msgspec

from mawl.analysis.blocks import Block
from mawl.analysis.comparison.sides import ComparedRun, Side
from mawl.analysis.windows import added

DIRECTIONS = ("read", "write")


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One run: lists of the same length, a point for each window (its middle, from the first start on);
    None where no sample covers it.  ``active_seconds`` is where the active phase ends."""

    run_id: str
    seconds: list[float]
    application_bytes_per_second: list[float | None]
    device_bytes_per_second: list[float | None]
    active_seconds: float | None
    elapsed_seconds: float | None


def courses(side: Side) -> list[Course]:
    """The course of every run of a side."""
    return [_course(run) for run in side.runs]


def _course(run: ComparedRun) -> Course:
    windows, time = run.summary["windows"], run.summary["time"]
    return Course(
        run_id=run.facts.run_id,
        seconds=[window["start_seconds"] + window["length_seconds"] / 2 for window in windows],
        application_bytes_per_second=[_total(window, "application") for window in windows],
        device_bytes_per_second=[_total(window, "device") for window in windows],
        active_seconds=time["active_seconds"],
        elapsed_seconds=time["elapsed_seconds"],
    )


def _total(window: Block, counted: str) -> float | None:
    return added([window[f"{counted}_{direction}_bytes_per_second"] for direction in DIRECTIONS])

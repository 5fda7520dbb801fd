"""Modes of hardware threads side by side, and whether the papers' sentence about them holds here."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import msgspec

from mawl.analysis.comparison.compare import Comparison, why_uncounted
from mawl.analysis.comparison.sides import ComparedRun, Side, at
from mawl.model.campaign import Campaign
from mawl.model.thresholds import value_of
from mawl.units import format_percent

PAPER = "REDP-5288, SMT8 considerations"


class SmtRow(msgspec.Struct, frozen=True, kw_only=True):
    """A mode; medians over its finished runs.  ``core_busy_basis`` says how busy cores are known."""

    arm: str
    title: str
    threads: int | None
    runs: int
    real_time_seconds: float | None
    elapsed_seconds: float | None
    bytes_per_second: float | None
    core_busy_ratio: float | None
    core_busy_basis: str | None
    cpu_busy_ratio: float | None


def smt_rows(record: Campaign, by_arm: Mapping[str, Sequence[ComparedRun]]) -> list[SmtRow]:
    """A row for each mode, fewest threads first."""
    rows = []
    for arm in record.arms:
        side = Side(label=arm.name, runs=tuple(by_arm[arm.name]))
        bases = {at(run.summary, "host.core_busy_basis") for run in side.runs} - {None}
        rows.append(
            SmtRow(
                arm=arm.name,
                title=arm.title,
                threads=arm.size,
                runs=len(side.runs),
                real_time_seconds=_median(side.values("time.real_time_seconds")),
                elapsed_seconds=_median(side.values("time.elapsed_seconds")),
                bytes_per_second=_median(side.values("io.application.run_mean.total_bytes_per_second")),
                core_busy_ratio=_median(side.values("host.core_busy_ratio")),
                core_busy_basis=", ".join(sorted(str(basis) for basis in bases)) or None,
                cpu_busy_ratio=_median(side.values("host.cpu_busy_ratio")),
            )
        )
    return rows


def smt_sentence(rows: Sequence[SmtRow], comparison: Comparison | None) -> str:
    """Whether more threads a core helped, and what the paper found, in a sentence.

    ``comparison`` is of the mode with the fewest threads against that with the most.
    """
    statement = comparison.statement if comparison is not None else None
    if statement is None or statement.verdict == "not judged" or len(rows) < 2:
        if statement is not None and not statement.jobs:
            return "not decided: no job counts in every run of both modes"
        return "not decided: it takes five finished runs of each mode"
    if comparison is not None and (uncounted := why_uncounted(comparison)) is not None:
        return f"not decided: {uncounted}"
    fewest, most = rows[0], rows[-1]
    known = [
        f"{format_percent(row.cpu_busy_ratio)} with {row.title}"
        for row in rows
        if row.cpu_busy_ratio is not None
    ]
    busy = f"; processors were busy {' and '.join(known)}" if known else ""
    if statement.alike:
        return (
            f"as in the paper, {fewest.title} and {most.title} perform alike (no change larger than "
            f"{format_percent(statement.margin_ratio)}){busy}; the paper measured 20 sessions on 16 cores "
            f"with SMT4 and SMT8 ({PAPER})"
        )
    if statement.verdict == "not told apart":
        least = statement.smallest_effect_ratio
        shown = "" if least is None else f", and only changes above {format_percent(least)} would show"
        return (
            f"not decided: no difference between {fewest.title} and {most.title} was found{shown}{busy}; the "
            f"paper found similar performance with 20 sessions ({PAPER})"
        )
    if statement.verdict == "faster":
        return (
            f"contrary to what the paper measured with 20 sessions (similar performance), jobs were faster "
            f"with {most.title} than with {fewest.title}{_load(fewest.cpu_busy_ratio)}{busy} ({PAPER})"
        )
    return (
        f"contrary to the paper, jobs were slower with {most.title} than with {fewest.title}{busy}; "
        f"the paper found similar performance with 20 sessions, and advises more above 70 % busy ({PAPER})"
    )


def _load(busy_ratio: float | None) -> str:
    """Whether processors were as busy as the paper wants them for more threads; empty if that is unknown."""
    if busy_ratio is None:
        return ""
    least = value_of("smt.least_busy_ratio")
    if busy_ratio > least:
        return f", as the paper suggests above {format_percent(least)} busy"
    return f", although processors were not above {format_percent(least)} busy"


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None

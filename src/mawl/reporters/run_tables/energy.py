"""Energy of the machines: a row per counter or meter, and the sum in words."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import figure
from mawl.reporters.table import EVERY, SHOWN, Note, Row, RunColumn, RunTable
from mawl.units import format_joules, format_seconds, format_watts

SHARED = "energy of a program's job: the run's, shared out to all jobs by their CPU time"


def energy_words(summary: Summary) -> str | None:
    """``12.3 kJ (processors, ...), 205 W on average, 173 J per job``; None if energy is not known."""
    one = summary.energy
    if one is None or one.joules is None:
        return None
    per_job = f"not known of a job ({summary.missing.get('energy.joules_per_job')})"
    if one.joules_per_job is not None:
        per_job = f"{format_joules(one.joules_per_job)} per job"
    return (
        f"{format_joules(one.joules)} ({one.scope}, other programs and idle power included), "
        f"{figure(one.mean_watts, format_watts)} on average, {per_job}"
    )


def _rows(_: RunView, summary: Summary) -> list[Row]:
    domains = {} if summary.energy is None else summary.energy.domain
    return [Row(name, ("energy", "domain", name)) for name in domains]


def _lead(_: RunView, summary: Summary) -> list[Note]:
    if summary.energy is None:
        return []
    words = energy_words(summary)
    if words is None:
        return [Note(f"energy: not known ({summary.missing.get('energy.joules')})", SHOWN)]
    shared = "" if summary.energy.joules_per_job is None else f"; {SHARED}"
    return [Note(f"{words}{shared}", SHOWN, "energy")]


ENERGY = RunTable(
    name="energy",
    caption="Energy from the first start of a job to the last end",
    section="host",
    first="counter or meter",
    block=("energy", "domain", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="energy", path=("joules",), form=format_joules),
        RunColumn(label="mean power", path=("mean_watts",), form=format_watts),
        RunColumn(label="known", path=("known_seconds",), form=format_seconds),
        RunColumn(
            label="in the sum", value=lambda one: "yes" if one.counted else "no", form=str, holds="words"
        ),
    ),
    formats=EVERY,
    fold="Energy",
    lead=_lead,
)

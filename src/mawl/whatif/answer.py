"""The answer of ``mawl simulate``, of which text and JSON are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mawl.analysis.comparison.sides import at
from mawl.errors import UsageError
from mawl.model.summary.summary import Summary
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.forecast import Base, Question, doubled_systems, predict
from mawl.simulation.scenario import Scenario, run
from mawl.whatif.logs import LogsBasis
from mawl.whatif.metrics import (
    DoubledResource,
    GrownSessions,
    PredictedFigure,
    Prediction,
    SimulationAnswer,
)
from mawl.whatif.validity import phases_of, validity_of


def answer(
    base: Base,
    question: Question,
    simulated: tuple[Scenario, SimulationOutcome],
    summary: Summary,
    *,
    grow: Sequence[int] = (),
    against: Summary | None = None,
    doubt: str | None = None,
    logs: LogsBasis | None = None,
) -> SimulationAnswer:
    """Everything that was asked, and what it rests on.

    ``simulated`` is what :func:`~mawl.simulation.forecast.predict` made of the question and ``summary`` the
    judged summary of its run folder; ``against`` is that of a run that was really made; ``doubt`` is what
    speaks against the run that was simulated, and ``logs`` what the forecast of a run of logs rests on.
    """
    scenario, outcome = simulated
    elapsed = outcome.elapsed_seconds
    turn = summary.time.active_seconds or elapsed
    phases = {"active": outcome.recording.limits(0.0, turn), "tail": outcome.recording.limits(turn, elapsed)}
    if elapsed - turn <= 1e-6:
        del phases["tail"]
    rows = grown(base, question, grow) if grow else None
    knee = [row.sessions for row in rows or () if row.pays]
    return SimulationAnswer(
        run_id=base.facts.run_id,
        prediction=Prediction(
            elapsed_seconds=elapsed,
            real_time_seconds=summary.time.real_time_seconds,
            measured_elapsed_seconds=base.elapsed_seconds,
            measured_real_time_seconds=base.summary.time.real_time_seconds,
            nodes=scenario.system.node_count,
            sessions=summary.workload.sessions,
            jobs=summary.jobs.total,
            device_peak_bytes_per_second=summary.io.device.peak.total_bytes_per_second,
            device_sustained_bytes_per_second=summary.io.device.sustained.total_bytes_per_second,
            verdict=summary.limit.verdict if summary.limit else None,
        ),
        validity=validity_of(base, question, scenario, elapsed, doubt, logs),
        phases=phases_of(phases),
        sensitivity=doubled(base, scenario, elapsed),
        grow=rows,
        knee_sessions=knee[-1] if knee and len(knee) < len(rows or ()) else None,
        against=None if against is None else beside(summary, against),
        system=scenario.system,
    )


def doubled(base: Base, scenario: Scenario, elapsed_seconds: float) -> list[DoubledResource]:
    """What twice of cores, core speed, links, fabric and each device would gain of the time, most first."""
    found = []
    for name, system in doubled_systems(scenario.system):
        elapsed = run(replace(scenario, system=system), base.calibration).elapsed_seconds
        gain = 1.0 - elapsed / elapsed_seconds if elapsed_seconds else 0.0
        found.append(DoubledResource(resource=name, elapsed_seconds=elapsed, gain_ratio=gain))
    return sorted(found, key=lambda row: (-row.gain_ratio, row.resource))


def grown(base: Base, question: Question, sessions: Sequence[int]) -> list[GrownSessions]:
    """Elapsed time and jobs per hour at each number of sessions, and whether growth still pays there.

    It ``pays`` while the throughput grows by at least half of what the sessions grew since the
    number before: the last that does is the knee.
    """
    if sorted(set(sessions)) != list(sessions):
        raise UsageError("--grow: expected numbers of sessions from the smallest to the largest")
    rows: list[GrownSessions] = []
    for count in sessions:
        scenario, outcome = predict(base, replace(question, sessions=count))
        jobs = sum(scenario.groups()[0][job.group].count for job in outcome.jobs)
        hourly = jobs / outcome.elapsed_seconds * 3600.0 if outcome.elapsed_seconds else 0.0
        pays = True
        if rows:
            before = rows[-1]
            grew = count / before.sessions - 1.0
            pays = before.pays and hourly / before.jobs_per_hour - 1.0 >= grew / 2.0
        rows.append(
            GrownSessions(
                sessions=count,
                jobs=jobs,
                elapsed_seconds=outcome.elapsed_seconds,
                jobs_per_hour=hourly,
                pays=pays,
            )
        )
    return rows


COMPARED: dict[str, str] = {
    "time.elapsed_seconds": "seconds",
    "time.real_time_seconds": "seconds",
    "time.cpu_seconds": "seconds",
    "io.device.peak.total_bytes_per_second": "rate",
    "io.device.sustained.total_bytes_per_second": "rate",
    "limit.verdict": "word",
}
"""Figures of the JSON summary, and what they are."""


def beside(predicted: Summary, measured: Summary) -> list[PredictedFigure]:
    """The figures of :data:`COMPARED` of two summaries.

    Device figures are those of the storage server's devices, where one was watched and the nodes' own are
    not known.
    """
    rows = []
    for figure, kind in _figures(measured).items():
        ours, theirs = at(predicted, figure), at(measured, figure)
        known = ours is not None and theirs is not None
        rows.append(
            PredictedFigure(
                figure=figure,
                predicted=ours,
                measured=theirs,
                error_ratio=ours / theirs - 1.0 if known and kind != "word" and theirs else None,
                agrees=ours == theirs if known and kind == "word" else None,
            )
        )
    return rows


def _figures(measured: Summary) -> dict[str, str]:
    servers = list(measured.cluster.storage if measured.cluster else ())
    if len(servers) != 1:
        return COMPARED
    front = f"cluster.storage.{servers[0]}."
    return {
        figure.replace("io.", front) if at(measured, figure) is None else figure: kind
        for figure, kind in COMPARED.items()
    }

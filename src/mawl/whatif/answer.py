"""The answer of ``mawl simulate``: the prediction, its validity, what limits it, and what more would gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mawl.base.errors import UsageError
from mawl.base.units import counted_noun, format_percent, format_seconds
from mawl.figures.comparison.sides import at
from mawl.plan.mix import FEWEST_FULL_SESSIONS, MIX_CHANGES, mix_range
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES
from mawl.simulation.device_rates import DIRECTIONS, rate_of, rate_path
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.error_range import (
    MOST_CALIBRATION_ERROR_RATIO,
    bed_kind_of,
    bed_ratios,
    central_range,
    doubts_of,
    factors_of,
    unchecked_of,
)
from mawl.simulation.forecast import Base, Question, bounded_seconds, doubled_systems, predict
from mawl.simulation.measured_system import DESCRIBE, RECORDED
from mawl.simulation.scenario import RULED, Scenario, run_scenario
from mawl.whatif.records import (
    DeviceRate,
    DoubledResource,
    ElapsedRange,
    ForecastValidity,
    GrownSessions,
    PhaseLimit,
    PredictedFigure,
    Prediction,
    SimulationAnswer,
)

OF_LOGS = "bytes and waits are those of logs: no such forecast was compared with a run"
OF_DERIVED_JOBS = (
    "the jobs were derived from logs: evidence.html of their workload says which figures are inferred or "
    "assumed, and waits for a database, a lock or a sleep are not in them"
)


BOUNDED = "faster devices save no more time than jobs were blocked in their roles"


class LogsBasis(NamedTuple):
    """The range of elapsed times that fit the logs, and what was assumed."""

    range: ElapsedRange
    assumptions: list[str]


def unknown_devices(base: Base) -> list[str]:
    """Roles with bytes on devices that neither a recording nor a description describes."""
    roles = base.seen.nodes[0].roles
    return [role for role in ROLES if not base.unknown.keys().isdisjoint(roles[role])]


def range_of_logs(base: Base, still_seconds: float, waiting_seconds: float) -> ElapsedRange:
    """Between the forecast in which no waiting of the logs is I/O, and that in which all of it is.

    Unknown if the devices are not known: then nothing says how much faster others are.
    """
    if unknown_devices(base):
        return ElapsedRange(low_seconds=None, high_seconds=None)
    ends = sorted((still_seconds, waiting_seconds))
    return ElapsedRange(low_seconds=ends[0], high_seconds=ends[1])


def assumptions_of_logs(base: Base, without_blocks: int, device_share: float | None) -> Iterator[str]:
    """What is assumed of a run of logs, in sentences, and which file would replace an assumption."""
    steps = [step for job in base.demand.jobs.values() for step in job.steps]
    most, waited = base.demand.blocked_seconds, sum(step.other_seconds for step in steps)
    yield (
        f"of {format_seconds(most + waited)} that steps waited (real time less CPU time), "
        f"{format_seconds(most)} were in steps that move bytes: at most so much is I/O, at least 0 s"
    )
    yield (
        "all figures except the range take all of it for I/O, also waits for a processor, so the gains of "
        "faster devices are the largest that are possible"
    )
    yield "bytes by role are those that mawl derive infers (its evidence.html has each with its range)"
    if without_blocks:
        yield (
            f"{without_blocks} of {counted_noun(len(steps), 'step')} have no block operations in the logs: "
            "all their bytes are taken to reach the devices"
        )
    if device_share is not None:
        yield f"devices served {format_percent(min(device_share, 1.0))} of the reads, and will on any system"
    if roles := unknown_devices(base):
        yield (
            f"the devices of {', '.join(roles)} are not known, so there is no range: {RECORDED} and name its "
            f"devices (--role work=sdb), or {DESCRIBE}"
        )
    yield (
        "logs alone give no checked forecast: mawl derive makes a workload of them, and a run of it has "
        "counted bytes and waits"
    )


def validity_of(
    base: Base,
    question: Question,
    scenario: Scenario,
    simulated_seconds: float,
    doubt: str | None = None,
    logs: LogsBasis | None = None,
) -> ForecastValidity:
    """How far the question lies from the measured run, and the range of the elapsed time where one is known.

    The range is that of the beds that are like it (``bed_kind_of``), wider by what the model misses the run
    itself.  It is
    null, with the reasons, where something differs in a way that no checked forecast did
    (``unchecked_of``).  ``doubt`` is what speaks against the run itself,
    ``logs`` what the forecast of a run of logs rests on.
    """
    factors = factors_of(base, question, scenario)
    reasons = [] if doubt is None else [doubt]
    reasons += [] if logs is None else [OF_LOGS]
    reasons += unchecked_of(base, question, scenario)
    reasons += doubts_of(base, scenario, factors, MOST_CALIBRATION_ERROR_RATIO)
    known = not reasons
    elapsed_seconds = bounded_seconds(base, scenario, simulated_seconds)
    low, high = central_range(bed_ratios(bed_kind_of(base, factors), "time.elapsed_seconds"))
    # The model may miss the forecast run as it misses the run itself, or not.
    missed = 1.0 / (1.0 + (base.error_ratio or 0.0))
    low, high = low * min(missed, 1.0), high * max(missed, 1.0)
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
        assumptions=[
            *(logs.assumptions if logs else ()),
            *([OF_DERIVED_JOBS] if base.facts.derived else ()),
            *([BOUNDED] if elapsed_seconds > simulated_seconds else ()),
        ],
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
        rows.append(PhaseLimit(phase=phase, shares=shares, limit=main_wait(shares, waits)))
    return rows


NONE = "none"


def main_wait(shares: Mapping[str, float], waits: Mapping[str, float]) -> str:
    """What most waiting was for: a name above half, ``none`` where jobs mostly computed, else ``mixed``."""
    waited = sum(waits.values())
    if not shares or waited < shares.get("cpu", 0.0) / 4.0:
        return NONE
    best = max(waits, key=lambda name: waits[name])
    return best if waits[best] > waited / 2.0 else "mixed"


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

    ``simulated`` is what ``predict`` made of the question and ``summary`` the
    judged summary of its run folder; ``against`` is that of a run that was really made; ``doubt`` is what
    speaks against the run that was simulated, and ``logs`` what the forecast of a run of logs rests on.
    """
    scenario, outcome = simulated
    simulated_seconds = outcome.elapsed_seconds
    elapsed = bounded_seconds(base, scenario, simulated_seconds)
    turn = summary.time.active_seconds or simulated_seconds
    limits = outcome.recording.limits
    phases = {"active": limits(0.0, turn), "tail": limits(turn, simulated_seconds)}
    if simulated_seconds - turn <= 1e-6:
        del phases["tail"]
    rows = growth(base, question, grow) if grow else None
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
        validity=validity_of(base, question, scenario, simulated_seconds, doubt, logs),
        phases=phases_of(phases),
        sensitivity=doubling(base, scenario, elapsed, question.system is None),
        rates=rates_of(base),
        grow=rows,
        knee_sessions=knee[-1] if knee and len(knee) < len(rows or ()) else None,
        against=None if against is None else compare_figures(summary, against),
        system=scenario.system,
    )


def doubling(
    base: Base, scenario: Scenario, elapsed_seconds: float, on_own_devices: bool = True
) -> list[DoubledResource]:
    """What twice of cores, core speed, links, fabric and each device would gain of the time, most first.

    A device of the run (``on_own_devices``) of which nothing says what it can do has no number.
    """
    found = []
    for name, system in doubled_systems(scenario.system):
        if on_own_devices and name in base.unknown:
            reason = base.why_unknown(base.unknown)
            found.append(DoubledResource(resource=name, elapsed_seconds=None, gain_ratio=None, reason=reason))
            continue
        doubled = replace(scenario, system=system)
        elapsed = run_scenario(doubled, base.calibration).elapsed_seconds
        elapsed = bounded_seconds(base, doubled, elapsed)
        gain = 1.0 - elapsed / elapsed_seconds if elapsed_seconds else 0.0
        found.append(DoubledResource(resource=name, elapsed_seconds=elapsed, gain_ratio=gain))
    return sorted(found, key=lambda row: (row.gain_ratio is None, -(row.gain_ratio or 0.0), row.resource))


UNKNOWN_RATE = "unknown: no cap, no probe, and few waits"


def rates_of(base: Base) -> list[DeviceRate]:
    """What each device of the measured system can do, and how that is known."""
    found = []
    for device in base.seen.devices:
        for way in DIRECTIONS:
            source = base.seen.sources.get(rate_path(device.name, way), "described")
            is_unknown = not base.described and source == "assumed"
            found.append(
                DeviceRate(
                    device=device.name,
                    direction=way,
                    bytes_per_second=None if is_unknown else rate_of(device, way),
                    ground=UNKNOWN_RATE if is_unknown else source,
                )
            )
    return found


def growth(base: Base, question: Question, sessions: Sequence[int]) -> list[GrownSessions]:
    """Elapsed time and jobs per hour at each number of sessions, and whether growth still pays there.

    It ``pays`` while the throughput grows by at least half of what the sessions grew since the
    number before: the last that does is the knee.
    """
    if sorted(set(sessions)) != list(sessions):
        raise UsageError("--grow: expected numbers of sessions from the smallest to the largest")
    if base.plans[0].workload == RULED and len({mix_range(count) for count in sessions}) > 1:
        raise UsageError(
            "--grow: numbers of sessions of two mixes make no series",
            why=MIX_CHANGES,
            cure=f"name numbers below {FEWEST_FULL_SESSIONS}, or from {FEWEST_FULL_SESSIONS} on",
        )
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


def compare_figures(predicted: Summary, measured: Summary) -> list[PredictedFigure]:
    """The figures of ``COMPARED`` of two summaries.

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

"""A campaign with the figures of its runs, as reports draw it and JSON holds it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, sqrt
from typing import Annotated, Literal

import msgspec

from mawl.base.errors import MawlError, UsageError
from mawl.base.units import format_ratio
from mawl.figures.comparison.compare import Comparison, SideFacts, compare
from mawl.figures.comparison.rows import FIGURES
from mawl.figures.comparison.sides import ComparedRun, Reason, Side, centre, logs, reasons_of, side_of
from mawl.figures.comparison.waits import verdicts
from mawl.figures.knee import (
    Knee,
    RunVerdict,
    SessionRun,
    SmtRow,
    Tried,
    knee_of,
    sessions_tried,
    smt_rows,
    smt_sentence,
)
from mawl.figures.statistics import FEWEST_RUNS, LEVEL, quantile
from mawl.plan.mix import mix_range
from mawl.records.definitions import Unit, count, rate, seconds, share, unitless
from mawl.records.model.campaign import (
    ARM_SETTINGS,
    ORDER,
    SCALING,
    SPREAD,
    Arm,
    Campaign,
    CampaignKind,
    CampaignMachine,
    CampaignOutcome,
    ChangedSetting,
    SettingRecord,
    Slot,
)
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD

SettingState = Literal["only checked", "not changed yet", "changed", "undone", "not undone"]


class ArmSettingFound(msgspec.Struct, frozen=True, kw_only=True):
    """The setting of an arm.

    ``original`` is what ``check`` said before the first change; ``read`` has each different answer around
    finished runs once.  ``reads`` counts the answers that were as the arm asks for, ``differing`` the others.
    """

    arm: str
    title: str
    name: str
    before: str | None
    check: str
    after: str | None
    expect: str | None
    original: str | None
    read: list[str]
    reads: Annotated[
        int,
        count(
            "Times that the setting of an arm was read back around runs, and was as the arm requires.",
            f"{ARM_SETTINGS}, What counts as taken?",
        ),
    ]
    differing: Annotated[
        int,
        count(
            "Times that the setting was read back around runs, and was not as the arm requires.",
            f"{ARM_SETTINGS}, What counts as taken?",
        ),
    ]
    state: SettingState


def arm_settings(record: Campaign, made: SettingRecord | None, *, conducted: bool) -> list[ArmSettingFound]:
    """The settings of the arms that have one; ``conducted``: a living process has the campaign."""
    return [_arm_setting(arm, made, conducted) for arm in record.arms if arm.setting is not None]


def _arm_setting(arm: Arm, record: SettingRecord | None, conducted: bool) -> ArmSettingFound:
    setting = arm.setting
    assert setting is not None, "the caller looked"
    commands = (
        [command for command in record.commands if command.arm == arm.name] if record is not None else []
    )
    reads = [command for command in commands if command.role in ("took", "kept") and command.answered]
    good = [one for one in reads if one.reason is None]
    original = record.original(arm.name) if record is not None else None
    return ArmSettingFound(
        arm=arm.name,
        title=arm.title,
        name=setting.name,
        before=setting.before,
        check=setting.check,
        after=setting.after,
        expect=setting.expect,
        original=original.words() if original is not None else None,
        read=list(dict.fromkeys(one.reading.words() for one in reads)),
        reads=len(good),
        differing=len(reads) - len(good),
        state=_state(arm, record, bool(commands), conducted),
    )


def _state(arm: Arm, record: SettingRecord | None, touched: bool, conducted: bool) -> SettingState:
    if arm.setting is None or arm.setting.before is None:
        return "only checked"
    if record is not None and record.changed is not None and record.changed.arm == arm.name:
        return "changed" if conducted else "not undone"
    began = record is not None and any(
        (command.arm, command.role) == (arm.name, "before") for command in record.commands
    )
    return "undone" if touched and began else "not changed yet"


def change_in_force(record: SettingRecord | None, *, conducted: bool) -> ChangedSetting | None:
    """The change that may still be in force although the campaign's process has ended; None without any."""
    return record.changed if record is not None and not conducted else None


def session_run(sessions: int, run: ComparedRun) -> SessionRun:
    """The verdict of a run: its jobs, then W.

    Raises ``MawlError`` where W is not known: then nothing shows too many.
    """
    answer, jobs = run.summary.answer, run.summary.jobs
    reasons: list[str] = []
    verdict: RunVerdict = "carried"
    if answer.slowdown is not None and answer.slowdown > answer.bound:
        verdict = "too many"
        reasons = [f"slowdown {format_ratio(answer.slowdown)} is above {format_ratio(answer.bound)}"]
    bad = max(jobs.total, run.facts.workload.jobs) - jobs.counted
    if bad:
        verdict = "too many"
        reasons = [f"{bad} of {run.facts.workload.jobs} jobs did not finish with a right answer"]
    if verdict != "too many" and answer.slowdown is None:
        raise MawlError(
            "the slowdown is not known, so nothing shows how many sessions are too many",
            where=run.facts.run_id,
            why=answer.reason,
            cure=answer.next_step,
        )
    return SessionRun(
        sessions=sessions,
        verdict=verdict,
        answer_slowdown=answer.slowdown,
        answer_bound=answer.bound,
        bytes_per_second_per_core=run.summary.guideline.bytes_per_second_per_core,
        reasons=reasons,
    )


def refused_run(sessions: int, slot: Slot) -> SessionRun:
    """A number of sessions that the machine cannot start."""
    return SessionRun(sessions=sessions, verdict="refused", reasons=[slot.reason or "it was refused"])


THROUGHPUT = "io.application.run_mean.total_bytes_per_second"
ELAPSED = "time.elapsed_seconds"


class FigureSpread(msgspec.Struct, frozen=True, kw_only=True):
    """A figure over the runs of an arm: median and range, the mean (geometric where all are above 0) with
    its 95 % interval (None with fewer than five runs), and the standard deviation as a share of the mean
    (None with one).  ``values`` are those of the runs, in the order in which they were made."""

    title: str
    name: str
    unit: Unit
    runs: Annotated[int, count("Runs that the figure is over.", SPREAD)]
    median: Annotated[float, unitless("Median over runs, in the figure's unit.", SPREAD)]
    lowest: Annotated[float, unitless("The least of the runs, in the figure's unit.", SPREAD)]
    highest: Annotated[float, unitless("The most of the runs, in the figure's unit.", SPREAD)]
    mean: Annotated[
        float,
        unitless("Mean over runs, geometric where all values are above 0, in the figure's unit.", SPREAD),
    ]
    low: Annotated[
        float | None,
        unitless(
            "Lower end of the mean's 95 % interval (null with fewer than five runs), in the figure's unit.",
            SPREAD,
        ),
    ]
    high: Annotated[
        float | None,
        unitless(
            "Upper end of the mean's 95 % interval (null with fewer than five runs), in the figure's unit.",
            SPREAD,
        ),
    ]
    deviation_ratio: Annotated[
        float | None, share("Standard deviation of one run over the mean; null for a single run.", SPREAD)
    ]
    values: list[
        Annotated[
            float,
            unitless(
                "The figure of each run in the order in which they were made, in the figure's unit.", SPREAD
            ),
        ]
    ]


class ArmFound(msgspec.Struct, frozen=True, kw_only=True):
    """An arm and its runs that are finished; ``names`` are what ``mawl report`` calls them, in the order of
    ``run_ids``; ``answers`` (whether the load is carried), ``limits`` and ``validity`` with how many runs had
    each, and ``reasons`` why."""

    name: str
    title: str
    workload: str
    size: Annotated[
        int | None, count("Sessions, nodes or threads of a core, where the campaign varies them.", ORDER)
    ]
    runs: Annotated[int, count("Runs of the arm that are finished.", ORDER)]
    planned: Annotated[int, count("Runs of the arm that are made or to be made.", ORDER)]
    completed: Annotated[int, count("Finished runs of the arm in which every job went well.", ORDER)]
    run_ids: list[str]
    names: list[str]
    answers: list[tuple[str, int]]
    limits: list[tuple[str, int]]
    validity: list[tuple[str, int]]
    reasons: list[Reason]
    figures: list[FigureSpread]


class ScalingRow(msgspec.Struct, frozen=True, kw_only=True):
    """So many nodes beside the fewest: each has the whole workload, so throughput should grow with them
    and elapsed time stay.  Medians over runs; ``run_bytes_per_second`` has the throughput of each run.
    Nodes with one boot id are one of the ``machines``, the fewest of the runs."""

    nodes: Annotated[int, count("Nodes of the runs.", SCALING)]
    machines: Annotated[
        int | None, count("Machines of these nodes, by their boot ids: the fewest of the runs.", SCALING)
    ]
    runs: Annotated[int, count("Runs on so many nodes.", SCALING)]
    elapsed_seconds: Annotated[float | None, seconds("Median over runs of the elapsed time.", SCALING)]
    bytes_per_second: Annotated[
        float | None, rate("Median over runs of the application's mean throughput.", SCALING)
    ]
    speedup: Annotated[float | None, share("Throughput over that of the fewest nodes.", SCALING)]
    efficiency_ratio: Annotated[
        float | None, share("Speedup over how many times the nodes of the fewest.", SCALING)
    ]
    elapsed_ratio: Annotated[float | None, share("Elapsed time over that of the fewest nodes.", SCALING)]
    run_bytes_per_second: list[
        Annotated[float, rate("The application's mean throughput in each run.", SCALING)]
    ]


class CampaignFound(msgspec.Struct, frozen=True, kw_only=True):
    """A campaign as its folder says, and what was found; parts that its kind has not are None or empty.

    ``called`` is how a command finds it: by its name, or by the path of its folder."""

    name: str
    called: str
    kind: CampaignKind
    outcome: CampaignOutcome
    reason: str | None
    machine: CampaignMachine
    slots: list[Slot]
    arms: list[ArmFound]
    warm_up: Slot | None = None
    comparison: Comparison | None = None
    comparison_reason: str | None = None
    settings: list[ArmSettingFound] = []
    smt: list[SmtRow] = []
    smt_sentence: str | None = None
    scaling: list[ScalingRow] = []
    knee: Knee | None = None
    sessions: list[Tried] = []
    session_runs: list[SessionRun] = []
    remarks: list[str] = []

    @property
    def finished(self) -> int:
        return sum(slot.state == "finished" for slot in self.slots)


def campaign_figures(
    record: Campaign,
    runs: Mapping[int, ComparedRun],
    settings: Sequence[ArmSettingFound] = (),
    *,
    called: str | None = None,
) -> CampaignFound:
    """What a campaign's finished runs, by position, say together; ``settings`` are those of its arms.

    ``called`` is how a command finds the campaign (None: by its name).
    """
    by_arm = {arm.name: _of(record, arm.name, runs) for arm in record.arms}
    called = called or record.name
    names = _names(record, runs, called)
    arms = [_arm(record, name, own, names) for name, own in by_arm.items()]
    compares = record.kind in ("ab", "smt")
    comparison, reason = _comparison(record, by_arm, names) if compares else (None, None)
    modes = smt_rows(record, by_arm) if record.kind == "smt" else []
    said = session_runs(record, runs) if record.kind == "find-sessions" else []
    return CampaignFound(
        name=record.name,
        called=called,
        kind=record.kind,
        outcome=record.outcome,
        reason=record.reason,
        machine=record.machine,
        slots=record.slots,
        warm_up=record.warm_up,
        arms=arms,
        comparison=comparison,
        comparison_reason=reason,
        settings=list(settings),
        smt=modes,
        smt_sentence=smt_sentence(modes, comparison) if modes else None,
        scaling=_scaling(record, by_arm) if record.kind == "scaling" else [],
        knee=_knee(record, said),
        sessions=sessions_tried(said),
        session_runs=said,
        remarks=record.remarks,
    )


def _knee(record: Campaign, runs: Sequence[SessionRun]) -> Knee | None:
    if record.search is None:
        return None
    ruled = record.spec is not None and record.spec.workload == DEFAULT_WORKLOAD
    return knee_of(runs, record.search, mix_range(record.search.first) if ruled else None)


def session_runs(record: Campaign, runs: Mapping[int, ComparedRun]) -> list[SessionRun]:
    said = []
    for slot in record.slots:
        sessions = record.arm(slot.arm).size or 0
        if slot.state == "refused":
            said.append(refused_run(sessions, slot))
        elif slot.position in runs:
            said.append(session_run(sessions, runs[slot.position]))
    return said


def spread(title: str, name: str, unit: Unit, values: Sequence[float]) -> FigureSpread:
    """A figure over at least one run.

    The interval, of five runs and more, is Student's, of logarithms where all values are above 0.
    """
    mean = centre(values)
    assert mean is not None
    low = high = deviation = None
    if len(values) > 1:
        deviation = statistics.stdev(values) / mean if mean > 0 else None
    if len(values) >= FEWEST_RUNS:
        scaled = logs(values)
        used = scaled or list(values)
        error = statistics.stdev(used) / sqrt(len(used))
        reach = quantile(1 - LEVEL / 2, len(used) - 1) * error
        low, high = statistics.fmean(used) - reach, statistics.fmean(used) + reach
        if scaled:
            low, high = exp(low), exp(high)
    return FigureSpread(
        title=title,
        name=name,
        unit=unit,
        runs=len(values),
        median=statistics.median(values),
        lowest=min(values),
        highest=max(values),
        mean=mean,
        low=low,
        high=high,
        deviation_ratio=deviation,
        values=list(values),
    )


def side_of_arm(record: Campaign, arm: Arm, runs: Mapping[int, ComparedRun]) -> Side:
    """An arm's finished runs as a side.  Raises UsageError if it has none."""
    return _side(arm, _of(record, arm.name, runs))


def _side(arm: Arm, runs: Sequence[ComparedRun]) -> Side:
    return side_of(arm.title or arm.name, runs)


def _of(record: Campaign, arm: str, runs: Mapping[int, ComparedRun]) -> list[ComparedRun]:
    return [runs[slot.position] for slot in record.slots if slot.arm == arm and slot.position in runs]


def _names(record: Campaign, runs: Mapping[int, ComparedRun], called: str) -> dict[str, str]:
    """What ``mawl report`` calls each run, by its id: the campaign and the run's folder in it."""
    return {
        runs[slot.position].facts.run_id: f"{called}/{slot.folder}"
        for slot in record.slots
        if slot.position in runs
    }


def _called(runs: Sequence[ComparedRun], names: Mapping[str, str]) -> list[str]:
    return [names[run.facts.run_id] for run in runs]


def _named(side: SideFacts, runs: Sequence[ComparedRun], names: Mapping[str, str]) -> SideFacts:
    called = _called(runs, names)
    return msgspec.structs.replace(side, names=called, reasons=reasons_of(runs, called))


def _arm(record: Campaign, name: str, runs: Sequence[ComparedRun], names: Mapping[str, str]) -> ArmFound:
    arm, side = record.arm(name), Side(label=name, runs=tuple(runs))
    figures = [
        spread(figure.title, figure.path, figure.unit, values)
        for figure in FIGURES
        if (values := side.values(figure.path))
    ]
    return ArmFound(
        name=name,
        title=arm.title,
        workload=arm.workload,
        size=arm.size,
        runs=len(runs),
        planned=sum(slot.arm == name for slot in record.slots),
        completed=sum(run.facts.outcome == "completed" for run in runs),
        run_ids=[run.facts.run_id for run in runs],
        names=_called(runs, names),
        answers=Counter(str(run.summary.answer.answer) for run in runs).most_common(),
        limits=verdicts(side) if runs else [],
        validity=Counter(run.summary.validity.status for run in runs).most_common(),
        reasons=reasons_of(runs, _called(runs, names)),
        figures=figures,
    )


def _comparison(
    record: Campaign, by_arm: Mapping[str, Sequence[ComparedRun]], names: Mapping[str, str]
) -> tuple[Comparison | None, str | None]:
    try:
        first, *_, last = record.arms
        one, other = (_side(arm, by_arm[arm.name]) for arm in (first, last))
        comparison = compare(one, other, anyway=True)
        sides = (("reference", comparison.reference, one), ("candidate", comparison.candidate, other))
        named = {role: _named(facts, side.runs, names) for role, facts, side in sides}
        return msgspec.structs.replace(comparison, **named), None
    except UsageError as error:
        return None, str(error)


def _scaling(record: Campaign, by_arm: Mapping[str, Sequence[ComparedRun]]) -> list[ScalingRow]:
    rows: list[ScalingRow] = []
    for arm in sorted(record.arms, key=lambda arm: arm.size or 0):
        side = Side(label=arm.name, runs=tuple(by_arm[arm.name]))
        rates = side.values(THROUGHPUT)
        elapsed, rate = _median(side.values(ELAPSED)), _median(rates)
        first = rows[0] if rows else None
        nodes = arm.size or 0
        speedup = _over(rate, first.bytes_per_second) if first else None if rate is None else 1.0
        rows.append(
            ScalingRow(
                nodes=nodes,
                machines=nodes - max(map(_beside_another, side.runs)) if side.runs else None,
                runs=len(side.runs),
                elapsed_seconds=elapsed,
                bytes_per_second=rate,
                speedup=speedup,
                efficiency_ratio=_over(speedup, nodes / first.nodes if first else 1.0),
                elapsed_ratio=_over(elapsed, first.elapsed_seconds if first else elapsed),
                run_bytes_per_second=rates,
            )
        )
    return rows


def _beside_another(run: ComparedRun) -> int:
    """How many nodes of a run are on the machine of another one."""
    return len(run.facts.nodes) - len(run.facts.machines())


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _over(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None

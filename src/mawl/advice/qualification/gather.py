"""The evidence of a qualification, from its record and its run folders."""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.advice.answer import (
    LEAST_ACTIVE_SECONDS,
    PUBLISHABLE_SECONDS,
    Disturbance,
    preliminary_scale,
    raised_by,
    served_by_cache,
    short,
)
from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.advice.next_step import Lack
from mawl.advice.qualification.answer import FEWEST_RUNS, answer_from
from mawl.advice.qualification.evidence import (
    Evidence,
    NodesEvidence,
    Others,
    cautions_of,
    left_out,
    others_of,
    shows_nothing,
    small_mix,
    uncounted,
)
from mawl.advice.qualification.fits import (
    at_least,
    below_the_mix,
    changes_of,
    fits_of,
    ratio_of,
    with_the_measured,
)
from mawl.advice.qualification.machine import (
    IN_PLACE_OF_REACH,
    NO_PROBE,
    differing,
    is_all_behind_network,
    limit_of_runs,
    one_machine,
    storage_of,
    system_of,
    unasked_over_network,
    unseen_server,
)
from mawl.advice.validity.host import foreign_bytes, foreign_cpu_ratio
from mawl.base.errors import MawlError, UsageError
from mawl.base.units import format_plain
from mawl.figures.campaign import session_run
from mawl.figures.comparison.sides import compared_run
from mawl.figures.knee import SessionRun
from mawl.figures.missing import counted
from mawl.figures.statistics import Interval, interval_of
from mawl.figures.view import StoredView
from mawl.figures.waits import job_sums, outside_of, pooled
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import mix_range
from mawl.plan.spec import SCALES
from mawl.records.model.probe import Probe
from mawl.records.model.qualification import (
    MOST_MINUTES,
    Fits,
    Qualification,
    QualificationAnswer,
    QualificationChange,
    QualifyRun,
)
from mawl.records.model.summary.judgement import Guideline, Parts
from mawl.records.model.summary.summary import Judged
from mawl.records.model.thresholds import value_of
from mawl.records.spec.sources import NODE_OPTIONS, words_of
from mawl.records.store import Run, open_run
from mawl.records.store.side_files import probe_of
from mawl.simulation.forecast import Fitting, base_of, is_uncached

NOT_SIMULATED = "changes of a cluster are not simulated, because its storage was not probed"
NO_SEARCH = Fits(sessions=None, reason="on several nodes mawl does not search the number that fits")


class MeasuredRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was read, and its judged summary."""

    view: StoredView
    summary: Judged


def answer_of(record: Qualification, folder: Path, bounds: AnswerBounds) -> QualificationAnswer:
    """What the runs answer.  Raises MawlError where none was measured, or one is damaged."""
    return answer_from(evidence_of(record, folder, bounds))


def evidence_of(record: Qualification, folder: Path, bounds: AnswerBounds) -> Evidence:
    bounds = msgspec.structs.replace(bounds, answer_bound=record.asked.answer_bound)
    runs = [_read(folder, run, bounds) for run in record.runs_for("measured")]
    with_one = [_read(folder, run, bounds) for run in record.runs_for("one-node")]
    if not runs:
        raise MawlError(
            "no run was measured", where=str(folder), cure="continue it with mawl qualify --continue"
        )
    sessions = record.runs_for("measured")[0].sessions
    summaries, facts = [run.summary for run in runs], runs[0].view.facts
    found, delivered = _answers(runs, "slowdown"), _answers(runs, "delivered_cores")
    slowdown = interval_of(found) if len(found) == len(runs) else None
    sums = pooled([job_sums(run.view.jobs, run.view.facts) for run in runs])
    parts = sums.slowdown_parts
    missing: dict[str, str] = {}
    changes: list[QualificationChange] = []
    searched = [_read(folder, run, bounds) for run in record.runs_for("search")]
    active = _active_seconds([*runs, *searched])
    lowered, during = _first_lack(runs, active), storage_of(summaries, facts)
    rate = _median_guideline(summaries)
    energy = _energy_per_job(summaries, missing)
    if record.nodes:
        missing["changes"] = NOT_SIMULATED
    elif slowdown is not None:
        changes, missing["changes"] = _simulated_changes(runs, sessions, slowdown, bounds)
    tried, not_counted = _session_runs(record, folder, bounds)
    fits = fits_of(tried, NO_SEARCH if record.nodes else record.search_forecast)
    speed = 1.0 if record.choice is None else record.choice.core_speed
    return Evidence(
        sessions=sessions,
        answer_bound=bounds.answer_bound,
        guideline_bytes_per_second_per_core=bounds.warn_bytes_per_second_per_core,
        slowdown=slowdown,
        parts=None if parts is None else Parts(**parts),
        reference=facts.reference,
        outside=outside_of(facts),
        delivered_cores=interval_of(delivered) if len(delivered) == len(runs) else None,
        preliminary_scale=preliminary_scale(facts),
        runs=len(runs),
        active_seconds=active,
        failed=_failed_sentence(summaries),
        unknown=None if slowdown is not None else _why_unknown(summaries),
        raised=_raised([*runs, *with_one], parts, speed),
        foreign_bytes_known=all(_shows_foreign_bytes(run.summary) for run in (*runs, *with_one)),
        lowered=lowered,
        device_bytes_per_second_per_core=rate.bytes_per_second_per_core if rate else None,
        device_basis=(rate.basis or "demand") if rate else None,
        guideline_met=rate.met if rate else None,
        jobs_per_hour=_jobs_per_hour(summaries),
        joules_per_job=energy[0],
        energy_scope=energy[1],
        limit=limit_of_runs(summaries, slowdown, bounds.answer_bound, missing),
        fits=with_the_measured(fits, sessions, slowdown, bounds.answer_bound),
        changes=changes,
        cautions=[
            *cautions_of(summaries, facts, during, _readable_probe(runs[0])),
            *not_counted,
            *left_out(record.runs),
            *small_mix(sessions),
            *_node_cautions(record, runs[0]),
        ],
        others_calibration=_others_calibration(record, folder),
        others_measured=others_of(run.view for run in (*runs, *with_one)),
        system=system_of(facts),
        during=during,
        nodes=_nodes_evidence(record, with_one, found),
        again=command_again(record, 1.0),
        longer=command_again(
            record,
            more_time(
                active,
                needed_load(lowered),
                is_open=slowdown is None or slowdown.holds(bounds.answer_bound),
            ),
        ),
        missing=missing,
    )


def _answers(runs: Sequence[MeasuredRun], name: str) -> list[float]:
    """A figure of the answer (W) of each run that has it."""
    found = [getattr(run.summary.answer, name) for run in runs]
    return [float(value) for value in found if value is not None]


def _why_unknown(summaries: Sequence[Judged]) -> tuple[str, Lack]:
    reasons = [one.answer.reason for one in summaries if one.answer.slowdown is None and one.answer.reason]
    return next(iter(reasons), "the slowdown of a run is not known"), "reference"


def _raised(
    runs: Sequence[MeasuredRun], parts: dict[str, float] | None, core_speed: float
) -> list[Disturbance]:
    """What can have raised W in any of the runs, each kind once, in the words of the run in which others
    used most of the processors.

    The part that it may have made is that of all runs together.
    """
    in_turn = sorted(runs, key=lambda run: foreign_cpu_ratio(run.view) or 0.0)
    found = [one for run in in_turn for one in raised_by(run.view, parts, core_speed)]
    return list({one.kind: one for one in found}.values())


def _shows_foreign_bytes(summary: Judged) -> bool:
    return summary.io.foreign is not None and summary.io.foreign.ratio is not None


def _median(values: Sequence[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return statistics.median(known) if known else None


def command_again(record: Qualification, times: float) -> str:
    """The command that asks the same with so many times the minutes, in steps of five where it is more.

    With more time it asks for no fewer measured runs than an answer to publish needs.
    """
    asked = record.asked
    words = ["mawl", "qualify"]
    for role, places in asked.roles.items():
        words += [f"--{role}", *places]
    if asked.sessions is not None:
        words += ["--sessions", str(asked.sessions)]
    if asked.repeat is not None and (times == 1.0 or asked.repeat >= FEWEST_RUNS):
        words += ["--repeat", str(asked.repeat)]
    if asked.scale is not None:
        words += ["--scale", format_plain(asked.scale, 6)]
    if asked.volume_order != "rotation":
        words += ["--volume-order", asked.volume_order]
    words += [] if asked.nodes is None else words_of(asked.nodes, NODE_OPTIONS)
    more = min(5 * math.ceil(asked.minutes * times / 5), MOST_MINUTES)
    minutes = asked.minutes if times == 1.0 else more
    return shlex.join([*words, "--minutes", f"{minutes:g}"])


def needed_load(lack: tuple[str, Lack] | None) -> float:
    """Seconds of load that the next answer needs: a minute if this one had less, else those to publish."""
    return LEAST_ACTIVE_SECONDS if lack is not None and lack[1] == "duration" else PUBLISHABLE_SECONDS


def more_time(active_seconds: float, needed_seconds: float, *, is_open: bool) -> float:
    """The factor for the minutes with which the load lasts for ``needed_seconds``: its share stays or grows.

    An answer that ``is_open`` also needs more runs.
    """
    least = value_of("qualification.more_time_ratio")
    ratio = needed_seconds / active_seconds if active_seconds else least
    return max(ratio, least) if is_open or ratio <= 1.0 else ratio


def _read(folder: Path, run: QualifyRun, bounds: AnswerBounds) -> MeasuredRun:
    view = StoredView(open_run(folder / run.folder))
    if view.probe is None:  # one probe, before the runs, is that of all of them
        view.probe = probe_of(folder)
    return MeasuredRun(view=view, summary=judged(view, bounds))


def _others_calibration(record: Qualification, folder: Path) -> Others:
    wanted = record.runs_for("calibration")
    try:
        return others_of(StoredView(open_run(folder / run.folder)) for run in wanted)
    except MawlError as error:
        return Others(reason=f"the calibration cannot be read: {error}")


def _nodes_evidence(
    record: Qualification, runs: Sequence[MeasuredRun], every: Sequence[float]
) -> NodesEvidence | None:
    if not record.nodes:
        return None
    found = _answers(runs, "slowdown")
    summaries = [run.summary for run in runs]
    shared = one_machine(record.nodes)
    return NodesEvidence(
        names=[node.name for node in record.nodes],
        runs=len(runs),
        one=interval_of(found),
        ratio=ratio_of(every, found),
        one_jobs_per_hour=_jobs_per_hour(summaries),
        failed=_failed_sentence(summaries),
        shared_machine=shared[0].rstrip(".") if shared else None,
    )


def _node_cautions(record: Qualification, run: MeasuredRun) -> list[str]:
    if not record.nodes:
        return []
    return [
        *one_machine(record.nodes),
        *differing(record.nodes),
        *unseen_server(run.view.facts),
        *([IN_PLACE_OF_REACH] if _is_storage_over_network(run) else []),
        f"{NO_PROBE}.",
    ]


def _active_seconds(runs: Sequence[MeasuredRun]) -> float:
    """Seconds that count for the storage: in sum where no page cache defers writes, else the longest."""
    seconds = [run.summary.time.active_seconds or 0.0 for run in runs]
    return sum(seconds) if all(is_uncached(run.view.facts) for run in runs) else max(seconds)


def _first_lack(runs: Sequence[MeasuredRun], active_seconds: float) -> tuple[str, Lack] | None:
    return next((why for run in runs if (why := _why_not_asked(run)) is not None), None) or short(
        active_seconds
    )


def _readable_probe(run: MeasuredRun) -> Probe | None:
    """What the storage can do; None if it was not probed or the probe cannot be read."""
    return None if isinstance(run.view.probe, str) else run.view.probe


def _why_not_asked(run: MeasuredRun) -> tuple[str, Lack] | None:
    """Why a run did not ask its storage; that behind the networks of nodes is seen there, not at devices."""
    why = served_by_cache(run.summary)
    if why is None or why[1] != "reach" or not _is_storage_over_network(run):
        return why
    return unasked_over_network(run.summary)


def _is_storage_over_network(run: MeasuredRun) -> bool:
    return run.summary.cluster is not None and is_all_behind_network(run.view.facts)


def _failed_sentence(summaries: Sequence[Judged]) -> str | None:
    bad = _bad_jobs(summaries)
    return f"{bad} of {_planned_jobs(summaries)} jobs did not finish with a right answer" if bad else None


def _bad_jobs(summaries: Sequence[Judged]) -> int:
    return _planned_jobs(summaries) - sum(one.jobs.counted for one in summaries)


def _planned_jobs(summaries: Sequence[Judged]) -> int:
    return sum(max(one.jobs.total, one.workload.jobs) for one in summaries)


def _median_guideline(summaries: Sequence[Judged]) -> Guideline | None:
    """The rate per core of the run in the middle; None where no run has one."""
    blocks = [one.guideline for one in summaries]
    known = sorted(
        (one for one in blocks if one.bytes_per_second_per_core is not None),
        key=lambda one: one.bytes_per_second_per_core or 0.0,
    )
    return known[(len(known) - 1) // 2] if known else None


def _jobs_per_hour(summaries: Sequence[Judged]) -> float | None:
    rates = [
        one.jobs.counted / one.time.elapsed_seconds * 3600.0
        for one in summaries
        if one.time.elapsed_seconds and one.jobs.counted
    ]
    return statistics.median(rates) if rates else None


def _energy_per_job(summaries: Sequence[Judged], missing: dict[str, str]) -> tuple[float | None, str | None]:
    """Joules per job (median of the runs) and their scope; None if a run lacks them or scopes differ."""
    found = [(one.energy.joules_per_job, one.energy.scope) for one in summaries if one.energy is not None]
    joules = [value for value, _ in found if value is not None]
    scopes = {scope for _, scope in found}
    if not summaries or len(joules) < len(summaries) or len(scopes) != 1:
        told = (one.missing.get("energy") or one.missing.get("energy.joules_per_job") for one in summaries)
        missing["energy"] = next((why for why in told if why), "the scope of energy differs between the runs")
        return None, None
    return statistics.median(joules), scopes.pop()


def _session_runs(
    record: Qualification, folder: Path, bounds: AnswerBounds
) -> tuple[list[SessionRun], list[str]]:
    """What each measured run and each run of the search says; a number that was refused is too many.

    Then a caution on runs that say nothing, because other work may have made them too slow.
    """
    found, unclear = [], []
    for run in record.runs:
        if run.purpose not in ("measured", "search"):
            continue
        if run.state == "refused":
            reasons = [run.reason or "it was refused"]
            found.append(SessionRun(sessions=run.sessions, verdict="refused", reasons=reasons))
        elif run.state == "finished":
            read = _read(folder, run, bounds)
            try:
                said = session_run(run.sessions, compared_run(read.view, read.summary))
            except MawlError:
                continue  # no job of it has a slowdown: it says nothing of how many are too many
            if shows_nothing(run, said, _bad_jobs([read.summary])):
                unclear += [run] if run.purpose == "search" else []  # the answer speaks of the measured ones
            else:
                found.append(said)
    return found, uncounted(unclear)


def _simulated_changes(
    runs: Sequence[MeasuredRun], sessions: int, slowdown: Interval, bounds: AnswerBounds
) -> tuple[list[QualificationChange], str]:
    """Single changes, simulated from the run in the middle; else why there are none."""
    ordered = sorted(runs, key=lambda run: run.summary.answer.slowdown or 0.0)
    middle = ordered[(len(ordered) - 1) // 2]
    if (others := foreign_bytes(middle.summary)) is not None:
        return [], others
    try:
        probe = _readable_probe(middle)
        base = base_of(middle.view, middle.summary, probe=probe)
        fitting = Fitting(
            base=base, sessions=sessions, measured=slowdown.middle, **mix_range(sessions)._asdict()
        )
        return changes_of(fitting, bounds.answer_bound), "no single change was found that would help"
    except UsageError as error:
        return [], str(error)


def forecast_of(folders: Sequence[Path], probe: Probe | None, sessions: int, answer_bound: float) -> Fits:
    """The most sessions whose simulated slowdown stays within the bound, from the middle measured run."""
    found: list[tuple[float, Path]] = []
    for folder in folders:
        value = judged(StoredView(open_run(folder))).answer.slowdown
        if value is not None:
            found.append((value, folder))
    if not found:
        return Fits(sessions=None, reason="the slowdown of no run is known")
    measured, folder = sorted(found)[(len(found) - 1) // 2]
    stored = open_run(folder)
    view = StoredView(stored)
    base = base_of(view, judged(view), probe=probe)
    mix = mix_range(sessions)
    fit = Fitting(base=base, sessions=sessions, measured=measured, **mix._asdict())
    low = fit.most_sessions(base.own, answer_bound)
    if low is None:
        return below_the_mix("forecast", mix)
    spread = value_of("qualification.forecast_spread_ratio") * low
    least = max(round(low - spread), mix.fewest)
    if low == mix.most:
        return at_least(least, "forecast", mix)
    return Fits(sessions=low, low=least, high=min(max(round(low + spread), low + 1), mix.most))


def core_speed_of(calibration: Run) -> float:
    """Reference seconds of the programs of a calibration over the CPU seconds that they took there."""
    jobs = [job for job in counted(calibration.job_records()) if job.usage.cpu_seconds]
    reference = sum(CATALOGUE[job.program].cpu_seconds(SCALES["smoke"]) for job in jobs)
    measured = sum(job.usage.cpu_seconds or 0.0 for job in jobs)
    return reference / measured if measured else 1.0


def disturbance_of(view: StoredView) -> str | None:
    """What other work did during a run, where that was too much."""
    return "; ".join(one.reason for one in raised_by(view, None)) or None

"""The evidence of a qualification, from its record and its run folders."""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.advice.capacity.answers import LEAST_ACTIVE_SECONDS, Lack, short, unasked
from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.capacity.slowdown import Slowdowns, slowdowns
from mawl.advice.judge import judged
from mawl.advice.qualification.answer import FEWEST_RUNS, PUBLISHABLE_SECONDS, answer_from
from mawl.advice.qualification.changes import changes_of
from mawl.advice.qualification.evidence import Evidence, NodesEvidence
from mawl.advice.qualification.fits import (
    MedianEstimate,
    estimate,
    fewest_alone,
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
    processors_active_ratio,
    storage_of,
    system_of,
    unasked_over_network,
    unseen_server,
)
from mawl.advice.qualification.other_work import Others, left_out, others_of, shows_nothing, uncounted
from mawl.advice.qualification.sentence import cautions_of, faster_than_alone, small_mix
from mawl.base.errors import MawlError, UsageError
from mawl.figures.campaign.knee import SessionRun
from mawl.figures.campaign.results import session_run
from mawl.figures.comparison.sides import compared_run
from mawl.figures.view import StoredView
from mawl.plan.mix import mix_range
from mawl.records.model.probe import Probe
from mawl.records.model.qualification import (
    MOST_MINUTES,
    Fits,
    Qualification,
    QualificationAnswer,
    QualificationChange,
    QualifyRun,
)
from mawl.records.model.summary.judgement import Guideline
from mawl.records.model.summary.summary import Judged
from mawl.records.model.thresholds import value_of
from mawl.records.spec.sources import NODE_OPTIONS, words_of
from mawl.records.store import open_run
from mawl.records.store.side_files import probe_of
from mawl.simulation.changes import system_for
from mawl.simulation.forecast import Fitting, base_of, is_uncached

NOT_SIMULATED = "changes of a cluster are not simulated, because its storage was not probed"
NO_SEARCH = Fits(sessions=None, reason="on several nodes mawl does not search the number that fits")


class MeasuredRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was read, and its judged summary."""

    view: StoredView
    summary: Judged


def answer_of(record: Qualification, folder: Path, bounds: CapacityBounds) -> QualificationAnswer:
    """What the runs answer.  Raises MawlError where none was measured, or one is damaged."""
    return answer_from(evidence_of(record, folder, bounds))


def evidence_of(record: Qualification, folder: Path, bounds: CapacityBounds) -> Evidence:
    bounds = msgspec.structs.replace(bounds, most_slowdown=record.asked.most_slowdown)
    runs = [_read(folder, run, bounds) for run in record.runs_for("measured")]
    with_one = [_read(folder, run, bounds) for run in record.runs_for("one-node")]
    if not runs:
        raise MawlError(
            "no run was measured", where=str(folder), cure="continue it with mawl qualify --continue"
        )
    sessions = record.runs_for("measured")[0].sessions
    summaries = [run.summary for run in runs]
    found = [slowdowns(run.view.jobs, run.view.facts.alone) for run in runs]
    whole, compute, storage = (estimate(found, part) for part in ("whole", "compute", "storage"))
    missing = {} if whole is None or compute is not None else {"slowdown": _why_no_parts()}
    changes: list[QualificationChange] = []
    lack, during = _first_lack(runs), storage_of(summaries, runs[0].view.facts)
    rate = _median_guideline(summaries)
    energy = _energy_per_job(summaries, missing)
    if record.nodes:
        missing["changes"] = NOT_SIMULATED
    elif whole is not None:
        changes, missing["changes"] = _simulated_changes(runs, sessions, whole, bounds)
    tried, not_counted = _session_runs(record, folder, bounds)
    fits = fits_of(tried, NO_SEARCH if record.nodes else record.search_forecast)
    return Evidence(
        sessions=sessions,
        most_slowdown=bounds.most_slowdown,
        guideline_bytes_per_second_per_core=bounds.warn_bytes_per_second_per_core,
        whole=whole,
        compute=compute,
        storage=storage,
        runs=len(runs),
        runs_alone=fewest_alone(found),
        active_seconds=_active_seconds(runs),
        failed=_failed_sentence(summaries),
        lack=lack,
        device_bytes_per_second_per_core=rate.bytes_per_second_per_core if rate else None,
        device_basis=(rate.basis or "demand") if rate else None,
        guideline_met=rate.met if rate else None,
        jobs_per_hour=_jobs_per_hour(summaries),
        joules_per_job=energy[0],
        energy_scope=energy[1],
        limit=limit_of_runs(summaries, runs[0].view.facts),
        processors_active_ratio=processors_active_ratio(summaries),
        fits=with_the_measured(fits, sessions, whole, bounds.most_slowdown),
        changes=changes,
        cautions=[
            *faster_than_alone(whole),
            *cautions_of(summaries, runs[0].view.facts, during, _readable_probe(runs[0])),
            *not_counted,
            *left_out(record.runs),
            *small_mix(sessions),
            *_node_cautions(record, runs[0]),
        ],
        others_alone=_others_alone(record, folder, runs),
        others_measured=others_of(run.view for run in (*runs, *with_one)),
        system=system_of(runs[0].view.facts),
        during=during,
        nodes=_nodes_evidence(record, with_one, found),
        again=command_again(record, 1.0),
        longer=command_again(
            record, more_time(_active_seconds(runs), record.asked.minutes, needed_load(lack))
        ),
        missing=missing,
    )


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
        words += ["--scale", f"{asked.scale:g}"]
    if asked.volume_order != "rotation":
        words += ["--volume-order", asked.volume_order]
    words += [] if asked.nodes is None else words_of(asked.nodes, NODE_OPTIONS)
    more = min(5 * math.ceil(asked.minutes * times / 5), MOST_MINUTES)
    minutes = asked.minutes if times == 1.0 else more
    return shlex.join([*words, "--minutes", f"{minutes:g}"])


def needed_load(lack: tuple[str, Lack] | None) -> float:
    """Seconds of load that the next answer needs: a minute if this one had less, else those to publish."""
    return LEAST_ACTIVE_SECONDS if lack is not None and lack[1] == "duration" else PUBLISHABLE_SECONDS


def more_time(active_seconds: float, minutes: float, needed_seconds: float) -> float:
    """The factor for ``minutes`` with which the load lasts for ``needed_seconds``.

    The load has the same share of the minutes as in this answer, or less: with more minutes mawl also runs
    proofs.
    """
    least, given_seconds = value_of("qualification.more_time_ratio"), 60 * minutes
    ratio = min(active_seconds / given_seconds, value_of("qualification.load_ratio"))
    return max(least, needed_seconds / (ratio * given_seconds)) if ratio > 0.0 else least


def _read(folder: Path, run: QualifyRun, bounds: CapacityBounds) -> MeasuredRun:
    view = StoredView(open_run(folder / run.folder))
    if view.probe is None:  # one probe, before the runs, is that of all of them
        view.probe = probe_of(folder)
    return MeasuredRun(view=view, summary=judged(view, bounds))


def _others_alone(record: Qualification, folder: Path, runs: Sequence[MeasuredRun]) -> Others:
    used = {one.run_id for run in runs for alone in run.view.facts.alone for one in alone.runs}
    wanted = [run for run in record.runs if run.run_id in used and run.purpose in ("calibration", "alone")]
    try:
        return others_of(StoredView(open_run(folder / run.folder)) for run in wanted)
    except MawlError as error:
        return Others(reason=f"a run of the times alone cannot be read: {error}")


def _nodes_evidence(
    record: Qualification, runs: Sequence[MeasuredRun], every: Sequence[Slowdowns]
) -> NodesEvidence | None:
    if not record.nodes:
        return None
    found = [slowdowns(run.view.jobs, run.view.facts.alone) for run in runs]
    summaries = [run.summary for run in runs]
    shared = one_machine(record.nodes)
    return NodesEvidence(
        names=[node.name for node in record.nodes],
        runs=len(runs),
        one=estimate(found, "whole"),
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


def _why_no_parts() -> str:
    return "where the time of the jobs went is not known in the mix and alone"


def _active_seconds(runs: Sequence[MeasuredRun]) -> float:
    """Seconds that count for the storage: in sum where no page cache defers writes, else the longest."""
    seconds = [run.summary.time.active_seconds or 0.0 for run in runs]
    return sum(seconds) if all(is_uncached(run.view.facts) for run in runs) else max(seconds)


def _first_lack(runs: Sequence[MeasuredRun]) -> tuple[str, Lack] | None:
    return next((why for run in runs if (why := _why_not_asked(run)) is not None), None) or short(
        _active_seconds(runs)
    )


def _readable_probe(run: MeasuredRun) -> Probe | None:
    """What the storage can do; None if it was not probed or the probe cannot be read."""
    return None if isinstance(run.view.probe, str) else run.view.probe


def _why_not_asked(run: MeasuredRun) -> tuple[str, Lack] | None:
    """Why a run did not ask its storage; that behind the networks of nodes is seen there, not at devices."""
    why = unasked(run.summary)
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
    blocks = [one.capacity.guideline for one in summaries]
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
    record: Qualification, folder: Path, bounds: CapacityBounds
) -> tuple[list[SessionRun], list[str]]:
    """What each measured run and each run of the search says; a number that was refused is too many.

    Then a caution for each run that says nothing, because other work may have made it too slow.
    """
    found, cautions = [], []
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
                cautions.append(uncounted(run))
            else:
                found.append(said)
    return found, list(dict.fromkeys(cautions))


def _simulated_changes(
    runs: Sequence[MeasuredRun], sessions: int, whole: MedianEstimate, bounds: CapacityBounds
) -> tuple[list[QualificationChange], str]:
    """Single changes, simulated from the run in the middle; else why there are none."""
    ordered = sorted(runs, key=lambda run: run.summary.capacity.slowdown.median or 0.0)
    middle = ordered[(len(ordered) - 1) // 2]
    others = unasked(middle.summary)
    if others is not None and others[1] == "others":
        return [], others[0]
    alone = {one.program: one.real_time_seconds for one in middle.view.facts.alone}
    try:
        probe = _readable_probe(middle)
        base = base_of(middle.view, middle.summary, system_for(middle.view.facts, probe))
        allowed = mix_range(sessions)._asdict()
        fitting = Fitting(base=base, alone=alone, sessions=sessions, measured=whole.median, **allowed)
        return changes_of(fitting, bounds.most_slowdown), "no single change was found that would help"
    except UsageError as error:
        return [], str(error)

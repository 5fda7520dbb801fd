"""What an answer rests on: figures over all measured runs, None with a reason if not known; other work.

Also what it says to a reader: its sentence, the one thing to do next, and cautions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Literal

import msgspec

from mawl.advice.answer import WORDS, Decision, Disturbance, times_words
from mawl.advice.limit.verdict import limit_sentence, shown_causes
from mawl.advice.next_step import Lack
from mawl.advice.validity.host import MOST_FOREIGN_RATIO, foreign_cpu_ratio
from mawl.base.units import counted_noun, format_percent, format_seconds
from mawl.figures.knee import SessionRun
from mawl.figures.others import other_programs_of
from mawl.figures.statistics import Interval
from mawl.figures.view import RunView
from mawl.importers.formats.text import one_line
from mawl.plan.mix import FEWEST_FULL_SESSIONS, mix_range
from mawl.records.model.node import notable
from mawl.records.model.probe import Probe
from mawl.records.model.qualification import (
    AnswerLimit,
    AnswerNodes,
    AnswerStorage,
    AnswerSystem,
    Fits,
    QualificationChange,
    QualifyRun,
)
from mawl.records.model.run import Reference, RunFacts
from mawl.records.model.summary.judgement import Parts
from mawl.records.model.summary.summary import Judged
from mawl.records.model.thresholds import value_of


class Others(msgspec.Struct, frozen=True, kw_only=True):
    """The share in the busiest run, None with ``reason``; ``names`` are the processes that used most."""

    ratio: float | None = None
    reason: str = "no run of this kind was read"
    names: tuple[str, ...] = ()

    @property
    def busy(self) -> bool:
        return self.ratio is not None and self.ratio > MOST_FOREIGN_RATIO


def others_of(views: Iterable[RunView]) -> Others:
    """Of the run in which others used most."""
    found = Others()
    for view in views:
        ratio = foreign_cpu_ratio(view)
        if ratio is not None and (found.ratio is None or ratio > found.ratio):
            programs = notable(other_programs_of(view.facts)[0])
            found = Others(ratio=ratio, names=tuple(f"{one.name}, pid {one.pid}" for one in programs))
        elif found.ratio is None:
            found = Others(reason=view.why_not_drawn or "the samples do not say who used the processors")
    return found


def shows_nothing(run: QualifyRun, found: SessionRun, bad_jobs: int) -> bool:
    """Whether a run is too slow and other work may be the reason: then its sessions may still fit.

    A run that is fast enough beside other work shows that they fit.  A failed job shows that they do not.
    """
    return found.verdict == "too many" and not bad_jobs and run.disturbance is not None


def uncounted(runs: Sequence[QualifyRun]) -> list[str]:
    """A caution that runs do not count for the number that fits, and why; empty where all count."""
    numbers = " and ".join(counted_noun(one, "session") for one in sorted({run.sessions for run in runs}))
    return _not_counted(runs, f"with {numbers}", " for the number that fits")


def left_out(runs: Iterable[QualifyRun]) -> list[str]:
    """The same of further runs that are left out."""
    found = [run for run in runs if run.state == "left out"]
    return _not_counted(found, "beyond the planned ones")


def _not_counted(runs: Sequence[QualifyRun], which: str, for_what: str = "") -> list[str]:
    if not runs:
        return []
    do = "does" if len(runs) == 1 else "do"
    worst = max(runs, key=lambda run: run.others_cpu_ratio or 0.0)
    return [f"{counted_noun(len(runs), 'run')} {which} {do} not count{for_what}: {worst.disturbance}."]


class NodesEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Of several nodes what the first of ``names`` did alone, in ``runs`` runs.

    ``ratio`` is the slowdown of all nodes over that of one, ``failed`` says which jobs of one node failed,
    ``shared_machine`` which nodes are one machine.
    """

    names: list[str]
    runs: int
    one: Interval | None
    ratio: Interval | None
    one_jobs_per_hour: float | None = None
    failed: str | None = None
    shared_machine: str | None = None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """``failed`` says which jobs failed, if any did; ``raised`` is what can only have raised W, each kind
    once, ``lowered`` what can only have lowered it, ``unknown`` why it is not known.
    ``foreign_bytes_known`` says whether each run shows what others moved at the devices of the roles.

    ``active_seconds`` are those that count for the storage: without a page cache of all runs of the mix, also
    with other numbers of sessions, else of the longest.  ``limit`` is the verdict of the runs.  ``again`` is
    the command that asks the same, ``longer`` with more time.
    Where there are ``nodes``, the sessions are those of each, and all other figures of all together.
    """

    sessions: int
    answer_bound: float
    guideline_bytes_per_second_per_core: float
    slowdown: Interval | None
    parts: Parts | None = None
    reference: Reference | None = None
    outside: list[str] = []
    delivered_cores: Interval | None = None
    preliminary_scale: str | None = None
    runs: int
    active_seconds: float
    failed: str | None = None
    unknown: tuple[str, Lack] | None = None
    raised: list[Disturbance] = []
    foreign_bytes_known: bool
    lowered: tuple[str, Lack] | None = None
    device_bytes_per_second_per_core: float | None = None
    device_basis: Literal["probe", "run", "demand"] | None = None
    guideline_met: bool | None = None
    jobs_per_hour: float | None = None
    joules_per_job: float | None = None
    energy_scope: str | None = None
    limit: AnswerLimit | None = None
    fits: Fits
    changes: list[QualificationChange] = []
    cautions: list[str] = []
    others_calibration: Others = Others()
    others_measured: Others = Others()
    system: AnswerSystem | None = None
    during: list[AnswerStorage] = []
    nodes: NodesEvidence | None = None
    again: str
    longer: str
    missing: dict[str, str] = {}


MOST_WORDS = 60
"""Of the answer's sentence; a longer one leaves out the best change, then one node: both have rows."""

NODES_WORDS = {
    "nodes": "The nodes limit, not the shared storage",
    "shared storage": "The shared storage or its network limits, not the nodes",
}
"""Where one of both limits; in all other cases the row of the nodes says why."""

NODES_STEPS = {
    "nodes": "run fewer sessions on each node (--sessions), or give each node more of what limits it",
    "shared storage": "give the nodes faster shared storage or a faster network to it",
}


def sentence_of(
    evidence: Evidence, decision: Decision, preliminary: Sequence[str], nodes: AnswerNodes | None = None
) -> str:
    """At most ``MOST_WORDS``; YES or NO only where the bound lies outside the range.

    ``preliminary`` is what the answer lacks to be published.
    """
    word = WORDS[decision.answer]
    head = word + (", preliminary" if preliminary and decision.answer != "not known" else "")
    parts, spare = [f"{head}: {_slowdown_words(evidence, decision)}."], []
    if nodes is not None and nodes.one.slowdown is not None:
        spare.append(f"With one node: {times_words(nodes.one.slowdown, evidence.answer_bound)} times.")
        parts += spare
    limit = evidence.limit
    if limit is not None and limit.costs and decision.lack != "others":
        said = limit_sentence(limit)
        parts.append(f"{said[0].upper()}{said[1:]}.")
    if nodes is not None and nodes.limit in NODES_WORDS:
        parts.append(f"{NODES_WORDS[nodes.limit]}.")
    if evidence.fits.sessions is not None:
        parts.append(f"{fits_words(evidence.fits, a_node=nodes is not None)}.")
    best = best_change(evidence)
    if best is not None:
        more = "at least " if best.sessions == mix_range(evidence.sessions).most else ""
        change = f"{best.text[0].lower()}{best.text[1:]}"
        spare.append(f"With {change}, {more}{counted_noun(best.sessions or 0, 'session')} would fit.")
        parts.append(spare[-1])
    while spare and len(" ".join(parts).split()) > MOST_WORDS:
        parts.remove(spare.pop())
    return " ".join(parts)


def best_change(evidence: Evidence) -> QualificationChange | None:
    known = [change for change in evidence.changes if change.sessions is not None]
    best = max(known, key=lambda change: change.sessions or 0, default=None)
    now = evidence.fits.sessions or evidence.fits.high
    return best if best is not None and now is not None and (best.sessions or 0) > now else None


def fits_words(fits: Fits, *, a_node: bool = False) -> str:
    """``About 26 sessions fit (24 to 28)``, or of several nodes ``26 sessions a node``."""
    assert fits.sessions is not None, "it is known"
    sessions = f"{counted_noun(fits.sessions, 'session')}{' a node' if a_node else ''}"
    if fits.is_at_least:
        return f"At least {sessions} fit"
    fit = "fits" if fits.sessions == 1 else "fit"
    range_ = "" if fits.low is None or fits.high is None else f" ({fits.low} to {fits.high})"
    return f"About {sessions} {fit}{range_}"


def next_step_of(
    evidence: Evidence, decision: Decision, preliminary: Sequence[str], nodes: AnswerNodes | None = None
) -> str:
    """What to do next, in one sentence."""
    if decision.answer == "not known":
        return _step_to_know(evidence, decision)
    if evidence.failed is not None:
        return (
            "Fix the failed jobs (mawl report on each folder in runs names them with their reasons), then "
            f"run it again: {evidence.again}"
        )
    if preliminary:
        why = ", ".join(preliminary)
        return f"The answer is preliminary ({why}). Run it again with more time: {evidence.longer}"
    if decision.answer == "carried":
        return f"Keep this answer, and ask again after each change of the system: {evidence.again}"
    best = best_change(evidence)
    fewer = evidence.fits.sessions
    what = [] if fewer is None or fewer >= evidence.sessions else [f"run at most {fewer} sessions"]
    what += [] if best is None else [f"try this change: {best.text[0].lower()}{best.text[1:]}"]
    what += [NODES_STEPS[nodes.limit]] if nodes is not None and nodes.limit in NODES_STEPS else []
    said = ", or ".join(what or [_relief(evidence)])
    return f"{said[0].upper()}{said[1:]}; then prove it: {evidence.again}"


def _relief(evidence: Evidence) -> str:
    """What relieves the first cause, where no change was simulated."""
    cause = next(iter(shown_causes(evidence.limit)), None) if evidence.limit is not None else None
    if cause is None:
        return "relieve what limits"
    if cause.resource == "storage" and cause.roles:
        return f"put {' and '.join(cause.roles)} on faster storage"
    return {
        "storage": "use faster storage",
        "cpu": f"use {'faster' if cause.kind == 'speed' else 'more'} processors",
        "memory": "use more memory",
        "network": "use a faster network",
        "others": "end the other programs",
    }.get(cause.resource, "relieve what limits")


def _step_to_know(evidence: Evidence, decision: Decision) -> str:
    if decision.lack == "others" and evidence.others_measured.busy:
        names = one_line("; ".join(dict.fromkeys(evidence.others_measured.names)))
        named = f" ({names})" if names else ""
        return f"Stop the other work{named}, then run it again while the machine is idle: {evidence.again}"
    return {
        "others": f"End the other programs that use these devices, then run it again: {evidence.again}",
        "reach": "Use a file system on which mawl can keep files out of the page cache, then run it again: "
        f"{evidence.again}",
        "reference": "See why no program has a reference time (mawl report), then run it again: "
        f"{evidence.again}",
    }.get(decision.lack, f"Run it again with more time, for more and longer runs: {evidence.longer}")


def _slowdown_words(evidence: Evidence, decision: Decision) -> str:
    sessions, bound = _load_words(evidence), evidence.answer_bound
    found = evidence.slowdown
    if evidence.failed is not None:
        return f"with {sessions}, {evidence.failed}"
    if found is None:
        return f"how many times their reference time the jobs of {sessions} take"
    if decision.answer == "not known" and found.holds(bound) and not evidence.raised:
        range_ = f"{times_words(found.low, bound)} to {times_words(found.high, bound)}"
        return f"{_taken_words(sessions, range_)}; the bound {bound:.2f} lies between"
    said = f"{_taken_words(sessions, times_words(found.middle, bound))} (bound {bound:.2f})"
    return said if decision.reason is None else f"{said}, but {decision.reason}"


def _load_words(evidence: Evidence) -> str:
    """``20 sessions``, or ``20 sessions on each of 4 nodes``."""
    sessions = counted_noun(evidence.sessions, "session")
    if evidence.nodes is None:
        return sessions
    return f"{sessions} on each of {counted_noun(len(evidence.nodes.names), 'node')}"


def _taken_words(sessions: str, times: str) -> str:
    return f"{sessions} took {times} times mawl's reference time"


BURST_SECONDS = value_of("qualification.burst_seconds")
LONG_RUN = (
    f"A run of {format_seconds(BURST_SECONDS)} shows whether that is so: give --repeat 1 and more --minutes."
)
MOST_PROBE_RATIO = value_of("qualification.most_probe_ratio")


def cautions_of(
    summaries: Sequence[Judged],
    facts: RunFacts,
    during: Sequence[AnswerStorage] = (),
    probe: Probe | None = None,
) -> list[str]:
    """Sentences on caches of arrays, burst credits and memory; the gravest first, each once.

    ``during`` is what the storage of the roles did, and ``probe`` what it can do.
    """
    found = [
        *_falling_throughput(summaries),
        *_faster_than_probe(summaries, _requests_over_streams(during, probe)),
    ]
    if not found:
        found += _possible_burst(summaries, facts)
    return list(dict.fromkeys(found))


def small_mix(sessions: int) -> list[str]:
    """A mix of few sessions is another one than the published."""
    if sessions >= FEWEST_FULL_SESSIONS:
        return []
    alone = (
        []
        if sessions > 1
        else ["With 1 session no two jobs run at a time, so the answer says nothing of sharing."]
    )
    return [
        *alone,
        f"With fewer than {FEWEST_FULL_SESSIONS} sessions each program runs once: compare this answer only "
        "with answers of such a mix.",
    ]


def _falling_throughput(summaries: Sequence[Judged]) -> list[str]:
    drifting = [
        finding.sentence
        for summary in summaries
        for finding in summary.validity.findings
        if finding.rule == "drift"
    ]
    if not drifting:
        return []
    return [
        f"A cache of the array or a burst credit may have served the beginning: {drifting[0]}. {LONG_RUN}"
    ]


def _requests_over_streams(during: Sequence[AnswerStorage], probe: Probe | None) -> dict[str, float]:
    """By role: mean requests in flight at the devices, divided by the most streams of a probe's test."""
    streams: dict[str, int] = {}
    targets = probe.targets if probe is not None else []
    for target in targets:
        most = max((test.streams for test in target.tests if test.pattern == "sequential"), default=0)
        streams.update((role, most) for role in target.roles if most)
    return {
        role: one.queue_length / streams[role]
        for one in during
        for role in one.roles
        if one.queue_length is not None and role in streams
    }


def _faster_than_probe(summaries: Sequence[Judged], more_requests: Mapping[str, float]) -> list[str]:
    """The mix moved more than the probe could, so something faster than the device took part.

    Storage that takes long for each request but serves many at once moves more with more requests in flight
    (Little's law), so the rate may exceed the probe's by the ratio of the requests.
    """
    faster = [
        (used, f"{role} {direction}s")
        for role, direction, used in _used_ratios(summaries)
        if used > MOST_PROBE_RATIO * max(more_requests.get(role, 1.0), 1.0)
    ]
    if not faster:
        return []
    used, moved = max(faster, key=itemgetter(0))
    return [
        f"A cache of the array may have served {moved}: they reached {format_percent(used)} of what the "
        f"probe found. {LONG_RUN}"
    ]


def _used_ratios(summaries: Sequence[Judged]) -> Iterator[tuple[str, str, float]]:
    for summary in summaries:
        by_role = summary.storage.by_role if summary.storage is not None else {}
        for role, one in by_role.items():
            for direction, demand in (("read", one.read), ("write", one.write)):
                if demand is not None and demand.sustained_used_ratio is not None:
                    yield role, direction, demand.sustained_used_ratio


def _possible_burst(summaries: Sequence[Judged], facts: RunFacts) -> list[str]:
    longest = max((summary.time.active_seconds or 0.0 for summary in summaries), default=0.0)
    virtual = any(node.virtual not in (None, "none") for node in facts.nodes)
    elsewhere = any(volume.network or volume.transport is not None for volume in facts.volumes)
    if longest >= BURST_SECONDS or not (virtual or elsewhere):
        return []
    where = "behind a network" if elsewhere else "of a virtual machine"
    return [
        f"The storage is {where}: a cache or a burst credit that is not visible from here may have "
        f"served the whole load: the longest run took {format_seconds(longest)}. {LONG_RUN}"
    ]

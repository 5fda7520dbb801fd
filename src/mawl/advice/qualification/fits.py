"""How many sessions fit: proven by runs on both sides of the bound, else a forecast; changes.

Of several nodes also what one does alone beside all together, and whether nodes or shared storage limit
(docs/design/qualify-answer.md has the rule).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from math import exp, hypot, log

import msgspec

from mawl.advice.limit.verdict import cause_words, shown_causes
from mawl.advice.qualification.evidence import Evidence, NodesEvidence
from mawl.base.units import counted_noun, format_ratio
from mawl.figures.knee import Knee, SessionRun, knee_of, on_the_line
from mawl.figures.statistics import Interval, interval_of
from mawl.plan.mix import FEWEST_FULL_SESSIONS, MIX_CHANGES, SessionRange, mix_range
from mawl.records.model.campaign import SessionSearch
from mawl.records.model.qualification import (
    AnswerNodes,
    AnswerPart,
    AnswerRule,
    AnswerWord,
    Basis,
    Fits,
    NodesLimit,
    QualificationChange,
)
from mawl.records.model.summary.judgement import RESOURCES
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES
from mawl.simulation.error_range import TimeFigure, error_range_of
from mawl.simulation.forecast import (
    Base,
    Fitting,
    Question,
    blocked_in,
    changed_roles,
    doubled_systems,
    scenario_of,
)
from mawl.simulation.system import System

NORMAL = 1.96


def ratio_of(every: Sequence[float], one: Sequence[float]) -> Interval | None:
    """The slowdown of runs over that of others of the same jobs; None where either is not known."""
    above, below = interval_of(every), interval_of(one)
    if above is None or below is None:
        return None
    middle = above.middle / below.middle
    half = hypot(log(above.high / above.middle), log(below.high / below.middle))
    assumed = above.assumed or below.assumed
    return Interval(middle=middle, low=middle * exp(-half), high=middle * exp(half), assumed=assumed)


def fits_of(runs: Sequence[SessionRun], forecast: Fits | None) -> Fits:
    """The number and its interval; ``runs`` are the measured ones and those of the search.

    Runs of neighbouring numbers, one carried and one not, prove the number.  Numbers further apart bound
    the forecast.  All runs are of one mix (``mix_range``), and the answer is of that.
    """
    if not runs:
        return forecast or Fits(sessions=None, reason="no run was measured")
    mix = mix_range(runs[0].sessions)
    knee = knee_of(runs, SessionSearch(first=mix.fewest, most=mix.most, runs_each=1), mix)
    assert knee is not None and knee.sessions is not None, "there are runs"
    if knee.beyond == "" and _are_neighbours(runs, knee.sessions):
        return _fits_between_neighbours(knee, knee.sessions, mix)
    carried = 0 if knee.beyond == "fewer than" else knee.sessions
    above = [run.sessions for run in runs if run.verdict != "carried" and run.sessions > carried]
    return _fits_within_runs(runs, forecast, carried, min(above, default=mix.most + 1))


def _fits_between_neighbours(knee: Knee, sessions: int, mix: SessionRange) -> Fits:
    """The number with the interval of the knee; of too few runs, with one of the assumed spread."""
    if knee.low is not None:
        found = Fits(sessions=sessions, basis="measured", reason=knee.interval_reason)
        if knee.high is None:
            return found
        return msgspec.structs.replace(found, low=knee.low, high=knee.high)
    half = math.exp(NORMAL * value_of("qualification.assumed_run_spread_ratio"))
    return Fits(
        sessions=sessions,
        low=max(min(round(sessions / half), sessions - 1), mix.fewest),
        high=min(max(round(sessions * half), sessions + 1), mix.most),
        basis="measured",
        reason=f"the range is assumed: {knee.interval_reason}",
    )


def with_the_measured(fits: Fits, sessions: int, slowdown: Interval | None, answer_bound: float) -> Fits:
    """The number as far as it is known where the bound lies in the range of the measured slowdown.

    Then the runs show neither that so many sessions fit nor that they do not: a range gets them into it, and
    a number that says the one or the other becomes None.
    """
    is_open = slowdown is not None and slowdown.holds(answer_bound)
    if is_open and (fits.is_at_least or fits.says_fewer_than(sessions)):
        why = f"the bound lies in the range of the slowdown of {sessions} sessions"
        return Fits(sessions=None, basis=fits.basis, reason=why)
    if is_open and fits.low is not None and fits.high is not None:
        low = min(fits.low, max(sessions - 1, mix_range(sessions).fewest))
        return msgspec.structs.replace(fits, low=low, high=max(fits.high, sessions))
    return fits


def below_the_mix(basis: Basis, mix: SessionRange) -> Fits:
    """Where even the fewest sessions of the mix are too many: an upper bound, and no number."""
    why = "not even 1 session fits"
    if mix.fewest > 1:
        why = (
            f"fewer than {mix.fewest} sessions fit; fewer have another mix, each program once: qualify with "
            f"--sessions {mix.fewest - 1}"
        )
    return Fits(sessions=None, high=mix.fewest - 1, basis=basis, reason=why)


def at_least(sessions: int, basis: Basis, mix: SessionRange) -> Fits:
    """Where the most sessions of the mix may fit: more of them are another mix, or mawl runs no more."""
    why = f"mawl runs at most {mix.most} sessions"
    if mix.most < FEWEST_FULL_SESSIONS:
        why = f"{MIX_CHANGES}: for more, qualify with --sessions {FEWEST_FULL_SESSIONS}"
    return Fits(sessions=sessions, low=sessions, basis=basis, reason=why)


def _are_neighbours(runs: Sequence[SessionRun], sessions: int) -> bool:
    return any(run.sessions == sessions + 1 for run in runs)


def _fits_within_runs(runs: Sequence[SessionRun], forecast: Fits | None, carried: int, too_many: int) -> Fits:
    """What the runs leave of the forecast; where they leave no range of it, the runs alone give one.

    ``carried`` is the most sessions that a run carried, 0 if none did; ``too_many`` the fewest that one did
    not carry, more than a run may have if each did.
    """
    mix = mix_range(runs[0].sessions)
    if too_many <= mix.fewest:
        return below_the_mix("measured", mix)
    if carried == mix.most:
        return at_least(carried, "measured", mix)
    if forecast is None or forecast.sessions is None:
        unknown = forecast or Fits(sessions=None, reason="no forecast was made")
        if carried == 0:
            return unknown
        return _fits_on_line(runs, carried, too_many, unknown.reason or "no forecast was made")
    low, high = forecast.low or forecast.sessions, forecast.high or forecast.sessions
    if forecast.is_at_least:
        if too_many > mix.most:
            return at_least(max(carried, low), "forecast" if low > carried else "measured", mix)
        high = mix.most
    if high <= carried or low >= too_many - 1:
        refuted = f"the runs refute the forecast of {low} to {high} sessions"
        return _fits_on_line(runs, carried, too_many, refuted)
    sessions, low, high = (min(max(n, carried), too_many - 1) for n in (forecast.sessions, low, high))
    return Fits(sessions=sessions, low=low, high=high)


def _fits_on_line(runs: Sequence[SessionRun], carried: int, too_many: int, reason: str) -> Fits:
    """The number between runs that are no neighbours: on the line through their slowdowns, if known."""
    if carried == 0:
        why = f"fewer than {too_many} sessions fit; {reason}"
        return Fits(sessions=None, high=too_many - 1, basis="measured", reason=why)
    if too_many > mix_range(carried).most:
        return Fits(sessions=carried, low=carried, basis="measured", reason=reason)
    sessions = on_the_line(runs, carried, too_many) or carried
    return Fits(sessions=sessions, low=carried, high=too_many - 1, basis="measured", reason=reason)


LEAST_GAIN_RATIO = value_of("qualification.least_gain_ratio")
MOST_CHANGES = 3
SLOWDOWN: TimeFigure = "time.real_time_seconds"
"""Its error is that of a slowdown, since the reference time is the same on both sides."""
MORE_MEMORY = QualificationChange(
    text="Twice the memory",
    reason="memory is not simulated, because the model of the page cache takes too long for such a run",
)


def changes_of(fitting: Fitting, answer_bound: float) -> list[QualificationChange]:
    """The changes that help by at least a twentieth, the one with most sessions first.

    Memory is not simulated (docs/design/qualify-answer.md); where it limits, twice as much is named.
    """
    base, sessions = fitting.base, fitting.sessions
    before = fitting.slowdown(base.own, sessions)
    found = []
    real = base.summary.time.real_time_seconds or 0.0
    for text, system in _doubled_resources(base):
        gain = 1.0 - fitting.slowdown(system, sessions) / before
        if (roles := changed_roles(base.own, system)) and real:
            # Faster devices save no more than jobs were blocked in their roles.
            gain = min(gain, blocked_in(base, roles) / real)
        if gain >= LEAST_GAIN_RATIO:
            found.append(_change(text, system, gain, fitting, answer_bound))
    found.sort(key=lambda change: (-(change.sessions or 0), -(change.gain_ratio or 0.0)))
    limit = fitting.base.summary.limit
    by_memory = limit is not None and limit.is_of("memory")
    return [*([MORE_MEMORY] if by_memory else []), *found][:MOST_CHANGES]


def _change(
    text: str, system: System, gain: float, fitting: Fitting, answer_bound: float
) -> QualificationChange:
    """The range of slowdowns is that in which measured times lay where such forecasts were checked.

    It begins no lower than what fits now by the same simulation: a change only adds.
    """
    question = Question(system=system)
    error = error_range_of(fitting.base, question, scenario_of(fitting.base, question), SLOWDOWN)
    change = QualificationChange(
        text=text, sessions=fitting.most_sessions(system, answer_bound), gain_ratio=gain
    )
    few = f"even so, fewer than {fitting.fewest} sessions may fit"
    few += ", and fewer have another mix" if fitting.fewest > 1 else ""
    if isinstance(error, str):
        reason = error if change.sessions is not None else f"{few}; {error}"
        return msgspec.structs.replace(change, reason=reason)
    least = (
        fitting.most_sessions(system, answer_bound / error.high_ratio),
        fitting.most_sessions(fitting.base.own, answer_bound),
    )
    low = max((number for number in least if number and number <= (change.sessions or 0)), default=None)
    high = fitting.most_sessions(system, answer_bound / error.low_ratio)
    return msgspec.structs.replace(
        change,
        sessions_low=low,
        sessions_high=high,
        range_basis=error.basis,
        reason=few if low is None else None,
    )


def _doubled_resources(base: Base) -> Iterator[tuple[str, System]]:
    node = base.own.nodes[0]
    for name, system in doubled_systems(base.own):
        if name in base.unknown:
            continue
        roles = [role for role in ROLES if name in node.roles.get(role, ())]
        if name in ("cores", "core_speed"):
            yield {"cores": "Twice the processors", "core_speed": "Processors twice as fast"}[name], system
        elif roles:
            yield f"Twice the devices under {' and '.join(roles)}", system
        else:
            yield f"Twice the {name}", system


LEAST_RATIO = value_of("qualification.least_nodes_ratio")
OF_SHARED_STORAGE = ("storage", "network")
NO_RATIO = "the slowdown of the runs with one node, or with all, is not known"
NO_RATE = "no run with one node has a length and finished jobs"


def nodes_answer(evidence: Evidence, whole: AnswerWord) -> AnswerNodes | None:
    """The part of the answer about nodes; None for one machine."""
    nodes = evidence.nodes
    if nodes is None:
        return None
    limit, reason = limit_of_nodes(evidence, nodes, whole)
    one, every, ratio = nodes.one_jobs_per_hour, evidence.jobs_per_hour, nodes.ratio
    return AnswerNodes(
        names=nodes.names,
        node=nodes.names[0],
        runs=nodes.runs,
        one=_part_of_one_node(evidence, nodes),
        ratio=None if ratio is None else ratio.middle,
        ratio_low=None if ratio is None else ratio.low,
        ratio_high=None if ratio is None else ratio.high,
        limit=limit,
        reason=reason,
        one_jobs_per_hour=one,
        scaling_ratio=every / one / len(nodes.names) if one and every is not None else None,
    )


def limit_of_nodes(evidence: Evidence, nodes: NodesEvidence, whole: AnswerWord) -> tuple[NodesLimit, str]:
    failed = evidence.failed or nodes.failed or next((one.reason for one in evidence.raised), None)
    if failed is not None:
        return "not known", failed
    if whole == "carried":
        return "neither", f"all {counted_noun(len(nodes.names), 'node')} together carry the load"
    if whole == "not known":
        return "not known", "it is not known whether all nodes together carry the load"
    if nodes.shared_machine is not None:
        return "not known", nodes.shared_machine
    ratio = nodes.ratio
    if ratio is None:
        return "not known", NO_RATIO
    range_ = f"{format_ratio(ratio.low)} to {format_ratio(ratio.high)}"
    longer = f"jobs take {format_ratio(ratio.middle)} times as long with all nodes as with one ({range_})"
    if ratio.low <= LEAST_RATIO <= ratio.high:
        return "not known", f"{longer}, and the bound {format_ratio(LEAST_RATIO)} lies in that range"
    if ratio.high < LEAST_RATIO:
        return "nodes", f"one node alone already takes as long: {longer}"
    if evidence.limit is None:
        return "not known", f"{longer}, and what limits the runs with all nodes is not known"
    causes = shown_causes(evidence.limit)
    waits = next((cost for cost in causes if cost.resource in OF_SHARED_STORAGE), None)
    if waits is not None:
        carries = _word_of(nodes.one, evidence.answer_bound)
        alone = {"carried": "carries the load", "not carried": "does not carry the load either"}.get(
            carries, "is near the bound"
        )
        return (
            "shared storage",
            f"one node alone {alone}, and {longer}, waiting for {RESOURCES[waits.resource]}",
        )
    found = " and ".join(map(cause_words, causes))
    why = (
        f"what limits them is {found}, not the shared storage" if found else "no shared resource limits them"
    )
    return "neither", f"{longer}, but {why}"


def nodes_rules(evidence: Evidence) -> list[AnswerRule]:
    """Whether the other nodes slow a node down; nothing for one machine."""
    if evidence.nodes is None:
        return []
    ratio = evidence.nodes.ratio
    value, met = "not known", None
    if ratio is not None:
        value = (
            f"{format_ratio(ratio.middle)} times as long with all nodes as with one "
            f"({format_ratio(ratio.low)} to {format_ratio(ratio.high)})"
        )
        met = None if ratio.low <= LEAST_RATIO <= ratio.high else ratio.high < LEAST_RATIO
    bound = f"below {format_ratio(LEAST_RATIO)}, else nodes slow each other down; decides nothing"
    return [AnswerRule(name="nodes", value=value, bound=bound, met=met)]


def missing_of_nodes(nodes: AnswerNodes | None) -> dict[str, str]:
    """Why figures of the nodes are null."""
    if nodes is None:
        return {}
    slowdown = dict.fromkeys(("one.slowdown", "one.slowdown_low", "one.slowdown_high"), NO_RATIO)
    reasons = {
        **(slowdown if nodes.one.slowdown is None else {}),
        **({} if nodes.ratio is not None else dict.fromkeys(("ratio", "ratio_low", "ratio_high"), NO_RATIO)),
        **({} if nodes.one_jobs_per_hour is not None else {"one_jobs_per_hour": NO_RATE}),
        **({} if nodes.scaling_ratio is not None else {"scaling_ratio": NO_RATE}),
    }
    return {f"nodes.{field}": reason for field, reason in reasons.items()}


def _part_of_one_node(evidence: Evidence, nodes: NodesEvidence) -> AnswerPart:
    """One node alone; failed jobs are a no, and other work makes it not known, as for all."""
    found = nodes.one
    if nodes.failed is not None:
        return AnswerPart(answer="not carried", sentence=f"one node: not carried: {nodes.failed}")
    if found is None:
        return AnswerPart(answer="not known", sentence=f"one node: not known: {NO_RATIO}")
    word = "not known" if evidence.raised else _word_of(found, evidence.answer_bound)
    beside = " beside other work" if evidence.raised else ""
    figures = f"{format_ratio(found.middle)} times the reference time ({found.words()}){beside}"
    return AnswerPart(
        answer=word,
        sentence=f"one node: {word}: {figures}",
        slowdown=found.middle,
        slowdown_low=found.low,
        slowdown_high=found.high,
    )


def _word_of(found: Interval | None, bound: float) -> AnswerWord:
    if found is None or found.holds(bound):
        return "not known"
    return "carried" if found.high < bound else "not carried"

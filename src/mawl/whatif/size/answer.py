"""The answer of ``mawl size``; text, Markdown, JSON and the page are made from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mawl.base.errors import UsageError
from mawl.base.units import counted_noun, format_percent, format_seconds
from mawl.plan.mix import FEWEST_FULL_SESSIONS, MIX_CHANGES
from mawl.simulation.device_rates import is_assumed
from mawl.simulation.engine import SimulationOutcome, active_seconds
from mawl.simulation.error_range import (
    SAME_RATIO,
    TimeFigure,
    error_range_of,
    highest_probability,
    margin_for,
    probability_within,
)
from mawl.simulation.forecast import FittedFigure, Question, is_uncached, scenario_of
from mawl.simulation.measured_system import MEMORY_PATH
from mawl.simulation.system import System
from mawl.whatif.answer import OF_DERIVED_JOBS, phases_of
from mawl.whatif.size.candidates import (
    Candidate,
    Catalogue,
    UpgradeOffer,
    candidates_of,
    changes_of,
    upgraded,
)
from mawl.whatif.size.question import (
    ROOFLINE_ERROR,
    UNSEEN_ERROR,
    RooflineRule,
    SizeAnswer,
    SizedCandidate,
    SizedRun,
    SizedUpgrade,
    SizeQuestion,
    fitted_of,
    rule_of,
    window_of,
)

MEMORY = "memory"
LESS_CACHE = (
    "each node has less memory than that of the run, so its page cache keeps less, which mawl size does not "
    "forecast: size from a run with --cache none, or ask mawl simulate --set memory"
)
LESS_MEMORY = "each node has less memory than that of the run, so it is not known whether the jobs fit"
SAFE_PROBABILITY = 0.8
"""The least probability of the second pick, for buyers who want more than *more likely than not*."""


@dataclass(frozen=True, kw_only=True)
class _Errors:
    """Measured over forecast times of checked forecasts like this one.

    ``basis`` names the set of forecasts; ``reason`` says why there are no ratios.
    """

    ratios: Sequence[float] = ()
    basis: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Forecast:
    """What a system does with the asked sessions."""

    figure: float
    memory_bytes: float | None
    lacks_memory: bool
    limit: str
    limit_ratio: float | None
    fits: int | None
    more: bool
    errors: _Errors
    probability: float | None
    safe: int | None


class _Sizing:
    """One question about one run."""

    def __init__(self, start: SizedRun, question: SizeQuestion) -> None:
        self.start, self.question = start, question
        self.sessions = question.sessions or start.every_session
        self.safe = max(SAFE_PROBABILITY, question.probability)
        fitted, time = fitted_of(start, question)
        window = window_of(start, question)
        self.window = window is not None
        self.bound: float = question.answer_bound if window is None else window
        self.fitted: FittedFigure = fitted
        self.time: TimeFigure = time
        # The rule lets the work grow with the sessions, and below 5 it is the same for all of them.
        self.rule: RooflineRule | None = None
        if start.simulated.most >= FEWEST_FULL_SESSIONS:
            self.rule = rule_of(start.base, start.sessions, fitted.measured)
        own = start.base.own
        needed = _memory_at_once(self.fitted.outcome(own, start.sessions), start)
        self.memory_known = needed is not None and needed <= own.nodes[0].memory_bytes

    def per_node(self, nodes: int) -> int:
        return max(math.ceil(self.sessions / nodes), self.start.simulated.fewest)

    def check(self, candidate: Candidate) -> None:
        """Raises ``UsageError`` if its nodes get more sessions than are simulated."""
        sessions = self.per_node(candidate.nodes)
        if sessions > self.start.simulated.most:
            raise UsageError(
                f"--sessions {self.sessions}: candidate {candidate.offer.name} would get {sessions} on a "
                f"node, and at most {self.start.simulated.most} are simulated",
                why=MIX_CHANGES if self.start.simulated.most < FEWEST_FULL_SESSIONS else None,
                cure="ask for fewer sessions, or leave out this candidate or give it more nodes",
            )

    def forecast(self, system: System, nodes: int) -> _Forecast:
        sessions, bound = self.per_node(nodes), self.bound
        outcome = self.fitted.outcome(system, sessions)
        figure = self.fitted.figure_of(outcome)
        memory = self._memory(outcome)
        lacks_memory = _exceeds(memory, system)
        fits = self._most_sessions(system, bound)
        less = self._less_memory(system)
        errors = self._errors(system, sessions)
        if less is not None and not lacks_memory:
            errors = _Errors(reason=less)
        probability = None if errors.reason else probability_within(figure, bound, errors.ratios)
        safe = None if less is not None or (lacks_memory and fits is None) else self._safe(system)
        limit, limit_ratio = (MEMORY, None) if lacks_memory else _limit(outcome, sessions * nodes)
        return _Forecast(
            figure=figure,
            memory_bytes=memory,
            lacks_memory=lacks_memory,
            limit=limit,
            limit_ratio=limit_ratio,
            fits=None if fits is None else fits * nodes,
            more=fits == self.fitted.most,
            errors=errors,
            probability=0.0 if lacks_memory and probability is not None else probability,
            safe=None if safe is None else safe * nodes,
        )

    def _safe(self, system: System) -> int | None:
        """The most sessions of one node with the safe probability; None if too few forecasts were checked.

        The measured number of sessions has other checked forecasts than every other number.
        """
        sessions = self.start.sessions
        own, other = self._margin(system, sessions), self._margin(system, 2 * sessions)
        reached = own is not None and (self._most_sessions(system, self.bound / own) or 0) >= sessions
        if other is None:
            return sessions if reached else None
        return max(self._most_sessions(system, self.bound / other) or 0, sessions if reached else 0)

    def _margin(self, system: System, sessions: int) -> float | None:
        return margin_for(self.safe, self._errors(system, sessions).ratios)

    def _less_memory(self, system: System) -> str | None:
        """Why nothing is known of a system with less memory than the run; None where that changes nothing."""
        base = self.start.base
        less = system.nodes[0].memory_bytes / base.own.nodes[0].memory_bytes < 1.0 - SAME_RATIO
        if not less or is_assumed(base.own, MEMORY_PATH):
            return None
        if not is_uncached(base.facts):
            return LESS_CACHE
        return None if self.memory_known else LESS_MEMORY

    def _errors(self, system: System, sessions: int) -> _Errors:
        """Errors of the beds if such a forecast was compared there, otherwise of the papers' systems."""
        base = self.start.base
        question = Question(system=system, sessions=sessions, kept_reach=True)
        if self.start.doubt is not None:
            return _Errors(reason=self.start.doubt)
        found = error_range_of(base, question, scenario_of(base, question), self.time)
        if isinstance(found, str):
            return _Errors(reason=found)
        return _Errors(ratios=found.ratios, basis=found.basis)

    def _memory(self, outcome: SimulationOutcome) -> float | None:
        """What the jobs of a node need at once, in bytes; None if the run does not show it."""
        return _memory_at_once(outcome, self.start) if self.memory_known else None

    def _most_sessions(self, system: System, bound: float) -> int | None:
        """The most sessions of one node within the bound and the memory; None if the fewest exceed them."""
        high = self.fitted.most_sessions(system, bound)
        if high is None or not self._lacks_memory(system, high):
            return high
        low = self.start.simulated.fewest - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._lacks_memory(system, middle) else (middle, high)
        return low if low >= self.start.simulated.fewest else None

    def _lacks_memory(self, system: System, sessions: int) -> bool:
        return self.memory_known and _exceeds(self._memory(self.fitted.outcome(system, sessions)), system)

    def within(self, figure: float) -> bool:
        return figure <= self.bound


def size(start: SizedRun, question: SizeQuestion, catalogue: Catalogue) -> SizeAnswer:
    """Everything that was asked of the catalogue's candidates."""
    sizing = _Sizing(start, question)
    offered = candidates_of(catalogue, start.base)
    for one in offered:
        sizing.check(one)
    found = [_candidate(sizing, one) for one in offered]
    order = sorted(found, key=lambda one: _place(one, sizing))
    carrying = [one for one in order if one.carries]
    by_forecast = [one for one in found if sizing.within(one.figure) and one.limit != MEMORY]
    by_rule = [
        one
        for one in found
        if one.rule_figure is not None and sizing.within(one.rule_figure) and one.limit != MEMORY
    ]
    pick = carrying[0] if carrying else None
    safe = [one for one in carrying if (one.probability or 0.0) >= sizing.safe]
    forecast_pick = min(by_forecast, key=lambda one: one.price, default=None)
    target = pick or forecast_pick or min(found, key=lambda one: (one.limit == MEMORY, one.figure, one.price))
    base = start.base
    return SizeAnswer(
        run_id=base.facts.run_id,
        workload=base.facts.workload.name,
        catalogue=catalogue.where,
        currency=catalogue.file.currency,
        period=catalogue.file.period,
        sessions=sizing.sessions,
        bounded="elapsed_seconds" if sizing.window else "slowdown",
        bound=sizing.bound,
        measured=sizing.fitted.measured,
        measured_sessions=start.sessions,
        calibration_error_ratio=base.error_ratio,
        asked_probability=question.probability,
        pick=None if pick is None else pick.name,
        safe_probability=sizing.safe,
        safe_pick=safe[0].name if safe else None,
        forecast_pick=None if forecast_pick is None else forecast_pick.name,
        rule_pick=min(by_rule, key=lambda one: one.price).name if by_rule else None,
        candidates=order,
        upgraded=target.name if catalogue.file.upgrade else None,
        upgrades=_upgrades(sizing, target, offered, catalogue.file.upgrade),
        remarks=_remarks(order, sizing),
    )


def _place(candidate: SizedCandidate, sizing: _Sizing) -> tuple[bool, float, bool, float, str]:
    """Those that carry by price; then those of the highest probability; then those within the bound."""
    likely = 0.0 if candidate.carries else candidate.probability or 0.0
    return (
        not candidate.carries,
        -likely,
        candidate.limit == MEMORY or not sizing.within(candidate.figure),
        candidate.price,
        candidate.name,
    )


def _candidate(sizing: _Sizing, candidate: Candidate) -> SizedCandidate:
    made = sizing.forecast(candidate.system, candidate.nodes)
    rule, sessions = sizing.rule, sizing.per_node(candidate.nodes)
    reasons = [made.errors.reason] if made.errors.reason else []
    if not sizing.memory_known:
        reasons.append("memory: the run does not show that its jobs fit into its own memory at once")
    if made.lacks_memory and made.fits is None:
        reasons.append("fits: the jobs of one node need more memory at once than it has")
    elif made.fits is None:
        fewest = counted_noun(sizing.start.simulated.fewest, "session")
        reasons.append(f"fits: the forecast of {fewest} on a node is above the bound")
    asked = sizing.question.probability
    too_high = made.probability == highest_probability(made.errors.ratios) < asked
    is_known = made.probability is not None and not too_high
    if too_high:
        forecasts = len(made.errors.ratios)
        reasons.append(f"carries: {forecasts} checked forecasts cannot give a probability of {asked:g}")
    if made.errors.ratios and made.safe is None and not (made.lacks_memory and made.fits is None):
        reasons.append(f"fits_safe: no number is known to have a probability of {sizing.safe:g}")
    return SizedCandidate(
        name=candidate.offer.name,
        price=candidate.offer.price,
        nodes=candidate.nodes,
        carries=(made.probability or 0.0) >= asked if is_known else None,
        probability=made.probability,
        error_basis=made.errors.basis,
        forecasts=len(made.errors.ratios) or None,
        figure=made.figure,
        memory_bytes=made.memory_bytes,
        fits=made.fits,
        fits_safe=made.safe,
        more_may_fit=made.more,
        limit=made.limit,
        limit_ratio=made.limit_ratio,
        rule_figure=None if rule is None else rule.figure(candidate.system, sessions),
        rule_fits=None
        if rule is None
        else rule.most_sessions(candidate.system, sizing.bound) * candidate.nodes,
        taken=list(candidate.taken),
        reasons=reasons,
    )


def _upgrades(
    sizing: _Sizing, target: SizedCandidate, offered: Sequence[Candidate], upgrades: Sequence[UpgradeOffer]
) -> list[SizedUpgrade]:
    """The upgrades of one candidate, the one with the most sessions for its price first."""
    candidate = next(one for one in offered if one.offer.name == target.name)
    found = [
        _upgrade(sizing, target, candidate, upgrade)
        for upgrade in upgrades
        if not upgrade.candidates or target.name in upgrade.candidates
    ]
    return sorted(
        found, key=lambda one: (-(one.gained_sessions_per_price or 0.0), one.figure or math.inf, one.price)
    )


def _upgrade(
    sizing: _Sizing, target: SizedCandidate, candidate: Candidate, upgrade: UpgradeOffer
) -> SizedUpgrade:
    system = upgraded(candidate, changes_of(upgrade))
    if isinstance(system, str):
        return SizedUpgrade(
            name=upgrade.name,
            price=upgrade.price,
            figure=None,
            probability=None,
            fits=None,
            more_may_fit=False,
            gained_sessions=None,
            gained_sessions_per_price=None,
            reason=system,
        )
    made = sizing.forecast(system, candidate.nodes)
    gained: int | None = (made.fits or 0) - (target.fits or 0)
    reason = None if gained and gained > 0 else "no more sessions fit with it"
    if made.more and target.more_may_fit:
        gained, reason = None, f"the search ended at {made.fits} sessions, with it and without it"
    return SizedUpgrade(
        name=upgrade.name,
        price=upgrade.price,
        figure=made.figure,
        probability=made.probability,
        fits=made.fits,
        more_may_fit=made.more,
        gained_sessions=gained,
        gained_sessions_per_price=None if gained is None else gained / upgrade.price,
        reason=reason,
    )


def _memory_at_once(outcome: SimulationOutcome, start: SizedRun) -> float | None:
    """The most that jobs of one node need together, each its peak for as long as it runs; None: unknown."""
    needs = {name: job.memory_bytes for name, job in start.base.demand.jobs.items()}
    programs = {job.program: job.memory_bytes for job in start.base.demand.jobs.values()}
    changes: list[tuple[float, float]] = []
    for job in outcome.jobs:
        if job.group:
            continue
        need = needs.get(job.plan.job, programs.get(job.plan.program))
        if need is None:
            return None
        changes += [(job.started, need), (job.ended, -need)]
    most = now = 0.0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def _exceeds(memory: float | None, system: System) -> bool:
    return memory is not None and memory > system.nodes[0].memory_bytes


def _limit(outcome: SimulationOutcome, sessions: int) -> tuple[str, float | None]:
    """What most waiting is for in the active phase, and its share of the time; sessions of all nodes."""
    end = active_seconds(outcome, sessions)
    phase = phases_of({"active": outcome.recording.limits(0.0, end)})[0]
    return phase.limit, phase.shares.get(phase.limit)


def _remarks(candidates: Sequence[SizedCandidate], sizing: _Sizing) -> list[str]:
    remarks = []
    published = [one for one in candidates if one.error_basis == "published systems"]
    if published:
        remarks.append(
            f"the probability of {len(published)} of {counted_noun(len(candidates), 'candidate')} comes from "
            f"forecasts of the papers' systems. There the model is off by {format_percent(UNSEEN_ERROR)} "
            f"in the mean and the roofline by {format_percent(ROOFLINE_ERROR)}. Without the paper "
            "of the DL980 the roofline is nearer, so compare with the column roofline"
        )
    if sizing.start.doubt is not None:
        remarks.append(f"there is no probability: {sizing.start.doubt}")
    base = sizing.start.base
    active = base.summary.time.active_seconds
    if active is not None:
        remarks.append(f"the forecasts begin from one run, whose active phase took {format_seconds(active)}")
    if base.facts.derived:
        remarks.append(OF_DERIVED_JOBS)
    if not is_uncached(base.facts):
        remarks.append("mawl assumes that the page cache keeps what it kept in the run, whatever the memory")
    return remarks

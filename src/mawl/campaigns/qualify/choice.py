"""Chooses what a qualification runs: sessions, scale, cache mode, repeats, and the next number of sessions.

Every choice depends only on the forecast and on the runs made so far, so a search that was killed goes on
as if it had not been.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import NormalDist

import msgspec

from mawl.advice.qualification.answer import FEWEST_RUNS
from mawl.advice.validity.host import MOST_FOREIGN_RATIO
from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.base.units import counted_noun, format_bytes, format_memory, format_percent, format_seconds
from mawl.campaigns.qualify.interface import Mix, Model, ObservedMachine, WritableSpace
from mawl.figures.knee import SessionRun, bound_of, on_the_line, sessions_tried, slowdown_of
from mawl.plan.mix import FEWEST_FULL_SESSIONS, SESSIONS_PER_CORE, mix_range, mixed
from mawl.plan.needs import JobSeconds, Needs, asked_per_cpu_second, needs, requests_under_way
from mawl.plan.spec import SCALES, scale_name
from mawl.plan.workload import Plan, make_plan
from mawl.records.model.qualification import (
    Asked,
    CacheMode,
    Decision,
    Expected,
    Fits,
    PhaseName,
    QualificationChoice,
)
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import Role
from mawl.records.spec.run_spec import MOST_SESSIONS

SMOKE = SCALES["smoke"]
LARGEST_SCALE = SCALES["full"]
STEP = 1.1
"""Scales are tried in steps of this factor, from smoke upward."""

LEAST_ACTIVE_SECONDS = value_of("answer.least_active_seconds")
PUBLISHABLE_SECONDS = value_of("answer.publishable_active_seconds")
AIMED_ACTIVE_SECONDS = 1.15 * LEAST_ACTIVE_SECONDS
"""The forecast of the active phase is aimed above its bound, since a run may be faster than forecast."""

MOST_FITTING_RATIO = 3.0
"""Runs of the search have about the number of sessions that fits; so many times the chosen one at most."""

LEAST_PHASE_SECONDS = 3.0
"""A process that looks at input tables, or a simulation: what such a phase takes at least."""

PROBE_RATIO = 0.15
MOST_PROBE_SECONDS = 60.0
"""The probe of each target takes this part of the time, and about a minute at most."""

SPARE_RATIO = 0.05
"""Part of the time that is kept for what takes longer than forecast."""

SPACE_RATIO = 0.9
MEMORY_RATIO = 0.9
"""Parts of the free space and of the memory that the runs may need."""

SPREAD = 0.25
"""Standard deviation of the logarithm of measured over forecast slowdown, before any run of the mix.

Without the paper in the fit the published forecasts miss by 0.13 in the mean
(docs/reference/published-forecasts.md), and by 0.20 with the CPU times that were declared before.  This is
the standard deviation of a normal error with the larger mean.
"""

CERTAIN = 0.975


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """So many measured runs, and runs that prove the number of sessions that fits.

    Of several nodes ``one_node`` runs are measured with one of them.
    """

    measured: int
    proofs: int
    one_node: int = 0


PREFERRED = (
    Repeats(measured=3, proofs=4),
    Repeats(measured=3, proofs=2),
    Repeats(measured=3, proofs=0),
    Repeats(measured=2, proofs=0),
    Repeats(measured=1, proofs=0),
)
"""What is given up first where time is short: the proofs, then measured runs."""


def preferred_for(repeat: int | None) -> tuple[Repeats, ...]:
    """``PREFERRED``, or with so many measured runs as were asked for.

    Fewer than ``FEWEST_RUNS`` are asked for to make them long: all the time goes to them.
    """
    if repeat is None:
        return PREFERRED
    if repeat < FEWEST_RUNS:
        return (Repeats(measured=repeat, proofs=0),)
    every = (Repeats(measured=repeat, proofs=one.proofs) for one in PREFERRED)
    return tuple(dict.fromkeys(every))


def sessions_of(asked: Asked, cores: int) -> int:
    """The number of sessions of a qualification: as asked, else the published one."""
    return sessions_for(cores) if asked.sessions is None else asked.sessions


def sessions_for(cores: int) -> int:
    """The published number of sessions for so many cores, rounded up: the load is never below it."""
    return min(math.ceil(SESSIONS_PER_CORE * cores), MOST_SESSIONS)


@cache
def plan_at(sessions: int, scale: float) -> Plan:
    """The plan of the mix in so many sessions."""
    return make_plan(mixed(sessions), where=f"mixed20 in {sessions} sessions", scale=scale)


@cache
def needs_at(sessions: int, scale: float) -> Needs:
    """What the mix needs at a scale."""
    return needs(plan_at(sessions, scale))


def load_streams(sessions: int) -> int:
    """The most requests that the mix in so many sessions can have under way at a time."""
    return requests_under_way(plan_at(sessions, SMOKE))


def probe_seconds(minutes: float) -> float:
    """How long the probe of each target takes, of so many minutes in all."""
    return min(PROBE_RATIO * 60.0 * minutes, MOST_PROBE_SECONDS)


class Chooser:
    """The choice for one machine; every forecast is made once."""

    def __init__(self, asked: Asked, seen: ObservedMachine, model: Model, left_seconds: float) -> None:
        self.asked, self.seen, self.model = asked, seen, model
        self.left_seconds = left_seconds
        self.sessions = sessions_of(asked, seen.cores)
        self.preferred = preferred_for(asked.repeat)
        self.cache: CacheMode = "none" if seen.uncached else "cold"
        steps = math.floor(math.log(LARGEST_SCALE / SMOKE) / math.log(STEP))
        self.scales = [float(f"{SMOKE * STEP**step:.2g}") for step in range(steps + 1)]
        self._mixes: dict[float, Mix] = {}

    def choose(self, spent: Mapping[PhaseName, float]) -> QualificationChoice:
        """The choice; raises ``UsageError`` where not even smoke fits into the time.

        A scale that was asked for is taken in any case, with the most runs that fit into the time.
        """
        asked = self.asked.scale
        check_fits(self.seen, self.sessions, smallest(self.asked))
        if asked is not None:
            fitting = (repeats for repeats in self.preferred if self._in_time(repeats, asked))
            return self._make_choice(next(fitting, self.preferred[-1]), asked, spent)
        for repeats in self.preferred:
            scale = self._largest(repeats)
            # Runs that prove the number of sessions are worth their time only beside long measured runs.
            runs = 1 if repeats.proofs else repeats.measured
            if (
                scale is None
                or self._load_seconds(self.mix(scale).active_seconds, runs) < AIMED_ACTIVE_SECONDS
            ):
                continue
            largest = repeats.proofs or self.asked.repeat is not None
            return self._make_choice(repeats, scale if largest else self._enough(scale), spent)
        for repeats in self.preferred[2:] or self.preferred:
            scale = self._largest(repeats)
            if scale is not None:
                return self._make_choice(repeats, scale, spent)
        raise self._too_short(spent)

    def mix(self, scale: float) -> Mix:
        if scale not in self._mixes:
            self._mixes[scale] = self.model.mix(self.sessions, scale)
        return self._mixes[scale]

    def seconds(self, repeats: Repeats, scale: float) -> dict[PhaseName, float]:
        """The forecast of each phase to come."""
        run = self.mix(scale).elapsed_seconds + self.model.overhead_seconds
        made = sum(table.bytes for table in needs_at(self.sessions, scale).tables)
        return {
            "inputs": LEAST_PHASE_SECONDS + made / self.model.input_bytes_per_second,
            "runs": LEAST_PHASE_SECONDS + run * self._runs_of_mix(repeats, scale),
        }

    def _runs_of_mix(self, repeats: Repeats, scale: float) -> float:
        """How many measured runs would take as long as all runs of the mix."""
        fitting = min(max(self.asked.answer_bound / self.mix(scale).slowdown, 0.5), MOST_FITTING_RATIO)
        return repeats.measured + repeats.proofs * time_ratio(self.sessions, fitting)

    def _load_seconds(self, active_seconds: float, runs: float) -> float:
        """How long the storage is loaded: without a page cache by all runs of the mix together."""
        return active_seconds * (runs if self.cache == "none" else 1)

    def _minutes_to_publish(self, choice: QualificationChoice, load_seconds: float) -> int | None:
        """Minutes whose load is fit to publish, if it has the same part of the runs; None where this is.

        The largest scale that fits may miss the time by a ``STEP``.
        """
        if load_seconds >= PUBLISHABLE_SECONDS:
            return None
        runs = choice.phase_seconds["runs"]
        probe = choice.phase_seconds.get("probe", 0.0)
        longer = probe * (MOST_PROBE_SECONDS / probe_seconds(self.asked.minutes) - 1.0)
        needed = choice.total_seconds + longer + runs * (STEP * PUBLISHABLE_SECONDS / load_seconds - 1.0)
        return 5 * math.ceil(needed / (1 - SPARE_RATIO) / 300)

    def _largest(self, repeats: Repeats) -> float | None:
        """The largest scale at which these runs fit; None where they do not fit at smoke."""
        low, high = -1, len(self.scales)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(repeats, self.scales[middle]) else (low, middle)
        return None if low < 0 else self.scales[low]

    def _enough(self, most: float) -> float:
        """The smallest scale whose active phase is long enough: what is left buys more runs."""
        return next(
            (
                scale
                for scale in self.scales
                if scale >= most or self.mix(scale).active_seconds >= AIMED_ACTIVE_SECONDS
            ),
            most,
        )

    def _fits(self, repeats: Repeats, scale: float) -> bool:
        needed = needs_at(self.sessions, scale)
        if needed.memory_bytes > MEMORY_RATIO * self.seen.memory_bytes and scale > SMOKE:
            return False
        if lacking(self.seen.systems, needed, SPACE_RATIO) is not None and scale > SMOKE:
            return False
        return self._in_time(repeats, scale)

    def _in_time(self, repeats: Repeats, scale: float) -> bool:
        return sum(self.seconds(repeats, scale).values()) <= (1 - SPARE_RATIO) * self.left_seconds

    def _too_short(self, spent: Mapping[PhaseName, float]) -> UsageError:
        probed = spent.get("probe", 0.0)
        to_come = sum(self.seconds(self.preferred[-1], SMOKE).values()) / (1 - SPARE_RATIO)
        beside = to_come + sum(spent.values()) - probed

        def least_of(minutes: float) -> float:
            return beside + probed * probe_seconds(minutes) / probe_seconds(self.asked.minutes)

        minutes = math.ceil(least_of(self.asked.minutes) / 60)
        while 60 * minutes < least_of(minutes):  # with more time the probe is longer, up to its most
            minutes += 1
        least = least_of(minutes)
        return UsageError(
            f"{self.asked.minutes:g} minutes are too short for an answer here",
            why=f"inputs and {self._runs_words()} of {self.sessions} sessions "
            f"take {format_seconds(least)} at scale smoke, the smallest",
            cure=f"run it with --minutes {minutes} or more",
        )

    def _runs_words(self) -> str:
        return counted_noun(self.preferred[-1].measured, "run")

    def _make_choice(
        self, repeats: Repeats, scale: float, spent: Mapping[PhaseName, float]
    ) -> QualificationChoice:
        needed, mix = needs_at(self.sessions, scale), self.mix(scale)
        plan = plan_at(self.sessions, scale)
        forecast = JobSeconds(
            lambda program, job: self.model.cpu_seconds(program.name, job.scale), "forecast"
        )
        read, write = self.model.read_reach_ratio, self.model.write_reach_ratio
        choice = QualificationChoice(
            sessions=self.sessions,
            jobs=sum(1 for _ in plan.jobs()),
            cores=self.seen.cores,
            core_speed=self.model.core_speed,
            mutual_slowing_ratio=self.model.mutual_slowing_ratio,
            scale=scale,
            cache=self.cache,
            repeats=repeats.measured,
            proofs=repeats.proofs,
            input_bytes=sum(table.bytes for table in needed.tables),
            space_bytes=sum(needed.space_bytes.values()),
            memory_bytes=needed.memory_bytes,
            moved_bytes=sum(sum(ways.values()) for ways in needed.moved.values()),
            asked_bytes_per_cpu_second=asked_per_cpu_second(plan, forecast).by_role or {},
            phase_seconds={**spent, **self.seconds(repeats, scale)},
            run_seconds=mix.elapsed_seconds + self.model.overhead_seconds,
            active_seconds=mix.active_seconds,
            read_reach_ratio=read,
            write_reach_ratio=write,
            expected=expected(mix.slowdown, self.asked.answer_bound, self.model.others_cpu_ratio),
        )
        load = self._load_seconds(choice.active_seconds, self._runs_of_mix(repeats, scale))
        return msgspec.structs.replace(
            choice,
            decisions=self._decisions(choice),
            load_seconds=load,
            minutes_to_publish=self._minutes_to_publish(choice, load),
        )

    def _decisions(self, choice: QualificationChoice) -> list[Decision]:
        seen, asked = self.seen, self.asked
        if asked.sessions is not None:
            why = "as asked"
        else:
            cores = f"each of {seen.cores} cores" if seen.cores > 1 else "1 core"
            why = f"1.25 for {cores}, as in the published studies, rounded up"
        if choice.sessions < FEWEST_FULL_SESSIONS:
            why += f"; below {FEWEST_FULL_SESSIONS} sessions each program runs once"
        total = format_seconds(sum(choice.phase_seconds.values()))
        active = choice.active_seconds
        load = self._load_seconds(active, choice.repeats)
        enough = not choice.proofs and asked.repeat is None and load >= LEAST_ACTIVE_SECONDS
        which = "large enough to answer for storage" if enough else "the largest whose runs fit"
        which = which if asked.scale is None else "as asked"
        scale = f"{which}: {total} of {asked.minutes:g} min, active phase {format_seconds(active)}"
        if choice.cache == "none" and choice.repeats > 1:
            scale += f" in each of {choice.repeats} runs"
        if load < LEAST_ACTIVE_SECONDS:
            needed = format_seconds(LEAST_ACTIVE_SECONDS)
            together = " in all runs together" if choice.cache == "none" and choice.repeats > 1 else ""
            scale += f"; storage is answered from {needed} of active phase on{together}: use more minutes"
        cache = (
            "the storage serves every request at any scale"
            if choice.cache == "none"
            else f"--cache none is not possible: {seen.uncached_reason}"
        )
        proofs = "the time is too short to prove the number that fits, so it is a forecast"
        if choice.proofs:
            proofs = "the numbers of sessions around the bound are proven by runs, as far as time is left"
        elif choice.repeats == asked.repeat and choice.repeats < FEWEST_RUNS:
            proofs = "the time goes to the measured runs, so the number that fits is a forecast"
        return [
            Decision(what="sessions", value=str(choice.sessions), why=why),
            Decision(what="scale", value=scale_name(choice.scale), why=scale),
            Decision(what="cache", value=choice.cache, why=cache),
            Decision(what="measured runs", value=str(choice.repeats), why=_why_runs(choice, asked)),
            Decision(what="search", value=str(choice.proofs), why=proofs),
        ]


def _why_runs(choice: QualificationChoice, asked: Asked) -> str:
    few = f"; fewer than {FEWEST_RUNS} make the answer preliminary, since runs differ from one to the next"
    if asked.repeat is not None:
        return f"as asked{few if asked.repeat < FEWEST_RUNS else ''}"
    short = "three" if choice.repeats >= 3 else f"three do not fit into {asked.minutes:g} min, so fewer"
    return f"{short}; more if time is left"


def expected(slowdown: float, most: float, others_cpu_ratio: float | None = None) -> Expected:
    """The answer that a forecast slowdown leads to, and how sure that is.

    It is not known where other work used more of the processors than a run may show.
    """
    reason = None
    if others_cpu_ratio is not None and others_cpu_ratio > MOST_FOREIGN_RATIO:
        share = format_percent(others_cpu_ratio)
        reason = f"other work used {share} of the processors during the calibration; stop it first"
    spread = NormalDist(math.log(slowdown), SPREAD)
    carried = spread.cdf(math.log(most))
    return Expected(
        answer="not known" if reason else "carried" if carried >= 0.5 else "not carried",
        probability=max(carried, 1 - carried),
        slowdown=slowdown,
        slowdown_low=math.exp(spread.inv_cdf(1 - CERTAIN)),
        slowdown_high=math.exp(spread.inv_cdf(CERTAIN)),
        reason=reason,
    )


def time_ratio(sessions: int, ratio: float) -> float:
    """How many times as long a run may take if it has ``ratio`` times the ``sessions``.

    From 5 sessions on the jobs grow with them; 1 to 4 have the same jobs, so fewer take longer.
    """
    return ratio if sessions >= FEWEST_FULL_SESSIONS else max(1.0, 1.0 / ratio)


def needed_on(system: WritableSpace, needed: Needs) -> int:
    """Bytes that a run needs on a file system, for all roles that lie there; nodes share input tables."""
    own = sum(needed.space_bytes[role] for role in system.roles)
    inputs = sum(table.bytes for table in needed.tables) if "data" in system.roles else 0
    return system.nodes * (own - inputs) + inputs


def lacking(systems: Sequence[WritableSpace], needed: Needs, ratio: float = 1.0) -> WritableSpace | None:
    """The first file system whose free space (a part of it) is less than the run needs there."""
    return next((system for system in systems if needed_on(system, needed) > ratio * system.free_bytes), None)


def smallest(asked: Asked) -> float:
    """The smallest scale whose runs must have room: the one asked for, but smoke is run in any case."""
    return max(SMOKE, asked.scale or SMOKE)


def check_fits(machine: ObservedMachine, sessions: int, scale: float = SMOKE) -> None:
    """Raise ``UnsuitableMachineError`` where the scale does not fit."""
    needed = needs_at(sessions, scale)
    which = "the smallest scale" if scale == SMOKE else f"scale {scale_name(scale)}"
    system = lacking(machine.systems, needed)
    if system is not None:
        roles: list[Role] = system.roles
        raise UnsuitableMachineError(
            f"{' and '.join(roles)} need {format_bytes(needed_on(system, needed))} at {which}, "
            f"and {format_bytes(system.free_bytes)} are free",
            where=", ".join(system.directories),
            cure=f"free space, or name larger directories with {', '.join(f'--{role}' for role in roles)}"
            + (", or ask for a smaller --scale" if scale > SMOKE else ""),
        )
    if needed.memory_bytes > machine.memory_bytes:
        raise UnsuitableMachineError(
            f"at {which} {sessions} sessions need {format_memory(needed.memory_bytes)} of memory, and the "
            f"machine has {format_memory(machine.memory_bytes)}",
            cure="ask for fewer with --sessions" + (", or a smaller --scale" if scale > SMOKE else ""),
        )


RUNS_EACH = 3
"""Runs that settle each of the two numbers around the bound, where time is left."""


def next_number(runs: Sequence[SessionRun], forecast: Fits, runs_each: int = RUNS_EACH) -> int | None:
    """The number of sessions to run next; None where two neighbours, one carried and one not, are settled.

    ``runs`` are the measured ones, too, at least one, all of one mix.  The forecast is asked first.  After
    that the line through the slowdowns on both sides of the bound, on logarithmic axes, or on one side
    proportion.
    """
    found = sessions_tried(runs)
    mix = mix_range(runs[0].sessions)
    high = min((one.sessions for one in found if not one.carried), default=mix.most + 1)
    low = max((one.sessions for one in found if one.carried and one.sessions < high), default=None)
    least = (low or mix.fewest - 1) + 1
    if least > high - 1:
        around = [one for one in found if one.sessions in (high, low) and not one.refused]
        return next((one.sessions for one in around[::-1] if one.runs < runs_each), None)
    between = None if low is None else on_the_line(runs, low, high)
    wanted = between or _untried(forecast, low, high) or _extrapolated(runs, low, high)
    return None if wanted is None else min(max(wanted, least), high - 1)


def _untried(forecast: Fits, low: int | None, high: int) -> int | None:
    sessions = forecast.sessions
    return sessions if sessions is not None and (low or 0) < sessions < high else None


def _extrapolated(runs: Sequence[SessionRun], low: int | None, high: int) -> int | None:
    """Where the bound would be met if slowdown grew as the sessions do; None without a slowdown."""
    sessions = low if low is not None else high
    slowdown = slowdown_of(runs, sessions)
    return None if slowdown is None else math.floor(sessions * bound_of(runs) / slowdown)

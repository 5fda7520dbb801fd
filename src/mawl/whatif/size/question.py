"""The question and the answer of ``mawl size``, the run that it begins with, and the roofline rule.

Over all counted figures of the papers' pairs the model, fitted without the paper, is nearer than the rule.
For some of the papers the rule is nearer (docs/reference/published-forecasts.md, Compared with simple rules).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from mawl.advice.judge import judged
from mawl.advice.validity.host import foreign_bytes
from mawl.base.errors import UsageError
from mawl.figures.night import measured_night
from mawl.figures.view import StoredView
from mawl.plan.mix import FEWEST_FULL_SESSIONS, SessionRange, mix_range
from mawl.records.definitions import FACTS, Metric, count, flag, listing, share, size, text, unitless
from mawl.records.model.fields import metrics_of
from mawl.records.model.probe import Probe
from mawl.records.spec.run_spec import MOST_SESSIONS
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import qualification_folder, read_qualification
from mawl.records.store.files import PROBE
from mawl.records.store.side_files import read_probe
from mawl.simulation.error_range import TimeFigure
from mawl.simulation.forecast import Base, FittedElapsed, FittedFigure, Fitting, base_of
from mawl.simulation.scenario import RULED
from mawl.simulation.system import System
from mawl.whatif.published_comparison import storage_seconds

PAGE = "docs/design/size.md"
CARRIES = f"{PAGE}, When does a candidate carry"
PROBABILITY = f"{PAGE}, Where does the probability come from"
RULE = f"{PAGE}, Is the model better than a simple rule"
UPGRADE = f"{PAGE}, What should the next euro buy"
CATALOGUE = f"{PAGE}, What is taken from the run"


class SizedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate system; ``reasons`` says why figures are None."""

    name: Annotated[str, text("Name in the catalogue.", CATALOGUE)]
    price: Annotated[float, unitless("Price of all its nodes, in the currency of the catalogue.", CATALOGUE)]
    nodes: Annotated[int, count("Its nodes.", CATALOGUE)]
    carries: Annotated[
        bool | None,
        flag(
            "Whether the probability is at least the asked one; null if it is not known, or if the checked "
            "forecasts are too few to give so high a one.",
            CARRIES,
        ),
    ]
    probability: Annotated[
        float | None,
        share(
            "Least probability that the figure stays within the bound with the asked sessions.", PROBABILITY
        ),
    ]
    error_basis: Annotated[
        str | None,
        text(
            "Which checked forecasts give it: of test beds (lab beds) or of published systems.",
            PROBABILITY,
        ),
    ]
    forecasts: Annotated[int | None, count("Number of these checked forecasts.", PROBABILITY)]
    figure: Annotated[
        float,
        unitless("Forecast of the bounded figure with the asked sessions: slowdown, or seconds.", CARRIES),
    ]
    memory_bytes: Annotated[
        float | None,
        size(
            "Forecast of the most memory that jobs of a node need at once; null if the run does not show it.",
            CARRIES,
        ),
    ]
    fits: Annotated[
        int | None,
        count("Most sessions within the bound and the memory by the forecast, all nodes.", CARRIES),
    ]
    fits_safe: Annotated[
        int | None,
        count(
            "Most sessions with at least safe_probability, all nodes; 0 if not even the fewest have it; "
            "null if the checked forecasts cannot show it.",
            PROBABILITY,
        ),
    ]
    more_may_fit: Annotated[
        bool, flag("Whether the search ended below the bound, so that more may fit.", CARRIES)
    ]
    limit: Annotated[
        str, text("What the asked sessions would wait for most; none, mixed or memory.", CARRIES)
    ]
    limit_ratio: Annotated[
        float | None,
        share(
            "Share of the jobs' time that this waiting takes by the forecast; null for none, mixed, memory.",
            CARRIES,
        ),
    ]
    rule_figure: Annotated[float | None, unitless("The same figure by the roofline.", RULE)]
    rule_fits: Annotated[int | None, count("Most sessions within the bound by the roofline.", RULE)]
    taken: Annotated[
        list[str], listing("What mawl takes from the run, as the catalogue leaves it out.", CATALOGUE)
    ]
    reasons: Annotated[list[str], listing("Why figures are null.", PROBABILITY)]


class SizedUpgrade(msgspec.Struct, frozen=True, kw_only=True):
    """An upgrade of the candidate ``upgraded``; ``reason`` says why it does not fit or gains nothing."""

    name: Annotated[str, text("Name in the catalogue.", UPGRADE)]
    price: Annotated[float, unitless("Price of the upgrade.", UPGRADE)]
    figure: Annotated[float | None, unitless("The bounded figure with the upgrade.", UPGRADE)]
    probability: Annotated[float | None, share("Probability of the candidate with the upgrade.", PROBABILITY)]
    fits: Annotated[
        int | None, count("Most sessions within the bound and the memory with the upgrade.", UPGRADE)
    ]
    more_may_fit: Annotated[
        bool,
        flag("Whether the search ended below the bound, so that more may fit.", UPGRADE),
    ]
    gained_sessions: Annotated[
        int | None,
        count(
            "How many more sessions fit with the upgrade; null if the searches with and without it both "
            "ended at the most sessions that they try.",
            UPGRADE,
        ),
    ]
    gained_sessions_per_price: Annotated[float | None, unitless("Gained sessions over the price.", UPGRADE)]
    reason: Annotated[str | None, text("Why it does not help.", UPGRADE)]


class SizeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates in order: those that carry, the cheapest first; then by probability; then by price."""

    run_id: Annotated[str, text("The run that all forecasts begin with.", FACTS)]
    workload: Annotated[str, text("Its workload.", FACTS)]
    catalogue: Annotated[str, text("Path of the catalogue.", CATALOGUE)]
    currency: Annotated[str, text("Currency of all prices, from the catalogue.", CATALOGUE)]
    period: Annotated[str, text("What a price is for, such as a month, from the catalogue.", CATALOGUE)]
    sessions: Annotated[int, count("Asked sessions, on all nodes of a candidate.", CARRIES)]
    bounded: Annotated[str, text("The bounded figure: slowdown or elapsed_seconds.", CARRIES)]
    bound: Annotated[float, unitless("Bound of this figure.", CARRIES)]
    measured: Annotated[float, unitless("This figure of the run, as measured.", CARRIES)]
    measured_sessions: Annotated[int, count("Sessions of the run on one node.", CARRIES)]
    calibration_error_ratio: Annotated[
        float | None,
        share("Elapsed time of the run simulated on its own system, over the measured, less 1.", CARRIES),
    ]
    asked_probability: Annotated[float, share("The least probability of a pick.", PROBABILITY)]
    pick: Annotated[
        str | None, text("The cheapest candidate that carries; null if none is known to.", CARRIES)
    ]
    safe_probability: Annotated[float, share("0.8, or the asked probability if that is more.", PROBABILITY)]
    safe_pick: Annotated[
        str | None, text("The cheapest candidate with at least safe_probability; null without one.", CARRIES)
    ]
    forecast_pick: Annotated[
        str | None,
        text("The cheapest whose forecast is within the bound, whatever its probability.", CARRIES),
    ]
    rule_pick: Annotated[str | None, text("The cheapest that carries by the roofline.", RULE)]
    candidates: list[SizedCandidate]
    upgraded: Annotated[str | None, text("The candidate that the upgrades are for.", UPGRADE)]
    upgrades: list[SizedUpgrade]
    remarks: Annotated[list[str], listing("What the answer rests on, in sentences.", PAGE)]


class PrintedSize(SizeAnswer, frozen=True, kw_only=True):
    """What ``--format json`` prints: the answer with the sentence that all formats begin with."""

    finding: Annotated[
        str, text("What to buy, for how much, and the least probability that it is enough.", CARRIES)
    ]


SIZE_METRICS: tuple[Metric, ...] = metrics_of(PrintedSize)


MOST_TIMES = 4
"""The search for sessions that fit ends at this multiple of the asked sessions."""


@dataclass(frozen=True, kw_only=True)
class SizeQuestion:
    """``sessions`` of all nodes; None: those of the run.

    ``within_seconds`` bounds the elapsed time instead of the slowdown; None: so does the window of a derived
    run, if it has one.
    """

    sessions: int | None
    answer_bound: float
    within_seconds: float | None
    probability: float


@dataclass(frozen=True, kw_only=True)
class SizedRun:
    """The run as a base of forecasts, with what it measured.

    ``doubt`` is a sentence if other programs also used its devices.

    ``window_seconds`` are the seconds from its first start to the time by which its derived jobs are due.
    """

    base: Base
    slowdown: float | None
    unknown: str | None = None
    doubt: str | None
    window_seconds: float | None = None

    @property
    def sessions(self) -> int:
        """Those of one node."""
        return len(self.base.plans[0].sessions)

    @property
    def every_session(self) -> int:
        """Those of all nodes."""
        return sum(len(plan.sessions) for plan in self.base.plans)

    @property
    def simulated(self) -> SessionRange:
        """The sessions of one node that are simulated: those that a run may have with the same mix."""
        if self.base.plans[0].workload == RULED:
            return mix_range(self.sessions)
        return SessionRange(1, max(MOST_SESSIONS, self.sessions))


def start_of(name: str, runs: Path, own: System | None) -> SizedRun:
    """The run, or the middle measured run of the qualification, that ``name`` means.

    ``own`` describes its system; else a qualification's probe does.
    """
    folder = qualification_folder(name, runs)
    if folder is None:
        return _start(open_run(name, runs).path, own)
    measured = _middle_run(folder)
    return _start(measured, own, read_probe(folder / PROBE) if (folder / PROBE).exists() else None)


def _middle_run(folder: Path) -> Path:
    """As the forecast of a qualification takes it: the lower of two in the middle."""
    record = read_qualification(folder)
    found = []
    for run in record.runs_for("measured"):
        view = StoredView(open_run(folder / run.folder))
        slowdown = judged(view).answer.slowdown
        if slowdown is not None:
            found.append((slowdown, folder / run.folder))
    if not found:
        raise UsageError(
            "has no measured run with a known slowdown",
            where=str(folder),
            cure="finish it with mawl qualify --continue, or name a run folder",
        )
    return sorted(found)[(len(found) - 1) // 2][1]


def _start(folder: Path, own: System | None, probe: Probe | None = None) -> SizedRun:
    stored = open_run(folder)
    view = StoredView(stored)
    summary = judged(view)
    return SizedRun(
        base=base_of(view, summary, own, probe=probe),
        slowdown=summary.answer.slowdown,
        unknown=summary.answer.reason,
        doubt=foreign_bytes(summary),
        window_seconds=_window(stored, summary.time.elapsed_seconds),
    )


def _window(stored: Run, elapsed_seconds: float | None) -> float | None:
    """The elapsed seconds of the run plus those that it had to spare; None if no job was due."""
    night = measured_night(stored)
    if night is None or elapsed_seconds is None:
        return None
    window = elapsed_seconds + night.spare_seconds
    return window if window > 0.0 else None


def window_of(start: SizedRun, question: SizeQuestion) -> float | None:
    """The bound of the elapsed time in seconds; None if the bound is one of the slowdown."""
    return question.within_seconds or start.window_seconds


def fitted_of(start: SizedRun, question: SizeQuestion) -> tuple[FittedFigure, TimeFigure]:
    """The bounded figure as forecasts find it, and the time whose measured errors give its probability.

    Raises ``UsageError`` if the run does not have the figure.
    """
    sessions = question.sessions or start.every_session
    fewest, most = start.simulated
    if sessions < fewest:
        raise UsageError(
            f"--sessions {sessions}: the run has {start.sessions} sessions, and fewer than {fewest} have "
            "another mix",
            cure=f"ask for at least {fewest}, or start from a run with fewer than {fewest} sessions",
        )
    common: dict[str, Any] = {
        "base": start.base,
        "sessions": start.sessions,
        "fewest": fewest,
        "most": min(MOST_TIMES * max(sessions, start.sessions), most),
        "kept_reach": True,
    }
    if window_of(start, question) is not None:
        if most < FEWEST_FULL_SESSIONS:
            raise UsageError(
                f"the run has {start.sessions} sessions: elapsed time grows with the sessions only from "
                f"{FEWEST_FULL_SESSIONS} on",
                where=start.base.facts.run_id,
                why="fewer sessions run each program once, however many they are",
                cure=f"start from a run with {FEWEST_FULL_SESSIONS} sessions or more, or leave --within out",
            )
        elapsed = start.base.elapsed_seconds
        if not elapsed:
            raise UsageError("the run has no elapsed time", where=start.base.facts.run_id)
        return FittedElapsed(**common, measured=elapsed), "time.elapsed_seconds"
    if start.slowdown is None:
        raise UsageError(
            "the slowdown is not known",
            where=start.base.facts.run_id,
            why=start.unknown,
            cure="start from a run of this mawl with reference times, or ask for elapsed time with --within",
        )
    return Fitting(**common, measured=start.slowdown), "time.real_time_seconds"


UNSEEN_ERROR = 0.15
ROOFLINE_ERROR = 0.28
"""Mean |ln(predicted/published)| of all counted pairs, of the model (unseen) and of the rule."""

MOST_BY_RULE = 10**9
"""The most sessions that the rule answers."""

WAYS = {"read": "read", "write": "written"}


@dataclass(frozen=True, kw_only=True)
class RooflineRule:
    """The figure of a run grows with the shortest time that a system needs for its jobs' work.

    That time is the longer of CPU seconds over what the cores do, and bytes at devices over what devices,
    links and fabric move (Williams, Waterman and Patterson 2009).
    """

    base: Base
    sessions: int
    measured: float

    @property
    def known(self) -> bool:
        return self._seconds(self.base.own, self.sessions) > 0.0

    def figure(self, system: System, sessions: int) -> float:
        ratio = self._seconds(system, sessions) / self._seconds(self.base.own, self.sessions)
        return self.measured * ratio

    def most_sessions(self, system: System, bound: float) -> int:
        """The most sessions on each node with a figure within the bound; 0 if one session exceeds it."""
        one = self.measured * self._seconds(system, 1) / self._seconds(self.base.own, self.sessions)
        return math.floor(min(bound / one, MOST_BY_RULE)) if one else MOST_BY_RULE

    def _seconds(self, system: System, sessions: int) -> float:
        """What one node needs for its share of the measured work, in so many sessions."""
        plans = len(self.base.plans)
        moved: dict[tuple[str, str], float] = {}
        cpu = 0.0
        for step in (step for job in self.base.demand.jobs.values() for step in job.steps):
            cpu += step.cpu_seconds
            for flow in step.flows:
                key = flow.role, WAYS[flow.direction]
                moved[key] = moved.get(key, 0.0) + flow.device_bytes
        share = sessions / self.sessions / plans
        first, nodes = system.nodes[0], system.node_count
        shared = {key: size * share for key, size in moved.items()}
        processors = cpu * share / (first.cores * first.core_speed)
        return max(storage_seconds(system, shared, nodes), processors)


def rule_of(base: Base, sessions: int, measured: float) -> RooflineRule | None:
    """The rule for a run; None if the run shows no work."""
    rule = RooflineRule(base=base, sessions=sessions, measured=measured)
    return rule if rule.known else None

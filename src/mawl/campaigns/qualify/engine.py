"""The phases of a qualification, one after another; a finished phase or run is never repeated.

The record on disk is ahead of every run: it names the folder before the run begins.  A qualification that
was killed goes on from the record.  Only finished work counts towards the time, so the answer is the same
(docs/design/qualify.md).
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from mawl.advice.qualification.other_work import shows_nothing
from mawl.base.errors import InterruptedRunError, MawlError
from mawl.base.units import counted_noun, format_bytes, format_percent, format_ratio, format_seconds
from mawl.campaigns.qualify.choice import (
    SMOKE,
    Chooser,
    check_fits,
    load_streams,
    next_number,
    probe_seconds,
    sessions_of,
    smallest_is_too_many,
    time_ratio,
)
from mawl.campaigns.qualify.interface import MachineSeen, Model, RunWish, Work
from mawl.campaigns.qualify.runs import Runs
from mawl.figures.campaign.knee import SessionRun
from mawl.records.model.qualification import (
    Asked,
    Fits,
    Phase,
    PhaseName,
    Qualification,
    QualificationAnswer,
    QualificationChoice,
    QualificationOutcome,
    QualifyRun,
)

PROBE = "probe.json"
EARLY_RATIO = 0.25
"""A disturbed calibration is made again if it takes at most this part of the time that is left."""

MOST_MEASURED = 9
"""More measured runs narrow the range no further."""


class Engine:
    """A qualification at work; ``clock`` counts seconds, ``show`` gets what a person reads meanwhile."""

    def __init__(
        self,
        folder: Path,
        record: Qualification,
        work: Work,
        clock: Callable[[], float],
        now: Callable[[], float],
        show: Callable[[str], None],
    ) -> None:
        self.folder, self.work = folder, work
        self.runs = Runs(folder, record, work, clock, show)
        self._clock, self._now, self._show = clock, now, show
        self._seen: MachineSeen | None = None
        self._model: Model | None = None

    @property
    def record(self) -> Qualification:
        return self.runs.record

    def until_choice(self) -> QualificationChoice:
        """Doctor, probe, calibration and choice; what was done before is not done again."""
        with self._working():
            self._phase("doctor", self._doctor)
            self._phase("probe", self._probe)
            self._phase("calibration", self._calibration)
            self._phase("choice", self._choice)
            assert self.record.choice is not None, "the phase has made it"
            return self.record.choice

    def to_the_end(self) -> Qualification:
        """Inputs, measured runs and search, after the choice."""
        with self._working():
            self._phase("inputs", self._inputs)
            self._phase("runs", self._runs)
            self._phase("search", self._search)
            return self.record

    def finish(self, outcome: QualificationOutcome, answer: QualificationAnswer | None = None) -> None:
        self.runs.note(outcome=outcome, answer=answer)

    # Phases: each returns the sentence that says what it found.

    def _doctor(self) -> str:
        seen = self._look()
        for place in seen.places:
            self._show(f"  {place}")
        for notice in seen.notices:
            self._show(f"  notice: {notice}")
        cores = counted_noun(seen.cores, "core")
        return f"{cores}; {counted_noun(len(seen.notices), 'notice')}" if seen.notices else cores

    def _probe(self) -> str:
        if not self._look().has_fio:
            raise LeftOutError("fio is not installed, so reports lack what the storage itself can do")
        seconds = probe_seconds(self.record.asked.minutes)
        sessions = sessions_of(self.record.asked, self._look().cores)
        before, began = self.record.phase("probe").seconds, self._clock()

        def note_time() -> None:
            self._change("probe", seconds=before + self._clock() - began)

        return self.work.probe(self.folder, seconds, load_streams(sessions), note_time)

    def _calibration(self) -> str:
        wish = RunWish(sessions=None, scale=SMOKE, cache="none" if self._look().uncached else "cold")
        self.runs.make("calibration", 1, wish, may_repeat=self._is_early)
        run = self.record.runs_for("calibration")[0]
        if run.reason is not None:
            folder = shlex.quote(str(self.folder / run.folder))
            raise MawlError(
                "the calibration cannot be used",
                why=run.reason,
                cure=f"mawl report {folder} names each job with its reason; mend that, and begin anew",
            )
        model = self._modelled()
        reach = ", ".join(
            f"{name} reach {format_percent(value)}"
            for name, value in (("read", model.read_reach_ratio), ("write", model.write_reach_ratio))
            if value is not None
        )
        return f"each program alone at scale smoke: core speed {model.core_speed:.2f}; {reach}"

    def _choice(self) -> str:
        spent = {
            phase.name: phase.seconds for phase in self.record.phases if phase.state in ("done", "skipped")
        }
        choice = self._chooser(self._asked_seconds - self.runs.spent()).choose(spent)
        phases = [
            msgspec.structs.replace(phase, forecast_seconds=choice.phase_seconds.get(phase.name))
            if phase.state == "waiting"
            else phase
            for phase in self.record.phases
        ]
        self.runs.note(choice=choice, phases=phases)
        return f"{choice.sessions} sessions, scale {choice.scale:g}, --cache {choice.cache}"

    def _chooser(self, left_seconds: float) -> Chooser:
        return Chooser(self.record.asked, self._look(), self._modelled(), left_seconds)

    def _inputs(self) -> str:
        choice = self._chosen
        wish = RunWish(sessions=choice.sessions, scale=choice.scale, cache=choice.cache)
        self.work.generate(wish, self.folder / "inputs.log")
        return format_bytes(choice.input_bytes)

    def _runs(self) -> str:
        choice = self._chosen
        wish = RunWish(sessions=choice.sessions, scale=choice.scale, cache=choice.cache)
        position = 1
        while position <= choice.repeats or self._time_for_another(position):
            self._show(f"  run {position}: {choice.sessions} sessions")
            left = max(choice.repeats - position, 0)
            may_repeat, further = partial(self._spare, left), position > choice.repeats
            self.runs.make("measured", position, wish, may_repeat=may_repeat, further=further)
            position += 1
        seen = [self.runs.read(run) for run in self.record.runs_for("measured")]
        slowdowns = [format_ratio(one.slowdown) for one in seen if one.slowdown is not None]
        return f"{counted_noun(len(seen), 'run')}; slowdown {', '.join(slowdowns) or 'not known'}"

    def _search(self) -> str:
        choice, bound = self._chosen, self.record.asked.answer_bound
        folders = [self.folder / run.folder for run in self.record.runs_for("measured")]
        if self.record.search_forecast is None:
            self.runs.note(
                search_forecast=self.work.fitting(folders, self.folder / PROBE, choice.sessions, bound)
            )
        forecast = self.record.search_forecast
        assert forecast is not None, "it was just made"
        position = 1
        while isinstance(wanted := self._next_in_search(position, forecast), int):
            self._show(f"  run {position}: {wanted} sessions")
            wish = RunWish(sessions=wanted, scale=choice.scale, cache=choice.cache)
            self.runs.make("search", position, wish, may_refuse=True, may_repeat=self._in_time)
            position += 1
        return f"forecast: {_fit_words(forecast)}; {wanted}"

    def _next_in_search(self, position: int, forecast: Fits) -> int | str:
        """The sessions of the run at a position; else why the search ends.  A run that was begun is made."""
        if begun := self.runs.begun("search", position):
            return begun.sessions
        runs = self._tried()
        wanted = next_number(runs, forecast) if runs else None
        if wanted is None:
            return f"{counted_noun(position - 1, 'run')} of the search"
        if wanted in self._unclear():
            return f"other work slowed the run of {wanted} sessions"
        if not self._time_for(wanted):
            return "no time is left to prove it by a run"
        return wanted

    def _tried(self) -> list[SessionRun]:
        return [
            found
            for run in self.record.runs
            if run.purpose in ("measured", "search") and (found := self._session_run(run)) is not None
        ]

    def _unclear(self) -> set[int]:
        """The numbers of which a run of the search shows nothing, though it was made again where possible."""
        return {run.sessions for run in self.record.runs_for("search") if self._session_run(run) is None}

    def _session_run(self, run: QualifyRun) -> SessionRun | None:
        if run.state == "refused":
            return SessionRun(sessions=run.sessions, verdict="refused", reasons=[run.reason or ""])
        if run.state != "finished":
            return None
        seen, most = self.runs.read(run), self.record.asked.answer_bound
        if seen.slowdown is None and not seen.bad_jobs:
            return None
        over = seen.slowdown is not None and seen.slowdown > most
        found = SessionRun(
            sessions=run.sessions,
            verdict="too many" if over or seen.bad_jobs else "carried",
            answer_slowdown=seen.slowdown,
            answer_bound=most,
        )
        return None if shows_nothing(run, found, seen.bad_jobs) else found

    # What phases are made of.

    def _phase(self, name: PhaseName, work: Callable[[], str]) -> None:
        """Do a phase, unless it was done before; its seconds are those of finished work."""
        phase = self.record.phase(name)
        if phase.state in ("done", "skipped"):
            self._show(_line(phase))
            return
        before = self.runs.phase_seconds(name)
        self._change(name, state="running", began_at=self._now())
        began = self._clock()
        self._show(f"{name} ...")
        try:
            state, detail = "done", work()
        except LeftOutError as skipped:
            state, detail = "skipped", str(skipped)
        except (KeyboardInterrupt, InterruptedRunError):
            raise
        except Exception as error:
            self._change(name, state="failed", detail=str(error))
            raise
        seconds = max(self._clock() - began, self.runs.phase_seconds(name) - before) + before
        self._change(name, state=state, detail=detail, seconds=seconds)
        self._show(_line(self.record.phase(name)))

    def _look(self) -> MachineSeen:
        if self._seen is None:
            self._seen = first_look(self.work, self.record.asked, SMOKE, self._show)
        return self._seen

    def _modelled(self) -> Model:
        if self._model is None:
            run = self.record.runs_for("calibration")[0]
            self._model = self.work.model(self.folder / run.folder, self.folder / PROBE)
        return self._model

    # Time.

    @property
    def _asked_seconds(self) -> float:
        return 60.0 * self.record.asked.minutes

    def _time_for_another(self, position: int) -> bool:
        """Whether a further measured run was made, or is forecast to end in time.

        The search goes before, if it has anything to do, and a number that was asked for is not exceeded.
        """
        if self.runs.begun("measured", position):
            return True
        if self.record.asked.repeat is not None or position > MOST_MEASURED:
            return False
        if self._chosen.proofs and not smallest_is_too_many(self._tried()):
            return False
        return self._in_time(self._run_seconds())

    def _in_time(self, seconds: float) -> bool:
        return self.runs.spent() + seconds <= self._asked_seconds

    def _is_early(self, seconds: float) -> bool:
        return seconds <= EARLY_RATIO * (self._asked_seconds - self.runs.spent())

    def _spare(self, left: int, seconds: float) -> bool:
        """Whether a run of so many seconds may be made again, with ``left`` more of its kind to come.

        The search is given up for it.
        """
        runs = self.record.phase("runs")
        later = (runs.forecast_seconds or 0.0) if runs.state == "waiting" else 0.0
        return self._in_time(seconds * (1 + left) + later)

    def _time_for(self, sessions: int) -> bool:
        chosen = self._chosen.sessions
        return self._in_time(self._run_seconds() * time_ratio(chosen, sessions / chosen))

    def _run_seconds(self) -> float:
        made = [run.seconds or 0.0 for run in self.record.runs_for("measured")]
        return sum(made) / len(made) if made else self._chosen.run_seconds

    # The record.

    @property
    def _chosen(self) -> QualificationChoice:
        assert self.record.choice is not None, "the phase choice comes before"
        return self.record.choice

    def _change(self, name: PhaseName, **changes: object) -> None:
        self.runs.note(
            phases=[
                msgspec.structs.replace(phase, **changes) if phase.name == name else phase
                for phase in self.record.phases
            ]
        )

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        """An interrupt leaves the record ``interrupted``, another error ``failed``; both can go on."""
        self.runs.note(outcome="running", reason=None)
        try:
            yield
        except (KeyboardInterrupt, InterruptedRunError):
            self.runs.note(outcome="interrupted", reason="stopped by the user")
            raise
        except Exception as error:
            with contextlib.suppress(OSError):
                self.runs.note(outcome="failed", reason=str(error))
            raise


def first_look(work: Work, asked: Asked, scale: float, show: Callable[[str], None]) -> MachineSeen:
    """The machine; raises MawlError where mawl cannot work on it, or the scale does not fit.

    ``show`` gets a notice for each directory that was made, also where the scale does not fit there.
    """
    seen = work.look()
    for place in seen.made:
        show(f"notice: made {place}; stop now if another disk was to be mounted there")
    check_fits(seen, sessions_of(asked, seen.cores), scale)
    return seen


class LeftOutError(Exception):
    """A phase is left out; the sentence says why."""


def _line(phase: Phase) -> str:
    skipped = ": left out" if phase.state == "skipped" else ""
    return f"{phase.name}: {format_seconds(phase.seconds)}{skipped}; {phase.detail}"


def _fit_words(fits: Fits) -> str:
    if fits.sessions is None:
        return f"the number that fits is not known ({fits.reason})"
    range_ = f" ({fits.low} to {fits.high})" if fits.low is not None else ""
    return f"about {fits.sessions} sessions fit{range_}"

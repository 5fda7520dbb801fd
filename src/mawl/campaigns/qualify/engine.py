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
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec

from mawl.advice.qualification.answer import FEWEST_RUNS
from mawl.advice.qualification.evidence import shows_nothing
from mawl.base.errors import BusyMachineError, InterruptedRunError, MawlError
from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_percent,
    format_plain,
    format_ratio,
    format_seconds,
)
from mawl.campaigns.qualify.choice import (
    RUNS_EACH,
    SMOKE,
    Chooser,
    check_fits,
    load_streams,
    next_number,
    probe_seconds,
    sessions_of,
    time_ratio,
)
from mawl.campaigns.qualify.interface import Model, ObservedMachine, Runs, RunWish, Work
from mawl.figures.knee import SessionRun
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
    RunPurpose,
)

PROBE = "probe.json"
EARLY_RATIO = 0.25
"""A disturbed calibration is made again if it takes at most this part of the time that is left."""

MOST_MEASURED = 9
"""More measured runs narrow the range no further."""


OF_THE_MIX = ("measured", "search")
ENDED = ("finished", "left out")


class Step(NamedTuple):
    """A run of the mix to make, its position within its purpose."""

    purpose: RunPurpose
    position: int
    sessions: int


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
        self._observed: ObservedMachine | None = None
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
        """Inputs and runs of the mix, after the choice."""
        with self._working():
            self._phase("inputs", self._inputs)
            self._phase("runs", self._runs)
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
        before, began = self.record.phase("probe").seconds, self._clock()

        def note_time() -> None:
            self._change("probe", seconds=before + self._clock() - began)

        return self.work.probe(self.folder, seconds, load_streams(self._sessions), note_time)

    def _calibration(self) -> str:
        """Each program alone, then the mix: what jobs do to each other's CPU seconds."""
        seen = self._look()
        calibrations: dict[RunPurpose, int | None] = {"calibration": None, "calibration-mix": self._sessions}
        for purpose, sessions in calibrations.items():
            wish = RunWish(sessions=sessions, scale=SMOKE, cache="none" if seen.uncached else "cold")
            self.runs.make(purpose, 1, wish, may_repeat=self._is_early)
            run = self.record.runs_for(purpose)[0]
            self._check_idle(run)
            if run.reason is not None and sessions is None:
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
        slowing = model.mutual_slowing_ratio
        together = "not known" if slowing is None else f"{slowing:.2f}"
        return (
            f"each program alone at scale smoke: core speed {model.core_speed:.2f}; CPU seconds in "
            f"{counted_noun(self._sessions, 'session')} over those alone: {together}; {reach}"
        )

    def _check_idle(self, run: QualifyRun) -> None:
        """Raise BusyMachineError where the calibration is not one of an idle machine."""
        if run.disturbance is None or self.record.asked.anyway:
            return
        who = "; ".join(self.runs.read(run).heavy) or "mawl saw no busy process"
        self.runs.forget_calibration(run.disturbance)
        raise BusyMachineError(
            f"the machine is busy: during the calibration {run.disturbance}",
            why=who,
            cure=f"stop them, then mawl qualify --continue {shlex.quote(str(self.folder))} "
            "(with --anyway it goes on beside them)",
        )

    @property
    def _sessions(self) -> int:
        return sessions_of(self.record.asked, self._look().cores)

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
        return f"{choice.sessions} sessions, scale {format_plain(choice.scale, 6)}, --cache {choice.cache}"

    def _chooser(self, left_seconds: float) -> Chooser:
        return Chooser(self.record.asked, self._look(), self._modelled(), left_seconds)

    def _inputs(self) -> str:
        choice = self._chosen
        wish = RunWish(sessions=choice.sessions, scale=choice.scale, cache=choice.cache)
        self.work.generate(wish, self.folder / "inputs.log")
        return format_bytes(choice.input_bytes)

    def _runs(self) -> str:
        """Runs of the mix: the chosen sessions, then the numbers around the bound, then repeats of both."""
        last = self.record.runs[-1]
        step: Step | str = Step(last.purpose, last.position, last.sessions)
        if last.purpose not in OF_THE_MIX:
            step = Step("measured", 1, self._chosen.sessions)
        while isinstance(step, Step):
            self._make(step)
            step = self._next_step()
        return f"slowdown of {self._slowdown_words()}; forecast: {_fit_words(self._forecast())}; {step}"

    def _slowdown_words(self) -> str:
        """``3 sessions: 1.63, 1.64; 4 sessions: 2.37``."""
        slowdowns: dict[int, list[str]] = {}
        for run in self.record.runs:
            if run.purpose in OF_THE_MIX and run.state in ("finished", "refused"):
                found = self.runs.read(run).slowdown if run.state == "finished" else None
                words = "not known" if run.state == "finished" else "refused"
                slowdowns.setdefault(run.sessions, []).append(words if found is None else format_ratio(found))
        return "; ".join(
            f"{counted_noun(slowdown, 'session')}: {', '.join(slowdowns[slowdown])}"
            for slowdown in sorted(slowdowns)
        )

    def _make(self, step: Step) -> None:
        choice = self._chosen
        every = {(run.purpose, run.position) for run in self.record.runs if run.purpose in OF_THE_MIX}
        self._show(f"  run {len(every | {step[:2]})}: {counted_noun(step.sessions, 'session')}")
        wish = RunWish(sessions=step.sessions, scale=choice.scale, cache=choice.cache)
        is_measured = step.purpose == "measured"
        done = step.position if is_measured else self._made_of("measured")
        self.runs.make(
            step.purpose,
            step.position,
            wish,
            may_refuse=not is_measured,
            may_repeat=partial(self._spare, max(choice.repeats - done, 0)),
            further=is_measured and step.position > choice.repeats,
        )

    def _next_step(self) -> Step | str:
        """The run to make next; else why no further one is made."""
        choice, made = self._chosen, self._made_of("measured")
        again = Step("measured", made + 1, choice.sessions)
        if choice.proofs and isinstance(step := self._next_in_search(1), Step):
            return step
        if made < choice.repeats or (made < FEWEST_RUNS and self._time_for_another(made + 1)):
            return again
        step = self._next_in_search(RUNS_EACH)
        return again if isinstance(step, str) and self._time_for_another(made + 1) else step

    def _next_in_search(self, runs_each: int) -> Step | str:
        """The run that shows most of the numbers on both sides of the bound; else why there is none."""
        choice, made = self._chosen, self._made_of("measured")
        runs = self._tried()
        if not runs:
            return "no run shows whether its sessions fit"
        wanted = next_number(runs, self._forecast(), runs_each)
        if wanted is None:
            return "nothing is left to prove"
        if wanted in self._unclear():
            return f"other work slowed the run of {counted_noun(wanted, 'session')}"
        seconds = self._run_seconds() * time_ratio(choice.sessions, wanted / choice.sessions)
        if not self._in_time(seconds + max(choice.repeats - made, 0) * self._run_seconds()):
            return f"no time is left for a run of {counted_noun(wanted, 'session')}"
        if wanted == choice.sessions and self.record.asked.repeat is None:
            return Step("measured", made + 1, wanted)
        return Step("search", self._made_of("search") + 1, wanted)

    def _forecast(self) -> Fits:
        """The number of sessions that fits, by the simulator and the first measured run."""
        if self.record.search_forecast is None:
            folders = [self.folder / run.folder for run in self.record.runs_for("measured")]
            bound = self.record.asked.answer_bound
            fits = self.work.fitting(folders, self.folder / PROBE, self._chosen.sessions, bound)
            self.runs.note(search_forecast=fits)
        assert self.record.search_forecast is not None, "it was just made"
        return self.record.search_forecast

    def _made_of(self, purpose: RunPurpose) -> int:
        return next(number for number in count() if not self.runs.is_over(purpose, number + 1))

    def _tried(self) -> list[SessionRun]:
        return [
            found
            for run in self.record.runs
            if run.purpose in OF_THE_MIX and (found := self._session_run(run)) is not None
        ]

    def _unclear(self) -> set[int]:
        """The numbers of which a run shows nothing, though it was made again where possible."""
        over = [run for run in self.record.runs if run.purpose in OF_THE_MIX and run.state in ENDED]
        return {run.sessions for run in over if self._session_run(run) is None}

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

    def _look(self) -> ObservedMachine:
        if self._observed is None:
            self._observed = first_look(self.work, self.record.asked, SMOKE, self._show)
        return self._observed

    def _modelled(self) -> Model:
        if self._model is None:
            alone, mix = (
                self.folder / self.record.runs_for(purpose)[0].folder
                for purpose in ("calibration", "calibration-mix")
            )
            self._model = self.work.model(alone, mix, self.folder / PROBE)
        return self._model

    # Time.

    @property
    def _asked_seconds(self) -> float:
        return 60.0 * self.record.asked.minutes

    def _time_for_another(self, position: int) -> bool:
        """Whether a further measured run is forecast to end in time; a number that was asked for is kept."""
        if self.record.asked.repeat is not None or position > MOST_MEASURED:
            return False
        return self._in_time(self._run_seconds())

    def _in_time(self, seconds: float) -> bool:
        return self.runs.spent() + seconds <= self._asked_seconds

    def _is_early(self, seconds: float) -> bool:
        return seconds <= EARLY_RATIO * (self._asked_seconds - self.runs.spent())

    def _spare(self, left: int, seconds: float) -> bool:
        """Whether a run of so many seconds may be made again, with ``left`` planned measured ones to come.

        The search is given up for it.
        """
        return self._in_time(seconds + left * self._run_seconds())

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
        """An interrupt leaves the record ``interrupted``, other work ``busy``, another error ``failed``."""
        self.runs.note(outcome="running", reason=None)
        try:
            yield
        except (KeyboardInterrupt, InterruptedRunError):
            self.runs.note(outcome="interrupted", reason="stopped by the user")
            raise
        except Exception as error:
            outcome = "busy" if isinstance(error, BusyMachineError) else "failed"
            with contextlib.suppress(OSError):
                self.runs.note(outcome=outcome, reason=str(error))
            raise


def first_look(work: Work, asked: Asked, scale: float, show: Callable[[str], None]) -> ObservedMachine:
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

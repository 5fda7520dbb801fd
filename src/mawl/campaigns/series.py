"""Makes the runs of a campaign one after another, in an order that spreads drift over all arms.

Finished runs are kept, interrupted ones are made again.  The record on disk names the folder of a run before
the run begins, so the next ``Series`` can continue whatever was killed at any moment.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from mawl.base.errors import InterruptedRunError, UnsuitableMachineError, UsageError
from mawl.base.units import counted_noun
from mawl.campaigns.arm_setting import ArmSettings
from mawl.figures.campaign import refused_run
from mawl.figures.knee import SessionRun, next_sessions
from mawl.measure.machine import SmtMode, SmtModes
from mawl.records.model.campaign import Arm, Campaign, CampaignKind, CampaignPart, SessionSearch, Slot
from mawl.records.spec.campaign import ArmSetting
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store import open_run
from mawl.records.store.campaign import CAMPAIGN_LOCK, read_campaign, write_campaign
from mawl.records.store.facts import read_facts, write_facts
from mawl.records.store.files import FACTS, try_lock
from mawl.run.launch.runner_watch import watched

ANSWERED_BY_FAILURES: tuple[CampaignKind, ...] = ("find-sessions", "search")
"""Kinds in which a run that fails is an answer, and no failure of the campaign."""

WARM_UP = "warm-up"
"""What the folder of the warm-up run is called by."""

LOCK_PATIENCE_SECONDS = 60.0
"""How long to wait for the run of a campaign that was killed: it holds the lock until it has ended."""

_STOPPED = (
    "the campaign (process {}) was stopped by a signal: the run that is under way goes on, and no other "
    "run starts"
)


class Execute(Protocol):
    """Makes one run of an arm in a folder that is not there yet, and returns when it is over.

    Raises ``UnsuitableMachineError`` where the machine cannot start it,
    ``UsageError`` where it is asked for wrongly, and KeyboardInterrupt.
    """

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        """``lock`` is a descriptor that the run keeps open for as long as it lives."""


class Series:
    """A campaign that is being conducted; one process at a time."""

    def __init__(
        self,
        folder: Path,
        record: Campaign,
        execute: Execute,
        lock: int,
        settings: ArmSettings | None = None,
    ) -> None:
        """``settings`` makes and reads what arms change outside mawl; who gives it undoes that."""
        self.folder, self.record = folder, record
        self._execute, self._lock, self._settings = execute, lock, settings

    def plan(self, arm: Arm) -> Slot:
        """Add a run of an arm at the end; the arm itself, too, where it is new."""
        if all(known.name != arm.name for known in self.record.arms):
            self.note(arms=[*self.record.arms, arm])
        slot = Slot(position=len(self.record.slots) + 1, arm=arm.name)
        self.note(slots=[*self.record.slots, slot])
        return slot

    def run(self, position: int, *, may_refuse: bool = False) -> Slot:
        """The slot at a position (0: the warm-up), finished: as it was made before, else made now.

        With ``may_refuse`` a run that the machine cannot start is a result (state ``refused``).
        Raises what ``Execute`` does; the slot is then open and the next attempt makes it.
        """
        slot = self._recovered(self._slot(position))
        if slot.state in ("finished", "refused"):
            return slot
        arm = self.record.arm(slot.arm)
        attempt = len(slot.interrupted) + 1
        name = f"{position:03}-{arm.name if position else WARM_UP}" + (f"-{attempt}" if attempt > 1 else "")
        if self._settings is not None:
            self._settings.make(arm, name)
        slot = self._replace(slot, state="running", folder=name)
        try:
            self._execute(arm, self.folder / name, self._lock)
            if self._settings is not None and (self.folder / name / FACTS).exists():
                self._settings.keep(arm, name)
        except UnsuitableMachineError as error:
            if (self.folder / name / FACTS).exists():
                raise
            state = "refused" if may_refuse else "planned"
            slot = self._replace(slot, state=state, folder=None, reason=str(error))
            if not may_refuse:
                raise
            return slot
        slot = self._recovered(slot)
        if slot.state != "finished":
            raise InterruptedRunError(f"run {position} was interrupted")
        return slot

    def _recovered(self, slot: Slot) -> Slot:
        if slot.state != "running" or slot.folder is None:
            return slot
        folder = self.folder / slot.folder
        if not (folder / FACTS).exists():
            return self._planned_again(slot)
        facts = open_run(folder).facts
        self._mark(slot, folder)
        if facts.outcome in ("running", "interrupted"):
            return self._planned_again(slot)
        if self._settings is not None and not self._settings.kept(self.record.arm(slot.arm), slot.folder):
            remark = f"run {slot.folder} is made again: its setting was not read back as asked at its end"
            self.note(remarks=[*self.record.remarks, remark])
            return self._planned_again(slot)
        return self._replace(
            slot, state="finished", run_id=facts.run_id, outcome=facts.outcome, reason=facts.outcome_reason
        )

    def _planned_again(self, slot: Slot) -> Slot:
        assert slot.folder is not None, "it was running"
        there = [slot.folder] if (self.folder / slot.folder).exists() else []
        return self._replace(slot, state="planned", folder=None, interrupted=[*slot.interrupted, *there])

    def _mark(self, slot: Slot, folder: Path) -> None:
        settings, arm = self._settings, self.record.arm(slot.arm)
        part = CampaignPart(
            name=self.record.name,
            kind=self.record.kind,
            arm=slot.arm,
            position=slot.position,
            settings=settings.read(arm, folder.name) if settings is not None else [],
        )
        facts = read_facts(folder)
        if facts.campaign != part:
            write_facts(folder, msgspec.structs.replace(facts, campaign=part))

    def runs_of(self, arm: str) -> list[Slot]:
        """The finished runs of an arm."""
        return [slot for slot in self.record.slots if slot.arm == arm and slot.state == "finished"]

    def path(self, slot: Slot) -> Path:
        return self.folder / (slot.folder or "")

    def finish(self) -> Campaign:
        """All runs are made: each learns of how many it is one, and the campaign is over."""
        done = [slot for slot in self.record.slots if slot.state == "finished"]
        counts = Counter(slot.arm for slot in done if slot.outcome == "completed")
        for slot in done:
            facts = read_facts(self.path(slot))
            repeats = counts[slot.arm] if slot.outcome == "completed" else 1
            if facts.repeats != repeats:
                write_facts(self.path(slot), msgspec.structs.replace(facts, repeats=repeats))
        bad = [slot for slot in done if slot.outcome != "completed"]
        failed = bool(bad) and self.record.kind not in ANSWERED_BY_FAILURES
        self.note(
            outcome="failed" if failed else "completed",
            reason=f"{len(bad)} of {len(done)} runs did not complete" if failed else None,
            ended_at=time.time(),
        )
        return self.record

    def note(self, **changes: object) -> None:
        self.record = msgspec.structs.replace(self.record, **changes)
        write_campaign(self.folder, self.record)

    def _slot(self, position: int) -> Slot:
        if position:
            return self.record.slots[position - 1]
        assert self.record.warm_up is not None, "position 0 is asked for where there is a warm-up"
        return self.record.warm_up

    def _replace(self, slot: Slot, **changes: object) -> Slot:
        changed = msgspec.structs.replace(slot, **changes)
        if slot.position == 0:
            self.note(warm_up=changed)
            return changed
        slots = list(self.record.slots)
        slots[slot.position - 1] = changed
        self.note(slots=slots)
        return changed


Following = Callable[[Series], Arm | None]
"""What to run next, by what was found so far; None: the question is answered."""


def conduct(series: Series, following: Following | None = None) -> Campaign:
    """Make every run that is planned, then those that ``following`` asks for; the finished record."""
    refusable = following is not None
    with recording_outcome(series):
        position = 0 if series.record.warm_up is not None else 1
        while True:
            if position > len(series.record.slots):
                arm = following(series) if following is not None else None
                if arm is None:
                    return series.finish()
                series.plan(arm)
            series.run(position, may_refuse=refusable)
            position += 1


@contextlib.contextmanager
def recording_outcome(series: Series) -> Iterator[None]:
    """The campaign is conducted in the block, as its record says meanwhile.

    An interrupt leaves the record ``interrupted``, any other error ``failed``; both can be continued.
    """
    series.note(outcome="running", reason=None, ended_at=None)
    try:
        yield
    except (KeyboardInterrupt, InterruptedRunError):
        series.note(outcome="interrupted", reason="stopped by the user", ended_at=time.time())
        raise
    except Exception as error:
        with contextlib.suppress(OSError):
            series.note(outcome="failed", reason=str(error), ended_at=time.time())
        raise


@contextlib.contextmanager
def held(folder: Path, patience: float = LOCK_PATIENCE_SECONDS, name: str = CAMPAIGN_LOCK) -> Iterator[int]:
    """Hold the lock of a campaign's folder; its descriptor.  Says so where this process is stopped meanwhile.

    Raises ``UsageError`` where another process holds it and does not let go.
    """
    descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        ends = time.monotonic() + patience
        while not try_lock(descriptor):
            if time.monotonic() >= ends:
                raise UsageError(
                    "is being run by another process", where=str(folder), cure="wait for its end"
                )
            time.sleep(0.1)
        with watched(_STOPPED.format(os.getpid())):
            yield descriptor
    finally:
        os.close(descriptor)


def begin(
    folder: Path, record: Campaign, execute: Execute, lock: int, settings: ArmSettings | None = None
) -> Series:
    """A new campaign in a folder that is there and held; its record is on disk."""
    write_campaign(folder, record)
    return Series(folder, record, execute, lock, settings)


def resume(folder: Path, execute: Execute, lock: int, settings: ArmSettings | None = None) -> Series:
    """A campaign that was cut short, as its record says; the caller holds its lock."""
    return Series(folder, read_campaign(folder), execute, lock, settings)


Item = TypeVar("Item")


def in_turn(items: Sequence[Item], repeats: int) -> Iterator[Item]:
    """Every item ``repeats`` times, each second round backwards: A B B A A B for two items and three rounds.

    A drift that is straight in time weighs alike on both of two items over an even number of rounds.
    """
    for turn in range(repeats):
        yield from items if turn % 2 == 0 else reversed(items)


def back_and_forth(arms: Sequence[Arm], repeats: int) -> list[Slot]:
    """The slots of a campaign that makes every arm ``repeats`` times, ``in_turn``."""
    return [Slot(position=place, arm=arm.name) for place, arm in enumerate(in_turn(arms, repeats), start=1)]


ReadRun = Callable[[Series, Slot], SessionRun]
"""What a finished slot's run says."""


def following(search: SessionSearch, arm_of: Callable[[int], Arm], read: ReadRun) -> Following:
    """What a search makes next, of everything that was made before; each run is read once.

    Raises ``UnsuitableMachineError`` where not even the first number can be started.
    """
    known: dict[int, SessionRun] = {}

    def ask(series: Series) -> Arm | None:
        for slot in series.record.slots:
            if slot.position not in known:
                sessions = series.record.arm(slot.arm).size or 0
                refused = slot.state == "refused"
                known[slot.position] = refused_run(sessions, slot) if refused else read(series, slot)
        first = [run for run in known.values() if run.sessions == search.first]
        if first and first[0].verdict == "refused":
            raise UnsuitableMachineError(
                f"not even {counted_noun(search.first, 'session')} can be started", why=first[0].reasons[0]
            )
        wanted = next_sessions([known[position] for position in sorted(known)], search)
        return None if wanted is None else arm_of(wanted)

    return ask


NAME = "SMT mode"


def smt_arms(smt: SmtModes, spec: RunSpec) -> list[Arm]:
    """The arms, fewest threads first; ``size`` is the threads of a core, where they are known.

    The mode that is on now is only checked; every other one is set, and undone by setting that one again.
    """
    return [_arm(mode, smt, spec) for mode in smt.modes]


def _arm(mode: SmtMode, smt: SmtModes, spec: RunSpec) -> Arm:
    now = mode == smt.current
    word = mode.word.lower().replace("=", "-")
    return Arm(
        name=word if word.startswith("smt") else f"smt-{word}",
        workload=spec.workload,
        spec=spec,
        title=mode.word if mode.word.startswith("SMT") else f"SMT {mode.word}",
        size=mode.threads,
        setting=ArmSetting(
            name=NAME,
            check=smt.check,
            expect=mode.word,
            before=None if now else mode.command,
            after=None if now else smt.current.command,
        ),
    )

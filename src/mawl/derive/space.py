"""How much space WORK and utility files took at most over a night of logs: an estimate with its range.

A table lies in WORK from the step that writes it until a step deletes or replaces it, or its session ends.
SAS keeps a replaced table until the new one is whole.  Utility files live while their step runs.  In the
estimate what a step writes grows evenly over the step.  At the lowest all of it is there only at the end of
the step, at the highest from its start on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from mawl.base.units import counted_noun, format_bytes, format_instant
from mawl.derive.job_costs import ordered_inference
from mawl.derive.step_bytes import SORTS, Inference
from mawl.derive.steps import StepFigures
from mawl.derive.tables import Key, Libraries, Ranged
from mawl.records.definitions import count, instant, listing, size, text
from mawl.records.model.records import JobRecord, TableNote
from mawl.reports.layout import ABSENT, figure, short_instant

PAGE = "docs/design/derive.md, How much space"
SpaceRole = Literal["work", "util", "both"]
SPACE_ROLES: tuple[SpaceRole, ...] = ("work", "util", "both")
TITLES: dict[SpaceRole, str] = {"work": "WORK", "util": "UTILLOC", "both": "WORK with UTILLOC in it"}
ENDS = ("low", "value", "high")
NEAR = 1e-9
"""Sums of floats that differ by less are alike."""
ONLY_RANGE = "the logs tell no more than its range"
UNTIMED = "no step of the job has a time"


class RolePeak(msgspec.Struct, frozen=True, kw_only=True):
    """The most space that one role took at one time."""

    role: Annotated[SpaceRole, text("work, util, or both where UTILLOC is not set and lies in WORK.", PAGE)]
    node: Annotated[str | None, text("The host; null for all hosts together.", PAGE, absent="all hosts")]
    bytes: Annotated[float | None, size("The most space at one time, estimated.", PAGE, absent=ONLY_RANGE)]
    low_bytes: Annotated[float, size("The least that it can be.", PAGE)]
    high_bytes: Annotated[float, size("The most that it can be.", PAGE)]
    at: Annotated[str | None, instant("When it was reached.", PAGE, absent=UNTIMED)]
    sessions: Annotated[int, count("Sessions that had files in it at that time.", PAGE)]


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """The peaks of a night, and what the logs do not tell of them."""

    peaks: Annotated[list[RolePeak], listing("WORK, UTILLOC and both, of all hosts and of each.", PAGE)]
    unknown: Annotated[list[str], listing("What the logs do not tell.", PAGE)]


class Held(msgspec.Struct, frozen=True):
    """Bytes at the lowest, as estimated and at the highest."""

    low: float = 0.0
    value: float = 0.0
    high: float = 0.0

    def plus(self, other: Held) -> Held:
        return Held(self.low + other.low, self.value + other.value, self.high + other.high)


def _held(part: Ranged | None, share: float = 1.0) -> Held:
    return Held() if part is None else Held(part.low * share, part.value * share, part.high * share)


class _StepSpace(msgspec.Struct, frozen=True):
    """What one step added to WORK, and its utility files.

    ``replaced`` are tables that went when the new ones were whole, ``removed`` those that the step deleted.
    """

    written: Held
    replaced: Held
    removed: Held
    util: Held


class _Session:
    """The tables that a session has in WORK, step after step."""

    def __init__(self, job: str, libraries: Libraries, inference: Inference, *, names_tables: bool) -> None:
        self._names_tables = names_tables
        self._job, self._libraries, self._inference = job, libraries, inference
        self._tables: dict[Key, Held] = {}
        self._rest = Held()
        """What lies in WORK at most, and no note names."""
        self.unsized = self.unnamed = self.beyond = 0

    def step(self, step: StepFigures) -> _StepSpace:
        loads = self._inference.loads(step, self._job)
        work = loads.written.get("work")
        written, replaced = self._write(step, work)
        gone = Held()
        for removal in step.removed:
            key = self._key(TableNote(direction="written", name=removal.name))
            held = self._tables.pop(key, None)
            if held is None:
                continue
            if removal.renamed_to is not None:
                self._tables[self._key(TableNote(direction="written", name=removal.renamed_to))] = held
            else:
                gone = gone.plus(held)
        if step.removed_left_out:
            self.beyond += step.removed_left_out
            left = self.holds
            gone = Held(gone.low + left.low, gone.value, gone.high)
            self._tables = {key: Held(0.0, held.value, held.high) for key, held in self._tables.items()}
        if step.procedure in SORTS:  # OVERWRITE deletes the table before the new one is whole
            replaced, gone = Held(), gone.plus(replaced)
        return _StepSpace(written, replaced, gone, _held(loads.written.get("util")))

    @property
    def holds(self) -> Held:
        found = self._rest
        for held in self._tables.values():
            found = found.plus(held)
        return found

    def _key(self, note: TableNote) -> Key:
        key = self._libraries.key_of(note, self._job)
        assert key is not None, "the note has a name"
        return key

    def _write(self, step: StepFigures, work: Ranged | None) -> tuple[Held, Held]:
        """What the step wrote into WORK, and what of it replaced other tables."""
        notes = [
            note
            for note in step.tables
            if note.direction == "written" and self._libraries.role_of(note) == "work" and note.name
        ]
        sizes = [self._inference.size_of(note, self._job) for note in notes]
        self.unsized += sum(found is None for found in sizes)
        whole = math.fsum(found.value for found in sizes if found is not None)
        written = gone = Held()
        if not whole:
            if work is not None and work.high and not notes and (step.blocks or not self._names_tables):
                self.unnamed += bool(work.value) or not self._names_tables
                # SAS names no catalog, index or listing: these bytes may be in WORK, or elsewhere.
                written = Held(0.0, 0.0, work.high)
                self._rest = self._rest.plus(written)
            for note in notes:
                gone = gone.plus(self._replace(step, note, Held()))
            return written, gone
        for note, found in zip(notes, sizes, strict=True):
            if found is None:
                continue
            new = _held(work, found.value / whole) if work is not None and work.value else _held(found)
            written = written.plus(new)
            gone = gone.plus(self._replace(step, note, new))
        return written, gone

    def _replace(self, step: StepFigures, note: TableNote, new: Held) -> Held:
        """Take a table as written; what of the old one is freed: nothing where rows were added to it."""
        key = self._key(note)
        old = self._tables.get(key, Held())
        grows = step.procedure == "APPEND" or note.variables is None
        self._tables[key] = old.plus(new) if grows else new
        return Held() if grows else old


class _Course:
    """How a sum of bytes goes over time."""

    def __init__(self) -> None:
        self._comes: dict[float, float] = defaultdict(float)
        self._goes: dict[float, float] = defaultdict(float)
        self._slopes: dict[float, float] = defaultdict(float)
        self._moments: dict[float, float] = defaultdict(float)

    def come(self, at: float, amount: float) -> None:
        self._comes[at] += amount

    def go(self, at: float, amount: float) -> None:
        """Less from a time on; what comes at that time comes later."""
        self._goes[at] += amount

    def grow(self, start: float, end: float, amount: float) -> None:
        """Evenly more from start to end; from then on it stays."""
        if end <= start:
            self.come(end, amount)
        else:
            self._slopes[start] += amount / (end - start)
            self._slopes[end] -= amount / (end - start)

    def at_moment(self, at: float, amount: float) -> None:
        """There at that time alone."""
        self._moments[at] += amount

    def peak(self) -> tuple[float, float | None]:
        """The most, and when; None for the time where nothing was ever there."""
        level = slope = before = most = 0.0
        at: float | None = None
        for time in sorted({*self._comes, *self._goes, *self._slopes, *self._moments}):
            level += slope * (time - before)
            slope, before = slope + self._slopes.get(time, 0.0), time
            reached = level
            level += self._comes.get(time, 0.0) - self._goes.get(time, 0.0)
            reached = max(reached, level + self._moments.get(time, 0.0))
            if reached > most * (1 + NEAR):
                most, at = reached, time
        return most, at


class _Events:
    """The courses of one host, or of all, by role and end of the range."""

    def __init__(self) -> None:
        self.courses = {(role, end): _Course() for role in SPACE_ROLES for end in ENDS}
        self.spans: list[tuple[float, float]] = []
        self.least: dict[SpaceRole, float] = dict.fromkeys(SPACE_ROLES, 0.0)
        self.untimed: dict[SpaceRole, Held] = dict.fromkeys(SPACE_ROLES, Held())

    def written(self, start: float, end: float, made: Held) -> None:
        """Tables of WORK: there from the end of their step on."""
        for role in ("work", "both"):
            self.courses[role, "low"].come(end, made.low)
            self.courses[role, "value"].grow(start, end, made.value)
            self.courses[role, "high"].come(start, made.high)

    def freed(self, start: float, end: float, gone: Held) -> None:
        """Tables that go at the end of a step, at the lowest at ``start``."""
        for role in ("work", "both"):
            self.courses[role, "low"].go(start, gone.low)
            self.courses[role, "value"].go(end, gone.value)
            self.courses[role, "high"].go(end, gone.high)

    def utility(self, start: float, end: float, made: Held) -> None:
        """Utility files: they go with their step."""
        for role in ("util", "both"):
            self.courses[role, "value"].grow(start, end, made.value)
            self.courses[role, "value"].go(end, made.value)
            self.courses[role, "high"].come(start, made.high)
            self.courses[role, "high"].go(end, made.high)

    def there_at_ends(self, ends: Mapping[float, tuple[float, float]]) -> None:
        """What one session had at the ends of its steps, at the lowest: replaced tables and utility files."""
        for end, (replaced, util) in ends.items():
            for role, low in (("work", replaced), ("util", util), ("both", replaced + util)):
                self.courses[role, "low"].at_moment(end, low)  # type: ignore[index]

    def peaks(self, node: str | None) -> list[RolePeak]:
        found = []
        for role in SPACE_ROLES:
            value, at = self.courses[role, "value"].peak()
            low, _ = self.courses[role, "low"].peak()
            high, _ = self.courses[role, "high"].peak()
            untimed = self.untimed[role]
            value = max(value, untimed.value)
            most = max(high + untimed.high, value)
            found.append(
                RolePeak(
                    role=role,
                    node=node,
                    bytes=value if value or not most else None,
                    low_bytes=min(max(low, self.least[role]), value),
                    high_bytes=most,
                    at=None if at is None else format_instant(at),
                    sessions=0 if at is None else sum(start <= at <= end for start, end in self.spans),
                )
            )
        return found


def space_of(jobs: Sequence[JobRecord], steps: Mapping[str, Sequence[StepFigures]]) -> Space:
    """The peaks of the jobs' WORK and utility files, by the ``steps`` of each in their order."""
    ordered, libraries, inference = ordered_inference(jobs, steps)
    nodes = sorted({job.node for job in jobs})
    hosts: dict[str | None, _Events] = {None: _Events()}
    if len(nodes) > 1:
        hosts |= {node: _Events() for node in nodes}
    counts = dict.fromkeys(("unsized", "unnamed", "beyond", "untimed", "lost"), 0)
    for job in ordered:
        mine = list(steps.get(job.job, ()))
        if not mine:
            continue
        session = _Session(job.job, libraries, inference, names_tables=any(step.tables for step in mine))
        made = [session.step(step) for step in mine]
        targets = [hosts[None], *([hosts[job.node]] if len(nodes) > 1 else [])]
        times = _times(job, mine)
        for target in targets:
            _place(target, job, made, times, session.holds)
        counts["untimed"] += times is None
        counts["lost"] += job.outcome == "lost"
        for name in ("unsized", "unnamed", "beyond"):
            counts[name] += getattr(session, name)
    return Space(
        peaks=[peak for node, events in hosts.items() for peak in events.peaks(node)],
        unknown=_unknown(counts),
    )


def _times(job: JobRecord, steps: Sequence[StepFigures]) -> list[tuple[float, float]] | None:
    """Start and end of each step; one after another from the start of the job where steps have no times."""
    found: list[tuple[float, float]] = []
    last = job.started_at
    for step in steps:
        start, end = step.started_at, step.ended_at
        if end is None:
            if last is None or step.real_seconds is None:
                return None
            start, end = last, last + step.real_seconds
        start = end if start is None else start
        last = max(end, last or end)
        found.append((start, last))
    return found


def _place(
    events: _Events,
    job: JobRecord,
    made: Sequence[_StepSpace],
    times: Sequence[tuple[float, float]] | None,
    left: Held,
) -> None:
    most = _alone(made)
    for role in SPACE_ROLES:
        events.least[role] = max(events.least[role], most[role].low)
    if times is None:
        for role in SPACE_ROLES:
            before = events.untimed[role]
            held = most[role]
            events.untimed[role] = Held(0.0, max(before.value, held.value), before.high + held.high)
        return
    ends: dict[float, tuple[float, float]] = {}
    for step, (start, end) in zip(made, times, strict=True):
        events.written(start, end, step.written)
        events.freed(end, end, step.replaced)
        events.freed(start, end, step.removed)
        events.utility(start, end, step.util)
        ends[end] = max(ends.get(end, (0.0, 0.0)), (step.replaced.low, step.util.low), key=sum)
    events.there_at_ends(ends)
    end = max(times[-1][1], job.ended_at or times[-1][1])
    if job.outcome == "lost":
        # A killed session leaves its WORK behind, until somebody cleans it.
        left = Held(left.low, left.value, 0.0)
    events.freed(end, end, left)
    events.spans.append((times[0][0], end))


def _alone(made: Sequence[_StepSpace]) -> dict[SpaceRole, Held]:
    """The most that a session held by itself."""
    held, most = Held(), dict.fromkeys(SPACE_ROLES, Held())
    for step in made:
        held = held.plus(step.written)
        now: dict[SpaceRole, Held] = {"work": held, "util": step.util, "both": held.plus(step.util)}
        most = {
            role: Held(*(max(getattr(most[role], end), getattr(now[role], end)) for end in ENDS))
            for role in SPACE_ROLES
        }
        for gone in (step.replaced, step.removed):
            held = held.plus(Held(-gone.low, -gone.value, -gone.high))
    return most


def _unknown(counts: Mapping[str, int]) -> list[str]:
    found = [
        "SAS writes no note on utility files: the range goes from what the block operations need to what the "
        "procedures may have used."
    ]
    if counts["unnamed"]:
        found.append(
            f"{counted_noun(counts['unnamed'], 'step')} may have written, and no note names a table "
            "(catalogs, indexes, listings, or options NONOTES): only the highest has them."
        )
    if counts["unsized"]:
        found.append(f"{counted_noun(counts['unsized'], 'table')} without a known number of rows: not in it.")
    if counts["beyond"]:
        found.append(
            f"{counted_noun(counts['beyond'], 'deleted table')} beyond those that mawl keeps of a step: the "
            "range covers both."
        )
    if counts["untimed"]:
        found.append(
            f"{counted_noun(counts['untimed'], 'job')} without times (FULLSTIMER writes them): the highest "
            "takes them as if they ran all the time."
        )
    if counts["lost"]:
        found.append(
            f"{counted_noun(counts['lost'], 'log')} cut off: what came after is not known, and a killed "
            "session leaves its WORK behind; the highest keeps it to the end."
        )
    return found


def space_lines(space: Space) -> Iterator[tuple[str, str]]:
    """The named lines of the finding: how large each place must be."""
    for peak in space.peaks:
        if peak.node is None:
            yield peak.role if peak.role == "both" else TITLES[peak.role], _sentence(peak)


def _sentence(peak: RolePeak) -> str:
    what = f"{TITLES['both']}: " if peak.role == "both" else ""
    spread = f"{format_bytes(peak.low_bytes)} to {format_bytes(peak.high_bytes)}"
    if peak.bytes is None:
        return f"{what}not known: {spread} at its peak"
    about = f"{what}about {format_bytes(peak.bytes)} at its peak ({spread})"
    if not peak.high_bytes:
        return f"{what}no log names a table or file in it"
    if peak.at is None:
        return about
    return f"{about}, {short_instant(peak.at)} UTC, of {counted_noun(peak.sessions, 'session')}"


def peak_rows(space: Space) -> Iterator[tuple[str, ...]]:
    """The rows of the table of peaks."""
    for peak in space.peaks:
        sizes = (figure(size, format_bytes) for size in (peak.bytes, peak.low_bytes, peak.high_bytes))
        sessions = ABSENT if peak.at is None else str(peak.sessions)
        yield TITLES[peak.role], peak.node or "all", *sizes, short_instant(peak.at), sessions

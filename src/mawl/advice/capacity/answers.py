"""The two answers: does compute carry the load, does storage; each carried, not carried or not known."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.advice.capacity.slowdown import Interval, Slowdowns, ends_of, interval_of
from mawl.advice.foreign import foreign
from mawl.analysis.io import REACHES_STORAGE_RATIO
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Limit, PartFigures, StoragePart
from mawl.model.summary.summary import Summary
from mawl.model.thresholds import count_of, value_of
from mawl.units import format_percent, format_rate, format_ratio, format_seconds

Answer = Literal["carried", "not carried", "not known"]
Lack = Literal["", "times alone", "parts", "others", "reach", "duration", "spread", "imported"]
"""What an answer lacks: the one thing to do about it follows from that."""

LEAST_DIRECTION_RATIO = value_of("capacity.least_direction_ratio")
LEAST_ACTIVE_SECONDS = value_of("capacity.least_active_seconds")
PUBLISHABLE_SECONDS = value_of("capacity.publishable_active_seconds")
FEWEST_ALONE = count_of("capacity.fewest_runs_alone")

NONE_ALONE = "no program was run alone at this scale and options (mawl run --solo)"
NO_PARTS = "where the time of the jobs went is not known in the mix and alone, so the slowdown has no parts"


class CapacityPart(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: ``reason`` says why it is not known, ``lack`` which kind of thing is missing.

    ``words`` say what was answered for, behind the verb (`` the 45.0 MB/s that the processors could ask``).
    """

    answer: Answer
    slowdown: Interval | None
    reason: str | None = None
    lack: Lack = ""
    words: str = ""
    asked_bytes_per_second: float | None = None

    def of_compute(self) -> PartFigures:
        """What a summary says of the answer for compute."""
        return PartFigures(answer=self.answer, **ends_of(self.slowdown), reason=self.reason)

    def of_storage(self) -> StoragePart:
        """What a summary says of the answer for storage."""
        return StoragePart(
            answer=self.answer,
            **ends_of(self.slowdown),
            reason=self.reason,
            asked_bytes_per_second=self.asked_bytes_per_second,
        )


def whole_part(found: Slowdowns, most: float) -> CapacityPart:
    """The same of the whole slowdown, which is the sum of both parts."""
    return _judged(found, interval_of(found, "whole"), most)


def compute_part(found: Slowdowns, most: float) -> CapacityPart:
    """*Compute carries* when the median slowdown by CPU time and run queue is within the bound."""
    return _judged(found, interval_of(found, "compute"), most)


def storage_part(found: Slowdowns, most: float, reading: RunView, limit: Limit | None) -> CapacityPart:
    """*Storage carries* when the median slowdown by I/O is within the bound, and the storage was asked.

    It was asked when enough of the bytes of each direction that matters reached a device, by this run alone,
    for long enough.  Where processors limit, the answer is for the rate that they could ask.
    """
    part = _judged(found, interval_of(found, "storage"), most)
    rate = reading.summary.io.device.sustained.total_bytes_per_second
    by_cpu = limit is not None and limit.verdict == "cpu"
    part = msgspec.structs.replace(part, asked_bytes_per_second=rate)
    if by_cpu and rate is not None:
        part = msgspec.structs.replace(part, words=f" the {format_rate(rate)} that the processors could ask")
    if part.lack in ("times alone", "parts"):
        return part
    missed = unasked(reading.summary) or short(reading.summary.time.active_seconds)
    if missed is None:
        return part
    reason, lack = missed
    return msgspec.structs.replace(part, answer="not known", reason=reason, lack=lack)


def _judged(found: Slowdowns, interval: Interval | None, most: float) -> CapacityPart:
    """The answer of an interval beside the bound."""
    if not found.jobs:
        return CapacityPart(answer="not known", slowdown=None, reason=NONE_ALONE, lack="times alone")
    if interval is None:
        return CapacityPart(answer="not known", slowdown=None, reason=NO_PARTS, lack="parts")
    if found.fewest_runs < FEWEST_ALONE:
        runs = "once" if found.fewest_runs == 1 else f"{found.fewest_runs} times"
        reason = f"some programs were timed alone only {runs} ({FEWEST_ALONE} required)"
        return CapacityPart(answer="not known", slowdown=interval, reason=reason, lack="times alone")
    if interval.high <= most:
        return CapacityPart(answer="carried", slowdown=interval)
    if interval.low > most:
        return CapacityPart(answer="not carried", slowdown=interval)
    reason = f"the 95 % interval {words_of(interval)} lies on both sides of the bound {format_ratio(most)}"
    return CapacityPart(answer="not known", slowdown=interval, reason=reason, lack="spread")


def words_of(interval: Interval) -> str:
    """``1.31 to 1.55``."""
    return f"{format_ratio(interval.low)} to {format_ratio(interval.high)}"


def unasked(summary: Summary) -> tuple[str, Lack] | None:
    """Why a run did not ask its storage: others used the devices, or a cache served too many of the bytes."""
    said = foreign(summary)
    return _cached(summary) if said is None else (said, "others")


def _cached(summary: Summary) -> tuple[str, Lack] | None:
    """A direction that matters whose bytes did not reach a device."""
    io = summary.io
    moved = {way: getattr(io.application, f"{name}_bytes") for way, name in WAYS.items()}
    if None in moved.values():
        return "how many bytes the programs moved is not known", "reach"
    whole = sum(moved.values())
    if not whole:
        return "the programs moved no bytes", "reach"
    for way, name in WAYS.items():
        if moved[way] < LEAST_DIRECTION_RATIO * whole:
            continue
        reach = getattr(io.reach, f"{way}_ratio")
        if reach is None:
            return f"how many of the bytes {name} reached a device is not known", "reach"
        if reach < REACHES_STORAGE_RATIO:
            needed = format_percent(REACHES_STORAGE_RATIO)
            return (
                f"only {format_percent(reach)} of the bytes {name} reached a device ({needed} required)",
                "reach",
            )
    return None


def short(active: float | None) -> tuple[str, Lack] | None:
    """Why an active phase of so many seconds says nothing of the storage."""
    if active is not None and active >= LEAST_ACTIVE_SECONDS:
        return None
    lasted = "of unknown length" if active is None else f"only {format_seconds(active)} long"
    return f"the active phase is {lasted} ({format_seconds(LEAST_ACTIVE_SECONDS)} required)", "duration"


def is_preliminary(reading: RunView) -> bool:
    """Whether the active phase is too short for an answer that can be published."""
    active = reading.summary.time.active_seconds
    return active is None or active < PUBLISHABLE_SECONDS


WAYS = {"read": "read", "write": "written"}

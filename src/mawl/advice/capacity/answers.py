"""The answers for compute and storage (carried, not carried, not known), and SAS's guideline for storage."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mawl.advice.capacity.bounds import CapacityBounds
from mawl.advice.capacity.slowdown import Interval, Slowdowns, ends_of, interval_of
from mawl.advice.foreign import foreign_bytes
from mawl.base.units import format_percent, format_rate, format_ratio, format_seconds
from mawl.figures.demand import by_streams, figures_of, targets_of, words_of
from mawl.figures.io import REACHES_STORAGE_RATIO
from mawl.figures.missing import Missing
from mawl.figures.view import RunView
from mawl.records.definitions import flag, rate, text
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Probe, ProbeTarget
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import Guideline, Limit, PartFigures, Standing, StoragePart
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import count_of, value_of

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
        return PartFigures(answer=self.answer, **ends_of(self.slowdown), reason=self.reason)

    def of_storage(self) -> StoragePart:
        return StoragePart(
            answer=self.answer,
            **ends_of(self.slowdown),
            reason=self.reason,
            asked_bytes_per_second=self.asked_bytes_per_second,
        )


def whole_part(found: Slowdowns, most: float) -> CapacityPart:
    """The same of the whole slowdown, which is the sum of both parts."""
    return _part_of_interval(found, interval_of(found, "whole"), most)


def compute_part(found: Slowdowns, most: float) -> CapacityPart:
    """*Compute carries* when the median slowdown by CPU time and run queue is within the bound."""
    return _part_of_interval(found, interval_of(found, "compute"), most)


def storage_part(found: Slowdowns, most: float, reading: RunView, limit: Limit | None) -> CapacityPart:
    """*Storage carries* when the median slowdown by I/O is within the bound, and the storage was asked.

    It was asked when enough of the bytes of each direction that matters reached a device, by this run alone,
    for long enough.  Where processors limit, the answer is for the rate that they could ask.
    """
    part = _part_of_interval(found, interval_of(found, "storage"), most)
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


def _part_of_interval(found: Slowdowns, interval: Interval | None, most: float) -> CapacityPart:
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
    reason = (
        f"the 95 % interval {interval_words(interval)} lies on both sides of the bound {format_ratio(most)}"
    )
    return CapacityPart(answer="not known", slowdown=interval, reason=reason, lack="spread")


def interval_words(interval: Interval) -> str:
    """Both ends as text: ``1.31 to 1.55``."""
    return f"{format_ratio(interval.low)} to {format_ratio(interval.high)}"


def unasked(summary: Summary) -> tuple[str, Lack] | None:
    """Why a run did not ask its storage: others used the devices, or a cache served too many of the bytes."""
    said = foreign_bytes(summary)
    return _served_by_cache(summary) if said is None else (said, "others")


def _served_by_cache(summary: Summary) -> tuple[str, Lack] | None:
    io = summary.io
    moved = {way: getattr(io.application, f"{name}_bytes") for way, name in VERB_OF_WAY.items()}
    if None in moved.values():
        return "how many bytes the programs moved is not known", "reach"
    whole = sum(moved.values())
    if not whole:
        return "the programs moved no bytes", "reach"
    for way, name in VERB_OF_WAY.items():
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


VERB_OF_WAY = {"read": "read", "write": "written"}


PAGE = "docs/design/probe.md, The guideline"
PER_CORE = "sustained_bytes_per_second_per_core"
NOT_ASKED = (
    "the storage did not limit this run and was not probed, so the run's throughput is not what the storage "
    "can do (mawl probe)"
)
NOT_ITS_STORAGE = (
    "the storage did not limit this run, and no target of the probe holds one of its roles (same node, same "
    "devices, same size)"
)


def guideline_of(
    reading: RunView, limit: Limit | None, probe: Probe | None, bounds: CapacityBounds, missing: Missing
) -> Guideline:
    """``capacity.guideline``: throughput per core beside the two bounds; it decides nothing.

    It is a capability of storage, so it is judged by a probe (the lowest target that holds a role), or by a
    run that its storage limited; the throughput of any other run is shown and not judged.  Where others moved
    more than a tenth of the bytes (``advice.foreign``) the run has none.
    """
    rates = _probed_rates(probe, reading.facts, bounds)
    value: float | None = min(rates) if rates else getattr(reading.summary.io.device, PER_CORE)
    standing: Standing | None = None
    basis: Literal["probe", "run"] | None = None
    if rates:
        basis = "probe"
    else:
        others = foreign_bytes(reading.summary)
        value = None if others else value
        if limit is not None and limit.verdict == "storage":
            basis = "run"
        why = others or _why_not_judged(probe)
        missing |= {f"capacity.guideline.{name}": why for name in ("basis", "standing", "met")}
    if value is None:
        basis = None
        reason = foreign_bytes(reading.summary) or reading.summary.missing[f"io.device.{PER_CORE}"]
        missing |= {
            f"capacity.guideline.{name}": reason
            for name in ("bytes_per_second_per_core", "basis", "standing", "met")
        }
    elif basis is not None:
        standing = standing_of(value, bounds)
    missing["capacity.guideline.core_basis"] = "the nodes' cores are not known in one basis"
    bases = {node.core_basis for node in reading.facts.nodes}
    return Guideline(
        bytes_per_second_per_core=value,
        basis=basis,
        warn_bytes_per_second_per_core=bounds.warn_bytes_per_second_per_core,
        good_bytes_per_second_per_core=bounds.good_bytes_per_second_per_core,
        core_basis=bases.pop() if len(bases) == 1 else None,
        standing=standing,
        met=None if standing is None else standing != "below",
    )


def _why_not_judged(probe: Probe | None) -> str:
    if probe is None:
        return NOT_ASKED
    return NOT_ITS_STORAGE


def standing_of(bytes_per_second_per_core: float, bounds: CapacityBounds) -> Standing:
    if bytes_per_second_per_core >= bounds.good_bytes_per_second_per_core:
        return "good"
    return "warn" if bytes_per_second_per_core >= bounds.warn_bytes_per_second_per_core else "below"


class TargetGuideline(msgspec.Struct, frozen=True, kw_only=True):
    """The guideline of one target of a probe: what was read and written for each core, and by which tests."""

    core_basis: Annotated[str | None, text("What counts as a core.", PAGE)]
    warn_bytes_per_second_per_core: Annotated[float, rate("Below this bound the guideline is not met.", PAGE)]
    good_bytes_per_second_per_core: Annotated[float, rate("From this bound on the rate is good.", PAGE)]
    standing: Annotated[
        Standing | None, text("How the lower of both rates compares with the bounds.", PAGE)
    ] = None
    met: Annotated[bool | None, flag("Whether the lower of both rates reaches the lower bound.", PAGE)] = None
    reason: Annotated[str | None, text("Why it cannot be judged.", PAGE)] = None
    read_bytes_per_second_per_core: Annotated[
        float | None, rate("Sequential reads at 256 KiB, over the cores.", PAGE)
    ] = None
    read_test: Annotated[str | None, text("The test that measured the reads.", PAGE)] = None
    write_bytes_per_second_per_core: Annotated[
        float | None, rate("Sequential writes at 256 KiB, over the cores.", PAGE)
    ] = None
    write_test: Annotated[str | None, text("The test that measured the writes.", PAGE)] = None

    @property
    def lowest(self) -> float | None:
        """The lower of both rates, which decides; None where one is not known."""
        read, write = self.read_bytes_per_second_per_core, self.write_bytes_per_second_per_core
        return None if read is None or write is None else min(read, write)


def probe_guidelines(probe: Probe, bounds: CapacityBounds) -> dict[str, TargetGuideline]:
    """The guideline for each target of a probe, by its name; one that cannot be judged has a ``reason``.

    Sequential rates at 256 KiB, for which the guideline is meant, by as many streams as cores (or nearest),
    over the cores, reading and writing each; the lower of both decides (docs/design/probe.md).
    """
    return {target.name: _target_guideline(target, probe, bounds) for target in probe.targets}


def _probed_rates(probe: Probe | None, facts: RunFacts, bounds: CapacityBounds) -> list[float]:
    """The lower rate per core of each target that holds a role; empty where one cannot be judged."""
    if probe is None:
        return []
    used = {target.name for volume in facts.volumes for target in targets_of(volume, probe.targets)}
    lowest = [one.lowest for name, one in probe_guidelines(probe, bounds).items() if name in used]
    known = [rate for rate in lowest if rate is not None]
    return known if len(known) == len(lowest) else []


def _target_guideline(target: ProbeTarget, probe: Probe, bounds: CapacityBounds) -> TargetGuideline:
    cores = probe.physical_cores
    (read, read_test), (write, write_test) = (_rate_per_core(target, way, cores) for way in ("read", "write"))
    reason = None if cores else "the cores of the node that probed are not known"
    lacking = next((way for way, rate in (("read", read), ("write", write)) if rate is None), None)
    if lacking is not None and reason is None:
        reason = f"it has no sequential {lacking} test of 256 KiB with figures"
    standing = None if read is None or write is None else standing_of(min(read, write), bounds)
    return TargetGuideline(
        core_basis=probe.core_basis,
        warn_bytes_per_second_per_core=bounds.warn_bytes_per_second_per_core,
        good_bytes_per_second_per_core=bounds.good_bytes_per_second_per_core,
        standing=standing,
        met=None if standing is None else standing != "below",
        reason=reason,
        read_bytes_per_second_per_core=read,
        read_test=read_test,
        write_bytes_per_second_per_core=write,
        write_test=write_test,
    )


def _rate_per_core(
    target: ProbeTarget, direction: str, cores: float | None
) -> tuple[float | None, str | None]:
    """The rate per core one way, and the test that found it."""
    streams = max(round(cores), 1) if cores else 1
    test = by_streams(target, direction, "sequential", PAPERS_REQUEST_BYTES, streams) if cores else None
    # Another request size is another figure, and not the guideline's.
    if test is None or cores is None or test.request_bytes != PAPERS_REQUEST_BYTES:
        return None, None
    figures = figures_of(test, direction)
    return figures.bytes_per_second / cores if figures else None, words_of(test)

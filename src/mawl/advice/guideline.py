"""SAS's guideline for storage, throughput per core and file system: it decides nothing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.limit.evidence import flow_of
from mawl.advice.validity.host import foreign_bytes_at
from mawl.base.units import format_rate
from mawl.figures.demand import by_streams, figures_of, targets_of, words_of
from mawl.figures.missing import Missing
from mawl.figures.throughput import NO_SAMPLES, cores_of, why_no_devices
from mawl.figures.view import RunView
from mawl.records.definitions import flag, rate, text
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Probe, ProbeTarget
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.judgement import Guideline, Limit, Standing
from mawl.records.spec.program_options import ROLES, Role

PAGE = "docs/design/probe.md, The guideline"
NAMES = ("bytes_per_second_per_core", "role", "file_system", "basis", "standing", "met")
NOT_ASKED = (
    "the storage did not limit this run and was not probed, so the run's throughput is not what the storage "
    "can do (mawl probe)"
)
NOT_ITS_STORAGE = (
    "the storage did not limit this run, and no target of the probe holds one of its roles (same node, same "
    "devices, same size)"
)
NOT_FULL = (
    "storage limited the run, and nothing shows that its devices gave all they can, so the run's throughput "
    "is not what the storage can do (mawl probe)"
)
NO_ROLE = "which role's file system limited the run is not known"


class FileSystemRate(NamedTuple):
    """What a file system gave, or can give, per core (bytes per second), and the role that it holds."""

    per_core: float
    role: Role
    file_system: str
    peak: float = math.inf
    """In its highest window; without windows it does not count."""


def guideline_of(
    reading: RunView, limit: Limit | None, probe: Probe | None, bounds: AnswerBounds, missing: Missing
) -> Guideline:
    """``guideline``: throughput per core of one file system beside the two bounds; it decides nothing.

    It is a capability of storage, so it is judged by a probe (the lowest target that holds a role), or by
    the file system of the role that limited the run by its bandwidth.  Of any other run the file system that
    moved most is shown and not judged.  A run has none where others moved more than a tenth of its bytes
    (``foreign_bytes_at``).
    """
    role = limit.role if limit is not None and limit.is_of("storage") else None
    rates = _probed_rates(probe, reading.facts, role, bounds)
    shown = min(rates, default=None)
    standing: Standing | None = None
    basis: Literal["probe", "run"] | None = None
    if shown is not None:
        basis = "probe"
    else:
        moved = _moved_rates(reading, [role] if role else ROLES)
        shown = max(moved, default=None)
        others = foreign_bytes_at(reading, shown.role if shown else None)
        why = others
        if others:
            shown = None
        elif shown is None:
            why = reading.device.reason or why_no_devices(reading.facts)
            why = why or (NO_SAMPLES if cores_of(reading.facts)[0] else cores_of(reading.facts)[1])
        elif (unjudged := _why_not_judged(limit, probe)) is not None:
            why = unjudged
        elif len(moved) > 1:
            why = f"{role} is on {len(moved)} file systems, and which of them limited the run is not known"
        elif shown.per_core < bounds.warn_bytes_per_second_per_core <= shown.peak:
            why = (
                f"{role} moved {format_rate(shown.peak)} per core in its highest window, so the median one "
                "is not what the storage can do (mawl probe)"
            )
        else:
            basis = "run"
        names = ["basis", "standing", "met"] if shown else NAMES
        missing |= {f"guideline.{name}": why or "" for name in names if basis is None}
    if basis is not None and shown is not None:
        standing = standing_of(shown.per_core, bounds)
    missing["guideline.core_basis"] = "the nodes' cores are not known in one basis"
    bases = {node.core_basis for node in reading.facts.nodes}
    return Guideline(
        bytes_per_second_per_core=shown and shown.per_core,
        basis=basis,
        role=shown and shown.role,
        file_system=shown and shown.file_system,
        warn_bytes_per_second_per_core=bounds.warn_bytes_per_second_per_core,
        good_bytes_per_second_per_core=bounds.good_bytes_per_second_per_core,
        core_basis=bases.pop() if len(bases) == 1 else None,
        standing=standing,
        met=None if standing is None else standing != "below",
    )


def _moved_rates(reading: RunView, roles: Sequence[Role]) -> list[FileSystemRate]:
    """What each file system of these roles moved in its median window, per core; each once."""
    cores, _ = cores_of(reading.facts)
    rates: dict[tuple[str, ...], FileSystemRate] = {}
    for role in roles:
        for volume in reading.volumes(role):
            known = [rate for rate in flow_of(reading, volume.devices)["total"] if rate is not None]
            if known and cores and tuple(volume.devices) not in rates:
                per_core = statistics.median(known) / cores
                rates[tuple(volume.devices)] = FileSystemRate(
                    per_core, role, _file_system(volume), max(known) / cores
                )
    return list(rates.values())


def _file_system(volume: VolumeFacts) -> str:
    """Its type and its devices, as far as they are known: ``ext4 on sdb``."""
    return " on ".join(filter(None, (volume.file_system, ", ".join(volume.devices)))) or volume.role


def guideline_sentence(guideline: Guideline, missing: Missing) -> str:
    """Met, not met, or why it is not judged."""
    value = guideline.bytes_per_second_per_core
    if value is None:
        return f"not known: {missing['guideline.met']}"
    bounds = (
        f"{format_rate(guideline.warn_bytes_per_second_per_core)} (good: "
        f"{format_rate(guideline.good_bytes_per_second_per_core)})"
    )
    source = {"probe": "a probe found", "run": "the storage gave", None: "the run moved"}[guideline.basis]
    sentence = f"{source} {format_rate(value)} per {guideline.core_basis or 'core'} at {guideline.place}"
    if guideline.met is None:
        why = missing["guideline.met"]
        why = "use mawl probe" if why == NOT_ASKED else why
        return f"{bounds}: not judged: {sentence}; {why}"
    return f"{bounds}: {'met' if guideline.met else 'not met'}: {sentence}"


def _why_not_judged(limit: Limit | None, probe: Probe | None) -> str | None:
    """Why the throughput of a run is not what its storage can do; None where bandwidth limited the run."""
    if limit is None or not limit.limits_by("storage"):
        return NOT_ASKED if probe is None else NOT_ITS_STORAGE
    if limit.role is None:
        return NO_ROLE
    full = any(cost.kind == "bandwidth" and limit.role in cost.roles for cost in limit.costs)
    return None if full else NOT_FULL


def standing_of(bytes_per_second_per_core: float, bounds: AnswerBounds) -> Standing:
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


def probe_guidelines(probe: Probe, bounds: AnswerBounds) -> dict[str, TargetGuideline]:
    """The guideline for each target of a probe, by its name; one that cannot be judged has a ``reason``.

    Sequential rates at 256 KiB, for which the guideline is meant, by as many streams as cores (or nearest),
    over the cores, reading and writing each; the lower of both decides (docs/design/probe.md).
    """
    return {target.name: _target_guideline(target, probe, bounds) for target in probe.targets}


def _probed_rates(
    probe: Probe | None, facts: RunFacts, role: Role | None, bounds: AnswerBounds
) -> list[FileSystemRate]:
    """The lower rate per core of each target that holds a role; empty where one cannot be judged.

    A target of several roles is named by ``role``, else by the first of them; a role that has a target with
    its name is not named for another one.
    """
    if probe is None:
        return []
    volumes = sorted(facts.volumes, key=lambda volume: (volume.role != role, ROLES.index(volume.role)))
    names = {target.name for target in probe.targets}
    holders: dict[str, list[VolumeFacts]] = {}
    for volume in volumes:
        for target in targets_of(volume, probe.targets):
            holders.setdefault(target.name, []).append(volume)
    used = {
        name: next((one for one in held if one.role == name or one.role not in names), held[0])
        for name, held in holders.items()
    }
    lowest = {name: one.lowest for name, one in probe_guidelines(probe, bounds).items() if name in used}
    known = [
        FileSystemRate(rate, used[name].role, _file_system(used[name]))
        for name, rate in lowest.items()
        if rate is not None
    ]
    return known if len(known) == len(lowest) else []


def _target_guideline(target: ProbeTarget, probe: Probe, bounds: AnswerBounds) -> TargetGuideline:
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

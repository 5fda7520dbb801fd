"""A run's SAS-style logs, derived, compared with what the run folder counted: mawl is its own oracle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

import msgspec

from mawl.derive.derive import Derived, DeriveRequest, derive
from mawl.derive.estimate import Ranged
from mawl.derive.jobs import StepEvidence
from mawl.importers.build import ImportRequest, import_files
from mawl.reporters import saslog
from mawl.spec.program_options import ROLES
from mawl.store import Run, open_run

LEAST_BYTES = 2**20
LEAST_SECONDS = 0.1
"""Smaller steps have no ratio that means anything: times in a log are to the hundredth of a second."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """Derived figures against counted ones: Q-errors of steps, differences of shares, hits of ranges."""

    bytes_errors: list[float]
    cpu_errors: list[float]
    memory_errors: list[float]
    share_errors: list[float]
    inside: list[bool]


def derived_from_logs(run: Run, folder: Path, *, stimer: bool = False) -> Derived:
    """What the logs alone give, imported; with ``stimer`` they tell real and CPU time only."""
    logs = folder / "logs"
    logs.mkdir(parents=True)
    text = saslog.render(run)
    (logs / "all.log").write_text(_stimer(text) if stimer else text)
    import_files(ImportRequest(paths=[str(logs)], folder=folder / "imported", run_id="imported"))
    return derive(open_run(folder / "imported"), DeriveRequest(keep_names=True))


def _stimer(text: str) -> str:
    """The log as OPTIONS STIMER has it: real time, and the sum of user and system CPU time."""
    lines: list[str] = []
    user = ""
    for line in text.splitlines():
        name = line.strip().partition("  ")[0]
        if name == "user cpu time":
            user = line.split("time", 1)[1].strip()
        elif name == "system cpu time":
            both = _seconds(user) + _seconds(line.split("time", 1)[1].strip())
            lines.append(f"      cpu time            {both:.2f} seconds" if both < 60 else
                         f"      cpu time            {int(both // 60)}:{both % 60:05.2f}")  # fmt: skip
        elif name in ("memory", "OS Memory", "Timestamp") or name.startswith(
            ("Step Count", "Page ", "Voluntary", "Involuntary", "Block ")
        ):
            continue
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _seconds(text: str) -> float:
    seconds = 0.0
    for part in text.removesuffix(" seconds").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def derived_again(derived: Derived, run: Run) -> Derived:
    """What a run of derived jobs counted, under the names of the jobs that it was derived to."""
    counted = derive(run, DeriveRequest(keep_names=True))
    names = {job.program: job for job in counted.evidence.jobs}
    jobs = tuple(
        msgspec.structs.replace(names[job.job], job=job.job, program=job.program)
        for job in derived.evidence.jobs
    )
    return msgspec.structs.replace(counted, evidence=msgspec.structs.replace(counted.evidence, jobs=jobs))


def held(logs: Derived, run: Run) -> Held:
    """Steps of the logs against the same steps as the run counted them."""
    truth = derive(run, DeriveRequest(keep_names=True))
    found = Held(bytes_errors=[], cpu_errors=[], memory_errors=[], share_errors=[], inside=[])
    for mine, true in _pairs(logs, truth):
        moved, counted = _moved(mine), _moved(true)
        if counted >= LEAST_BYTES:
            found.bytes_errors.append(_error(moved, counted))
            found.share_errors.extend(_share_errors(mine, true))
            low, high = _range(mine)
            found.inside.append(low <= counted <= high)
        if true.cpu_seconds.value >= LEAST_SECONDS:
            found.cpu_errors.append(_error(mine.cpu_seconds.value, true.cpu_seconds.value))
        if true.memory_bytes.value >= LEAST_BYTES:
            found.memory_errors.append(_error(mine.memory_bytes.value, true.memory_bytes.value))
            found.inside.append(_holds(mine.memory_bytes, true.memory_bytes.value))
    return found


def _pairs(logs: Derived, truth: Derived) -> Iterator[tuple[StepEvidence, StepEvidence]]:
    true = {(job.job, number): step for job in truth.evidence.jobs for number, step in enumerate(job.steps)}
    for job in logs.evidence.jobs:
        for number, step in enumerate(job.steps):
            yield step, true[job.job, number]


def _moved(step: StepEvidence) -> float:
    return math.fsum(part.value for part in (*step.read_bytes.values(), *step.written_bytes.values()))


def _range(step: StepEvidence) -> tuple[float, float]:
    parts = (*step.read_bytes.values(), *step.written_bytes.values())
    return math.fsum(part.low for part in parts), math.fsum(part.high for part in parts)


def _share_errors(mine: StepEvidence, true: StepEvidence) -> Iterator[float]:
    for role in ROLES:
        yield abs(_share(mine, role) - _share(true, role))


def _share(step: StepEvidence, role: str) -> float:
    parts: list[Mapping[str, Ranged]] = [step.read_bytes, step.written_bytes]  # type: ignore[list-item]
    return math.fsum(one[role].value for one in parts if role in one) / max(_moved(step), 1.0)


def _error(one: float, other: float) -> float:
    return max(one / other, other / one) if one > 0 and other > 0 else math.inf


def _holds(part: Ranged, value: float) -> bool:
    return part.low <= value <= part.high


def summary(errors: list[float]) -> tuple[int, float, float]:
    """Count, median and 95th percentile (the nearest rank)."""
    ordered = sorted(errors)
    return len(ordered), median(ordered), ordered[math.ceil(0.95 * len(ordered)) - 1]

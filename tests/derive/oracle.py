"""A run's SAS-style logs, derived, compared with what the run folder counted: mawl is its own oracle."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

from mawl.derive.derive import Derivation, DeriveRequest, derive
from mawl.derive.jobs import StepEvidence
from mawl.derive.tables import Ranged
from mawl.importers.formats.saslog_write import job_log
from mawl.importers.import_files import ImportRequest, import_files
from mawl.plan.derived_jobs import derived_programs
from mawl.records.model.records import Usage
from mawl.records.spec.program_options import ROLES
from mawl.records.store import Run, open_run
from mawl.reports.exports import render_saslog

LEAST_BYTES = 2**20
LEAST_SECONDS = 0.1
"""Smaller steps have no ratio that means anything: times in a log are to the hundredth of a second."""


class Ranges(msgspec.Struct, frozen=True, kw_only=True):
    """Ranges of one figure, one for each step: whether the counted figure lies inside, and how wide they are.

    The width is the high end divided by the low end (infinite if that is 0).  By role it is the high end
    minus the low end, divided by all bytes that the step moved, of the role with the largest width: 0 if the
    log tells all roles.
    """

    inside: list[bool] = []
    widths: list[float] = []

    def add(self, ends: tuple[float, float], counted: float) -> None:
        """One step."""
        low, high = ends
        self.inside.append(low <= counted <= high)
        self.widths.append(high / low if low > 0 else math.inf)

    @property
    def ratio(self) -> float:
        """The share of steps whose counted figure lies inside."""
        return sum(self.inside) / len(self.inside)

    @property
    def said(self) -> str:
        """``190 of 195 inside, width 1.35``."""
        return f"{sum(self.inside)} of {len(self.inside)} inside, median width {median(self.widths):.3g}"


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """Derived figures against counted ones: Q-errors of steps, differences of shares, and ranges."""

    bytes_errors: list[float]
    cpu_errors: list[float]
    memory_errors: list[float]
    share_errors: list[float]
    bytes_ranges: Ranges
    role_ranges: Ranges
    cpu_ranges: Ranges
    memory_ranges: Ranges

    @property
    def ranges(self) -> dict[str, Ranges]:
        """By figure."""
        return {
            "bytes": self.bytes_ranges,
            "bytes by role": self.role_ranges,
            "CPU": self.cpu_ranges,
            "memory": self.memory_ranges,
        }

    @property
    def errors_said(self) -> str:
        """A line of each kind of error, for the output of a test."""
        return "\n".join(
            f"{name}: {count} steps, median {middle:.3f}, 95th percentile {most:.3f}"
            for name, errors in (
                ("bytes", self.bytes_errors),
                ("CPU", self.cpu_errors),
                ("memory", self.memory_errors),
                ("shares", self.share_errors),
            )
            if errors
            for count, middle, most in [summary(errors)]
        )

    @property
    def said(self) -> str:
        """Errors and ranges, a line each."""
        ranges = [f"range of {name}: {one.said}" for name, one in self.ranges.items()]
        return "\n".join([self.errors_said, *ranges])


Change = Callable[[str], str]
"""What makes another log of a log."""

Noted = Callable[[Usage], Usage]
"""What of the figures of a step a log has."""


def derived_from_logs(
    run: Run, folder: Path, *changes: Change, text: str | None = None, recordings: Sequence[Path] = ()
) -> Derivation:
    """What the logs alone give, imported, after ``changes``; ``recordings`` are of the host of the run."""
    logs = folder / "logs"
    logs.mkdir(parents=True)
    text = render_saslog(run) if text is None else text
    for change in changes:
        text = change(text)
    (logs / "all.log").write_text(text)
    paths = [str(logs), *map(str, recordings)]
    import_files(ImportRequest(paths=paths, folder=folder / "imported", run_id="imported"))
    return derive(open_run(folder / "imported"), DeriveRequest(keep_names=True))


def without_util_notes(text: str) -> str:
    """The log without its notes on utility files, which SAS does not write."""
    return re.sub(r"(?m)^NOTE: .*\bUTIL\..*\n", "", text)


def without_cpu_time(text: str) -> str:
    """The log of a session that did not note CPU time."""
    return re.sub(r"(?m)^ +(?:user |system )?cpu time .*\n", "", text)


def stimer(usage: Usage) -> Usage:
    """What OPTIONS STIMER notes of a step: real time, and the sum of user and system CPU time."""
    return Usage(real_time_seconds=usage.real_time_seconds, unsplit_cpu_seconds=usage.cpu_seconds)


def log_of(run: Run, noted: Noted) -> str:
    """The logs of all jobs, with what ``noted`` leaves of the figures of a step."""
    steps = run.steps_by_job()
    derived = derived_programs(run.path)
    platforms = {node.name: node.kernel for node in run.facts.nodes}
    return "\n".join(
        job_log(
            job,
            [msgspec.structs.replace(step, usage=noted(step.usage)) for step in steps[job.job]],
            platform=platforms.get(job.node),
            program=derived.get(job.program),
        )
        for job in run.job_records()
    )


def derived_again(derived: Derivation, run: Run) -> Derivation:
    """What a run of derived jobs counted, under the names of the jobs that it was derived to."""
    counted = derive(run, DeriveRequest(keep_names=True))
    names = {job.program: job for job in counted.evidence.jobs}
    jobs = tuple(
        msgspec.structs.replace(names[job.job], job=job.job, program=job.program)
        for job in derived.evidence.jobs
    )
    return msgspec.structs.replace(counted, evidence=msgspec.structs.replace(counted.evidence, jobs=jobs))


def held(logs: Derivation, run: Run) -> Held:
    """Steps of the logs against the same steps as the run counted them."""
    return held_against(logs, counted_by(run))


def counted_by(run: Run) -> Derivation:
    """What the run folder counted, in the form of what logs give."""
    return derive(run, DeriveRequest(keep_names=True))


def held_against(logs: Derivation, truth: Derivation) -> Held:
    """Steps of the logs against the same steps as they were counted."""
    found = Held(
        bytes_errors=[],
        cpu_errors=[],
        memory_errors=[],
        share_errors=[],
        bytes_ranges=Ranges(),
        role_ranges=Ranges(),
        cpu_ranges=Ranges(),
        memory_ranges=Ranges(),
    )
    for mine, true in _pairs(logs, truth):
        moved, counted = _moved(mine), _moved(true)
        if counted >= LEAST_BYTES:
            found.bytes_errors.append(_error(moved, counted))
            found.share_errors.extend(_share_errors(mine, true))
            found.bytes_ranges.add(_range(mine), counted)
            _add_roles(found.role_ranges, mine, true, counted)
        if true.cpu_seconds.value >= LEAST_SECONDS:
            found.cpu_errors.append(_error(mine.cpu_seconds.value, true.cpu_seconds.value))
            found.cpu_ranges.add(_ends(mine.cpu_seconds), true.cpu_seconds.value)
        if true.memory_bytes.value >= LEAST_BYTES:
            found.memory_errors.append(_error(mine.memory_bytes.value, true.memory_bytes.value))
            found.memory_ranges.add(_ends(mine.memory_bytes), true.memory_bytes.value)
    return found


def _add_roles(ranges: Ranges, mine: StepEvidence, true: StepEvidence, counted: float) -> None:
    """A step is inside if the bytes of each role are, those read and those written."""
    inside, widths = True, []
    for role in ROLES:
        width = 0.0
        for part, other in (
            (mine.read_bytes.get(role, _NOTHING), true.read_bytes.get(role, _NOTHING)),
            (mine.written_bytes.get(role, _NOTHING), true.written_bytes.get(role, _NOTHING)),
        ):
            inside &= part.low <= other.value <= part.high
            width += part.high - part.low
        widths.append(width / counted)
    ranges.inside.append(inside)
    ranges.widths.append(max(widths))


_NOTHING = Ranged(0.0, 0.0, 0.0, "told", "log")


def _pairs(logs: Derivation, truth: Derivation) -> Iterator[tuple[StepEvidence, StepEvidence]]:
    true = {(job.job, number): step for job in truth.evidence.jobs for number, step in enumerate(job.steps)}
    for job in logs.evidence.jobs:
        for number, step in enumerate(job.steps):
            yield step, true[job.job, number]


def _moved(step: StepEvidence) -> float:
    return math.fsum(part.value for part in (*step.read_bytes.values(), *step.written_bytes.values()))


def _range(step: StepEvidence) -> tuple[float, float]:
    read, written = step.read_bytes_range, step.written_bytes_range
    return read[0] + written[0], read[1] + written[1]


def _share_errors(mine: StepEvidence, true: StepEvidence) -> Iterator[float]:
    for role in ROLES:
        yield abs(_share(mine, role) - _share(true, role))


def _share(step: StepEvidence, role: str) -> float:
    parts: list[Mapping[str, Ranged]] = [step.read_bytes, step.written_bytes]  # type: ignore[list-item]
    return math.fsum(one[role].value for one in parts if role in one) / max(_moved(step), 1.0)


def _error(one: float, other: float) -> float:
    return max(one / other, other / one) if one > 0 and other > 0 else math.inf


def _ends(part: Ranged) -> tuple[float, float]:
    return part.low, part.high


def summary(errors: list[float]) -> tuple[int, float, float]:
    """Count, median and 95th percentile (the nearest rank)."""
    ordered = sorted(errors)
    return len(ordered), median(ordered), ordered[math.ceil(0.95 * len(ordered)) - 1]

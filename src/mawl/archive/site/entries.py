"""The entry of a pack on a site: who made it, what it ran on, and its figures."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from mawl.advice.limit.verdict import limit_words
from mawl.archive.bounded_reading import read_bounded_by
from mawl.archive.container import LARGEST_PACK_BYTES, REPORT, SUFFIX, is_name
from mawl.archive.integrity import PAGES_RULE as PAGES
from mawl.archive.packing import outside_in
from mawl.archive.publication import INTACT, Validation, validate
from mawl.archive.subject import ValidationSubject, pack_subject
from mawl.base.errors import UnreadableRunError, UsageError
from mawl.base.foreign import descriptor_of
from mawl.base.printable import printable
from mawl.base.removal import temporary_directory
from mawl.base.units import (
    format_joules,
    format_memory,
    format_plain,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.comparison.comparability import MUST_MATCH, Severity, match_of_answers
from mawl.figures.comparison.sides import ComparedRun, Side, at, compared_run
from mawl.figures.comparison.waits import verdicts
from mawl.records.model.qualification import Qualification
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Judged
from mawl.reports.document import rendered
from mawl.reports.layout import ABSENT
from mawl.reports.qualification import document

SUSTAINED = "io.device.sustained.total_bytes_per_second"
FIGURES: dict[str, str] = {
    "slowdown": "answer.slowdown",
    "elapsed": "time.elapsed_seconds",
    "real time, sum": "time.real_time_seconds",
    "CPU time": "time.cpu_seconds",
    "sustained": SUSTAINED,
    "per core": "io.device.sustained_bytes_per_second_per_core",
    "per node": SUSTAINED,
    "energy per job": "energy.joules_per_job",
}
"""Figure of a row to its path in a summary; per node it is divided by the number of nodes."""


class SiteFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure over the runs of a pack: None if a run lacks it, or if its basis differs between runs.

    ``of`` is the basis that must be equal for it to be compared: the core, or what energy was measured of.
    """

    median: float | None
    low: float | None
    high: float | None
    text: str
    of: str = ""


class SiteEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One pack.  ``must_match`` are the facts that must be equal for its figures to be compared, ``doubts``
    those whose difference casts doubt; ``machine`` says what it ran on, in words.  ``qualified`` is the
    record of a qualification, whose figures are those of its measured runs."""

    slug: str
    sha256: str
    validation: Validation
    started_at: float
    workload: str
    scale: float | None
    sessions: int
    cores: int | None
    nodes: int
    answer: str
    limit: str
    must_match: dict[str, str]
    doubts: dict[str, str]
    machine: dict[str, str]
    figures: dict[str, SiteFigure]
    report: str
    qualified: Qualification | None = None

    @property
    def division(self) -> str:
        """``closed`` or ``open``."""
        return self.validation.division or "open"

    @property
    def what(self) -> str:
        if self.qualified is not None:
            of = self.must_match
            return f"Qualified: {of['workload']} at scale {of['scale']}, bound {of['bound']}, mix {of['mix']}"
        scale = "" if self.scale is None else f" at scale {format_plain(self.scale, 6)}"
        return f"{self.workload}, {self.sessions} sessions{scale}"

    @property
    def group(self) -> tuple[str, ...]:
        """Results of one group may be compared."""
        return (self.division, self.what, self.must_match["cache mode"], *sorted(self.must_match.values()))

    @property
    def title(self) -> str:
        """What its maker calls the system, else the file's name; controls as escapes."""
        statement = self.validation.statement
        return printable((statement.system if statement is not None else "") or self.slug)

    @property
    def system(self) -> str:
        plain = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60]
        return f"{plain or 'system'}-{hashlib.sha256(self.title.encode()).hexdigest()[:8]}"


def checked(path: Path, *, trusted: bool = False) -> SiteEntry:
    """The entry of a pack, checked by every rule; within bounds unless it is ``trusted``.

    Raises ``UnreadableRunError`` for a file that is no pack, or whose figures cannot be
    relied on: a site does not spread those.  Pages that other code printed are no reason to refuse, because
    the site shows none of them: it prints its own.
    """
    slug = slug_of(path)
    # Made here, so that it is removed also if the process that reads is killed.
    with temporary_directory("mawl-publish-") as place:
        read = partial(_checked, slug, path, place)
        return read() if trusted else read_bounded_by(read, SiteEntry, path)


def _checked(slug: str, path: Path, place: Path) -> SiteEntry:
    return _entry(slug, path, pack_subject(path, place))


def slug_of(path: Path) -> str:
    """The name of a pack's page; UsageError where its file's name is none."""
    slug = path.name.removesuffix(SUFFIX).removesuffix(".zip")
    if not is_name(slug):
        raise UsageError(
            "is no name of a page", where=path.name, cure="rename the file to letters, digits, -, _ and ."
        )
    return slug


def sum_of(path: Path) -> str:
    """SHA-256 of a pack's bytes; UsageError where it cannot be read, or is no regular file."""
    try:
        with os.fdopen(descriptor_of(path), "rb") as file:
            if os.fstat(file.fileno()).st_size > LARGEST_PACK_BYTES:
                raise OSError(errno.EFBIG, "larger than any pack")
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(
            "cannot be read", where=str(path), why=(error.strerror or str(error)).lower()
        ) from None


def _entry(slug: str, path: Path, subject: ValidationSubject) -> SiteEntry:
    validation = validate(subject)
    intact = {f"V{number:02}" for number in INTACT}
    failed = [
        one.rule
        for one in validation.rulings
        if one.rule in intact
        and (one.state == "failed" or (one.state == "not known" and one.rule != PAGES.label))
    ]
    if failed:
        raise UnreadableRunError(
            "its figures cannot be relied on, so it is not published",
            where=str(path),
            why=f"not passed: {', '.join(failed)}",
            cure=f"see mawl validate {path}",
        )
    record = subject.record if isinstance(subject.record, Qualification) else None
    counted = subject.runs
    if record is not None:
        counted = {name: run for name, run in counted.items() if run.run.facts.run_id in _measured(record)}
    runs = [compared_run(run.view, run.summary, over_time=False) for run in counted.values()]
    facts = runs[0].facts
    if outside := outside_in(validation.division or "open", facts):
        raise UnreadableRunError(
            f"it was measured with {', '.join(outside)}", where=str(path), cure="ask for a run without that"
        )
    must_match = {
        "division": validation.division or "open",
        "workload": facts.workload.title or facts.workload.name,
        "sessions": str(facts.workload.sessions),
        "cache mode": (facts.cache.mode if facts.cache else None) or "as it was",
        **_configuration(runs[0], "refused"),
    }
    answer, limit = _answer([run.summary for run in runs]), verdicts(Side(label=slug, runs=tuple(runs)))[0][0]
    report = next(iter(counted.values())).pages[REPORT]
    if record is not None and record.answer is not None and record.choice is not None:
        must_match = {"division": must_match["division"], **match_of_answers(record, record.choice)}
        answer = record.answer.carried.answer + (" (preliminary)" if record.answer.preliminary else "")
        limit = ABSENT if record.answer.limit is None else limit_words(record.answer.limit)
        report = rendered(document(record), "text")
    cores = [node.cores for node in facts.machines()]
    nodes = len(facts.machines())
    return SiteEntry(
        slug=slug,
        sha256=sum_of(path),
        validation=validation,
        started_at=facts.started_at,
        workload=facts.workload.title or facts.workload.name,
        scale=facts.workload.scale,
        sessions=facts.workload.sessions,
        cores=None if None in cores else sum(core or 0 for core in cores),
        nodes=nodes,
        answer=answer,
        limit=limit,
        must_match=must_match,
        doubts=_configuration(runs[0], "doubtful"),
        machine=_machine(facts),
        figures=figures_of(runs, nodes),
        report=report,
        qualified=record,
    )


def _measured(record: Qualification) -> set[str | None]:
    return {run.run_id for run in record.runs_for("measured")}


def _answer(summaries: Sequence[Judged]) -> str:
    """Whether the load was carried in every run; runs that differ are named with their numbers."""
    words = Counter(
        one.answer.answer + (" (preliminary)" if one.answer.preliminary else "") for one in summaries
    )
    return (
        next(iter(words)) if len(words) == 1 else ", ".join(f"{many} {word}" for word, many in words.items())
    )


def _configuration(run: ComparedRun, severity: Severity) -> dict[str, str]:
    """The facts that mawl compare asks of both sides; long ones by their digest."""
    found = {}
    for name, how, read, _ in MUST_MATCH:
        if how == severity:
            value = read(run)
            text = (
                "none"
                if value is None
                else format_plain(value, 6)
                if isinstance(value, float)
                else str(value)
            )
            digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
            found[name] = text if len(text) <= 60 else f"plan {digest}"
    return found


def _machine(facts: RunFacts) -> dict[str, str]:
    def every(values: Sequence[object]) -> str:
        words = dict.fromkeys(ABSENT if value is None else printable(str(value)) for value in values)
        return ", ".join(words) or ABSENT

    nodes = facts.machines()
    kinds = [node.instance_type for node in nodes]
    return {
        "nodes": str(len(nodes)),
        **({"instance type": every(kinds)} if any(kinds) else {}),
        "processor": every([node.cpu_model for node in nodes]),
        "cores of a node": every([node.cores for node in nodes]),
        "cores counted as": every([node.core_basis for node in nodes]),
        "memory of a node": every(
            [None if node.memory_bytes is None else format_memory(node.memory_bytes) for node in nodes]
        ),
        "virtual machine": every([node.virtual or "no sign of one" for node in nodes]),
        "kernel": every([node.kernel for node in nodes]),
        **{
            f"{role} on": every([volume.file_system for volume in facts.volumes if volume.role == role])
            for role in dict.fromkeys(volume.role for volume in facts.volumes)
        },
    }


def figures_of(runs: Sequence[ComparedRun], nodes: int) -> dict[str, SiteFigure]:
    """The figures of a row over the runs of a pack on so many nodes, by the names of ``FIGURES``."""
    bases = {node.core_basis or "" for run in runs for node in run.facts.machines()}
    cores_alike, core = len(bases) <= 1, ", ".join(sorted(bases))
    scopes = {str(at(run.summary, "energy.scope") or "") for run in runs}
    scopes_alike, energy = len(scopes) <= 1, ", ".join(sorted(scopes))

    def made(
        name: str, form: Callable[[float], str], *, of: str = "", alike: bool = True, over: int = 1
    ) -> SiteFigure:
        values = [at(run.summary, FIGURES[name]) for run in runs]
        known = [float(value) / over for value in values if isinstance(value, int | float)]
        if len(known) < len(values) or not alike:
            return SiteFigure(median=None, low=None, high=None, text=ABSENT, of=of)
        median, low, high = statistics.median(known), min(known), max(known)
        span = f" ({form(low)} to {form(high)})" if len(known) > 1 else ""
        return SiteFigure(median=median, low=low, high=high, text=f"{form(median)}{span}", of=of)

    return {
        "slowdown": made("slowdown", format_ratio),
        "elapsed": made("elapsed", format_seconds),
        "real time, sum": made("real time, sum", format_seconds),
        "CPU time": made("CPU time", format_seconds),
        "sustained": made("sustained", format_rate),
        "per core": made("per core", format_rate, of=core, alike=cores_alike),
        "per node": made("per node", format_rate, over=max(nodes, 1)),
        "energy per job": made("energy per job", format_joules, of=energy, alike=scopes_alike),
    }


def named_once(slugs: Sequence[str]) -> None:
    """Raise ``UsageError`` where two packs have one name."""
    twice = next((slug for slug, times in Counter(slugs).items() if times > 1), None)
    if twice is not None:
        raise UsageError("is the name of two packs", where=twice, cure="rename one of the files")

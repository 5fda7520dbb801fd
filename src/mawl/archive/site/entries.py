"""What a site shows of a pack."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.analysis.comparison.places import verdicts
from mawl.analysis.comparison.sides import ComparedRun, Side, at, compared_run
from mawl.archive.layout import REPORT, SUFFIX, is_name
from mawl.archive.subject import ValidationSubject, opened_pack
from mawl.archive.validating import Validation, validate
from mawl.errors import UnreadableRunError, UsageError

FIGURES: dict[str, str] = {
    "elapsed_seconds": "time.elapsed_seconds",
    "real_time_seconds": "time.real_time_seconds",
    "cpu_seconds": "time.cpu_seconds",
    "device_bytes_per_second": "io.device.sustained.total_bytes_per_second",
    "device_bytes_per_second_per_core": "io.device.sustained_bytes_per_second_per_core",
}
"""Figure of a row to its path in a summary."""


class SiteEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One pack.  ``figures`` are medians over its runs, None where a run lacks one; ``group`` is what must be
    equal for its figures to be compared."""

    slug: str
    file: Path
    validation: Validation
    started_at: float
    workload: str
    scale: float | None
    sessions: int
    cores: int | None
    nodes: int
    cache: str
    limit: str
    figures: dict[str, float | None]
    report: str

    @property
    def group(self) -> tuple[str, str, str]:
        """Division, workload with its sessions and scale, and how the page cache was used."""
        scale = "" if self.scale is None else f" at scale {self.scale:g}"
        what = f"{self.workload}, {self.sessions} sessions{scale}"
        return (self.validation.division or "open", what, self.cache)

    @property
    def title(self) -> str:
        """What its maker calls the system, else the file's name."""
        statement = self.validation.statement
        return (statement.system if statement is not None else "") or self.slug


def entries_of(packs: Sequence[Path]) -> list[SiteEntry]:
    """The entries of packs, each checked by every rule.

    Raises :class:`~mawl.errors.UsageError` where two packs have one name, and
    :class:`~mawl.errors.UnreadableRunError` for a file that is no pack, or whose figures cannot be relied on:
    a site does not spread those.
    """
    found = []
    for path in packs:
        with opened_pack(path) as subject:
            found.append(_entry(path, subject))
    slugs = [entry.slug for entry in found]
    twice = next((slug for slug in slugs if slugs.count(slug) > 1), None)
    if twice is not None:
        raise UsageError("is the name of two packs", where=twice, cure="rename one of the files")
    return found


def _entry(path: Path, subject: ValidationSubject) -> SiteEntry:
    validation = validate(subject)
    if not validation.intact:
        failed = [one.rule for one in validation.rulings if one.state in ("failed", "not known")]
        raise UnreadableRunError(
            "its figures cannot be relied on, so it is not published",
            where=str(path),
            why=f"not passed: {', '.join(failed)}",
            cure=f"see mawl validate {path}",
        )
    slug = path.name.removesuffix(SUFFIX).removesuffix(".zip")
    if not is_name(slug):
        raise UsageError(
            "is no name of a page", where=path.name, cure="rename the file to letters, digits, -, _ and ."
        )
    runs = [compared_run(run.view, run.summary) for run in subject.runs.values()]
    facts = runs[0].facts
    cores = [node.cores for node in facts.machines()]
    return SiteEntry(
        slug=slug,
        file=path,
        validation=validation,
        started_at=facts.started_at,
        workload=facts.workload.title or facts.workload.name,
        scale=facts.workload.scale,
        sessions=facts.workload.sessions,
        cores=None if None in cores else sum(core or 0 for core in cores),
        nodes=len(facts.machines()),
        cache=(facts.cache.mode if facts.cache else None) or "page cache as it was",
        limit=verdicts(Side(label=slug, runs=tuple(runs)))[0][0],
        figures={name: _median(runs, path) for name, path in FIGURES.items()},
        report=next(iter(subject.runs.values())).pages[REPORT],
    )


def _median(runs: Sequence[ComparedRun], path: str) -> float | None:
    values = [at(run.summary, path) for run in runs]
    return None if None in values else statistics.median(values)

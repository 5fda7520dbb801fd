"""A side of a comparison: one run, several runs of the same configuration, or a published result.

Each run of a comparison over time, to be laid over those of the other side.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from math import exp, log
from typing import Annotated, Any, Literal, get_args

import msgspec
import numpy as np

from mawl.base.errors import UsageError
from mawl.figures.over_time import OverTime, over_time
from mawl.figures.series import Floats, kept_rows
from mawl.figures.sessions import Rates
from mawl.figures.view import RunView
from mawl.plan.environment import StoredEnvironment
from mawl.records.definitions import count, flag
from mawl.records.model.campaign import STATUS
from mawl.records.model.published import PublishedFigures
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.judgement import Severity
from mawl.records.model.summary.summary import Judged

SUMS = {
    "device_bytes_per_second": ("device_read_bytes_per_second", "device_write_bytes_per_second"),
    "application_bytes_per_second": (
        "application_read_bytes_per_second",
        "application_write_bytes_per_second",
    ),
    "device_latency_seconds": ("device_latency_seconds",),
    "jobs_running": ("jobs_running",),
    "cpu_busy_ratio": ("cpu_user_ratio", "cpu_system_ratio"),
}
"""What is compared over time, and the columns of ``over_time`` that it sums."""

LEAST_POINTS = 2


class RunOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """One run: lists of one length, a row from one look to the next (``seconds`` is its middle, from the
    first start on), fewer where there are too many for a chart, every peak of each list among them.

    A list holds None where nothing was measured, and is None where the run has no such figure.
    ``active_seconds`` is where the active phase ends.
    """

    run_id: str
    seconds: list[float]
    device_bytes_per_second: Rates | None
    application_bytes_per_second: Rates | None
    jobs_running: Rates | None
    cpu_busy_ratio: Rates | None
    active_seconds: float
    elapsed_seconds: float
    device_latency_seconds: Rates | None = None


def run_over_time(view: RunView) -> RunOverTime | None:
    """A run over time; None without samples or times, or where two looks saw all of it."""
    line = view.line
    if line is None or line.elapsed_seconds <= 0:
        return None
    found = over_time(view.facts, view.samples, (line.started_at, line.ended_at), view.jobs)
    sums = {name: column for name, parts in SUMS.items() if (column := _sum(found, parts)) is not None}
    if len(found.seconds) < LEAST_POINTS or not sums:
        return None
    kept = kept_rows(list(sums.values()))
    return RunOverTime(
        run_id=view.facts.run_id,
        seconds=found.seconds[kept].tolist(),
        **{name: _listed(sums[name][kept]) if name in sums else None for name in SUMS},
        active_seconds=line.active_seconds,
        elapsed_seconds=line.elapsed_seconds,
    )


def middle(runs: Sequence[RunOverTime]) -> RunOverTime | None:
    """The run that stands for its side: the one whose elapsed time is the side's median, of two such the
    shorter; None without any."""
    ordered = sorted(runs, key=lambda run: (run.elapsed_seconds, run.run_id))
    return ordered[(len(ordered) - 1) // 2] if ordered else None


def _sum(found: OverTime, parts: Sequence[str]) -> Floats | None:
    if not all(part in found.columns for part in parts):
        return None
    whole: Floats = np.sum([found.columns[part] for part in parts], axis=0)
    return None if np.isnan(whole).all() else whole


def _listed(column: Floats) -> Rates:
    return [None if math.isnan(value) else value for value in column.tolist()]


class JobTime(msgspec.Struct, frozen=True, kw_only=True):
    """A job of a run; ``real_time_seconds`` is None where it does not count, or was not measured."""

    program: str
    real_time_seconds: float | None


class ComparedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken of a run: facts, judged summary, jobs by their id in the plan, rates over time.

    ``called`` is how a command finds it (None: by its id), ``environments`` the variables of its commands.
    """

    facts: RunFacts
    summary: Judged
    jobs: dict[str, JobTime]
    over_time: RunOverTime | None = None
    called: str | None = None
    environments: dict[str, StoredEnvironment] = {}

    @property
    def name(self) -> str:
        return self.facts.run_id if self.called is None else self.called


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """``runs`` in order of their start, or ``published``: a result of
    ``published_block``, whose figures stand for no repeats."""

    label: str
    runs: tuple[ComparedRun, ...] = ()
    published: PublishedFigures | None = None

    def values(self, path: str) -> list[float]:
        """A figure of each run's summary (dotted path); empty where one of them lacks it."""
        if self.published is not None:
            return numbers([at(self.published, path)])
        return numbers([at(run.summary, path) for run in self.runs])


def compared_run(view: RunView, summary: Judged, *, over_time: bool = True) -> ComparedRun:
    """What a comparison needs of a run; ``summary`` is its judged one.

    ``over_time``: with its rates over time, which only pages draw.
    """
    jobs = {
        job.job: JobTime(
            program=job.program,
            real_time_seconds=job.usage.real_time_seconds
            if job.outcome == "finished" and job.verified is not False
            else None,
        )
        for job in view.jobs
    }
    return ComparedRun(
        facts=view.facts,
        summary=summary,
        jobs=jobs,
        over_time=run_over_time(view) if over_time else None,
        called=view.called,
    )


def side_of(label: str, runs: Iterable[ComparedRun]) -> Side:
    """A side of stored runs; UsageError where one is given twice, or there is none."""
    ordered = sorted(runs, key=lambda run: (run.facts.started_at, run.facts.run_id))
    ids = [run.facts.run_id for run in ordered]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise UsageError(
            "is given twice on one side", where=twice[0], cure="name each run once: a copy is no repeat"
        )
    if not ordered:
        raise UsageError("there is no run on this side", where=label, cure="name a run, or a folder of runs")
    return Side(label=label, runs=tuple(ordered))


def published_side(block: PublishedFigures) -> Side:
    """A published result as a side."""
    return Side(label=block.id, published=block)


def at(block: Any, path: str) -> Any:
    """The member at a dotted path; None where there is none."""
    for name in path.split("."):
        block = block.get(name) if isinstance(block, dict) else getattr(block, name, None)
    return block


def numbers(values: Sequence[object]) -> list[float]:
    """The values, all numbers; empty where one is missing."""
    known = [float(value) for value in values if isinstance(value, int | float)]
    return known if len(known) == len(values) else []


def centre(values: Sequence[float]) -> float | None:
    """The middle of a side that effects are ratios of: the geometric mean, or the plain one where a value
    is not above 0; None without values."""
    if not values:
        return None
    if min(values) > 0:
        return exp(statistics.fmean(map(log, values)))
    return statistics.fmean(values)


def logs(values: Sequence[float]) -> list[float]:
    """Logarithms; empty where a value is not above 0."""
    return [log(value) for value in values] if values and min(values) > 0 else []


def change(reference: float | None, candidate: float | None) -> float | None:
    """Candidate over reference less 1; None where either is missing or the reference is not above 0."""
    if reference is None or candidate is None or reference <= 0:
        return None
    return candidate / reference - 1.0


def same(values: Iterable[object]) -> bool:
    """Whether all values are alike."""
    return len({repr(value) for value in values}) <= 1


About = Literal["answer", "limit", "validity"]
"""What a reason is of: whether the load is carried, what limits it, or whether the run can be trusted."""

ORDER: tuple[Severity, ...] = get_args(Severity)
"""The gravest first."""

_NUMBER = re.compile(r"\d[\d.]*")


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why ``runs`` runs were judged so: a check that they do not pass, or why an answer is not yes.

    ``rule`` is the name of the check (None for an answer).  ``sentence`` and ``cure`` are those of ``run``,
    the first of these runs, by the name that ``mawl report`` takes.  ``alike``: all runs have this sentence;
    otherwise theirs differ in figures.
    """

    about: About
    rule: str | None
    severity: Severity
    runs: Annotated[int, count("Runs of the arm that have this reason.", STATUS)]
    run: str
    sentence: str
    cure: str | None
    alike: Annotated[
        bool,
        flag(
            "Whether the sentence is the same in all of them; otherwise its figures are those of the run "
            "named.",
            STATUS,
        ),
    ]

    @property
    def key(self) -> tuple[About, str]:
        """What reasons of several runs have in common: the check, or the sentence but for its figures."""
        return self.about, self.rule or _NUMBER.sub("0", self.sentence)


def reasons_of(runs: Sequence[ComparedRun], names: Sequence[str]) -> list[Reason]:
    """The reasons of runs, merged and in order; ``names`` are what ``mawl report`` calls them."""
    return merge_reasons(one for run, name in zip(runs, names, strict=True) for one in _of_run(run, name))


def merge_reasons(reasons: Iterable[Reason]) -> list[Reason]:
    """One reason for each key: the gravest first, then the commonest."""
    found: dict[tuple[About, str], Reason] = {}
    for reason in reasons:
        known = found.get(reason.key)
        if known is None:
            found[reason.key] = reason
            continue
        found[reason.key] = msgspec.structs.replace(
            known,
            severity=min(known.severity, reason.severity, key=ORDER.index),
            runs=known.runs + reason.runs,
            alike=known.alike and reason.alike and known.sentence == reason.sentence,
        )
    return sorted(found.values(), key=lambda one: (ORDER.index(one.severity), -one.runs))


def _of_run(run: ComparedRun, name: str) -> Iterator[Reason]:
    """Every reason of one run; of a check that says several things the first."""
    reasons: dict[tuple[About, str], Reason] = {}
    for one in (*_answer(run, name), *_limit(run, name), *_checks(run, name)):
        reasons.setdefault(one.key, one)
    yield from reasons.values()


def _answer(run: ComparedRun, name: str) -> Iterator[Reason]:
    answer = run.summary.answer
    sentence = answer.reason or next(iter(answer.reasons), None)
    if answer.answer != "carried" and sentence:
        yield _one("answer", None, "remark", name, sentence, answer.next_step)


def _limit(run: ComparedRun, name: str) -> Iterator[Reason]:
    why = run.summary.missing.get("limit")
    if run.summary.limit is None and why:
        yield _one("limit", None, "remark", name, why, None)


def _checks(run: ComparedRun, name: str) -> Iterator[Reason]:
    validity = run.summary.validity
    for finding in validity.findings:
        if finding.severity != "remark":
            yield _one("validity", finding.rule, finding.severity, name, finding.sentence, finding.cure)
    for unknown in validity.unmeasured:
        if unknown.severity != "remark":
            sentence = f"not measured: {unknown.reason}"
            yield _one("validity", unknown.rule, unknown.severity, name, sentence, None)


def _one(
    about: About, rule: str | None, severity: Severity, run: str, sentence: str, cure: str | None
) -> Reason:
    return Reason(
        about=about,
        rule=rule,
        severity=severity,
        runs=1,
        run=run,
        sentence=sentence,
        cure=cure,
        alike=True,
    )

"""Why the runs of a side were judged as they were: each reason with the number of runs that have it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import msgspec

from mawl.analysis.comparison.sides import ComparedRun
from mawl.model.summary.judgement import Severity

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
    runs: int
    run: str
    sentence: str
    cure: str | None
    alike: bool

    @property
    def key(self) -> tuple[About, str]:
        """What reasons of several runs have in common: the check, or the sentence but for its figures."""
        return self.about, self.rule or _NUMBER.sub("0", self.sentence)


def reasons_of(runs: Sequence[ComparedRun], names: Sequence[str]) -> list[Reason]:
    """The reasons of runs, in the order of :func:`merged`; ``names`` are what ``mawl report`` calls them."""
    return merged(one for run, name in zip(runs, names, strict=True) for one in _of_run(run, name))


def merged(reasons: Iterable[Reason]) -> list[Reason]:
    """One reason for each key: the gravest first, then the commonest."""
    found: dict[tuple[About, str], Reason] = {}
    for one in reasons:
        known = found.get(one.key)
        if known is None:
            found[one.key] = one
            continue
        found[one.key] = msgspec.structs.replace(
            known,
            severity=min(known.severity, one.severity, key=ORDER.index),
            runs=known.runs + one.runs,
            alike=known.alike and one.alike and known.sentence == one.sentence,
        )
    return sorted(found.values(), key=lambda one: (ORDER.index(one.severity), -one.runs))


def _of_run(run: ComparedRun, name: str) -> Iterator[Reason]:
    """Every reason of one run; of a check that says several things the first."""
    said: dict[tuple[About, str], Reason] = {}
    for one in (*_answer(run, name), *_limit(run, name), *_checks(run, name)):
        said.setdefault(one.key, one)
    yield from said.values()


def _answer(run: ComparedRun, name: str) -> Iterator[Reason]:
    """Why the load is not carried, or why that is not known."""
    capacity = run.summary.capacity
    if capacity.answer == "carried":
        return
    parts = {"compute": capacity.compute.reason, "storage": capacity.storage.reason}
    known = [f"{part}: {why}" for part, why in parts.items() if why]
    both = parts["compute"] if parts["compute"] == parts["storage"] else None
    unknown = both or next(iter(known), None)
    sentence = unknown if capacity.answer == "not known" else next(iter(capacity.reasons), None)
    if sentence:
        yield _one("answer", None, "remark", name, sentence, capacity.next_step)


def _limit(run: ComparedRun, name: str) -> Iterator[Reason]:
    """Why it is not known what limited the run."""
    why = run.summary.missing.get("limit")
    if run.summary.limit is None and why:
        yield _one("limit", None, "remark", name, why, None)


def _checks(run: ComparedRun, name: str) -> Iterator[Reason]:
    """Every check that the run does not pass."""
    validity = run.summary.validity
    for found in validity.findings:
        if found.severity != "remark":
            yield _one("validity", found.rule, found.severity, name, found.sentence, found.cure)
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

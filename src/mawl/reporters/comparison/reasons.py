"""Why runs were judged as they were, in words: the commonest reason with its count, and what to fix."""

from __future__ import annotations

from collections.abc import Iterable

from mawl.analysis.comparison.reasons import About, Reason, merged
from mawl.units import counted_noun


def why(reasons: Iterable[Reason], about: About, runs: int) -> str | None:
    """``10 of 10 runs: no program was run alone``, the commonest of ``runs`` runs; None without a reason."""
    found = _of(reasons, about)
    return with_count(found[0], runs) if found else None


def why_lines(reasons: Iterable[Reason], runs: int) -> list[tuple[str, str]]:
    """Why the load is not known to be carried, and why the limit is not known, as far as runs say so."""
    some = list(reasons)
    names: dict[About, str] = {"answer": "load carried?", "limit": "limit not known"}
    return [(name, said) for about, name in names.items() if (said := why(some, about, runs))]


def checks(reasons: Iterable[Reason]) -> list[Reason]:
    """The checks that runs do not pass, the gravest and commonest first."""
    return _of(reasons, "validity")


def with_count(reason: Reason, runs: int) -> str:
    """``10 of 10 runs: SENTENCE``, with the words of :func:`sentence_of`."""
    count = f"{reason.runs} of {counted_noun(runs, 'run')}"
    return f"{count}: {sentence_of(reason)}"


def to_publish(statuses: Iterable[str], reasons: Iterable[Reason], runs: int, which: str = "") -> str | None:
    """The check to fix first before runs are published, with its fix; None if all are publishable.

    ``which`` says which runs these are if they are not all, for example ``with 3 sessions``.
    """
    if not set(statuses) - {"publishable"}:
        return None
    failed = checks(reasons)
    if not failed:
        return "not every run is publishable by its own report"
    first, *more = failed
    others = f" ({counted_noun(len(more), 'other check')} failed)" if more else ""
    among = f"{counted_noun(runs, 'run')} {which}".rstrip()
    return f"check {first.rule} failed in {first.runs} of {among}{others}{_fix(first)}"


def listed(reasons: Iterable[Reason], runs: int) -> list[str]:
    """Every check that failed, with its count and fix."""
    return [f"{one.rule}, {with_count(one, runs)}{_fix(one)}" for one in checks(reasons)]


def sentence_of(reason: Reason) -> str:
    """The reason; if its figures differ between runs, also the name of the run that has these figures."""
    return reason.sentence if reason.alike else f"{reason.sentence} (in {reason.run})"


def _fix(reason: Reason) -> str:
    return f"; fix: {reason.cure}" if reason.cure else ""


def _of(reasons: Iterable[Reason], about: About) -> list[Reason]:
    return [one for one in merged(reasons) if one.about == about]

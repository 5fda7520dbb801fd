"""Conditions on which a verb fails (``--fail-on``, ``--within``): each is met, not met, or not known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, cast

import msgspec

from mawl.advice.guideline import TargetGuideline
from mawl.advice.validity.workload import LEAST_COVERAGE_RATIO
from mawl.base.errors import UsageError
from mawl.base.units import format_change, format_latency, format_percent, format_rate, format_ratio
from mawl.figures.comparison.compare import Comparison
from mawl.records.model.qualification import QualificationAnswer
from mawl.records.model.summary.judgement import Answer
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import ROLES, Role

Condition = Literal["not-carried", "below-guideline", "slower", "regression"]
State = Literal["not met", "met", "not known", "failed"]
"""``failed`` is of a run that did not complete: nothing else that it says counts."""

COMPLETED = "completed"


class ConditionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a condition; ``subject`` is the run, target or pair that it was asked of."""

    name: str
    subject: str
    state: State
    sentence: str


_LEVEL = re.compile(rf"(?:({'|'.join(ROLES)}):)?(mean|p50|p99)=([0-9]{{1,9}}(?:\.[0-9]{{1,9}})?)(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class ServiceLevel(msgspec.Struct, frozen=True):
    """The longest that read calls and write calls of a role may take; without a role, of each role."""

    role: Role | None
    figure: Literal["mean", "p50", "p99"]
    seconds: float


def parse_level(text: str) -> ServiceLevel:
    """``[ROLE:]p99=5ms``.  Raises ``UsageError`` for anything else."""
    match = _LEVEL.fullmatch(text)
    seconds = float(match[3]) * _SECONDS[match[4]] if match else 0.0
    if not (match and seconds):
        raise UsageError(
            f"--within {text}: expected [ROLE:]FIGURE=TIME, such as p99=5ms or work:mean=800us",
            why=f"roles are {', '.join(ROLES)}; figures are mean, p50 and p99",
        )
    role, figure = cast("Role | None", match[1]), cast("Literal['mean', 'p50', 'p99']", match[2])
    return ServiceLevel(role, figure, seconds)


def checks_of_levels(summary: Judged, levels: Sequence[ServiceLevel]) -> Iterator[ConditionCheck]:
    """Whether the calls of a run took longer than each level allows.

    It is not known of a role without calls, and where part of the calls was not seen.
    """
    for level in levels:
        for role in [level.role] if level.role else ROLES:
            yield _check_of_level(summary, level, role)


def _check_of_level(summary: Judged, level: ServiceLevel, role: Role) -> ConditionCheck:
    known, unseen = _latencies(summary, level, role), _unseen(summary)
    if unseen or not known:
        kept, found = None, f"is not known, as {unseen or 'it had no call'}"
    else:
        kept = max(known.values()) <= level.seconds
        taken = " and ".join(f"{format_latency(seconds)} of {way} calls" for way, seconds in known.items())
        found = f"is {taken}, page-cache hits included"
    allowed = f"{format_latency(level.seconds)} are allowed"
    return ConditionCheck(
        name=f"{level.figure} of {role}",
        subject=summary.run_id,
        state=_state(kept),
        sentence=f"{role}: {level.figure} {found}; {allowed}",
    )


def _latencies(summary: Judged, level: ServiceLevel, role: Role) -> dict[str, float]:
    """The figure of a level for read calls and write calls; without the ways that had no call."""
    if summary.io.by_role is None:
        return {}
    held = summary.io.by_role[role]
    ways = {"read": held.read_latency_seconds, "write": held.write_latency_seconds}
    found = {way: getattr(latency, level.figure) for way, latency in ways.items()}
    return {way: seconds for way, seconds in found.items() if seconds is not None}


def _unseen(summary: Judged) -> str | None:
    """Why the calls that were counted are not all of them; None where they are."""
    coverage = summary.io.coverage_ratio
    if summary.io.by_role is None or coverage is None:
        return "its calls were not measured"
    if coverage < LEAST_COVERAGE_RATIO:
        return f"I/O by role covers {format_percent(coverage)} of the bytes that the kernel counted"
    return None


def checks_of_run(
    summary: Judged, conditions: Sequence[Condition], levels: Sequence[ServiceLevel] = ()
) -> list[ConditionCheck]:
    """Whether a run completed, and the conditions and levels of a single run, of its judged summary."""
    subject, outcome = summary.run_id, summary.outcome
    jobs = summary.jobs
    state: State = "not met" if outcome == COMPLETED else "failed"
    ended = f"the run {outcome}: {jobs.finished} of {jobs.total} jobs finished"
    found = [ConditionCheck(name="completed", subject=subject, state=state, sentence=ended)]
    if "not-carried" in conditions:
        found.append(_carried(subject, summary.answer))
    if "below-guideline" in conditions:
        found.append(_guideline(subject, summary))
    return [*found, *checks_of_levels(summary, levels)]


def checks_of_answer(
    subject: str, answer: QualificationAnswer, conditions: Sequence[Condition]
) -> list[ConditionCheck]:
    """The conditions that a qualification can meet, of its answer."""
    found, figures = [], answer.figures
    if "not-carried" in conditions:
        carried = {"carried": True, "not carried": False, "not known": None}[answer.carried.answer]
        found.append(
            ConditionCheck(
                name="not-carried", subject=subject, state=_state(carried), sentence=answer.sentence
            )
        )
    if "below-guideline" in conditions:
        rate, met = figures.device_bytes_per_second_per_core, figures.guideline_met
        known = rate is not None and met is not None
        sentence = (
            _rate_sentence(rate or 0.0, figures.guideline_bytes_per_second_per_core)
            if known
            else answer.missing.get("figures.guideline_met", "the rate per core is not known")
        )
        state = _state(met if known else None)
        found.append(ConditionCheck(name="below-guideline", subject=subject, state=state, sentence=sentence))
    return found


def checks_of_probe(guidelines: Mapping[str, TargetGuideline]) -> list[ConditionCheck]:
    """``below-guideline`` of each target, from ``probe_guidelines``."""
    return [
        ConditionCheck(
            name="below-guideline",
            subject=name,
            state=_state(one.met),
            sentence=one.reason or _rate_sentence(one.lowest or 0.0, one.warn_bytes_per_second_per_core),
        )
        for name, one in guidelines.items()
    ]


def check_of_comparison(subject: str, comparison: Comparison | None, reason: str | None) -> ConditionCheck:
    """``slower`` of one candidate; ``reason`` says why there is no comparison.

    A change within the margin is not slower, even where the runs are many enough to see it.
    """
    statement = None if comparison is None else comparison.statement
    if statement is None or statement.verdict == "not judged" or statement.change_ratio is None:
        unjudged = statement.not_judged if statement is not None else None
        why = reason or (unjudged.reason if unjudged else "no job counts in every run of both sides")
        return ConditionCheck(name="slower", subject=subject, state="not known", sentence=why)
    slower = statement.verdict == "slower" and not statement.alike
    sentence = (
        f"a job took {format_change(statement.change_ratio)} time (geometric mean): {statement.verdict}"
    )
    if statement.alike:
        sentence += f"; no change larger than {format_ratio(100.0 * statement.margin_ratio)} %"
    return ConditionCheck(
        name="slower", subject=subject, state="met" if slower else "not met", sentence=sentence
    )


def _carried(subject: str, answer: Answer) -> ConditionCheck:
    sentence = "; ".join([answer.answer, *answer.reasons])
    return ConditionCheck(
        name="not-carried", subject=subject, state=_state(answer.carried), sentence=sentence
    )


def _guideline(subject: str, summary: Judged) -> ConditionCheck:
    block = summary.guideline
    rate = block.bytes_per_second_per_core
    if block.met is None or rate is None:
        sentence = summary.missing["guideline.met"]
    else:
        sentence = _rate_sentence(rate, block.warn_bytes_per_second_per_core, block.place)
    return ConditionCheck(name="below-guideline", subject=subject, state=_state(block.met), sentence=sentence)


def _state(kept: bool | None) -> State:
    return "not known" if kept is None else "not met" if kept else "met"


def _rate_sentence(rate: float, bound: float, what: str = "the storage") -> str:
    return f"{what} gives {format_rate(rate)} per core; the guideline is {format_rate(bound)}"

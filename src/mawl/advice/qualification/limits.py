"""What limits, over all measured runs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from mawl.advice.limit.rule import LEAST_LOSS_RATIO
from mawl.advice.qualification.estimate import MedianEstimate
from mawl.advice.qualification.evidence import Evidence
from mawl.model.qualification import AnswerLimit
from mawl.model.run import RunFacts
from mawl.model.summary.summary import Judged
from mawl.model.thresholds import value_of
from mawl.spec.program_options import Role

NOT_PROCESSORS = ("storage", "network", "mixed")
"""Verdicts that a larger compute part contradicts.  Too little memory makes jobs wait and compute."""


def limit_of_runs(summaries: Sequence[Judged], facts: RunFacts) -> AnswerLimit | None:
    """The verdict of most runs, the first of equals; None where no run has one."""
    blocks = [summary.limit for summary in summaries if summary.limit is not None]
    if not blocks:
        return None
    verdict = Counter(block.verdict for block in blocks).most_common(1)[0][0]
    own = [block for block in blocks if block.verdict == verdict]
    shares = [float(getattr(block.shares, verdict)) for block in own if hasattr(block.shares, verdict)]
    roles = Counter(block.role for block in own if block.role is not None).most_common(1)
    role: Role | None = roles[0][0] if verdict == "storage" and roles else None
    return AnswerLimit(
        resource=verdict,
        role=role,
        direction=None if role is None else direction_of(summaries, role),
        place=None if role is None else _place(facts, role),
        active_ratio=statistics.median(shares) if shares else None,
    )


def processors_active_ratio(summaries: Sequence[Judged]) -> float | None:
    """The median over the runs of the share of the active time that the processors limited."""
    shares = [summary.limit.shares.cpu for summary in summaries if summary.limit is not None]
    return statistics.median(shares) if shares else None


class Contradiction(NamedTuple):
    """A verdict of the runs, and the parts of the slowdown that contradict it."""

    verdict: AnswerLimit
    compute: MedianEstimate
    storage: MedianEstimate


def contradiction(evidence: Evidence) -> Contradiction | None:
    """The verdict where compute surely makes jobs slower than storage, and it does not name the processors.

    A verdict counts all that jobs wait for, alone, too; a slowdown only what the mix adds.  Where the storage
    was not tested, or other work or other nodes changed the parts, no verdict is contradicted
    (docs/design/qualify-answer.md).
    """
    disturbed = evidence.busy or evidence.lack or evidence.nodes
    verdict, whole, compute, storage = evidence.limit, evidence.whole, evidence.compute, evidence.storage
    if disturbed or not (verdict and whole and compute and storage):
        return None
    is_larger = compute.low > storage.high
    is_enough = compute.median - 1.0 >= LEAST_LOSS_RATIO * whole.median
    is_contradicted = verdict.resource in NOT_PROCESSORS and is_larger and is_enough
    return Contradiction(verdict, compute, storage) if is_contradicted else None


def direction_of(summaries: Sequence[Judged], role: Role) -> Literal["read", "write"] | None:
    """The direction on whose calls jobs spent at least twice the time of the other; None where neither."""
    spent = {"read": 0.0, "write": 0.0}
    for summary in summaries:
        by_role = summary.io.by_role
        if by_role is None:
            return None
        block = by_role[role]
        spent["read"] += block.reads * (block.read_latency_seconds.mean or 0.0)
        spent["write"] += block.writes * (block.write_latency_seconds.mean or 0.0)
        spent["write"] += block.syncs * (block.sync_latency_seconds.mean or 0.0)
    factor = value_of("qualification.least_direction_ratio")
    if spent["read"] >= factor * spent["write"] and spent["read"] > 0.0:
        return "read"
    return "write" if spent["write"] >= factor * spent["read"] and spent["write"] > 0.0 else None


def _place(facts: RunFacts, role: Role) -> str | None:
    """The directory of a role; None where it has several."""
    places = sorted({volume.directory for volume in facts.volumes if volume.role == role})
    return places[0] if len(places) == 1 else None

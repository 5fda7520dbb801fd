"""Carried, not carried or not known: compute, storage and both together."""

from __future__ import annotations

import msgspec

from mawl.advice.qualification.evidence import Evidence
from mawl.advice.qualification.fits import MedianEstimate
from mawl.base.units import format_ratio
from mawl.records.model.qualification import AnswerPart, AnswerWord

NO_TIMES = "no job has a time alone, so its slowdown is not known"


def word_of(estimate: MedianEstimate | None, most: float) -> AnswerWord:
    """Yes or no only where the whole interval lies on one side of the bound."""
    if estimate is None or estimate.low <= most <= estimate.high:
        return "not known"
    return "carried" if estimate.high < most else "not carried"


def compute_part(evidence: Evidence) -> AnswerPart:
    """What the slowdown would be if only the processors had changed."""
    word = word_of(evidence.compute, evidence.most_slowdown)
    part = part_of("compute", evidence.compute, word, evidence)
    if evidence.busy is not None and evidence.compute is not None:
        return _with_answer(part, f"compute: not known: {evidence.busy}", "not known")
    return part


def storage_part(evidence: Evidence) -> AnswerPart:
    """What it would be if only the storage had; not known where the storage was not asked.

    A storage that is too slow although a cache served part of its load is too slow.
    """
    word = word_of(evidence.storage, evidence.most_slowdown)
    part = part_of("storage", evidence.storage, word, evidence)
    if evidence.lack is None or (word == "not carried" and evidence.lack[1] != "others"):
        return part
    return _with_answer(part, f"storage: not known: {evidence.lack[0]}", "not known")


def whole_part(evidence: Evidence, compute: AnswerPart) -> AnswerPart:
    """Both together: failed jobs decide, then other work, the slowdown, and whether the storage was asked."""
    word = word_of(evidence.whole, evidence.most_slowdown)
    part = part_of("both together", evidence.whole, word, evidence)
    if evidence.failed is not None:
        return _with_answer(part, f"both together: not carried: {evidence.failed}", "not carried")
    if evidence.busy is not None and evidence.whole is not None:
        return _with_answer(part, f"both together: not known: {evidence.busy}", "not known")
    if evidence.lack is None or word == "not known":
        return part
    by_others = evidence.lack[1] == "others" and compute.answer != "not carried"
    if word == "carried" or by_others:
        return _with_answer(part, f"both together: not known: {evidence.lack[0]}", "not known")
    return part


def part_of(name: str, estimate: MedianEstimate | None, word: AnswerWord, evidence: Evidence) -> AnswerPart:
    """A part by its name, with the sentence of its estimate and its word."""
    if estimate is None:
        why = evidence.missing.get("slowdown", NO_TIMES)
        return AnswerPart(answer="not known", sentence=f"{name}: not known: {why}")
    figures = (
        f"{format_ratio(estimate.median)} times as long as alone "
        f"({format_ratio(estimate.low)} to {format_ratio(estimate.high)}; "
        f"bound {format_ratio(evidence.most_slowdown)})"
    )
    sides = "; the bound lies in the range" if word == "not known" else ""
    return AnswerPart(
        answer=word,
        sentence=f"{name}: {word}: {figures}{sides}",
        slowdown=estimate.median,
        slowdown_low=estimate.low,
        slowdown_high=estimate.high,
    )


def _with_answer(part: AnswerPart, sentence: str, word: AnswerWord) -> AnswerPart:
    return msgspec.structs.replace(part, sentence=sentence, answer=word)

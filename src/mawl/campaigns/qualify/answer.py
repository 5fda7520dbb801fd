"""The answer of the middle measured run, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.judge import judged
from mawl.analysis.view import StoredView
from mawl.errors import MawlError
from mawl.model.qualification import Answer, AnswerPart, AnswerWord, Figures, Fits, Qualification
from mawl.store import open_run
from mawl.units import format_ratio


def answer_of(record: Qualification, folder: Path, bounds: Bounds) -> Answer:
    """What the runs of a qualification answer; raises MawlError where none was measured."""
    summaries = [
        judged(StoredView(open_run(folder / run.folder)), bounds) for run in record.runs_for("measured")
    ]
    if not summaries:
        raise MawlError("no run was measured", where=str(folder), cure="mawl qualify --continue goes on")
    summaries.sort(key=lambda summary: summary["capacity"]["slowdown"]["median"] or 0.0)
    capacity = summaries[(len(summaries) - 1) // 2]["capacity"]
    slowdown = capacity["slowdown"]
    assert record.choice is not None, "measured runs come after the choice"
    sessions = record.choice.sessions
    word: AnswerWord = capacity["answer"]
    times = format_ratio(slowdown["median"]) if slowdown["median"] else "an unknown number of"
    said = {"carried": "YES", "not carried": "NO", "not known": "NOT KNOWN"}[word]
    return Answer(
        sentence=f"{said}: {sessions} sessions run {times} times slower than alone "
        f"(bound {format_ratio(bounds.most_slowdown)}).",
        carried=AnswerPart(answer=word, sentence="; ".join(capacity["reasons"])),
        compute=_part(capacity["compute"]),
        storage=_part(capacity["storage"]),
        preliminary=bool(capacity["preliminary"]),
        sessions=sessions,
        figures=Figures(
            slowdown=slowdown["median"],
            most_slowdown=bounds.most_slowdown,
            guideline_bytes_per_second_per_core=bounds.warn_bytes_per_second_per_core,
        ),
        fits=record.search_forecast or Fits(sessions=None, reason="the search was not made"),
        next_step=capacity["next_step"],
    )


def _part(block: dict[str, Any]) -> AnswerPart:
    return AnswerPart(answer=block["answer"], sentence=block["reason"] or "")


def render(record: Qualification) -> str:
    """The answer on a terminal."""
    answer = record.answer
    assert answer is not None, "it was made"
    lines = [answer.sentence, f"compute: {answer.compute.answer}; storage: {answer.storage.answer}"]
    if answer.next_step:
        lines.append(f"next: {answer.next_step}")
    return "\n".join(lines)

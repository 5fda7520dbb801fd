"""V25 repeats: there are as many runs as a published figure needs, and none is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mawl.advice.validity.repeats import FEWEST_REPEATS
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject

_CURE = f"run it with mawl run --repeat {FEWEST_REPEATS}, and pack the campaign"


def _check(subject: ValidationSubject) -> Iterator[Fault]:
    arms = Counter(_arm(subject, name) for name in subject.runs)
    for name, run in subject.runs.items():
        there, said = arms[_arm(subject, name)], run.run.facts.repeats
        if there < FEWEST_REPEATS:
            sentence = f"{there} of the {FEWEST_REPEATS} runs that are required are here"
            yield Fault(where=name, sentence=sentence, cure=_CURE)
        elif said != there:
            sentence = f"says that it is one of {said} runs, and {there} are here"
            yield Fault(where=name, sentence=sentence, cure="pack the whole campaign, and nothing else")
    names = Counter(run.run.facts.run_id for run in subject.runs.values())
    for run_id, count in names.items():
        if count > 1:
            sentence = f"{count} of the runs are one and the same run"
            yield Fault(where=run_id, sentence=sentence, cure=_CURE)


def _arm(subject: ValidationSubject, name: str) -> tuple[str, str] | str:
    """What a run is a repeat of; a run without a campaign has no repeats."""
    part = subject.runs[name].run.facts.campaign
    return name if part is None else (part.name, part.arm)


RULE = ValidationRule(
    number=25,
    name="repeats",
    title="There are enough runs, and no run of the campaign is missing",
    shows=f"There are at least {FEWEST_REPEATS} runs of one arm of one campaign, as many as each of them "
    "says, and no run twice.",
    limits="Whether the campaign was the first: a maker can repeat it and publish only the best one.",
    check=_check,
)

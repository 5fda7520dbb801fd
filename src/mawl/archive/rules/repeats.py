"""V25 repeats: as many runs of the workload as a published figure wants, and all of them are here."""

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
    """What a run is a repeat of; a run without a campaign stands for itself."""
    part = subject.runs[name].run.facts.campaign
    return name if part is None else (part.name, part.arm)


RULE = ValidationRule(
    number=25,
    name="repeats",
    title="Enough runs of the workload, and all of them are here",
    shows=f"At least {FEWEST_REPEATS} runs of one arm of one campaign are in the pack, as many as each of "
    "them says, and no run twice.",
    limits="A campaign that was made again until it pleased looks like the first one.",
    check=_check,
)

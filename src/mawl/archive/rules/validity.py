"""V09 to V24: the rules of validity that every report of a run shows, asked of every run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mawl.advice.validity.status import RULES, ValidityRule
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject

NUMBERS: tuple[tuple[int, str, str], ...] = (
    (9, "jobs", "Every job finished, and its answer was checked and right"),
    (10, "scale", "The scale is standard or larger"),
    (11, "duration", "The active phase lasted long enough"),
    (12, "reach", "What programs moved reached the devices"),
    (13, "residency", "The page cache was cold, or declared warm"),
    (14, "competition", "No other program used the machine"),
    (15, "writeback", "Memory held no earlier writes at the start"),
    (16, "clock", "The clock was not set during the run"),
    (17, "coverage", "I/O by role saw what the kernel saw"),
    (18, "sampling", "The run was sampled without gaps"),
    (19, "swap", "The system did not swap"),
    (20, "steal", "The hypervisor gave its processors to this machine"),
    (21, "frequency", "Processors kept their frequency"),
    (22, "drift", "Devices kept their throughput"),
    (23, "space", "File systems had space to spare"),
    (24, "overhead", "mawl itself used little of the processors"),
)
"""Number, rule of :mod:`mawl.advice.validity` and title.  ``repeats`` counts runs, and is V25."""

_LIMITS = "Whether the run's own records are true. docs/design/validity.md gives the reason for each bound."


def faults_of(rule: str, subject: ValidationSubject) -> Iterator[Fault]:
    """What one rule of validity found in the runs; a remark is no fault."""
    for name, run in subject.runs.items():
        validity = run.summary.validity
        for found in validity.findings:
            if found.rule == rule and found.severity != "remark":
                yield Fault(where=name, sentence=found.sentence, cure=found.cure)
        for unknown in validity.unmeasured:
            if unknown.rule == rule and unknown.severity != "remark":
                yield Fault(
                    where=name,
                    sentence=unknown.reason,
                    cure="see what mawl doctor says of this machine, or make a longer run",
                    known=False,
                )


def _shows(rule: ValidityRule) -> str:
    return " ".join((rule.check.__doc__ or "").split())


VALIDITY_RULES = tuple(
    ValidationRule(
        number=number,
        name=name,
        title=title,
        shows=_shows(RULES[name]),
        limits=_LIMITS,
        check=partial(faults_of, name),
    )
    for number, name, title in NUMBERS
)

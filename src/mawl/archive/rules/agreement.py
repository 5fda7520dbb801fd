"""V07 agreement: the tables agree with each other and with the facts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from mawl.archive.agreement import jobs_and_plan, jobs_and_steps, nodes, times
from mawl.archive.agreement.tables import RunRecords
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject
from mawl.model.records import Answer

MOST_NAMED = 10
_CURE = "the tables contradict each other, so at least one was altered or damaged; ask for the run again"


def _check(subject: ValidationSubject) -> Iterator[Fault]:
    for name, run in subject.runs.items():
        records = RunRecords(run.view)
        for faults in (jobs_and_plan.faults, jobs_and_steps.faults, times.faults):
            for sentence in islice(faults(records), MOST_NAMED):
                yield Fault(where=name, sentence=sentence, cure=_CURE)
        for sentence in islice(nodes.faults(records, run.nodes), MOST_NAMED):
            yield Fault(where=name, sentence=sentence, cure=_CURE)
    yield from _answers(subject)


def _answers(subject: ValidationSubject) -> Iterator[Fault]:
    """Jobs of one name, of runs with the same inputs and options, have the same answer."""
    seen: dict[tuple[object, ...], tuple[str, Answer]] = {}
    for name, run in subject.runs.items():
        workload = run.run.facts.workload
        inputs = (workload.name, workload.scale, workload.seed, repr(workload.options))
        for job in run.view.jobs:
            if job.outcome == "finished" and job.answer:
                other, answer = seen.setdefault((*inputs, job.job, job.program), (name, job.answer))
                if answer != job.answer:
                    sentence = f"{job.job} has another answer than in {other}"
                    yield Fault(where=name, sentence=sentence, cure=_CURE)


RULE = ValidationRule(
    number=7,
    name="agreement",
    title="Jobs, steps, events, samples and facts agree",
    shows="Jobs are those of the plan. The kernel's figures of a job are the sum of start-up, steps and "
    "check. Calls by role agree with their histograms and volumes. Waits add up to the time. Events and "
    "samples agree with the times of the jobs. Sums never fall. Equal jobs of several runs have equal "
    "answers. Jobs and steps of a run on several nodes are those of the nodes' own runs.",
    limits="Consistent changes of all tables: halved times and halved bytes agree with each other, too.",
    check=_check,
)

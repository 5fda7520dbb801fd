"""Run one job in its own process, after its gate: from an assignment to an answer or a sentence."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import traceback
from collections.abc import Callable
from typing import Any

from mawl.measure.account import shared_bytes
from mawl.measure.preload.job import JobCounters
from mawl.measure.step import StepRecorder
from mawl.model.messages import Answered, Assignment, Failed, FromLauncher, StepEnded
from mawl.model.records import Answer, StepRecord
from mawl.model.role_io import refused_roles
from mawl.plan.entry import load
from mawl.programs.context import JobContext
from mawl.programs.failures import sentence
from mawl.programs.limits import check_address_space, limit_threads, release_memory


def execute(assignment: Assignment, report: Callable[[FromLauncher], None]) -> int:
    """Run the assignment's program and report each step and the end; the exit status, 0 or 1.

    The job's directories under work and util are gone afterwards, whatever happened, and after a
    failure also its results.  The traceback
    of a failure goes to standard error, which is the job's log.
    """

    def ended(record: StepRecord) -> None:
        report(StepEnded(step=record))
        release_memory()

    counters = JobCounters.open(assignment.counters)
    steps = StepRecorder(assignment.job, ended, counters=counters)
    with contextlib.closing(steps):
        try:
            answer = _answer(assignment, steps)
            shared = shared_bytes()
        except BaseException as error:
            if not isinstance(error, Exception | KeyboardInterrupt):
                raise
            # Asked before the files go: afterwards the full file system has space again.
            refused = () if counters is None else refused_roles(counters.read().io)
            text, wrong = sentence(error, assignment, steps.current, refused)
            traceback.print_exc(file=sys.stderr)
            remove_places(assignment)
            # What a failed job has published so far is no result.
            shutil.rmtree(assignment.results, ignore_errors=True)
            report(Failed(job=assignment.job, sentence=text, wrong_answer=wrong))
            return 1
    remove_places(assignment)
    report(Answered(job=assignment.job, answer=answer, shared_bytes=shared))
    return 0


def remove_places(assignment: Assignment) -> None:
    """Remove the job's own directories under work and util with all that is in them."""
    for directory in (*assignment.work, *assignment.util):
        shutil.rmtree(directory, ignore_errors=True)


def _answer(assignment: Assignment, steps: StepRecorder) -> Answer:
    context = JobContext(assignment, steps)
    # Who wrote a program of a user knows whether it works side by side by itself.
    limit_threads(assignment.options.cpucount, blas=1 if assignment.entry is None else context.threads)
    program = _program(assignment)
    check_address_space(assignment.options)
    answer: Answer = program.run(context)
    return answer


def _program(assignment: Assignment) -> Any:
    """What has ``run(context)``: a module, or an instance of a user's class."""
    if assignment.entry is not None:
        return load(assignment.entry)()
    name = assignment.program if assignment.derived is None else "derived_job"
    return importlib.import_module(f"mawl.programs.{name}.run")

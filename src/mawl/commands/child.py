"""A run in a child process: ``python -m mawl.commands.child`` reads a task and writes its answer.

Standard input has a ``Task`` as JSON; standard output gets one line, the ``TaskAnswer``; progress for people
goes to standard error.  The parent's side is ``campaigns.process``.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mawl.base.process import end_with, importing

if TYPE_CHECKING:
    from mawl.records.spec.task import Task, TaskAnswer


def main() -> int:
    import msgspec

    from mawl.base.errors import InterruptedRunError, MawlError
    from mawl.commands.main import as_error, terminated
    from mawl.records.spec.task import Task, TaskAnswer, TaskFailure
    from mawl.records.store.without_pandas import arrow_alone

    signal.signal(signal.SIGTERM, terminated)
    arrow_alone()
    # Whatever else prints must not get between, and no process of the run reads what was meant for this one.
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())

    def failed(error: MawlError) -> TaskAnswer:
        return TaskAnswer(status=error.exit_code, failure=TaskFailure.of(error))

    try:
        answer = _do(task)
    except MawlError as error:
        answer = failed(error)
    except KeyboardInterrupt:
        answer = failed(InterruptedRunError("stopped before its jobs began"))
    except OSError as error:
        answer = failed(as_error(error))
    os.write(answers, msgspec.json.encode(answer) + b"\n")
    if answer.failure is not None:
        print(answer.failure.error(), file=sys.stderr, flush=True)
    return answer.status


def _do(task: Task) -> TaskAnswer:
    from mawl.commands.run import EXIT_OF_OUTCOME, leave_page, make_run
    from mawl.commands.terminal import require_programs
    from mawl.records.spec.run_spec import check
    from mawl.records.spec.sources import as_command
    from mawl.records.spec.task import TaskAnswer
    from mawl.records.store.files import FACTS

    spec = check(task.spec)
    if task.verb == "generate":
        from mawl.commands.plan import generate_inputs

        generate_inputs(spec)
        return TaskAnswer(status=0)
    if spec.nodes is None:
        require_programs()
    folder, facts = make_run(spec, ["mawl", *as_command(spec)])
    if spec.html and (folder / FACTS).exists():
        leave_page(folder)
    return TaskAnswer(
        status=EXIT_OF_OUTCOME[facts.outcome],
        run_id=facts.run_id,
        folder=str(Path(folder).absolute()),
        outcome=facts.outcome,
        outcome_reason=facts.outcome_reason,
    )


if __name__ == "__main__":
    with importing():
        import mawl.commands.main  # noqa: F401
    end_with(main)

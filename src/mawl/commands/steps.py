"""The steps of a run that cost most: time, CPU, waiting, bytes, memory. docs/guides/sas-administrator.md."""

from __future__ import annotations

from mawl.commands.arguments import OUTPUT, RUNS, formats, settings
from mawl.commands.terminal import width_for, write_text
from mawl.commands.verbs import Arguments, Verb, operand, option
from mawl.derive.costs import MOST_STEPS, ORDERS, StepOrder, csv_of, document, step_costs
from mawl.records.spec.forms import Whole
from mawl.records.store import open_run
from mawl.reports.document import rendered
from mawl.reports.json import indented

MOST_ASKED = 10_000


class StepsArguments(Arguments):
    """Print the steps of a run that cost most, and the tables that were read most.

    The run is one of imported SAS logs, or one that mawl measured. Logs tell of block operations and rows, so
    bytes are what devices moved, and rows are those that passed a WHERE.
    """

    run: str = operand("RUN", "a run folder, a run id, or latest (default)", default="latest")
    by: StepOrder = option(None, "what the steps are ordered by", choices=ORDERS, default="real")
    most: int = option(
        "N",
        f"how many steps (default: {MOST_STEPS})",
        form=Whole(1, MOST_ASKED, of="steps"),
        default=MOST_STEPS,
    )
    format: str = formats("text", "json", "markdown", "html", "csv")
    output: str | None = OUTPUT
    runs: str | None = RUNS


def run(arguments: StepsArguments) -> int:
    """Write the steps; the output file is tried first."""

    def written() -> str:
        stored = open_run(arguments.run, settings().runs(arguments.runs))
        costs = step_costs(stored, arguments.by, arguments.most)
        if arguments.format == "json":
            return indented(costs) + "\n"
        if arguments.format == "csv":
            return csv_of(costs) + "\n"
        return rendered(document(costs), arguments.format, width_for(arguments.output)) + "\n"

    write_text(arguments.output, written)
    return 0


VERBS = {"steps": Verb(StepsArguments, run)}

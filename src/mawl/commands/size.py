"""What to buy: the cheapest system of your price list that carries the load of a run.

Each candidate of the list is simulated with the load that the run measured.  It carries N sessions if their
jobs take at most twice their reference time together (the setting answer_bound).  The probability comes
from n forecasts that were compared with measured times: it is k / (n + 1) if the bound holds with the errors
of k of them.  docs/guides/size.md goes from a measured run to a purchase, docs/design/size.md has the
definitions.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from mawl.base.errors import UsageError
from mawl.commands.arguments import OUTPUT, RUNS, bounds_of, formats, settings
from mawl.commands.output import write_text
from mawl.commands.terminal import width_for
from mawl.commands.verbs import Arguments, Verb, operand, option, switch
from mawl.reports import json
from mawl.reports.document import rendered
from mawl.reports.layout import LEAST_WIDTH
from mawl.simulation.system import load_system
from mawl.whatif.size.answer import size
from mawl.whatif.size.candidates import load_catalogue
from mawl.whatif.size.document import document, printed
from mawl.whatif.size.question import SizeQuestion, start_of
from mawl.whatif.size.records import SizeAnswer

EXIT_STATUS = (
    "exit status: 0 a pick, 3 no candidate carries by the forecast, 4 one does, but its probability is too "
    "small or not known, 1 a check failed, 2 wrong use, 130 interrupted"
)
FORMATS = ("text", "markdown", "json", "html")
MOST_MINUTES = 1e6
MOST_SESSIONS_ASKED = 100_000


class SizeArguments(Arguments):
    catalogue: str = operand("FILE.toml", "your price list: candidates and upgrades")
    run: str = operand(
        "RUN", "a run folder, a run id, a folder of mawl qualify, or latest (default)", default="latest"
    )
    sessions: int | None = option(
        "N", "how many sessions to carry, on all nodes together (default: those of the run)"
    )
    within: float | None = option(
        "MINUTES",
        "bound the elapsed time instead of the slowdown (default for derived jobs that are due at some "
        "time: the window of their night)",
    )
    probability: float = option(
        "P", "how likely the system must be to carry the load, between 0 and 1 (default: 0.5)", default=0.5
    )
    measured_on: str | None = option(
        "FILE", "a description of the system that the run was made on (mawl probe --system writes one)"
    )
    anyway: bool = switch("size although other programs used the run's devices, too")
    runs: str | None = RUNS
    format: str = formats(*FORMATS)
    output: str | None = OUTPUT


def run(arguments: SizeArguments) -> int:
    """Forecast every candidate and print; 0 with a pick, 3 if no forecast carries, else 4."""
    chosen = settings()
    question = _question(arguments, bounds_of(chosen).answer_bound)
    catalogue = load_catalogue(Path(arguments.catalogue))
    own = load_system(Path(arguments.measured_on)) if arguments.measured_on else None
    start = start_of(arguments.run, chosen.runs(arguments.runs), own)
    if start.doubt is not None and not arguments.anyway:
        raise UsageError(
            "sizing needs a run that had its devices to itself",
            where=start.base.facts.run_id,
            why=start.doubt,
            cure="run the workload again while nothing else uses these devices, or count the work of "
            "other programs as part of the load with --anyway",
        )
    found: list[SizeAnswer] = []

    def sized() -> str:
        found.append(size(start, question, catalogue))
        return _rendered(found[0], arguments.format, arguments.output)

    write_text(arguments.output, sized)
    return _status(found[0])


def _question(arguments: argparse.Namespace, answer_bound: float) -> SizeQuestion:
    sessions, within = arguments.sessions, arguments.within
    if sessions is not None and not 1 <= sessions <= MOST_SESSIONS_ASKED:
        raise UsageError(f"--sessions {sessions}: expected 1 to {MOST_SESSIONS_ASKED}")
    if within is not None and not 0.0 < within <= MOST_MINUTES:
        raise UsageError(f"--within {within:g}: expected minutes above 0 and up to {MOST_MINUTES:g}")
    if not (math.isfinite(arguments.probability) and 0.0 < arguments.probability < 1.0):
        raise UsageError(f"--probability {arguments.probability:g}: expected a number between 0 and 1")
    return SizeQuestion(
        sessions=sessions,
        answer_bound=answer_bound,
        within_seconds=None if within is None else within * 60.0,
        probability=arguments.probability,
    )


def _rendered(answer: SizeAnswer, form: str, output: str | None) -> str:
    if form == "json":
        return json.render(printed(answer)) + "\n"
    return rendered(document(answer), form, width_for(output, LEAST_WIDTH)) + "\n"


def _status(answer: SizeAnswer) -> int:
    if answer.pick is not None:
        return 0
    return 4 if answer.forecast_pick is not None else 3


VERBS = {"size": Verb(SizeArguments, run, EXIT_STATUS)}

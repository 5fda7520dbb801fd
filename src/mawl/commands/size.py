"""What to buy: candidate systems of a catalogue with your prices, forecast from one run, the cheapest first.

A candidate carries N sessions where the median slowdown of the simulated run is within the bound of mawl
qualify (2.0, the setting most_slowdown).  Its probability is k / (n + 1): of the n forecasts of the same kind
that were compared with measured times, k would have kept the bound with their error.
docs/guides/size.md goes from a measured run to a purchase, docs/design/size.md has the definitions.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import msgspec

from mawl.commands.arguments import bounds_of, settings
from mawl.commands.output import write_text
from mawl.commands.terminal import width_for
from mawl.errors import UsageError
from mawl.reporters import json
from mawl.reporters.columns import LEAST_WIDTH
from mawl.simulation.system_file import load_system
from mawl.whatif.size import text
from mawl.whatif.size.answer import size
from mawl.whatif.size.asked import SizedRun, SizeQuestion, start_of
from mawl.whatif.size.catalogue import Catalogue, load_catalogue
from mawl.whatif.size.records import SizeAnswer

NAME = "size"
HELP = "what to buy: which candidates of a catalogue carry the sessions of a run, the cheapest first"
FORMATS = ("text", "markdown", "json", "html")
MOST_MINUTES = 1e6
MOST_SESSIONS_ASKED = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mawl size CATALOGUE [RUN]``."""
    parser.add_argument("catalogue", metavar="FILE.toml", help="candidates and upgrades with your prices")
    parser.add_argument(
        "run",
        nargs="?",
        default="latest",
        metavar="RUN",
        help="a run folder, a run id, a folder of mawl qualify, or latest (default)",
    )
    parser.add_argument(
        "--sessions", type=int, metavar="N", help="to carry, of all nodes (default: those of the run)"
    )
    parser.add_argument(
        "--within",
        type=float,
        metavar="MINUTES",
        help="instead of the slowdown: the jobs must end within so many minutes (default for derived jobs "
        "that are due: the window of their night)",
    )
    parser.add_argument(
        "--probability",
        type=float,
        default=0.5,
        metavar="P",
        help="the least probability of the pick, between 0 and 1 (default: 0.5)",
    )
    parser.add_argument(
        "--measured-on",
        metavar="FILE",
        help="the system that the run was made on, where the file knows more of it than the run",
    )
    parser.add_argument(
        "--anyway", action="store_true", help="although other programs used the run's devices, too"
    )
    parser.add_argument("--runs", metavar="DIR", help="where run folders are (default: ./runs)")
    parser.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument("--output", metavar="FILE", help="write there instead of to the terminal")


def run(arguments: argparse.Namespace) -> int:
    """Forecast every candidate and print; 0 with a pick, 3 where none carries, 4 where that is not known."""
    chosen = settings()
    question = _question(arguments, bounds_of(chosen).most_slowdown)
    catalogue = load_catalogue(Path(arguments.catalogue))
    own = load_system(Path(arguments.measured_on)) if arguments.measured_on else None
    start = start_of(arguments.run, chosen.runs(arguments.runs), own)
    if start.doubt is not None and not arguments.anyway:
        raise UsageError(
            "sizing needs a run that had its devices to itself",
            where=start.base.facts.run_id,
            why=start.doubt,
            cure="run the workload again while nothing else uses these devices, or take what others did as a "
            "part of the load with --anyway",
        )
    found: list[SizeAnswer] = []
    write_text(
        arguments.output,
        lambda: _rendered(_kept(found, start, question, catalogue), arguments.format, arguments.output),
    )
    return _status(found[0])


def _question(arguments: argparse.Namespace, most_slowdown: float) -> SizeQuestion:
    sessions, within = arguments.sessions, arguments.within
    if sessions is not None and not 1 <= sessions <= MOST_SESSIONS_ASKED:
        raise UsageError(f"--sessions {sessions}: expected 1 to {MOST_SESSIONS_ASKED}")
    if within is not None and not 0.0 < within <= MOST_MINUTES:
        raise UsageError(f"--within {within:g}: expected minutes above 0 and up to {MOST_MINUTES:g}")
    if not (math.isfinite(arguments.probability) and 0.0 < arguments.probability < 1.0):
        raise UsageError(f"--probability {arguments.probability:g}: expected a number between 0 and 1")
    return SizeQuestion(
        sessions=sessions,
        most_slowdown=most_slowdown,
        within_seconds=None if within is None else within * 60.0,
        probability=arguments.probability,
    )


def _kept(
    found: list[SizeAnswer], start: SizedRun, question: SizeQuestion, catalogue: Catalogue
) -> SizeAnswer:
    found.append(size(start, question, catalogue))
    return found[0]


def _rendered(answer: SizeAnswer, form: str, output: str | None) -> str:
    if form == "html":
        from mawl.whatif.size.page import render  # templates and plotting library only for who asks for them

        return render(answer)
    if form == "json":
        return json.render(msgspec.to_builtins(answer)) + "\n"
    return (
        text.markdown(answer) if form == "markdown" else text.render(answer, width_for(output, LEAST_WIDTH))
    )


def _status(answer: SizeAnswer) -> int:
    if answer.pick is not None:
        return 0
    return 4 if answer.forecast_pick is not None else 3

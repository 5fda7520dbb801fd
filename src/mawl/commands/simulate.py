"""What would change it?  A measured run on another system, with more sessions, nodes or rows: simulated.

Prints the prediction with what it rests on, what limits it, and what twice of cores, core speed, links,
fabric and each device would gain; the simulated run is a run folder that report and compare read.
docs/guides/simulate.md shows it, docs/design/simulation.md has the model.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.advice.validity.host import foreign_bytes
from mawl.base.errors import UsageError
from mawl.base.removal import temporary_directory
from mawl.commands.arguments import bounds_of, settings
from mawl.commands.terminal import width_for
from mawl.figures.view import StoredView
from mawl.plan.spec import parse_scale
from mawl.records.model.summary.summary import Judged
from mawl.records.store import open_run
from mawl.simulation.changes import KEYS, parse_change
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.forecast import Base, Question, base_of, predict
from mawl.simulation.scenario import Scenario
from mawl.simulation.system import load_system
from mawl.whatif import text
from mawl.whatif.answer import LogsBasis, answer, assumptions_of_logs, range_of_logs
from mawl.whatif.folder import Label, write_folder
from mawl.whatif.published_comparison import published_forecasts
from mawl.whatif.text import render_published

if TYPE_CHECKING:
    from mawl.derive.derive import LoggedRun

Told = TypeVar("Told")

NAME = "simulate"
HELP = "what if: a measured run on other cores, memory, links or devices, with more nodes or sessions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", default="latest", metavar="RUN", help="a run folder, a run id, or latest (default)"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"one figure of the system otherwise; may be repeated; KEY: {KEYS}",
    )
    parser.add_argument("--system", metavar="FILE", help="on the system that this TOML file describes")
    parser.add_argument(
        "--measured-on",
        metavar="FILE",
        help="the system that the run was made on, where the file knows more of it than the run",
    )
    parser.add_argument("--nodes", type=int, metavar="N", help="on N nodes, each with the run's sessions")
    parser.add_argument("--sessions", type=int, metavar="N", help="with N sessions on each node")
    parser.add_argument("--scale", help="with inputs of another scale: a name, or a factor of full")
    parser.add_argument(
        "--grow", metavar="N,N,...", help="also at each of these numbers of sessions, to find the knee"
    )
    parser.add_argument("--against", metavar="RUN", help="compare with this run, which was really made")
    parser.add_argument(
        "--seed", type=int, default=1, help="draws what sessions beyond the measured ones do (default: 1)"
    )
    parser.add_argument("--output", metavar="DIR", help="keep the simulated run in this folder")
    parser.add_argument("--runs", metavar="DIR", help="where run folders are (default: ./runs)")
    parser.add_argument(
        "--published",
        action="store_true",
        help="no run: predicted and published figures of the papers' systems",
    )
    parser.add_argument(
        "--anyway", action="store_true", help="simulate although other programs used the run's devices, too"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    if arguments.published:
        return _published(arguments)
    chosen = settings()
    runs = chosen.runs(arguments.runs)
    view = StoredView(open_run(arguments.run, runs))
    own = load_system(Path(arguments.measured_on)) if arguments.measured_on else None
    question = Question(
        system=load_system(Path(arguments.system)) if arguments.system else None,
        changes=[parse_change(text) for text in arguments.set],
        nodes=arguments.nodes,
        sessions=arguments.sessions,
        seed=arguments.seed,
    )
    grow = _numbers(arguments.grow)
    against = StoredView(open_run(arguments.against, runs)) if arguments.against else None
    bounds = bounds_of(chosen)
    summary = judged(view, bounds)
    others = foreign_bytes(summary)
    if others is not None and not arguments.anyway:
        raise UsageError(
            "what-if needs a run that had its devices to itself",
            where=str(view.run.path),
            why=others,
            cure="run the workload again while nothing else uses these devices, or take what others did as a "
            "part of the load with --anyway",
        )
    logged = None
    if view.facts.kind == "imported":
        from mawl.derive.derive import logged_bytes

        logged = logged_bytes(view.run)
    base = base_of(view, summary, own, None if logged is None else logged.steps)
    question = _scaled(question, base, arguments.scale)
    simulated = predict(base, question)
    told = answer(
        base,
        question,
        simulated,
        _stored(simulated, base, arguments.output, bounds),
        grow=grow,
        against=None if against is None else judged(against, bounds),
        doubt=others,
        logs=None
        if logged is None
        else _basis(logged, base, base_of(view, summary, own), question, simulated),
    )
    _print(told, text.render, arguments.json)
    return 0


def _basis(
    logged: LoggedRun,
    base: Base,
    still: Base,
    question: Question,
    simulated: tuple[Scenario, SimulationOutcome],
) -> LogsBasis:
    ends = predict(still, question)[1].elapsed_seconds, simulated[1].elapsed_seconds
    return LogsBasis(
        range_of_logs(base, *ends),
        list(assumptions_of_logs(base, logged.without_blocks, logged.device_share)),
    )


def _print(told: Told, render: Callable[[Told, int], str], as_json: bool) -> None:
    print(
        f"{json.dumps(msgspec.to_builtins(told), indent=2)}\n" if as_json else render(told, width_for(None)),
        end="",
    )


def _published(arguments: argparse.Namespace) -> int:
    unasked = {"published", "json", "verb", "debug"}
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for name, usual in vars(parser.parse_args([])).items():
        if name not in unasked and getattr(arguments, name) != usual:
            given = "RUN" if name == "run" else f"--{name.replace('_', '-')}"
            raise UsageError(f"--published does not go with {given}", cure="leave one out")
    _print(published_forecasts(), render_published, arguments.json)
    return 0


def _scaled(question: Question, base: Base, scale: str | None) -> Question:
    if scale is None:
        return question
    return replace(question, scale_factor=parse_scale(scale) / base.plans[0].scale)


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(word) for word in text.split(",")] if text else []
    except ValueError:
        raise UsageError(
            f"--grow {text}: expected whole numbers", cure="separate them by commas: --grow 10,20,30"
        ) from None


def _stored(
    simulated: tuple[Scenario, SimulationOutcome], base: Base, output: str | None, bounds: AnswerBounds
) -> Judged:
    with temporary_directory("mawl-simulate-") as temporary:
        folder = Path(output) if output else temporary / "run"
        label = Label(run_id=f"{base.facts.run_id}-simulated", source=base.facts, command=tuple(sys.argv))
        write_folder(folder, *simulated, label)
        return judged(StoredView(open_run(folder)), bounds)

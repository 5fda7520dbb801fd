"""What would change it?  A measured run on another system, with more sessions, nodes or rows: simulated.

Prints the prediction with what it rests on, what limits it, and what twice of cores, core speed, links,
fabric and each device would gain; the simulated run is a run folder that report and compare read.
mawl help simulate shows it.
"""

from __future__ import annotations

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
from mawl.commands.arguments import JSON, RUN, RUNS, bounds_of, settings
from mawl.commands.terminal import width_for
from mawl.commands.verbs import Arguments, Verb, option, repeated, switch
from mawl.figures.view import StoredView
from mawl.plan.spec import parse_scale
from mawl.records.model.summary.summary import Judged
from mawl.records.store import open_run
from mawl.reports.document import Part, terminal
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.forecast import Base, Question, base_of, predict
from mawl.simulation.scenario import Scenario
from mawl.simulation.system import KEYS, load_system, parse_change
from mawl.whatif.answer import LogsBasis, answer, assumptions_of_logs, range_of_logs
from mawl.whatif.folder import Label, write_folder
from mawl.whatif.published_comparison import published_forecasts
from mawl.whatif.text import parts, published_parts

if TYPE_CHECKING:
    from mawl.derive.derive import LoggedRun

Answer = TypeVar("Answer")


class SimulateArguments(Arguments):
    run: str = RUN
    set: list[str] = repeated(
        "KEY=VALUE", f"one figure of the system otherwise; may be repeated; KEY: {KEYS}"
    )
    system: str | None = option("FILE", "on the system that this TOML file describes")
    measured_on: str | None = option(
        "FILE", "the system that the run was made on, where the file knows more of it than the run"
    )
    nodes: int | None = option("N", "on N nodes, each with the run's sessions")
    sessions: int | None = option("N", "with N sessions on each node")
    scale: str | None = option(None, "with inputs of another scale: a name, or a factor of full")
    grow: str | None = option("N,N,...", "also at each of these numbers of sessions, to find the knee")
    against: str | None = option("RUN", "compare with this run, which was really made")
    seed: int = option(None, "draws what sessions beyond the measured ones do (default: 1)", default=1)
    output: str | None = option("DIR", "keep the simulated run in this folder")
    runs: str | None = RUNS
    published: bool = switch("no run: predicted and published figures of the papers' systems")
    anyway: bool = switch("simulate although other programs used the run's devices, too")
    json: bool = JSON


def run(arguments: SimulateArguments) -> int:
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
    forecast = answer(
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
    _print(forecast, parts, arguments.json)
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


def _print(forecast: Answer, parts_of: Callable[[Answer], list[Part]], as_json: bool) -> None:
    print(
        json.dumps(msgspec.to_builtins(forecast), indent=2)
        if as_json
        else terminal(parts_of(forecast), width_for(None))
    )


def _published(arguments: SimulateArguments) -> int:
    for name, given in arguments.changed().items():
        if name not in ("published", "json"):
            raise UsageError(f"--published does not go with {given}", cure="leave one out")
    _print(published_forecasts(), published_parts, arguments.json)
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


VERBS = {"simulate": Verb(SimulateArguments, run)}

"""Which system to buy or to take, on which storage the roles should be, and what another would change."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.advice.rank import Ranking, rank
from mawl.advice.validity.host import foreign_bytes
from mawl.base.errors import UsageError
from mawl.base.removal import temporary_directory
from mawl.commands.arguments import (
    JSON,
    OUTPUT,
    PRICE,
    PRICES,
    RUN,
    RUNS,
    bounds_of,
    formats,
    prices_of,
    settings,
)
from mawl.commands.terminal import width_for, write_text
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated, switch
from mawl.figures.view import StoredView
from mawl.importers.probe_files import load_probe
from mawl.plan.spec import parse_scale
from mawl.records.model.qualification import Qualification
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.forms import Number, Whole
from mawl.records.store import open_run
from mawl.records.store.campaign import read_qualification
from mawl.reports.document import Part, rendered, terminal
from mawl.reports.json import render as rendered_json
from mawl.reports.layout import LEAST_WIDTH
from mawl.reports.rank import document as rank_document
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.forecast import Base, Question, base_of, predict
from mawl.simulation.scenario import Scenario
from mawl.simulation.system import KEYS, load_system, parse_change
from mawl.whatif.answer import LogsBasis, answer, assumptions_of_logs, range_of_logs
from mawl.whatif.folder import Label, write_folder
from mawl.whatif.placement.advise import advise
from mawl.whatif.placement.document import document as placement_document
from mawl.whatif.published_comparison import published_forecasts
from mawl.whatif.size import published_caps
from mawl.whatif.size.answer import size
from mawl.whatif.size.candidates import load_catalogue
from mawl.whatif.size.document import document as size_document
from mawl.whatif.size.document import printed
from mawl.whatif.size.question import SizeAnswer, SizeQuestion, start_of
from mawl.whatif.text import parts, published_parts

FORMATS = ("text", "markdown", "json", "html")
MOST_MINUTES = 1e6
MOST_SESSIONS_ASKED = 100_000


class RankArguments(Arguments):
    """Which qualified system is the cheapest that carries the sessions you need? And the others, in order.

    Each SYSTEM is a folder that mawl qualify wrote; the system has the name of that folder. Prices are yours:
    --price, or a file with per_hour. Systems that carry the sessions come first, the cheapest at the top; the
    table has the sessions that fit, the slowdown, what limits, and the price of a session and of 1000 jobs.
    mawl help read-an-answer shows it.
    """

    systems: list[str] = operand("SYSTEM", "folders that mawl qualify wrote", nargs="+")
    price: list[str] = PRICE
    prices: str | None = PRICES
    sessions: int | None = option(
        "N",
        "how many sessions you need, on all nodes together (default: what all systems were asked for)",
        form=Whole(1, MOST_SESSIONS_ASKED, of="sessions"),
    )
    format: str = formats(*FORMATS)
    output: str | None = OUTPUT


def run_rank(arguments: RankArguments) -> int:
    records = named_qualifications(arguments.systems)
    book = prices_of(arguments, records)
    width = width_for(arguments.output, LEAST_WIDTH)
    write_text(
        arguments.output,
        lambda: rendered_ranking(
            rank(records, book.per_hour, book.currency, arguments.sessions), arguments.format, width
        ),
    )
    return 0


def named_qualifications(folders: list[str]) -> dict[str, Qualification]:
    """Each record by the last part of its folder's name, or by the folder where two have the same."""
    if len(folders) < 2:
        raise UsageError(
            f"a ranking takes at least two systems, found {len(folders)}", cure="mawl rank A B [C...]"
        )
    paths = [Path(folder) for folder in folders]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a system is named twice", cure="name each folder once")
    names = [path.absolute().name for path in paths]
    if len(set(names)) < len(names):
        names = folders
    return {name: read_qualification(path) for name, path in zip(names, paths, strict=True)}


def rendered_ranking(ranking: Ranking, form: str, width: int, *, compared: bool = False) -> str:
    """The ranking in one of ``FORMATS``, with a newline at its end; ``compared`` as of the document."""
    if form == "json":
        return rendered_json(msgspec.to_builtins(ranking)) + "\n"
    return rendered(rank_document(ranking, compared=compared), form, width) + "\n"


class PlacementArguments(Arguments):
    """Where should data, work and util live? Advice from a measured run and the probes of the candidates.

    For each role and each probed target: the rate to expect, what a move would change of the summed real
    time, within bounds, and whether the role fits; then the best placement of all roles together, and the
    command that proves it. mawl help placement shows it.
    """

    run: str = RUN
    probes: list[str] = operand(
        "PROBE.json", "what mawl probe wrote; the probe in the run folder counts, too", nargs="*"
    )
    runs: str | None = RUNS
    json: bool = JSON


def run_placement(arguments: PlacementArguments) -> int:
    chosen = settings()
    stored = open_run(arguments.run, chosen.runs(arguments.runs))
    view = StoredView(stored, called=str(stored.path.absolute()))
    files = {name: load_probe(Path(name)) for name in arguments.probes}
    kept = view.run.probe
    probes = [*files.values(), *([kept] if kept else [])]
    advice = advise(view, judged(view, bounds_of(chosen)), probes, files)
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(advice), indent=2))
    else:
        print(rendered(placement_document(advice), "text", width_for(None)))
    return 0


SIZE_STATUS = (
    "exit status: 0 a pick, 3 no candidate carries by the forecast, 4 one does, but its probability is too "
    "small or not known, 1 a check failed, 2 wrong use, 130 interrupted"
)


class SizeArguments(Arguments):
    """What to buy: the cheapest system of your price list that carries the load of a run.

    Each candidate of the list is simulated with the load that the run measured. It carries N sessions if
    their jobs take at most twice their reference time together (the setting answer_bound). mawl applies
    the errors of n earlier forecasts; if the bound holds with k of them, the probability is k / (n + 1).
    mawl help size goes from a measured run to a purchase.
    """

    offers: str | None = operand("FILE.toml", "your price list: candidates and upgrades", nargs="?")
    run: str = operand(
        "RUN",
        "a run folder, a run id, a folder of mawl qualify, or latest (default)",
        default="latest",
    )
    sessions: int | None = option(
        "N",
        "how many sessions to carry, on all nodes together (default: those of the run)",
        form=Whole(1, MOST_SESSIONS_ASKED, of="sessions"),
    )
    within: float | None = option(
        "MINUTES",
        "bound the elapsed time instead of the slowdown (default for derived jobs that are due at some "
        "time: the window of their night)",
        form=Number(0.0, MOST_MINUTES, expected=f"minutes above 0 and up to {MOST_MINUTES:g}", above=True),
    )
    probability: float = option(
        "P", "how likely the system must be to carry the load, between 0 and 1 (default: 0.5)", default=0.5
    )
    measured_on: str | None = option(
        "FILE", "a description of the system that the run was made on (mawl probe --system writes one)"
    )
    anyway: bool = switch("size although other programs used the run's devices, too")
    catalogue: str | None = option(
        "WORD",
        "size nothing: show the caps that clouds publish of instance types and volumes, which a price list "
        "can name; WORD is a cloud or a part of a type",
        nargs="?",
        const="",
    )
    runs: str | None = RUNS
    format: str = formats(*FORMATS)
    output: str | None = OUTPUT


def run_size(arguments: SizeArguments) -> int:
    """Forecast every candidate and print; 0 with a pick, 3 if no forecast carries, else 4."""
    if arguments.catalogue is not None:
        return _show_catalogue(arguments)
    if arguments.offers is None:
        raise UsageError("names no price list", cure="mawl size offers.toml RUN, or mawl size --catalogue")
    chosen = settings()
    question = _question(arguments, bounds_of(chosen).answer_bound)
    catalogue = load_catalogue(Path(arguments.offers))
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
    answers: list[SizeAnswer] = []

    def sized() -> str:
        answers.append(size(start, question, catalogue))
        return _rendered(answers[0], arguments.format, arguments.output)

    write_text(arguments.output, sized)
    return _status(answers[0])


def _show_catalogue(arguments: SizeArguments) -> int:
    if arguments.format == "json":
        raise UsageError("--catalogue has no JSON", cure="name text, markdown or html")
    caps, width = published_caps.document(arguments.catalogue or ""), width_for(arguments.output, LEAST_WIDTH)
    write_text(arguments.output, lambda: rendered(caps, arguments.format, width) + "\n")
    return 0


def _question(arguments: argparse.Namespace, answer_bound: float) -> SizeQuestion:
    if not (math.isfinite(arguments.probability) and 0.0 < arguments.probability < 1.0):
        raise UsageError(f"--probability {arguments.probability:g}: expected a number between 0 and 1")
    return SizeQuestion(
        sessions=arguments.sessions,
        answer_bound=answer_bound,
        within_seconds=None if arguments.within is None else arguments.within * 60.0,
        probability=arguments.probability,
    )


def _rendered(answer: SizeAnswer, form: str, output: str | None) -> str:
    if form == "json":
        return rendered_json(printed(answer)) + "\n"
    return rendered(size_document(answer), form, width_for(output, LEAST_WIDTH)) + "\n"


def _status(answer: SizeAnswer) -> int:
    if answer.pick is not None:
        return 0
    return 4 if answer.forecast_pick is not None else 3


if TYPE_CHECKING:
    from mawl.derive.derive import LoggedRun

Answer = TypeVar("Answer")


class SimulateArguments(Arguments):
    """What would change it?  A measured run on another system, with more sessions, nodes or rows: simulated.

    Prints the prediction with what it rests on, what limits it, and what twice of cores, core speed, links,
    fabric and each device would gain; the simulated run is a run folder that report and compare read.
    mawl help simulate shows it.
    """

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


def run_simulate(arguments: SimulateArguments) -> int:
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


VERBS = {
    "rank": Verb(RankArguments, run_rank),
    "placement": Verb(PlacementArguments, run_placement),
    "size": Verb(SizeArguments, run_size, SIZE_STATUS),
    "simulate": Verb(SimulateArguments, run_simulate),
}

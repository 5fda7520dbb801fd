"""Comparisons of runs, and what papers published."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mawl.advice.rank import rank
from mawl.base.errors import UsageError
from mawl.commands.arguments import (
    FAILING_EXIT_STATUS,
    JUNIT,
    OUTPUT,
    RUNS,
    Failing,
    bounds_of,
    fail_on,
    formats,
    settings,
)
from mawl.commands.choose import named_qualifications, rendered_ranking
from mawl.commands.reporting import run_name
from mawl.commands.terminal import width_for, write_text
from mawl.commands.verbs import Arguments, Verb, operand, option, repeated, switch
from mawl.figures.published import published_block, published_input_bytes
from mawl.figures.published_tables import FilledTable, fill_tables
from mawl.records.model.published import (
    Citation,
    Paper,
    PaperFacts,
    PublishedFigures,
    PublishedResult,
    paper_named,
    paper_of,
    papers,
    published,
    published_result,
    thread_shares,
)
from mawl.records.model.qualification import Qualification
from mawl.records.model.thresholds import value_of
from mawl.records.spec.forms import Number
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import places_of, qualification_folder
from mawl.records.store.files import FACTS
from mawl.reports.document import rendered, terminal
from mawl.reports.json import render
from mawl.reports.published import listing, page, tables_document

if TYPE_CHECKING:
    from mawl.advice.bounds import AnswerBounds
    from mawl.advice.conditions import ConditionCheck
    from mawl.derive.replay.records import Replay
    from mawl.figures.comparison.comparability import CitedSettings
    from mawl.figures.comparison.compare import Comparison, Matrix
    from mawl.figures.comparison.sides import ComparedRun, Side

FORMATS = ("text", "json", "markdown", "html")


class CompareArguments(Arguments):
    """Compare runs: what changed, where the time went, and whether it is more than noise.

    A side is a run (folder, id or latest), a directory that holds the runs of one side, a campaign of one
    arm, several of these with commas between them, or a published result by its id. Two sides give their
    differences, three and more a table of all and each against the first. A statement needs five runs a side:
    mawl help compare shows how to make them. A run of jobs that mawl derive made of logs is compared with
    these logs (mawl import) step by step. Folders of mawl qualify are compared by the sessions that fit, as
    mawl rank does.
    """

    sides: list[str] = operand("SIDE", "reference first, then the candidates", nargs="*")
    reference: list[str] | None = option("RUN", "the runs of the reference", nargs="+")
    candidate: list[str] | None = option("RUN", "the runs of the candidate", nargs="+")
    format: str = formats(*FORMATS)
    output: str | None = OUTPUT
    runs: str | None = RUNS
    all: bool = switch("with text: every program, figure and role, not one screen of them")
    margin: float = option(
        "PERCENT",
        "say 'no change larger than PERCENT' where the runs establish that (default: 5)",
        default=100.0 * value_of("comparison.margin_ratio"),
        form=Number(0.0, expected="a percentage above 0", above=True),
    )
    settings: list[str] | None = option(
        ("BEFORE", "AFTER"),
        "two collections of settings (mawl tune collector) whose changes are listed "
        "(default: the settings that the runs recorded)",
        nargs=2,
    )
    fail_on: list[str] = fail_on("not-carried", "below-guideline", "slower")
    junit: str | None = JUNIT
    anyway: bool = switch("compare although mawl doubts that the sides may be compared")


def run(arguments: CompareArguments) -> int:
    """Write the comparison; the output file is tried first, so that a bad path fails before any work."""
    failing = Failing(arguments)
    checks: list[ConditionCheck] = []

    def compared() -> str:
        if (answers := _qualifications(arguments)) is not None:
            return rendered_ranking(
                rank(answers, {}), arguments.format, width_for(arguments.output), compared=True
            )
        if (pair := _logs_and_run(arguments)) is not None:
            from mawl.derive.replay.compare import replay

            if failing.asked:
                checks.extend(_checks_of_run(pair[1], failing))
            return _rendered_replay(replay(*pair, str(pair[1].path.absolute())), arguments) + "\n"
        answer, sides = _compared(arguments)
        if failing.asked:
            checks.extend(_checks(answer, sides[1:], failing))
        return _rendered(answer, arguments) + "\n"

    write_text(arguments.output, compared)
    return failing.status(checks)


def _qualifications(arguments: argparse.Namespace) -> dict[str, Qualification] | None:
    """The answers of sides that are folders of ``mawl qualify``; None if not all of them are.

    Raises ``UsageError`` for options that are about runs.
    """
    sides = [words for _, words in _sides(arguments)]
    runs = settings().runs(arguments.runs)
    folders = [qualification_folder(words[0], runs) if len(words) == 1 else None for words in sides]
    if not all(folders):
        return None
    if arguments.fail_on or arguments.settings:
        raise UsageError(
            "--fail-on and --settings go with runs, not with qualifications",
            cure="leave them out; mawl qualify has --fail-on",
        )
    return named_qualifications([str(folder) for folder in folders])


def _logs_and_run(arguments: argparse.Namespace) -> tuple[Run, Run] | None:
    """The imported logs and the run of derived jobs, if the two sides are these; else None.

    Raises ``UsageError`` if they are in the wrong order, if there are several runs of
    derived jobs, or if ``--settings`` is given.
    """
    sides = [words for _, words in _sides(arguments)]
    if len(sides) != 2 or len(sides[0]) != 1 or {words[0] for words in sides} & set(published()):
        return None
    runs = settings().runs(arguments.runs)
    before, after = ([place for word in words for place in places_of(word, runs)] for words in sides)
    first, last = open_run(before[0], runs), open_run(after[0], runs)
    if len(before) != 1 or (first.facts.derived is None) == (last.facts.derived is None):
        return None
    if last.facts.derived is None:
        if last.facts.kind != "imported":
            return None
        raise UsageError(
            "the logs come first",
            where=str(last.path),
            why="a run of derived jobs is compared with the logs that it was derived from",
            cure="mawl compare LOGS-RUN RUN",
        )
    if len(after) > 1:
        raise UsageError(
            f"{len(after)} runs of derived jobs are on one side",
            where=str(first.path),
            why="one run is compared with logs at a time; runs are compared with runs",
            cure="name one of them",
        )
    if arguments.settings:
        raise UsageError("--settings does not go with logs", cure="leave it out, or compare runs with runs")
    return first, last


def _checks_of_run(run: Run, failing: Failing) -> Iterator[ConditionCheck]:
    from mawl.advice.conditions import check_of_comparison, checks_of_run
    from mawl.advice.judge import judged
    from mawl.derive.replay.tables import NOT_A_FINDING
    from mawl.figures.view import StoredView

    yield from checks_of_run(judged(StoredView(run), bounds_of(settings())), failing.conditions)
    if "slower" in failing.conditions:
        yield check_of_comparison(run.facts.run_id, None, NOT_A_FINDING)


def _checks(
    answer: Comparison | Matrix, candidates: Sequence[Side], failing: Failing
) -> Iterator[ConditionCheck]:
    from mawl.advice.conditions import ConditionCheck, check_of_comparison, checks_of_run
    from mawl.figures.comparison.compare import Comparison

    for side in candidates:
        for run in side.runs:
            yield from checks_of_run(run.summary, failing.conditions)
        if not side.runs:
            for condition in failing.conditions:
                said = "a published result has no runs that could answer this"
                yield ConditionCheck(name=condition, subject=side.label, state="not known", sentence=said)
    if "slower" not in failing.conditions:
        return
    pairs: list[tuple[Comparison | None, str | None]] = (
        [(answer, None)]
        if isinstance(answer, Comparison)
        else [(pair.comparison, pair.reason) for pair in answer.pairs]
    )
    for side, (comparison, why) in zip(candidates, pairs, strict=True):
        if side.runs:
            yield check_of_comparison(side.label, comparison, why)


def _compared(arguments: argparse.Namespace) -> tuple[Comparison | Matrix, list[Side]]:
    from mawl.figures.comparison.compare import compare, compare_many

    margin = arguments.margin / 100.0
    chosen = settings()
    reader = Reader(chosen.runs(arguments.runs), bounds_of(chosen))
    sides = [reader.side(label, words) for label, words in _sides(arguments)]
    if len(sides) == 2:
        answer = compare(*sides, anyway=arguments.anyway, margin_ratio=margin)
        return msgspec.structs.replace(
            answer, settings=cited_settings(sides[0], sides[1], arguments.settings)
        ), sides
    if arguments.settings:
        raise UsageError("--settings goes with two sides", cure="name a reference and one candidate")
    return compare_many(sides, anyway=arguments.anyway, margin_ratio=margin), sides


def cited_settings(
    reference: Side, candidate: Side, collections: Sequence[str] | None
) -> CitedSettings | None:
    """Settings that changed from the first run of one side to that of the other, or between two collections.

    None if the sides recorded no settings, or have no node of the same name.
    """
    from mawl.tuning.changes import changes
    from mawl.tuning.collection import read_collections
    from mawl.tuning.profile_files import profiles
    from mawl.tuning.text import cited, settings_between

    if not collections:
        return settings_between(reference, candidate)
    before, after = (read_collections([Path(name)], {}) for name in collections)
    names = (collections[0], collections[1])
    return cited(changes(before, after, names, None, profiles()))


def _sides(arguments: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    named = [arguments.reference, arguments.candidate]
    if any(named):
        if arguments.sides or not all(named):
            raise UsageError(
                "--reference and --candidate go together, and without other sides",
                cure="give both, or name the sides one after another: mawl compare REF CAND",
            )
        for label, words in zip(("reference", "candidate"), named, strict=True):
            yield (words[0] if len(words) == 1 else label), words
        return
    if len(arguments.sides) < 2:
        raise UsageError(
            f"a comparison takes two sides, found {len(arguments.sides)}",
            cure="mawl compare REF CAND, or --reference RUN... --candidate RUN...",
        )
    words = [side.split(",") for side in arguments.sides]
    names = [_name(some) for some in words]
    yield from zip(names if len(set(names)) == len(names) else arguments.sides, words, strict=True)


def _name(words: Sequence[str]) -> str:
    """``before`` of ``runs/before``; of several the first, with how many more."""
    first = Path(words[0]).name or words[0]
    return first if len(words) == 1 else f"{first} and {len(words) - 1} more"


class Reader:
    """Reads each run once, however often it is named."""

    def __init__(self, runs: Path, bounds: AnswerBounds) -> None:
        self._runs, self._bounds = runs, bounds
        self._read: dict[Path, ComparedRun] = {}

    def side(self, label: str, words: Sequence[str]) -> Side:
        """A side by what the user wrote; UsageError where that is no run, no folder of runs, no result."""
        from mawl.figures.comparison.sides import published_side, side_of

        known = published()
        results = [word for word in words if word in known and not self._is_run(word)]
        if results and len(words) > 1:
            raise UsageError(
                "is a published result, which has no repeats",
                where=results[0],
                cure="name it as a separate side",
            )
        if results:
            result = known[results[0]]
            return published_side(
                published_block(
                    result,
                    paper_of(result),
                    input_bytes=published_input_bytes(papers()),
                    thread_shares=thread_shares(),
                )
            )
        places = [place for word in words for place in places_of(word, self._runs)]
        return side_of(label, (self._compared(place) for place in places))

    def _is_run(self, word: str) -> bool:
        return any((place / FACTS).is_file() for place in (Path(word), self._runs / word))

    def _compared(self, word: str) -> ComparedRun:
        from mawl.advice.judge import judged
        from mawl.figures.comparison.sides import compared_run
        from mawl.figures.view import StoredView
        from mawl.plan.environment import stored_environments

        stored = open_run(word, self._runs)
        if stored.path not in self._read:
            view = StoredView(stored, called=run_name(stored))
            self._read[stored.path] = msgspec.structs.replace(
                compared_run(view, judged(view, self._bounds)),
                environments=stored_environments(stored.path),
            )
        return self._read[stored.path]


def _rendered_replay(answer: Replay, arguments: argparse.Namespace) -> str:
    from mawl.derive.replay.document import document
    from mawl.reports.document import rendered
    from mawl.reports.json import indented

    if arguments.format == "json":
        return indented(answer)
    return rendered(document(answer, every=arguments.all), arguments.format, width_for(arguments.output))


def _rendered(answer: Comparison | Matrix, arguments: argparse.Namespace) -> str:
    from mawl.figures.comparison.compare import Comparison
    from mawl.reports.comparison.document import document, render_json, text_of
    from mawl.reports.document import rendered

    if arguments.format == "json":
        return render_json(answer)
    width = width_for(arguments.output)
    if arguments.format == "text" and isinstance(answer, Comparison):
        return text_of(answer, every=arguments.all, width=width)
    return rendered(document(answer), arguments.format, width)


class PublishedList(msgspec.Struct, frozen=True, kw_only=True):
    """All results as ``--json`` prints them without an ID, and what their papers say besides them."""

    results: list[PublishedFigures]
    papers: list[PaperFacts]


class PaperTables(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of a paper as ``--tables --json`` prints them."""

    source: Citation
    tables: list[FilledTable]


class PublishedArguments(Arguments):
    """The figures that papers published of this kind of workload: a list, or one result with its caveats.

    A figure that a paper does not give is blank. Do not compare totals of different machines: mawl compare ID
    RUN compares what may be compared, per core and as shares.
    """

    id: str | None = operand("ID", "one result, or with --tables a paper (default: the list)", nargs="?")
    tables: bool = switch("the tables of the paper, with the figures of --run in them")
    run: list[str] | None = repeated(
        "RUN",
        "with --tables: a run, or a folder of repeats; may be repeated: the first run goes next to the "
        "first column",
        default=None,
    )
    runs: str | None = RUNS
    format: str = formats("text", "json", "markdown", text="default: text; markdown is for --tables")
    json: bool = switch("--format json", action="store_const", const="json", dest="format")


def run_published(arguments: PublishedArguments) -> int:
    if arguments.tables:
        return _tables(arguments)
    if arguments.run or arguments.format == "markdown":
        given = "--run" if arguments.run else "--format markdown"
        raise UsageError(f"{given} goes with --tables", cure="add --tables, or leave it out")
    if arguments.id is not None:
        figures = as_block(published_result(arguments.id))
        print(render(figures) if arguments.format == "json" else terminal(page(figures), width_for(None)))
        return 0
    blocks = [as_block(result) for result in published().values()]
    if arguments.format == "json":
        print(render(PublishedList(results=blocks, papers=[_facts(paper) for paper in papers()])))
    else:
        print(terminal(listing(blocks), width_for(None)))
    return 0


def _tables(arguments: argparse.Namespace) -> int:
    """Every table of a paper, with runs in the same rows."""
    if arguments.id is None:
        names = ", ".join(paper.source.key for paper in papers())
        raise UsageError("--tables needs a paper, or a result of it", cure=f"choose from: {names}")
    paper = paper_named(arguments.id)
    chosen = settings()
    reader = Reader(chosen.runs(arguments.runs), bounds_of(chosen))
    sides = [reader.side(word, [word]) for word in arguments.run or ()]
    for side in sides:
        if not side.runs:
            raise UsageError("is a published result", where=side.label, cure="--run takes runs of yours")
    results = {result.id: as_block(result) for result in paper.results}
    tables = fill_tables(paper, results, sides)
    if arguments.format == "json":
        print(render(PaperTables(source=paper.source, tables=tables)))
    else:
        print(rendered(tables_document(paper, tables), arguments.format, width_for(None)))
    return 0


def as_block(result: PublishedResult) -> PublishedFigures:
    """A result as what reports and comparisons read."""
    return published_block(
        result,
        paper_of(result),
        input_bytes=published_input_bytes(papers()),
        thread_shares=thread_shares(),
    )


def _facts(paper: Paper) -> PaperFacts:
    return PaperFacts(**{name: getattr(paper, name) for name in PaperFacts.__struct_fields__})


VERBS = {
    "compare": Verb(CompareArguments, run, FAILING_EXIT_STATUS),
    "published": Verb(PublishedArguments, run_published),
}

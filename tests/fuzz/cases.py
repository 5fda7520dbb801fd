"""One case: a base, changed, given to one verb."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import msgspec
from starlette.testclient import TestClient

from mawl.advice.bounds import AnswerBounds
from mawl.commands.main import main
from mawl.commands.server.application import create_app
from mawl.commands.server.reports import standard_renderers
from mawl.reports.csv import TABLES
from tests.fuzz.bases import CAMPAIGNS, KINDS, RUNS
from tests.fuzz.judging import Judgement, judged
from tests.fuzz.mutators import copy_of, mutate

REPORTS = (
    [],
    ["--all"],
    ["--color=always"],
    *([f"--format={name}"] for name in ("json", "markdown", "disclosure", "logparse", "throughput")),
    *([f"--format={name}"] for name in ("openmetrics", "saslog", "html")),
    *(["--format=csv", f"--table={table}"] for table in TABLES),
)
COMPARISONS: tuple[list[str], ...] = ([], ["--format=json"], ["--format=markdown"], ["--format=html"])
QUESTIONS: tuple[list[str], ...] = (
    [],
    ["--anyway"],
    ["--anyway", "--set", "cores=4", "--json"],
    ["--anyway", "--sessions=3"],
    ["--anyway", "--nodes=2"],
)


class Case(msgspec.Struct, frozen=True):
    """A case as it was made; ``words`` are those of the command line, ``serve`` alone the pages."""

    number: int
    kind: str
    words: list[str]
    changes: list[str]


class Fault(msgspec.Struct, frozen=True):
    """What fell short, and the case that shows it again."""

    case: Case
    what: str
    detail: str


def make_case(number: int, seed: int, bases: Path, place: Path) -> Case:
    """Make the folders of this case in ``place``, in place of those of another."""
    random = Random(f"{seed} {number}")
    kind = random.choices(list(KINDS), list(KINDS.values()))[0]
    runs = place / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    runs.mkdir(parents=True)
    folder = copy_of(bases / kind, runs / ("x" if kind != "settings" else "settings"))
    changes = [mutate(folder, random) for _ in range(random.choice((1, 1, 2)))]
    return Case(number, kind, _words(kind, random, folder, runs, bases), changes)


def judge_case(case: Case, place: Path) -> Judgement | None:
    """Give the case to its verb; what fell short."""
    words, runs = case.words, place / "runs"
    return judged(
        lambda: _visited(runs) if words == ["serve"] else main(words), coloured="--color=always" in words
    )


def _words(kind: str, random: Random, folder: Path, runs: Path, bases: Path) -> list[str]:
    place = f"--runs={runs}"
    if kind == "workload":
        name = random.choice(("nano", "starter"))
        return ["plan", str(folder / f"{name}.toml"), place, f"--data={runs}/data"]
    if kind == "imports":
        asked = random.choice(([], ["--json"]))
        return ["import", str(folder), place, "--output", str(runs / "made"), *asked]
    if kind == "settings":
        return _settings_words(random, folder, runs, bases)
    if kind == "collection":
        shown = random.choice(([], ["--all"], ["--json"]))
        whole = str(bases / "collection")
        return random.choice(
            (
                ["tune", "check", "--from", str(folder), *shown],
                ["tune", "compare", whole, str(folder), *shown],
            )
        )
    if kind == "array":
        return _array_words(random, folder, runs, bases)
    if kind in CAMPAIGNS:
        shown = random.choice(COMPARISONS)
        return random.choice((["report", "x", place, *shown], ["compare", "x", place, *shown]))
    assert kind in RUNS
    other = str(copy_of(bases / random.choice((kind, "hostile")), runs / "other"))
    return random.choice(
        (
            *(["report", "x", place, *random.choice(REPORTS)] for _ in range(6)),
            ["compare", "x", other, place],
            ["compare", other, "x", place, "--anyway", *random.choice(COMPARISONS)],
            ["simulate", "x", place, *random.choice(QUESTIONS)],
            ["simulate", other, place, "--anyway", "--against", "x"],
            ["placement", "x", place],
            ["tune", "check", "x", place],
            ["clean", "--dry-run", place],
            ["serve"],
        )
    )


def _settings_words(random: Random, folder: Path, runs: Path, bases: Path) -> list[str]:
    """A file of settings, with a run that is whole where the verb wants one."""
    tuning, system, probe = (str(folder / name) for name in ("tuning.toml", "system.toml", "probe.json"))
    verb = random.choice(("show", "simulate", "check", "placement"))
    if verb == "show":
        return ["tune", "show", tuning, "--all"]
    kind = {"simulate": "killed", "check": "cluster", "placement": "synthetic"}[verb]
    run = str(copy_of(bases / kind, runs / "x"))
    return {
        "simulate": ["simulate", run, "--anyway", "--system", system],
        "check": ["tune", "check", run, "--profile", tuning],
        "placement": ["placement", run, probe],
    }[verb]


def _array_words(random: Random, folder: Path, runs: Path, bases: Path) -> list[str]:
    """Statistics of an array attached to a run that is whole."""
    run = str(copy_of(bases / "synthetic", runs / "other"))
    array_map, files = random.choice(
        (("map.toml", ["array.csv"]), ("counters.toml", ["Nv_stats_1", "Nv_stats_2"]))
    )
    named = [str(folder / name) for name in files]
    return ["attach", run, *named, "--array-map", str(folder / array_map)]


def _visited(runs: Path) -> int:
    """The pages of the server over the runs; raises what a page did not foresee."""
    failures: list[Exception] = []
    app = create_app(runs, standard_renderers(AnswerBounds()), failed=failures.append)
    with TestClient(app, base_url="http://127.0.0.1:6295") as visitor:
        for page in ("/", "/runs/x", "/metrics?run=x", "/compare?reference=x&candidate=other"):
            answer = visitor.get(page)
            if answer.status_code >= 500:
                raise failures[0] if failures else AssertionError(f"{page}: {answer.status_code}")
    return 0

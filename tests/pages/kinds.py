"""Every kind of page that mawl makes: a name, and the function that writes one into a folder.

All tests of ``test_pages.py`` run for each line of ``KINDS``: in the gate for kinds in its ``IN_THE_GATE``,
else with the long tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from starlette.testclient import TestClient

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.advice.rank import rank
from mawl.archive.history import document as history
from mawl.commands.server.application import create_app
from mawl.commands.server.reports import standard_renderers
from mawl.derive import costs
from mawl.derive.replay.compare import replay
from mawl.derive.replay.document import document as replay_document
from mawl.figures.comparison.compare import compare, compare_many
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.reports import campaign_document as campaign
from mawl.reports import rank as ranking
from mawl.reports.comparison import document as comparison
from mawl.reports.document import rendered
from mawl.reports.html import report
from mawl.reports.qualification import document as answer_document
from mawl.whatif.size import document as sizing
from tests.advice.test_rank import NEEDED, PRICES
from tests.archive.history.test_changes import followed, nights_with_step
from tests.cli.test_replay import logs_and_run
from tests.fakes import sized
from tests.fakes.answered import every_record
from tests.fakes.compared_runs import pair, side
from tests.fakes.found_campaigns import EVERY as CAMPAIGNS
from tests.fakes.hostile_run import write_hostile_run
from tests.fakes.nightly_logs import nightly
from tests.fakes.published_run import write_published
from tests.fakes.served_runs import finished
from tests.fakes.stored_run import facts, write_run
from tests.fakes.synthetic_run import write_synthetic_run
from tests.importers.test_import import imported
from tests.importers.test_nights import files

Kind = Callable[[Path], str]
"""Makes the page in a folder that is empty at first."""


def run_page(run: Path) -> str:
    """The report of a stored run."""
    stored = open_run(run)
    return report.render(StoredView(stored), judged(StoredView(stored)))


def _short(folder: Path) -> str:
    write_run(folder / "run").finish(facts())
    return run_page(folder / "run")


def _publishable(folder: Path) -> str:
    write_published(folder / "run")
    return run_page(folder / "run")


def _import(folder: Path) -> str:
    _, run = imported(folder, *files(folder))
    return report.render(StoredView(run), judged(StoredView(run)))


def _steps(folder: Path) -> str:
    _, run = imported(folder, *files(folder))
    return rendered(costs.document(costs.step_costs(run, "real")), "html")


def _nights(folder: Path) -> str:
    logs = nightly(
        folder / "logs",
        datetime(2026, 10, 5, 20),
        30,
        zone=UTC,
        steps={"join_sales": (20, 1.5)},
        without={12},
    )
    _, run = imported(folder, logs)
    return report.render(StoredView(run), judged(StoredView(run)))


def _replay(folder: Path) -> str:
    logs, run = logs_and_run(folder)
    return rendered(replay_document(replay(open_run(logs), open_run(run))), "html")


def _library(folder: Path) -> str:
    for name in ("one", "two", "three"):
        finished(folder, name)
    failures: list[Exception] = []
    app = create_app(folder, standard_renderers(AnswerBounds()), failed=failures.append)
    with TestClient(app, base_url="http://127.0.0.1:6295") as visitor:
        for name in ("one", "two", "three"):
            visitor.get(f"/runs/{name}/overview")
        page = visitor.get("/?reference=one&candidate=two").text
    assert failures == []
    return page


def _answer(name: str, folder: Path) -> str:
    return rendered(answer_document(every_record()[name]), "html")


def _campaign(name: str, folder: Path) -> str:
    return rendered(campaign.document(CAMPAIGNS[name]()), "html")


KINDS: Mapping[str, Kind] = {
    "run": lambda folder: run_page(write_synthetic_run(folder / "run", jobs=71, nodes=1, seconds=900)),
    "cluster": lambda folder: run_page(write_synthetic_run(folder / "run", jobs=284, nodes=4, seconds=600)),
    "publishable run": _publishable,
    "short smoke run": _short,
    "hostile run": lambda folder: run_page(write_hostile_run(folder / "run")),
    "import": _import,
    "import of nights": _nights,
    "costliest steps": _steps,
    **{f"answer {name}": partial(_answer, name) for name in ("yes", "not-known", "cluster-no")},
    "comparison": lambda _: rendered(
        comparison.document(compare(*pair([0.98, 1.01, 1.0, 1.02, 0.99], [1.2, 1.21]))), "html"
    ),
    "comparison of many": lambda _: rendered(
        comparison.document(compare_many([side(name, [1.0], first=at) for at, name in enumerate("abc")])),
        "html",
    ),
    "logs and a run": _replay,
    **{f"campaign {name}": partial(_campaign, name) for name in CAMPAIGNS},
    "library": _library,
    "history": lambda _: rendered(history.document(followed(nights_with_step(1, "work", 0.1))), "html"),
    "ranking": lambda _: rendered(ranking.document(rank(NEEDED, PRICES, "EUR", 12)), "html"),
    "sizing": lambda _: rendered(sizing.document(sized.answer()), "html"),
}

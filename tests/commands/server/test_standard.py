"""The renderers of ``mawl serve``: sides of several runs are judged as in ``mawl compare``."""

from __future__ import annotations

from html import unescape
from pathlib import Path

from mawl.advice.bounds import AnswerBounds
from mawl.commands.server.renderers import standard_renderers
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from tests.fakes.compared_runs import COMPLETED, jobs
from tests.fakes.stored_run import START, facts


def stored(folder: Path, number: int, factor: float) -> StoredView:
    """A finished run whose jobs took ``factor`` times as long."""
    some = facts(**{**COMPLETED, "run_id": folder.name, "started_at": START + 100.0 * number})
    writer = RunWriter(folder, some)
    for record in jobs({"wide_sort": factor, "census_load": factor}):
        writer.job(record)
    writer.finish(some)
    return StoredView(open_run(folder))


def test_five_against_five_are_judged_and_one_each_goes_by_its_name(tmp_path: Path) -> None:
    quiet = [0.98, 1.01, 1.0, 1.02, 0.99]
    before = [stored(tmp_path / f"b{at}", 2 * at, noise) for at, noise in enumerate(quiet)]
    after = [stored(tmp_path / f"a{at}", 2 * at + 1, 1.2 * noise) for at, noise in enumerate(quiet)]
    comparison = standard_renderers(AnswerBounds()).comparison
    assert comparison is not None
    page = comparison([before, after])
    assert '<h1>Worse: "candidate" against "reference", real time per job +20 % (95 % interval ' in unescape(
        page
    )
    assert "5 against 5" in page
    assert '<h1>Undecided: "a0" against "b0", ' in unescape(comparison([before[:1], after[:1]]))
    assert "<h1>Undecided: 2 sides against b0</h1>" in comparison([before[:1], after[:1], after[1:2]])

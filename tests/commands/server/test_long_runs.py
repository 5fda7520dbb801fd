"""A server that is watched for a day: what it keeps of a run that grows does not grow with it."""

from __future__ import annotations

import asyncio
import gc
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.commands.server import live_run
from mawl.commands.server.live_run import Growing, GrowingRuns, Picture
from mawl.commands.server.reports import standard_renderers
from mawl.commands.server.run_folders import Worker
from mawl.figures.view import StoredView
from mawl.records.model.records import EventRecord
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from mawl.records.store.thinning import Thinned
from tests.fakes.measured_run import IDLE, sample_rows
from tests.fakes.served_runs import Made
from tests.fakes.stored_run import NAMES, PLAN, START, facts, write_run
from tests.fakes.views import judged, plain

PIECE_SECONDS = 1800
MOST_ROWS = 20_000
RATES = {**IDLE, "application_read_bytes": lambda second: 1e8 if second % 600 < 300 else 3e8}


def grown(writer: RunWriter, seconds: int) -> None:
    """One more piece of samples, up to so many seconds."""
    rows = [row for row in sample_rows(seconds, RATES) if row.sampled_at > START + seconds - PIECE_SECONDS]
    writer.samples(sorted(rows, key=lambda row: row.sampled_at))


@pytest.fixture
def writer(runs: Path) -> RunWriter:
    made = RunWriter(runs / "one", facts(outcome="running", ended_at=None), plan=PLAN, runs=runs)
    for name in NAMES[:4]:
        made.event(EventRecord(happened_at=START, event="job_started", job=name))
    return made


def test_a_long_run_is_kept_in_bounded_memory_and_its_figures_are_those_of_all_samples(
    runs: Path, writer: RunWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_run, "Thinned", partial(Thinned, MOST_ROWS))
    clock = iter(range(0, 10**6, 10_000))
    followed = Growing(runs / "one", standard_renderers(AnswerBounds()), clock=lambda: float(next(clock)))
    rows, allocated, points = [], [], []
    for piece in range(1, 5):
        grown(writer, piece * PIECE_SECONDS)
        picture = followed.picture()
        rows.append(picture.view.run.samples.num_rows)
        allocated.append(pa.total_allocated_bytes())
        points.append(max(len(content) for _, content in picture.sources.values()))
    assert max(rows) <= MOST_ROWS + len(RATES)
    assert max(allocated) - allocated[0] < 2 * picture.view.run.samples.nbytes
    assert max(points) < 60_000, "bytes of a source, however long the run is"
    _same_figures(picture, runs / "one")
    writer.close()


def _same_figures(picture: Picture, folder: Path) -> None:
    """Rates, windows and findings are those of a reader of all samples, but for the remark that says so."""
    found, whole = plain(picture.summary), judged(StoredView(open_run(folder, compacting=False)))
    assert picture.view.run.stride == 16
    assert found["recorded"]["samples"] == whole["recorded"]["samples"] == 4 * PIECE_SECONDS * len(RATES)
    for side in ("application", "device"):
        for kind in ("peak", "sustained"):
            mine, theirs = (one["io"][side][kind]["total_bytes_per_second"] for one in (found, whole))
            assert mine == pytest.approx(theirs, rel=0.02)
    rules = [{finding["rule"] for finding in one["validity"]["findings"]} for one in (found, whole)]
    assert rules[0] == rules[1]
    assert "sampling" not in rules[0]
    assert any("1 of 16 samples of each series" in remark for remark in found["remarks"])


def test_a_run_that_nobody_asks_for_is_forgotten(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_run, "FORGET_SECONDS", 0.05)
    writer = write_run(tmp_path / "one")

    async def visit() -> tuple[Any, int, int]:
        runs = GrowingRuns(Worker(1), made.renderers())
        first = weakref.ref((await runs.picture(tmp_path / "one")).view)
        kept = len(runs)
        while len(runs):
            await asyncio.sleep(0.01)
        await runs.picture(tmp_path / "one")
        gc.collect()
        return first(), kept, len(runs)

    assert asyncio.run(visit()) == (None, 1, 1)
    writer.close()

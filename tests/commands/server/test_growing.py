"""Following a run: read once for all, within its share, until it ends."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import threading
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from mawl.advice.bounds import AnswerBounds
from mawl.commands.server import application, live_run
from mawl.commands.server.application import create_app
from mawl.commands.server.live_run import (
    EARLY_REST_SECONDS,
    MOST_EARLY_PAGES,
    SHARE_RATIO,
    Growing,
    GrowingRuns,
    RunEndedError,
    drawable,
)
from mawl.commands.server.reports import Renderers, standard_renderers
from mawl.commands.server.run_folders import Worker
from mawl.figures.view import StoredView
from mawl.records.model.records import EventRecord
from mawl.records.model.summary.summary import Judged
from mawl.records.store import Run
from mawl.records.store.folder import RunWriter
from tests.fakes.served_runs import Made, finished
from tests.fakes.stored_run import PLAN, START, events, facts, job, samples, write_run
from tests.fakes.views import partly


class Times:
    """A clock that moves when told; work costs what is set."""

    def __init__(self) -> None:
        self.now = 100.0
        self.cpu_seconds = 0.0
        self.cost_seconds = 0.5
        self.made = 0

    def judged(self, view: StoredView) -> Judged:
        self.cpu_seconds += self.cost_seconds
        self.made += 1
        return partly({"run_id": view.facts.run_id, "recorded": {"samples": view.run.samples.num_rows}})

    def growing(self, folder: Path, renderers: Renderers) -> Growing:
        renderers = msgspec.structs.replace(renderers, judged=self.judged)
        return Growing(folder, renderers, cpu=lambda: self.cpu_seconds, clock=lambda: self.now)


def events_of(text: str) -> list[tuple[str, Any]]:
    """The events of a stream, in order."""
    found = []
    for block in text.strip().split("\n\n"):
        name, data = (line.split(": ", 1)[1] for line in block.split("\n"))
        found.append((name, json.loads(data)))
    return found


def test_new_figures_wait_until_the_share_allows_them(tmp_path: Path, made: Made) -> None:
    writer = write_run(tmp_path / "one", seconds=1)
    times = Times()
    followed = times.growing(tmp_path / "one", made.renderers())
    assert followed.picture().view.run.samples.num_rows == 2
    spent, began = times.cpu_seconds, times.now
    for second in range(1, 60):
        writer.samples(samples(second))
        times.now += 1.0
        followed.picture()
    assert times.made > 5
    assert (times.cpu_seconds - spent) / (times.now - began) <= SHARE_RATIO
    writer.close()


def test_without_anything_new_nothing_is_made(tmp_path: Path, made: Made) -> None:
    writer = write_run(tmp_path / "one", seconds=1)
    times = Times()
    followed = times.growing(tmp_path / "one", made.renderers())
    for _ in range(5):
        followed.picture()
        times.now += 100.0
    assert times.made == 1
    writer.close()


def test_only_what_changed_is_sent_and_what_is_missing_is_null(tmp_path: Path, made: Made) -> None:
    writer = write_run(tmp_path / "one", seconds=1)
    times = Times()
    followed = times.growing(tmp_path / "one", made.renderers())
    first = followed.picture()
    everything = json.loads(first.since(0) or b"")
    assert everything == {
        "samples": {"value": [None, None]},
        "constant": {"one": [1.0, None], "name": ["<a>", "b"]},
    }
    assert first.since(first.version) is None
    writer.samples(samples(1))
    times.now += 100.0
    second = followed.picture()
    assert json.loads(second.since(first.version) or b"") == {"samples": {"value": [None] * 4}}
    writer.close()


def test_line_and_charts_are_of_one_moment(tmp_path: Path, made: Made) -> None:
    """A look that the share puts off changes none of them; the next picture changes all."""
    writer = write_run(tmp_path / "one", seconds=1)
    times = Times()
    followed = times.growing(tmp_path / "one", made.renderers())
    first = followed.picture()
    writer.samples(samples(1))
    writer.event(EventRecord(happened_at=START, event="job_started", job="s9-1"))
    times.now += 1.5
    put_off = followed.picture()
    assert (put_off.status, put_off.version) == (first.status, first.version)
    times.now += 100.0
    second = followed.picture()
    assert second.version > first.version and ", 1 running" in second.status
    writer.close()


def test_a_page_is_due_once_it_would_have_later_figures(tmp_path: Path, made: Made) -> None:
    writer = write_run(tmp_path / "one", seconds=1)
    times = Times()
    followed = times.growing(tmp_path / "one", made.renderers())
    assert followed.picture().page_due
    page = followed.page()
    times.now += 100.0
    assert not followed.picture().page_due
    writer.samples(samples(1))
    times.now += 100.0
    assert followed.picture().page_due
    assert followed.page().version > page.version
    times.now += 100.0
    assert not followed.picture().page_due
    writer.close()


def test_the_status_counts_jobs(tmp_path: Path, made: Made) -> None:
    writer = write_run(tmp_path / "one")
    writer.event(EventRecord(happened_at=START, event="job_started", job="s9-1"))
    status = Growing(tmp_path / "one", made.renderers()).picture().status
    assert status.startswith("6 of 6 jobs ended (1 not well), 1 running, ")
    writer.close()


@pytest.mark.parametrize("end", ["finish", "kill", "remove"])
def test_the_end_of_a_run_is_told(tmp_path: Path, made: Made, end: str) -> None:
    writer = write_run(tmp_path / "one")
    times = Times()
    followed = times.growing(tmp_path / "one", made.renderers())
    followed.picture()
    times.now += 10.0
    if end == "finish":
        writer.finish(facts())
    elif end == "kill":
        writer.close()
    else:
        shutil.rmtree(tmp_path / "one" / "journal")
    with pytest.raises(RunEndedError):
        followed.picture()


def test_a_page_is_made_once_for_each_picture(tmp_path: Path, made: Made) -> None:
    writer = write_run(tmp_path / "one", seconds=1)
    times = Times()
    followed = times.growing(tmp_path / "one", made.renderers())
    assert followed.page() == followed.page()
    writer.samples(samples(1))
    times.now += 100.0
    followed.page()
    times.now += 100.0
    followed.page()
    assert made.asked == ["following one", "following one"]
    writer.close()


def test_what_can_be_drawn_has_figures_and_a_course_has_two() -> None:
    nan = float("nan")
    assert drawable({"a": {"x": [1.0, nan, 2], "y": [None, 3.0], "z": [nan]}, "b": {"x": ["1", "2"]}}) == {
        "a",
        "a.x",
        "a.y",
    }


def test_a_page_without_charts_that_exist_now_is_made_early_and_not_for_ever(
    tmp_path: Path, made: Made
) -> None:
    writer = write_run(tmp_path / "one", seconds=1)
    times = Times()
    times.cost_seconds = 0.0

    def following(run: Run, summary: object) -> str:
        times.cpu_seconds += 10.0
        return "page"

    def sources(view: StoredView, summary: object) -> Mapping[str, Mapping[str, Any]]:
        return {f"chart{number}": {"x": [1.0]} for number in range(view.run.samples.num_rows)}

    renderers = msgspec.structs.replace(made.renderers(), following=following, sources=sources)
    followed = times.growing(tmp_path / "one", renderers)
    versions = [followed.page().version]
    for second in range(1, MOST_EARLY_PAGES + 3):
        writer.samples(samples(second))
        times.now += EARLY_REST_SECONDS - 1
        assert followed.picture().obtainable == followed.page().charts < followed.picture().charts
        times.now += 1.0
        promised = followed.picture().obtainable
        page = followed.page()
        assert page.charts == promised
        versions.append(page.version)
        if len(set(versions)) > MOST_EARLY_PAGES:
            break
    writer.samples(samples(90))
    times.now += EARLY_REST_SECONDS
    assert followed.picture().obtainable == followed.page().charts < followed.picture().charts
    times.now += 10.0 / SHARE_RATIO
    assert followed.picture().obtainable == followed.page().charts == followed.picture().charts
    writer.close()


def drawn_by(page: str) -> set[str]:
    """What a page of a growing run says that it draws."""
    found = re.search(r'<header class="page-head" data-charts="([^"]*)">', page)
    assert found is not None
    return set(json.loads(unescape(found[1])))


def test_a_page_opened_before_any_sample_is_told_to_load_its_charts(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RunWriter(runs / "one", facts(outcome="running", ended_at=None), plan=PLAN, runs=runs)
    failures: list[Exception] = []
    reloaded: list[str] = []
    looks = iter(range(100))

    async def pause() -> None:
        look = next(looks)
        if look == 0:
            for event in events()[:2]:
                writer.event(event)
            for second in range(5):
                writer.samples(samples(second))
            writer.job(job("s3-1", 0.0, 3.5))
        elif look == 2:
            reloaded.append((await asyncio.to_thread(client.get, "/runs/one")).text)
            writer.close()

    monkeypatch.setattr(application, "pause", pause)
    monkeypatch.setattr(live_run, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(live_run, "SHARE_RATIO", 1.0)
    monkeypatch.setattr(live_run, "EARLY_REST_SECONDS", 0.0)
    app = create_app(runs, standard_renderers(AnswerBounds()), failed=failures.append)
    with TestClient(app, base_url="http://127.0.0.1:6295") as client:
        first = client.get("/runs/one").text
        assert 'id="chart-' not in first and "Not yet: " in first
        told = [
            set(data) for name, data in events_of(client.get("/runs/one/events").text) if name == "charts"
        ]
    assert failures == []
    assert told[-1] - drawn_by(first) >= {"application", "sessions.left"}
    assert drawn_by(reloaded[0]) >= told[-1]
    assert 'id="chart-application"' in reloaded[0] and 'id="chart-sessions"' in reloaded[0]


def test_many_viewers_are_one_reader_also_when_they_leave(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_run, "LOOK_SECONDS", 0.0)
    writer = write_run(tmp_path / "one")
    inside, most = [0], [0]
    gate = threading.Event()

    def sources(view: StoredView, summary: object) -> Mapping[str, Mapping[str, Any]]:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        gate.wait(10)
        inside[0] -= 1
        return {}

    async def visit() -> None:
        renderers = msgspec.structs.replace(made.renderers(), sources=sources)
        runs = GrowingRuns(Worker(4), renderers)
        visitors = [asyncio.create_task(runs.picture(tmp_path / "one")) for _ in range(10)]
        while not inside[0]:
            await asyncio.sleep(0.001)
        for visitor in visitors[:5]:
            visitor.cancel()
        later = [asyncio.create_task(runs.picture(tmp_path / "one")) for _ in range(5)]
        await asyncio.sleep(0.01)
        gate.set()
        await asyncio.gather(*visitors[5:], *later)

    asyncio.run(visit())
    assert most == [1]
    writer.close()


def test_a_stream_follows_until_the_end(
    runs: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = write_run(runs / "one", seconds=1)
    looks = iter(range(100))

    async def pause() -> None:
        if next(looks) == 1:
            writer.finish(facts())

    monkeypatch.setattr(application, "pause", pause)
    monkeypatch.setattr(live_run, "LOOK_SECONDS", 0.0)
    answer = client.get("/runs/one/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = events_of(answer.text)
    assert [name for name, _ in found] == ["status", "charts", "sources", "page", "status", "ended"]
    assert found[1][1] == ["constant.one"]
    assert found[2][1]["constant"]["name"] == ["<a>", "b"]
    assert "report of" in client.get("/runs/one").text


def test_a_stream_of_a_removed_run_says_so(
    runs: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = write_run(runs / "one", seconds=1)

    async def pause() -> None:
        shutil.rmtree(runs / "one")

    monkeypatch.setattr(application, "pause", pause)
    monkeypatch.setattr(live_run, "LOOK_SECONDS", 0.0)
    name, data = events_of(client.get("/runs/one/events").text)[-1]
    assert name == "gone"
    assert "no run called one" in data
    writer.close()


def test_a_stream_of_a_finished_run_ends_at_once(runs: Path, client: TestClient) -> None:
    finished(runs, "one")
    assert events_of(client.get("/runs/one/events").text) == [("ended", None)]


def test_the_page_of_a_growing_run_follows_it(runs: Path, client: TestClient) -> None:
    writer = write_run(runs / "one")
    answer = client.get("/runs/one")
    assert "follow()" in answer.text
    assert "connect-src 'self'" in answer.headers["content-security-policy"]
    writer.close()

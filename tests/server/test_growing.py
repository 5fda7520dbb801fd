"""Following a run: read once for all, within its share, until it ends."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from mawl.model.records import EventRecord
from mawl.server import application, growing
from mawl.server.growing import SHARE_RATIO, Growing, GrowingRuns, RunEndedError
from mawl.server.rendering import Renderers
from mawl.server.work import Worker
from mawl.store import Run
from tests.fakes.served_runs import Made, finished
from tests.fakes.stored_run import START, facts, samples, write_run


class Times:
    """A clock that moves when told; work costs what is set."""

    def __init__(self) -> None:
        self.now = 100.0
        self.cpu_seconds = 0.0
        self.cost_seconds = 0.5
        self.made = 0

    def judged(self, run: Run) -> dict[str, Any]:
        self.cpu_seconds += self.cost_seconds
        self.made += 1
        return {"run_id": run.facts.run_id, "rows": run.samples.num_rows}

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
    assert followed.picture().summary["rows"] == 2
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


def test_many_viewers_are_one_reader_also_when_they_leave(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "LOOK_SECONDS", 0.0)
    writer = write_run(tmp_path / "one")
    inside, most = [0], [0]
    gate = threading.Event()

    def sources(run: Run, summary: object) -> Mapping[str, Mapping[str, Any]]:
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
    monkeypatch.setattr(growing, "LOOK_SECONDS", 0.0)
    answer = client.get("/runs/one/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = events_of(answer.text)
    assert [name for name, _ in found] == ["status", "sources", "status", "ended"]
    assert found[1][1]["constant"]["name"] == ["<a>", "b"]
    assert "report of" in client.get("/runs/one").text


def test_a_stream_of_a_removed_run_says_so(
    runs: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = write_run(runs / "one", seconds=1)

    async def pause() -> None:
        shutil.rmtree(runs / "one")

    monkeypatch.setattr(application, "pause", pause)
    monkeypatch.setattr(growing, "LOOK_SECONDS", 0.0)
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


def test_viewers_are_counted_and_bounded(
    runs: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(runs, "one")
    monkeypatch.setattr(application, "MOST_VIEWERS", 0)
    assert client.get("/runs/one/events").status_code == 503

"""Reports, comparison and metrics: made once, made again when the files changed, and what cannot be made."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
from html import unescape
from pathlib import Path

import msgspec
import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message

from mawl.advice.bounds import AnswerBounds
from mawl.commands.server import application, reports
from mawl.commands.server.application import OPENMETRICS, create_app
from mawl.commands.server.reports import standard_renderers
from mawl.figures.view import StoredView
from mawl.records.store import Run, open_run
from mawl.records.store.folder import RunWriter
from tests.fakes.compared_runs import COMPLETED, jobs
from tests.fakes.served_runs import Made, finished
from tests.fakes.stored_run import START, facts, write_run


def asked(made: Made) -> list[str]:
    """What was asked for beside summaries."""
    return [text for text in made.asked if not text.startswith("judged")]


def test_a_report_is_made_once_for_as_long_as_its_files_are_the_same(
    runs: Path, client: TestClient, made: Made
) -> None:
    folder = finished(runs, "one")
    first = client.get("/runs/one")
    assert (first.status_code, first.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "report of one: failed" in first.text
    assert first.text.count('<a href="/">All runs</a>') == 1
    assert client.get("/runs/one").text == first.text
    assert asked(made) == ["report one"]
    write_run(runs / "other").finish(facts(run_id="one", outcome="completed"))
    (runs / "other" / "run.json").replace(folder / "run.json")
    assert "report of one: completed" in client.get("/runs/one").text
    assert asked(made) == ["report one", "report one"]


def test_pages_kept_are_bounded_in_bytes(
    runs: Path, client: TestClient, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        finished(runs, name)
    monkeypatch.setattr(reports, "MOST_BYTES", 1)
    client.app.state.site.reports = reports.Reports(client.app.state.site.listings, made.renderers())  # type: ignore[attr-defined]
    for name in ("one", "one", "two", "one"):
        client.get(f"/runs/{name}")
    assert asked(made) == ["report one", "report two", "report one"]


def test_the_library_shows_the_judgement_of_a_run_once_its_report_was_made(
    runs: Path, client: TestClient
) -> None:
    finished(runs, "one")
    assert "preliminary" not in client.get("/").text
    client.get("/runs/one")
    assert "preliminary" in client.get("/").text
    (runs / "one" / "jobs.parquet").touch()
    assert "preliminary" not in client.get("/").text


def test_reading_a_killed_run_writes_nothing(runs: Path, client: TestClient) -> None:
    write_run(runs / "killed").close()
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    answer = client.get("/runs/killed")
    assert "interrupted" in answer.text
    assert client.get("/").status_code == 200
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before


@pytest.mark.parametrize(
    "address",
    [
        "/runs/absent",
        "/runs/",
        "/runs",
        "/runs/%2e%2e",
        "/runs/..%2f..%2fetc%2fpasswd",
        "/runs/one/run.json",
        "/runs/one%00",
        "/runs/latest",
        "/runs/solo",
        "/runs/one/events/",
        "/etc/passwd",
    ],
)
def test_what_is_not_in_the_list_is_not_there(runs: Path, client: TestClient, address: str) -> None:
    finished(runs, "one")
    (runs / "solo").mkdir()
    answer = client.get(address)
    assert answer.status_code == 404
    assert "Not here" in answer.text


def test_a_folder_that_goes_while_it_is_read_has_a_page_that_says_so(runs: Path, made: Made) -> None:
    def judged(view: StoredView) -> dict[str, object]:
        shutil.rmtree(view.run.path)
        return {"again": open_run(view.run.path).facts}

    renderers = msgspec.structs.replace(made.renderers(), judged=judged)
    finished(runs, "one")
    with TestClient(create_app(runs, renderers, failed=print), base_url="http://localhost") as visitor:
        answer = visitor.get("/runs/one")
    assert answer.status_code == 404
    assert "no run called one here: its folder was removed" in answer.text


def test_a_damaged_table_is_a_sentence(runs: Path, made: Made) -> None:
    folder = finished(runs, "one")
    (folder / "jobs.parquet").write_bytes(b"PAR1")
    app = create_app(runs, made.renderers(), failed=print)
    with TestClient(app, base_url="http://localhost") as visitor:
        answer = visitor.get("/runs/one")
    assert answer.status_code == 422
    assert "is not a table of a run" in answer.text


def test_a_page_that_fails_is_told_and_no_traceback_is_shown(runs: Path, made: Made) -> None:
    def report(run: Run, summary: object) -> str:
        raise RuntimeError("secret")

    renderers = msgspec.structs.replace(made.renderers(), report=report)
    finished(runs, "one")
    app = create_app(runs, renderers, failed=made.failures.append)
    with TestClient(app, base_url="http://localhost") as visitor:
        answer = visitor.get("/runs/one")
        assert visitor.get("/").status_code == 200
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert [str(failure) for failure in made.failures] == ["secret"]


def test_a_want_of_descriptors_is_no_failure_of_a_page(runs: Path, made: Made) -> None:
    def report(run: Run, summary: object) -> str:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(runs))

    finished(runs, "one")
    app = create_app(
        runs, msgspec.structs.replace(made.renderers(), report=report), failed=made.failures.append
    )
    with TestClient(app, base_url="http://localhost") as visitor:
        answer = visitor.get("/runs/one")
    assert (answer.status_code, made.failures) == (503, [])
    assert answer.text == "The server has no file descriptor left; ask again in a moment.\n"


@pytest.mark.parametrize(
    ("ticks", "said"),
    [
        ("reference=two&candidate=one", "two against one"),
        ("candidate=one&reference=two&candidate=three", "two against one and three"),
        ("reference=two&reference=one", "two against one"),
        ("candidate=three&candidate=one&candidate=two", "three against one against two"),
    ],
)
def test_the_columns_are_sides_and_one_column_alone_is_many_sides(
    runs: Path, client: TestClient, made: Made, ticks: str, said: str
) -> None:
    for name in ("one", "two", "three"):
        finished(runs, name)
    for _ in range(2):
        answer = client.get(f"/compare?q=&sort=run&{ticks}")
        assert answer.status_code == 200
        assert f">\n{said}\n<" in answer.text
    assert made.asked == ["comparison"]


def test_a_comparison_needs_two_runs_that_are_there(runs: Path, client: TestClient) -> None:
    finished(runs, "one")
    assert client.get("/compare").status_code == 400
    assert client.get("/compare?reference=one").status_code == 400
    assert client.get("/compare?reference=one&candidate=absent").status_code == 404


def test_a_mawl_that_cannot_compare_says_so(runs: Path, made: Made) -> None:
    renderers = msgspec.structs.replace(made.renderers(), comparison=None)
    app = create_app(runs, renderers, failed=print)
    with TestClient(app, base_url="http://localhost") as visitor:
        assert visitor.get("/compare?reference=one&candidate=two").status_code == 501


def test_metrics_are_of_the_run_named_else_of_the_newest(runs: Path, client: TestClient, made: Made) -> None:
    empty = client.get("/metrics")
    assert (empty.status_code, empty.text) == (200, "# EOF\n")
    finished(runs, "old", started_at=START - 9.0)
    finished(runs, "new")
    answer = client.get("/metrics")
    assert answer.headers["content-type"] == OPENMETRICS
    assert answer.text == "mawl_jobs new\n# EOF\n"
    for _ in range(2):
        assert client.get("/metrics?run=old&run=new").text == "mawl_jobs old\nmawl_jobs new\n# EOF\n"
    assert made.asked == ["judged new", "judged old"]
    assert client.get("/metrics?run=absent").status_code == 404


def test_metrics_of_what_grows_come_before_those_of_what_ended(
    runs: Path, client: TestClient, made: Made
) -> None:
    finished(runs, "new", started_at=START + 100.0)
    writers = [write_run(runs / name) for name in ("a", "b")]
    for writer in writers:
        writer.update(facts(run_id=writer.path.name, outcome="running", ended_at=None))
    assert client.get("/metrics").text == "mawl_jobs a\nmawl_jobs b\n# EOF\n"
    assert made.asked == ["judged a", "judged b"]
    for writer in writers:
        writer.close()


def test_every_page_carries_the_headers_and_a_strict_policy(runs: Path, client: TestClient) -> None:
    finished(runs, "one")
    for address in ("/", "/runs/one", "/runs/absent", "/metrics", "/nowhere"):
        headers = client.get(address).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert not re.search(r"script-src[^;]*unsafe-inline", policy)
        assert "http" not in policy


def test_the_policy_in_the_header_is_the_one_the_page_states(runs: Path, client: TestClient) -> None:
    evil = '"><meta http-equiv="Content-Security-Policy" content="script-src *"><script>x</script>'
    finished(runs, "one", outcome_reason=evil)
    policy = client.get("/runs/one").headers["content-security-policy"]
    assert re.search(r"script-src 'sha256-[^']+';", policy)
    assert "*" not in policy
    assert "form-action 'none'" in policy
    assert "form-action 'self'" in client.get("/").headers["content-security-policy"]


def test_head_has_the_headers_and_no_body(runs: Path, client: TestClient) -> None:
    finished(runs, "one")
    for address in ("/", "/runs/one", "/metrics", "/runs/one/events"):
        answer = client.head(address)
        assert (answer.status_code, answer.content) == (200, b"")


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


def test_one_viewer_more_than_there_are_places_takes_that_of_the_first(
    runs: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = write_run(runs / "one", seconds=1)
    app = application.create_app(runs, made.renderers(), failed=made.failures.append)
    viewers = app.state.site.viewers
    scope = {"type": "http", "method": "GET", "app": app, "path_params": {"name": "one"}, "headers": []}
    count = 2 * application.MOST_VIEWERS + 5
    looks = asyncio.Event()

    async def stays() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def pause() -> None:
        await looks.wait()

    async def asked() -> list[bytes]:
        """As many as never end by themselves; what each was told when the last had come."""
        said = [bytearray() for _ in range(count)]

        async def seen(number: int) -> None:
            async def send(message: Message) -> None:
                said[number] += message.get("body", b"")

            await (await application._events(Request(scope)))(scope, stays, send)

        tasks = [asyncio.create_task(seen(number)) for number in range(count)]
        while not all(b"event: sources" in one for one in said):
            await asyncio.sleep(0.001)
        assert len(viewers) == application.MOST_VIEWERS
        looks.set()
        while sum(task.done() for task in tasks) < count - application.MOST_VIEWERS:
            looks.set()
            await asyncio.sleep(0.001)
        assert [task.done() for task in tasks] == [
            number < count - application.MOST_VIEWERS for number in range(count)
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return [bytes(one) for one in said]

    monkeypatch.setattr(application, "pause", pause)
    said = asyncio.run(asked())
    ended = [one.endswith(b"event: turn\ndata: 16\n\n") for one in said]
    assert ended == [True] * (count - application.MOST_VIEWERS) + [False] * application.MOST_VIEWERS
    assert all(b"event: status" in one and b"event: sources" in one for one in said)
    assert viewers == [] and made.failures == []
    writer.close()

"""A browser at the pages: a real run followed until its end, the library with its script, nothing blocked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api

from mawl.advice.bounds import AnswerBounds
from mawl.commands.server.reports import standard_renderers
from mawl.records.store import open_run
from mawl.records.store.tail import Tail
from tests import needs
from tests.fakes.served_runs import finished, serving
from tests.pages.opened import LONGEST_MILLISECONDS, chromium, until

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("chromium")),
]


class Visit:
    """A page and all that went wrong on it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda message: self._heard(message.type, message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("requestfailed", lambda request: self._failed(request.url))

    def until(self, expression: str) -> None:
        """Wait for what must come true."""
        until(self.page, expression)

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.wrong.append(text)

    def _failed(self, url: str) -> None:
        # A page that goes takes its event stream with it.
        if not url.endswith("/events"):
            self.wrong.append(url)


@pytest.fixture
def visit() -> Iterator[Visit]:
    with chromium() as browser:
        yield Visit(browser.new_page())


def playwright_error() -> type[Exception]:
    """What Playwright raises."""
    return sync_api.Error


def workload() -> str:
    """The programs of nano again and again: half a minute at least, so that there is something to follow."""
    stages = ", ".join(['["wide_sort", "segmentation"], ["stress_projection"], ["census_load"]'] * 12)
    sessions = "".join(f'[[sessions]]\nname = "analyst-{number}"\nstages = [{stages}]\n' for number in (1, 2))
    return f'name = "long"\nscale = 0.00005\n{sessions}'


def latest_jobs(runs: Path) -> int:
    """How many jobs of the newest run have ended."""
    if not (runs / "latest").is_dir():
        return 0
    tail = Tail((runs / "latest").resolve())
    tail.look()
    return len(tail.jobs)


def run_long(place: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "MAWL_RUNS": str(place / "runs")}
    for role in ("data", "work", "util"):
        environment[f"MAWL_{role.upper()}"] = str(place / role)
    (place / "long.toml").write_text(workload())
    command = [sys.executable, "-m", "mawl", "run", "long.toml"]
    return subprocess.Popen(
        command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_a_real_run_is_followed_until_its_end(tmp_path: Path, visit: Visit) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    run = run_long(tmp_path)
    page = visit.page
    try:
        with serving(runs, standard_renderers(AnswerBounds())) as (_, port):
            # Charts begin with the first jobs' figures.
            while not latest_jobs(runs):
                assert run.poll() is None
                page.wait_for_timeout(200)
            page.goto(f"http://127.0.0.1:{port}/")
            page.locator("tbody th a").click()
            following = page.locator("#following")
            following.wait_for(timeout=LONGEST_MILLISECONDS)
            seen = set()
            states = set()
            finished_jobs: list[list[str]] = []
            while run.poll() is None:
                # The page may be made anew under our feet.
                with suppress(playwright_error()):
                    seen.add(following.text_content(timeout=1000))
                    states.add(page.evaluate(ROWS))
                    if said := page.evaluate(FINISHED):
                        finished_jobs.append(said)
                page.wait_for_timeout(200)
            following.wait_for(state="detached", timeout=LONGEST_MILLISECONDS)
            assert run.wait() == 0
            assert page.locator("h1").count() == 1
            assert page.evaluate(ROWS) > 0
    finally:
        run.kill()
        run.wait()
    assert any("of 96 jobs ended" in (text or "") for text in seen)
    assert len(states) > 2, f"no chart changed while the run grew: {states}"
    # Title, card and table say the same number of finished jobs at each moment, and it grows.
    assert all(len(found) > 2 and len(set(found)) == 1 for found in finished_jobs), finished_jobs
    assert len({found[0] for found in finished_jobs}) > 2
    assert visit.wrong == []
    assert open_run("latest", runs).facts.outcome == "completed"


FINISHED = """() => {
    const titled = document.querySelector("h1")?.textContent.match(/Running: (\\d+) of/);
    return document.readyState === "complete" && titled && [titled[1], ...Array.from(
        document.querySelectorAll(`[data-path='["jobs","finished"]']`), (one) => one.dataset.value)];
}"""
"""The number of finished jobs as the title, the card and the table of figures have it.

Nothing while a page is loading, and of the page of the ended run, whose title has no such number: it may
come a moment before mawl's process ends.
"""
ROWS = """() => typeof Bokeh === 'undefined' ? 0 : Bokeh.documents.flatMap(
    (one) => Array.from(one._all_models.values())).reduce(
    (sum, model) => sum + (model.data?.seconds?.length ?? 0) + (model.data?.left?.length ?? 0), 0)"""
"""Rows in the data of all charts over time."""


def test_the_library_searches_and_sorts_without_a_new_page_and_compares(tmp_path: Path, visit: Visit) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("one", "two", "<img src=x onerror=alert(1)>"):
        finished(runs, name)
    page = visit.page
    with serving(runs, standard_renderers(AnswerBounds())) as (_, port):
        page.goto(f"http://127.0.0.1:{port}/")
        page.evaluate("window.same = true")
        page.get_by_label("reference one").check()
        page.get_by_role("searchbox").press_sequentially("two")
        visit.until("location.search.includes('q=two')")
        assert page.locator("tbody th a").all_text_contents() == ["one", "two"]
        assert page.evaluate("document.activeElement.value") == "two"
        assert page.get_by_label("reference one").is_checked()
        page.get_by_role("link", name="Sort by run", exact=True).click()
        visit.until("location.search.includes('sort=run')")
        assert page.evaluate("window.same")
        page.get_by_label("candidate two").check()
        visit.until("location.search.includes('candidate=two')")
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url("**/compare?**")
        title = page.locator("h1").text_content()
        assert title is not None and title.startswith('Undecided: "two" against "one"')
    assert visit.wrong == []


def test_runs_are_read_one_after_another_and_the_selection_is_seen(tmp_path: Path, visit: Visit) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("one", "two", "three"):
        finished(runs, name)
    (runs / "one" / "samples.parquet").write_bytes(b"no table")
    page = visit.page
    with serving(runs, standard_renderers(AnswerBounds())) as (_, port):
        page.goto(f"http://127.0.0.1:{port}/")
        visit.until("!document.querySelector('[data-overview]')")
        assert page.locator("td[data-label=Answer] .tag").count() == 3
        # By keyboard alone: what is ticked keeps the focus in the list that the server made anew.
        page.get_by_label("reference two").focus()
        page.keyboard.press("Space")
        visit.until("location.search.includes('reference=two')")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "reference two"
        assert "Reference: two" in " ".join(page.locator(".selected").inner_text().split())
        assert page.get_by_role("button", name="Compare").is_disabled()
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        visit.until("location.search.includes('candidate=two')")
        page.get_by_role("link", name="Clear the selection").click()
        visit.until("!location.search.includes('two')")
        page.locator("select[name=workload]").select_option("tiny")
        visit.until("location.search.includes('workload=tiny')")
        assert page.locator("td[data-label=Answer] .tag").count() == 3
        for width in (390, 768, 1280, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            for part in ("html", ".scroll"):
                over = "(one) => one.scrollWidth - one.clientWidth"
                assert page.locator(part).evaluate(over) <= 0, (width, part)
    assert visit.wrong == []


def test_a_page_that_forgot_to_escape_would_still_run_nothing(tmp_path: Path, visit: Visit) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    finished(runs, "one")
    real = standard_renderers(AnswerBounds())
    evil = "<script>window.ran = true</script><img src=x onerror='window.ran = true'>"
    renderers = type(real)(
        report=lambda run, summary: str(real.report(run, summary)).replace("<main", evil + "<main"),
        following=real.following,
        sources=real.sources,
        metrics=real.metrics,
    )
    with serving(runs, renderers) as (_, port):
        visit.page.goto(f"http://127.0.0.1:{port}/runs/one")
        assert visit.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in text for text in visit.wrong), visit.wrong

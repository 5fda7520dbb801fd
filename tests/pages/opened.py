"""A page opened in a browser from a file, without a network, and what went wrong on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright import sync_api

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRAWN = """typeof Bokeh === 'undefined' || Array.from(document.querySelectorAll('.chart')).every(
  place => place.closest('details:not([open])')
    || Array.from(Bokeh.index).some(view => place.contains(view.el) && view.has_finished()))"""
"""Whether all charts are drawn but those of folded parts."""
LONGEST_MILLISECONDS = 120_000
INKED = """canvas => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] > 0) seen.add(data.slice(at, at + 3).join());
  }
  return seen.size;
}"""
"""How many colours a canvas has."""

UNFOLD = "for (const fold of document.querySelectorAll('details')) fold.open = true"


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; a user who is not root keeps its sandbox."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


def until(page: Any, expression: str) -> None:
    """Wait for what must come true; the page's policy forbids what Playwright waits with."""
    for _ in range(LONGEST_MILLISECONDS // 100):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(100)
    raise AssertionError(expression)


class Opened:
    """A page opened from a file; what it asked for, and what it complained of.

    ``context`` are options of Playwright's ``new_context``: ``viewport``, ``color_scheme``, ...
    """

    def __init__(self, browser: Any, file: Path, *, unfolded: bool = True, **context: Any) -> None:
        self.file = file
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page = browser.new_context(offline=True, **context).new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(file.as_uri())
        self.until(DRAWN)
        if unfolded:
            self.page.evaluate(UNFOLD)
            self.page.wait_for_timeout(500)
            self.until(DRAWN)

    def until(self, expression: str) -> None:
        """Wait for what must come true."""
        until(self.page, expression)

    def close(self) -> None:
        """End the page and its context."""
        self.page.context.close()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

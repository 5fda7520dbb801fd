"""The answer's page in a browser: one sheet of paper, no wider than a phone, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.reports.document import rendered
from mawl.reports.qualification import document
from tests import needs
from tests.fakes.answered import every_record
from tests.pages.opened import chromium

PHONE = {"width": 390, "height": 844}
pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.program("chromium")),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.mark.parametrize("kind", every_record())
def test_one_sheet_and_a_phone_hold_it(browser: Any, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "answer.html"
    file.write_text(rendered(document(every_record()[kind]), "html"))
    page = browser.new_page(viewport=PHONE)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate("window.print = () => {}")
    for size in ("A4", "Letter"):
        page.click("text=Print one page")
        assert page.pdf(format=size, print_background=True).count(b"/Type /Page\n") == 1
    assert [url for url in fetched if not url.startswith(("file:", "data:"))] == []
    page.close()

"""What a browser spends on a page is that page's, and grows with its work."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.drawing import EMPTY, drawing_cost
from tests import needs
from tests.pages.opened import chromium

pytestmark = [pytest.mark.lab, pytest.mark.measured, needs.marks(needs.program("chromium"))]

SCRIPT = "let sum = 0; for (let at = 0; at < {}; at++) sum = (sum + at) % 7"
WORK = f"<!DOCTYPE html><title>Work</title><script>{SCRIPT}</script>"


def test_the_cost_of_a_page_grows_with_its_work_and_an_empty_page_costs_nothing(tmp_path: Path) -> None:
    empty, few, many = (tmp_path / f"{name}.html" for name in ("empty", "few", "many"))
    empty.write_text(EMPTY)
    few.write_text(WORK.format(100_000_000))
    many.write_text(WORK.format(500_000_000))
    with chromium() as browser:
        nothing, less, more = (drawing_cost(browser, empty, file, "true") for file in (empty, few, many))
    assert abs(nothing.main_thread_seconds) < 0.02
    assert more.main_thread_seconds > 3 * less.main_thread_seconds > 0.1
    assert more.cpu_seconds > 0.9 * more.main_thread_seconds

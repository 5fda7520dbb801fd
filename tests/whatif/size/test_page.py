"""The page of ``mawl size``: the pick in front, every candidate in the table, names only as text."""

from __future__ import annotations

import msgspec

from mawl.whatif.size.page import render
from tests.fakes.sized import answer


def test_the_page_has_the_pick_the_candidates_and_the_next_buy() -> None:
    page = render(answer())
    assert "Pick: more cores (700 EUR a month)" in page
    assert "What sessions cost" in page
    for name in ("flash", "tiny", "faster array", "buy 32 cores"):
        assert name in page
    assert "</script><b>" not in page


def test_without_a_pick_or_a_number_the_page_says_so() -> None:
    nothing = [msgspec.structs.replace(one, fits=None, carries=None) for one in answer().candidates]
    page = render(
        msgspec.structs.replace(
            answer(), pick=None, safe_pick=None, forecast_pick=None, candidates=nothing, upgrades=[]
        )
    )
    assert "No pick: by the forecast no candidate carries 20 sessions" in page
    assert "no candidate has a number of sessions that fits" in page

"""The page of ``mawl size``: the pick in front, every candidate in the table, names only as text."""

from __future__ import annotations

import re

import msgspec
from bokeh.models import ColumnDataSource

from mawl.reports.document import rendered
from mawl.reports.html.charts.answers import PricedSystem, price_chart
from mawl.whatif.size.document import document
from mawl.whatif.size.question import SizeAnswer
from tests.fakes.sized import answer


def cards(page: str) -> list[str]:
    """The words of each card."""
    found = re.findall(r'<div class="card[^>]*>(.*?)</div>', page, re.S)
    return [" ".join(re.sub(r"<[^>]*>", " ", one).split()) for one in found]


def changed(**fields: object) -> SizeAnswer:
    return msgspec.structs.replace(answer(), **fields)


def test_the_title_says_what_to_buy_and_the_cards_say_why() -> None:
    page = rendered(document(answer()), "html")
    assert (
        "<h1>Buy more cores: it carries 20 sessions for 700 EUR a month (probability at least 87.5 %)</h1>"
        in page
    )
    which, limit, following = cards(page)
    assert which.startswith("Which one? more cores at least 87.5 % likely to carry 20 sessions")
    assert "A simple rule, the roofline, would buy &lt;/script&gt;" in which
    why = "Waiting for processors 34 % of the jobs&#39; time with 20 sessions"
    assert limit == f"What limits it? {why} Every candidate"
    assert following == (
        "What to add next, to carry more? 32 cores 13 more sessions for 250 EUR a month, by the forecast "
        "Every upgrade"
    )
    assert "Carried means: jobs take at most 2.00 times their reference time." in page
    assert "from 7 forecasts that were compared with measured times (published systems)." in page
    assert "down to the sessions that fit with a probability of at least 80 %" in page
    for name in ("flash", "tiny", "faster array", "too little memory", "waiting for disk"):
        assert name in page
    assert "</script><b>" not in page


def test_without_a_pick_or_a_number_the_page_says_so() -> None:
    nothing = [msgspec.structs.replace(one, fits=None, carries=None) for one in answer().candidates]
    page = rendered(
        document(changed(pick=None, safe_pick=None, forecast_pick=None, candidates=nothing, upgrades=[])),
        "html",
    )
    assert "<h1>Buy none of these: by the forecast no candidate carries 20 sessions</h1>" in page
    assert "no candidate has a number of sessions that fits" in page
    assert cards(page) == [
        "Which one? None A simple rule, the roofline, would buy &lt;/script&gt;&lt;b&gt;as it is. "
        "What the answer rests on"
    ]


def test_the_card_names_no_system_that_the_title_does_not() -> None:
    some = [msgspec.structs.replace(one, carries=None, probability=0.5) for one in answer().candidates]
    page = rendered(
        document(changed(pick=None, safe_pick=None, forecast_pick="flash", candidates=some)), "html"
    )
    assert "<h1>No candidate is known to carry 20 sessions with a probability of at least" in page
    which = cards(page)[0]
    assert which.startswith("Which one? None is known to be enough By the forecast alone flash")
    assert "likely" not in which


def test_each_point_of_the_chart_has_its_name() -> None:
    sized = [PricedSystem(name, 100.0, "100 EUR", 10 * at, None, True) for at, name in enumerate("abc", 1)]
    sized.append(PricedSystem("a name that is too long for the chart", 50.0, "50 EUR", 5, None, None))
    chart = price_chart(sized, 20, "EUR", "80 %")
    assert chart.figure is not None
    source = chart.figure.select_one({"type": ColumnDataSource, "name": "prices"})
    assert isinstance(source, ColumnDataSource)
    data = source.data
    assert data["short"] == ["a", "b", "c", "a name that is too..."]
    assert data["align"] == ["left", "right", "right", "left"]
    assert [key.name for key in chart.keys[:2]] == ["carries the asked sessions", "not known"]


def test_an_upgrade_that_gains_nothing_is_not_advised() -> None:
    none = [msgspec.structs.replace(one, gained_sessions=-1) for one in answer().upgrades]
    *_, last = cards(rendered(document(changed(upgrades=none)), "html"))
    assert (
        "Nothing of the catalogue No upgrade of the catalogue lets more sessions fit on more cores." in last
    )

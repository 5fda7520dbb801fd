"""The rule of wider links: more link, the same throughput, longer service times."""

from __future__ import annotations

import pytest

from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.sides import Side, side_of
from mawl.figures.comparison.waits import LinkFinding, link_finding
from mawl.reports.comparison.sentences import head
from tests.fakes.altered_runs import LINK, client, fabric_compared, server


def side(name: str, link: float, moved: float, *, slower: float = 1.0) -> Side:
    rates = {"n1": client(moved), "n2": client(moved), "sto": server(2 * moved)}
    run = fabric_compared(rates, slower=slower, link_bytes_per_second=link, run_id=name)
    return side_of(name, [run])


def found(moved: float, slower: float, *, link: float = 1.4 * LINK) -> LinkFinding | None:
    """Against links of 10 MB/s that moved 9.3 MB/s each."""
    return link_finding(side("slow", LINK, 9.3e6), side("fast", link, moved, slower=slower))


def test_more_link_the_same_throughput_and_long_waits_name_the_storage() -> None:
    rule = found(10.2e6, 0.92)
    assert rule is not None and rule.storage
    assert rule.link_ratio == pytest.approx(1.4)
    assert rule.moved_ratio == pytest.approx(10.7 / 9.8)
    assert rule.service_ratio == pytest.approx(0.92)
    assert rule.device_peak_ratio == pytest.approx(20.5 / 18.7, rel=1e-3)
    assert rule.sentence.endswith("the storage behind the links is the limit now")
    assert "links 1.40 times as wide (10.0 MB/s -> 14.0 MB/s)" in rule.sentence


@pytest.mark.parametrize(
    ("moved", "slower"),
    [(12.8e6, 0.72), (9.3e6, 0.72), (12.8e6, 1.0)],
    ids=["throughput followed", "waits as the links make them", "throughput followed, waits did not"],
)
def test_without_both_the_storage_is_not_named(moved: float, slower: float) -> None:
    rule = found(moved, slower)
    assert rule is not None and not rule.storage
    assert rule.sentence.endswith("this does not name the storage")


def test_jobs_that_hardly_wait_name_nothing() -> None:
    rule = found(9.3e6, 0.05)
    assert rule is not None and not rule.storage


@pytest.mark.parametrize("link", [LINK, 0.7 * LINK])
def test_links_that_are_not_wider_are_no_case_for_the_rule(link: float) -> None:
    assert found(9.3e6, 1.0, link=link) is None


def test_a_comparison_says_it_once() -> None:
    comparison = compare(
        side("slow", LINK, 9.3e6), side("fast", 1.4 * LINK, 10.2e6, slower=0.95), anyway=True
    )
    assert dict(head(comparison))["links"].endswith("the limit now")
    same = compare(side("one", LINK, 9.3e6), side("two", LINK, 9.3e6), anyway=True)
    assert same.links is None and "links" not in dict(head(same))

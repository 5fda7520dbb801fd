"""The papers compared with the rules: every paper, known rules, and agreement with the published results."""

from __future__ import annotations

import pytest

from mawl.archive.publication import EVERY
from mawl.records.model.thresholds import value_of
from mawl.records.papers import papers
from tools.papers_judged import papers_judged, section

PAPERS = {paper.source.key: paper for paper in papers()}


def test_every_paper_is_there_and_every_rule_is_one() -> None:
    judged = papers_judged()
    assert set(judged) == set(PAPERS)
    assert {rule for rulings in judged.values() for rule in rulings} <= {rule.name for rule in EVERY}


@pytest.mark.parametrize("key", sorted(PAPERS))
def test_the_duration_is_that_of_the_published_results(key: str) -> None:
    paper = PAPERS[key]
    times = [time for one in paper.results for time in (one.time.elapsed_seconds, one.time.active_seconds)]
    times += [paper.workload.elapsed_seconds] if paper.workload else []
    known = [time for time in times if time is not None]
    ruling = papers_judged()[key].get("duration")
    assert (ruling is not None) == bool(known)
    if ruling is not None:
        assert (ruling.state == "met") == (min(known) >= value_of("validity.duration.least_active_seconds"))


def test_no_paper_is_accepted_and_the_table_has_a_column_for_each() -> None:
    assert all(any(one.state != "met" for one in rulings.values()) for rulings in papers_judged().values())
    lines = section()
    head = next(line for line in lines if line.startswith("| rule"))
    assert head.count("`") == 2 * len(PAPERS)

"""What a campaign makes where nothing is asked."""

from __future__ import annotations

from mawl.records.model.thresholds import count_of
from mawl.records.spec.campaign import RUNS_OF_AN_ARM


def test_two_arms_get_as_many_runs_as_a_statement_needs() -> None:
    assert RUNS_OF_AN_ARM["ab"] == count_of("comparison.fewest_runs")

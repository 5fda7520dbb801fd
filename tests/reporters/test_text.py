"""The one-screen report."""

from __future__ import annotations

import msgspec

from mawl.analysis.summary import summary_of
from mawl.reporters import json
from mawl.reporters.columns import aligned
from mawl.reporters.text import MOST_FAILURES, figure, render
from mawl.units import format_ratio, format_seconds
from tests.fakes.stored_run import facts, job, jobs


def test_it_fits_a_screen() -> None:
    lines = render(summary_of(facts(), jobs())).splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 132


def test_missing_is_a_dash_and_zero_is_zero() -> None:
    assert figure(None, format_seconds) == "-"
    assert figure(0, format_seconds) == "0.00 s"


def test_ratios_have_three_digits() -> None:
    assert [format_ratio(value) for value in (0.0, 0.834, 9.99, 14.23, 312.4)] == [
        "0.00",
        "0.83",
        "9.99",
        "14.2",
        "312",
    ]


def test_nothing_from_a_run_can_steer_the_terminal() -> None:
    bad = "x\x1b[2J\nrun  forged"
    record = job("s1-1", 0.0, 1.0, program=bad, job=bad, outcome="failed", reason=bad)
    text = render(summary_of(facts(run_id=bad, outcome_reason=bad, remarks=[bad]), [record]))
    assert "\x1b" not in text
    assert not any(line.startswith("run  forged") for line in text.splitlines())


def test_many_failures_are_counted() -> None:
    failed = [job("s1-1", 0.0, 1.0, outcome="failed", reason="why") for _ in range(MOST_FAILURES + 3)]
    text = render(summary_of(facts(), failed))
    assert text.count("failed: s1-1: why") == MOST_FAILURES
    assert "and 3 more jobs" in text


def test_a_run_without_jobs_has_a_report() -> None:
    assert "sum over 0 jobs" in render(summary_of(facts(nodes=[], planned_jobs=[]), []))


def test_columns_line_up() -> None:
    assert aligned([("a", "b"), ("long", "100")]) == ["a       b", "long  100"]


def test_json_is_the_summary_with_sorted_keys() -> None:
    summary = summary_of(facts(), jobs())
    text = json.render(summary)
    assert msgspec.json.decode(text) == summary
    keys = list(msgspec.json.decode(text))
    assert keys == sorted(keys)
    assert text.startswith('{\n  "capacity": null,')
